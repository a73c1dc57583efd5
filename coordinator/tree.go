package coordinator

import (
	"slices"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

const (
	// proofDepth is how far below the tip a proof still voids an entry. Deeper, the entry stays valid but its author's
	// work weighs nothing, so nobody can plant a false claim and undo a long history later.
	proofDepth = 50
	// freshDepth is that where leaders re-run few claims. What is drawn of an entry is drawn when it is followed, so a
	// false claim that a leader should have found is proven within seconds. Found later it is one among many, and
	// undoing the work of all since then would cost more than it gave.
	freshDepth = 16
)

// progress of an entry towards the canonical chain.
type stage uint8

const (
	linked  stage = iota // form, signatures, counts and links are right
	folded               // the digests are right too; re-runs may be outstanding
	trusted              // everything this peer checks before following was right, also below
	refused              // a digest or a re-run was wrong, or an entry below was refused
)

// node is an entry in the tree of all known branches; the genesis is its root.
type node struct {
	link     seedlog.Link
	parent   *node
	children []*node

	height, term uint64
	leader       Peer
	sealLink     seedlog.Link
	batches      []seedlog.Link // that name the claims; none: the entry does
	claims       []seedlog.Link // nil of an entry without its batches: see ahead
	named        uint64         // how many claims it names
	credits      []peerCredit   // of this entry, in the order of peers
	attested     []seedlog.Attestation
	solved       uint64 // height of the state that passed the test, as the entry says; 0: none
	duration     uint64 // of the next generation in milliseconds, as the entry says; 0: as the spec says

	evaluations, steps uint64   // of the chain up to here
	weight             uint64   // of the chain up to here, without known faulty peers and most work on probation
	votes              uint64   // weight behind the term's leader, for ties
	mandate            *mandate // of the leader; nil: its votes are not in the chain
	best, mean         int64    // fitness in this entry, of candidates
	marks              seedlog.Marks
	shares             *workShares // of held-out results of the state after it; nil: not counted yet

	theta, digest [32]byte // of the state after it, as the entry says

	forgotten bool // has left memory; entries above and jobs may still point here
	afloat    bool // not in the tree: its state was taken over, see ahead

	stage    stage
	doubted  bool              // folding it gave another digest once
	fraud    bool              // holds a claim proven false
	falseAt  uint64            // height of the highest false claim from here down; 0: none
	fresh    bool              // whether fresh entries alone can be void: those less than freshDepth below a tip
	reruns   int               // results still under re-run
	decisive []seedlog.Counter // results that decide it, where a leader had to re-run these; nil: not known
	sample   sample

	influence []float64 // how much each of its results moves the model, until this peer has drawn from them; nil: not known

	branch *node // lowest entry of its branch when that was last looked up: see chain.fork
	judged *node // the fork for which parted was last decided
	parted bool  // whether the branch up to here is that of peers who were cut off
	state  *evolve.State
	body   *generation // until the archive has it
}

type peerCredit struct {
	peer Peer
	Credit
	counts uint64   // of the steps, those that weigh: fewer on probation
	first  int      // which of the entry's claims is its first
	chunks []uint32 // by how far below the entry's parent that of the claims lies
	held   heldOut
}

// claimed notes chunks on the entry that lies so many below the parent.
func (credit *peerCredit) claimed(age int, chunks uint64) {
	for len(credit.chunks) <= age {
		credit.chunks = append(credit.chunks, 0)
	}
	credit.chunks[age] += uint32(chunks)
}

func (n *node) parentInfo() seedlog.Parent {
	return seedlog.Parent{Link: n.link, Height: n.height, Term: n.term, Evaluations: n.evaluations, Steps: n.steps, Solved: n.solved, Duration: n.duration, Marks: n.marks, Below: below{n}}
}

// below implements seedlog.Below: it looks up the entries up to a node.
type below struct{ n *node }

// Logged implements seedlog.Below.
func (b below) Logged(on seedlog.Link, peer Peer) (height, chunks uint64, ok bool) {
	to := b.n
	for depth := 0; to.link != on; depth++ {
		if to = to.parent; to == nil || depth == seedlog.MaxStale {
			return 0, 0, false
		}
	}
	for m := b.n; m != to; m = m.parent {
		chunks += m.chunksOf(peer, int(m.height-1-to.height))
	}
	return to.height, chunks, true
}

// chunksOf is how many chunks of a peer on the entry that lies so many below its parent an entry holds.
func (n *node) chunksOf(peer Peer, age int) uint64 {
	if credit := n.creditOf(peer); credit != nil && age < len(credit.chunks) {
		return uint64(credit.chunks[age])
	}
	return 0
}

// creditOf is what an entry holds of a peer; nil: nothing.
func (n *node) creditOf(peer Peer) *peerCredit {
	i, found := slices.BinarySearchFunc(n.credits, peer, func(credit peerCredit, p Peer) int { return credit.peer.Compare(p) })
	if !found {
		return nil
	}
	return &n.credits[i]
}

// stateOf is the entry that a claim in n lies on, if its state is in memory or can be folded again; else nil.
func (c *chain) stateOf(n *node, claim *seedlog.Claim) *node {
	if on := n.parentOf(claim); on != nil && !on.forgotten && on.height >= c.root.height {
		return on
	}
	return nil
}

// parentOf is the entry that a claim in n lies on; nil if it is no longer in memory.
func (n *node) parentOf(claim *seedlog.Claim) *node {
	m := n.parent
	for depth := 0; m != nil && m.link != claim.Parent; depth++ {
		if m = m.parent; depth == seedlog.MaxStale {
			return nil
		}
	}
	return m
}

// newNode builds the node of an entry that passed seedlog.CheckPlace, without hanging it into the tree.
func (c *chain) newNode(parent *node, entry seedlog.CheckedEntry, claims []seedlog.CheckedClaim) *node {
	e, seal := entry.Value(), entry.Seal()
	n := &node{
		link: entry.Link(), parent: parent, height: e.Height, term: e.Term, leader: e.Leader, sealLink: seal.Link(), batches: e.Batches, claims: e.Claims, named: e.NamesClaims(),
		evaluations: parent.evaluations + e.Evaluations, steps: parent.steps + e.Steps,
		theta: [32]byte(e.Theta), digest: [32]byte(e.State), attested: e.Attestations, solved: e.Solved, duration: e.Duration,
	}
	n.best, n.mean = fitnessOf(claims)
	for i, checked := range claims {
		claim, last := checked.Value(), len(n.credits)-1
		if last < 0 || n.credits[last].peer != claim.Peer {
			n.credits = append(n.credits, peerCredit{peer: claim.Peer, first: i})
			last++
		}
		n.credits[last].Evaluations += claim.Evaluations()
		n.credits[last].Steps += claim.TotalSteps()
		if claim.HeldOut() {
			n.credits[last].held.add(claim, uint64(len(claim.Steps))/c.chunk)
			continue
		}
		if c.maxStale == 0 {
			continue
		}
		if on := n.parentOf(claim); on != nil { // far below in memory it may be gone
			n.credits[last].claimed(int(parent.height-on.height), uint64(len(claim.Steps))/c.chunk)
		}
	}
	accounts := c.accountsAt(parent)
	for i := range n.credits {
		credit := &n.credits[i]
		if credit.counts = credit.Steps; !c.trusting {
			credit.counts = accounts.counted(credit.peer, credit.Steps)
		}
	}
	n.weight = parent.weight + c.ownWeight(n)
	c.mark(n)
	n.votes = c.voteWeight(parent, n, seal.Value(), accounts)
	n.mandate = mandateOf(parent, n, seal.Value())
	return n
}

// fitnessOf returns the best and the mean of the valid fitness values of claims of candidates.
func fitnessOf(claims []seedlog.CheckedClaim) (best, mean int64) {
	best = evolve.InvalidFitness
	var count, quotient, rest int64
	claims = slices.DeleteFunc(slices.Clone(claims), func(claim seedlog.CheckedClaim) bool { return claim.Value().HeldOut() })
	for _, claim := range claims {
		for _, f := range claim.Value().Fitness {
			if f != evolve.InvalidFitness {
				count++
			}
			best = max(best, f)
		}
	}
	if count == 0 {
		return best, best
	}
	// Quotients and remainders are added apart, so that the sum cannot overflow.
	for _, claim := range claims {
		for _, f := range claim.Value().Fitness {
			if f != evolve.InvalidFitness {
				quotient += f / count
				rest += f % count
			}
		}
	}
	return best, quotient + rest/count
}

// ownWeight is what the entry itself weighs: its env-steps as they count, without those of known faulty peers, at most
// the spec's limit.
func (c *chain) ownWeight(n *node) uint64 {
	var steps uint64
	for _, credit := range n.credits {
		if !c.faulty[credit.peer] {
			steps += credit.counts
		}
	}
	return min(steps, c.weightSteps)
}

// voteWeight is the voting weight behind the entry's leader: of the seal that opened the term.
func (c *chain) voteWeight(parent, n *node, seal *seedlog.Seal, accounts *accounts) uint64 {
	if len(seal.Votes) == 0 {
		if parent.term == n.term && parent.leader == n.leader {
			return parent.votes
		}
		return 0
	}
	weights := accounts.votes()
	var sum uint64
	for _, v := range seal.Votes {
		sum += weights[v.Voter]
	}
	return sum
}

// mandateOf is the mandate of the entry's leader, as far as the chain shows it.
func mandateOf(parent, n *node, seal *seedlog.Seal) *mandate {
	switch {
	case len(seal.Votes) > 0:
		return &mandate{n.term, n.leader, seal.Votes}
	case parent.term == n.term && parent.leader == n.leader:
		return parent.mandate
	}
	return nil
}

// reweigh recomputes all weights and marks after a faulty peer became known.
func (c *chain) reweigh() {
	c.weightsOf = nil
	stack := []*node{c.root}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if n.parent != nil {
			n.weight = n.parent.weight + c.ownWeight(n)
			if n != c.root {
				c.mark(n)
			}
		}
		stack = append(stack, n.children...)
	}
}

// hang adds n to the tree. It returns another entry that n's leader signed for the same place, or nil.
func (c *chain) hang(n *node) (twin *node) {
	n.falseAt, n.fresh = n.parent.falseAt, n.parent.fresh
	if n.branch = n.parent.branch; c.canonical(n.parent) {
		n.branch = n
	}
	if n.parent.stage == refused {
		n.stage = refused
	}
	for _, sibling := range n.parent.children {
		if sibling.leader == n.leader && sibling.term == n.term {
			twin = sibling
		}
	}
	n.parent.children = append(n.parent.children, n)
	c.nodes[n.link] = n
	if i := slices.Index(c.tips, n.parent); i >= 0 {
		c.tips[i] = n
	} else {
		c.tips = append(c.tips, n)
	}
	return twin
}

// spread applies mark to n and everything above it.
func spread(n *node, mark func(*node)) {
	stack := []*node{n}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = append(stack[:len(stack)-1], n.children...)
		mark(n)
	}
}

// blocks returns all blocks of an entry, as a segment carries them.
func (n *node) blocks(archive Archive) (Generation, bool) {
	if n.body != nil {
		g, _ := n.body.blocks()
		return g, true
	}
	entry, ok := archive.Block(n.link)
	if !ok {
		return Generation{}, false
	}
	return readGeneration(archive, entry, n.sealLink, n.blocksNamed())
}

// blocksNamed lists the blocks that an entry names, in the order in which a segment carries them.
func (n *node) blocksNamed() []seedlog.Link { return slices.Concat(n.batches, n.claims) }

// blocks returns the generation as a segment carries it, and the bytes of what it names.
func (b *generation) blocks() (g Generation, size int) {
	batches := b.entry.Batches()
	g = Generation{Entry: b.entry.Bytes(), Seal: b.entry.Seal().Bytes(), Claims: make([][]byte, 0, len(batches)+len(b.claims))}
	for _, batch := range batches {
		g.Claims = append(g.Claims, batch.Bytes())
		size += len(batch.Bytes())
	}
	for _, claim := range b.claims {
		g.Claims = append(g.Claims, claim.Bytes())
		size += len(claim.Bytes())
	}
	return g, size
}

// readGeneration adds to an entry the blocks that belong to it.
func readGeneration(archive Archive, entry []byte, sealLink seedlog.Link, named []seedlog.Link) (Generation, bool) {
	seal, ok := archive.Block(sealLink)
	if !ok {
		return Generation{}, false
	}
	g := Generation{Entry: entry, Seal: seal, Claims: make([][]byte, len(named))}
	for i := range named {
		if g.Claims[i], ok = archive.Block(named[i]); !ok {
			return Generation{}, false
		}
	}
	return g, true
}
