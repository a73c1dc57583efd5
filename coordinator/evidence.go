package coordinator

import (
	"fmt"
	"slices"

	"github.com/evoswarm/evoswarm/internal/fair"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

const (
	// maxFaulty bounds the faulty peers that are remembered; those with a record have half of it at least.
	maxFaulty = 1024
	// maxProofs bounds the false claims that are known, with their proofs; each leader that logged some, and each
	// accuser of others, has a fair share.
	maxProofs = 256
	// maxDisqualified bounds the leaders without a record that may not lead.
	maxDisqualified = 1024
	// maxPending bounds the proofs that wait to be re-run; each accuser with a record has a fair share, and all others
	// together that of one.
	maxPending = 256
	// maxProofRuns bounds the proofs under re-run.
	maxProofRuns = 8
	// proofFold is how many entries are folded again at most for a proof against a claim whose parent's state is gone,
	// and proofFoldTicks in which time one such entry is paid for.
	proofFold      = 64
	proofFoldTicks = 16
	// maxPublishing bounds the proofs that wait to be published.
	maxPublishing = 64
)

// faults are the false claims that this peer knows of, and the peers that made or logged them.
type faults struct {
	peers        map[Peer]bool   // banned: their work weighs nothing
	disqualified map[Peer]uint64 // leaders that may not lead up to this height
	falseClaims  map[seedlog.Link]bool
	proofs       []FraudProof // of all of them, oldest first

	order      *fair.Table[Peer, bool, struct{}]            // peers, by whether they have a record
	kept       *fair.Table[seedlog.Link, proofSource, kept] // falseClaims
	pending    *fair.Table[proofKey, Peer, *evidence]       // not re-run yet
	folding    *fair.Budget[Peer]                           // of entries folded for proofs, by accuser
	publishing []publication
	doubles    []*double                              // at most maxDoubles, of one key and kind each, oldest first
	ballots    *fair.Table[ballotKey, Peer, seenVote] // votes that were seen, by voter
	newcomers  *fair.Budget[newcomerProof]            // of proofs that newcomers' claims are false
}

// kept is a proof that this peer verified.
type kept struct {
	FraudProof
	links [2]seedlog.Link
}

// proofSource is what shares of the proofs are counted by.
type proofSource struct {
	logged bool
	peer   Peer // that logged the claim, or found it false
}

// proofKey names a proof that waits: of several against one claim only one may be right.
type proofKey struct {
	claim   seedlog.Link
	accuser Peer
}

// publication is a proof that this peer found and will publish, unless it hears it before.
type publication struct {
	at    Tick
	claim seedlog.Link
	proof *FraudProof
}

func newFaults() faults {
	return faults{
		peers: make(map[Peer]bool), disqualified: make(map[Peer]uint64), falseClaims: make(map[seedlog.Link]bool),
		order:     fair.NewTable[Peer, bool, struct{}](maxFaulty),
		kept:      fair.NewTable[seedlog.Link, proofSource, kept](maxProofs),
		pending:   fair.NewTable[proofKey, Peer, *evidence](maxPending).KeepOldest(),
		folding:   fair.NewBudget[Peer](1, proofFold*proofFoldTicks, maxPending),
		ballots:   fair.NewTable[ballotKey, Peer, seenVote](maxBallots),
		newcomers: fair.NewBudget[newcomerProof](1, newcomerProofs*newcomerProofTicks, 1),
	}
}

// keep remembers a proof, and forgets another where there are too many.
func (f *faults) keep(m FraudProof, links [2]seedlog.Link, from proofSource) {
	f.falseClaims[links[0]] = true
	for _, l := range f.kept.Put(links[0], from, 1, kept{m, links}) {
		delete(f.falseClaims, l.Key)
	}
	f.proofs = f.proofs[:0:0]
	for _, k := range f.kept.All() {
		f.proofs = append(f.proofs, k.FraudProof)
	}
}

// newcomerProof is what all proofs against newcomers are charged to.
type newcomerProof struct{}

const (
	// newcomerProofTicks is the time in which one proof against a newcomer may be published.
	newcomerProofTicks = 16
	// newcomerProofs is how many may be at once.
	newcomerProofs = 4
)

// disqualifiedFor is how many entries a leader that broke a rule may not lead.
const disqualifiedFor = 100

// mayLead reports whether a peer may lead on an entry of a height.
func (f *faults) mayLead(p Peer, height uint64) bool {
	return !f.peers[p] && f.disqualified[p] <= height
}

// expose publishes that a claim is false in counter, given the re-run of the whole claim.
func (c *Coordinator) expose(claim seedlog.CheckedClaim, counter uint64, fitness []int64, steps []uint64, within Tick) {
	signs := len(fitness) / len(steps)
	i := int(counter - c.rules.First(claim.Value()))
	c.exposeCounter(claim, counter, fitness[i*signs:(i+1)*signs], steps[i], within)
}

// exposeCounter publishes a fraud proof: what the re-run of one counter gave. It waits for up to so many ticks, by lot,
// whether another peer does.
func (c *Coordinator) exposeCounter(claim seedlog.CheckedClaim, counter uint64, fitness []int64, steps uint64, within Tick) {
	if c.faults.falseClaims[claim.Link()] {
		return
	}
	e := &evidence{claim, c.rules.OwnProof(claim, counter, fitness, steps, c.cfg.Key)}
	c.faults.publishing = append(c.faults.publishing, publication{c.now + Tick(c.draw.Uint64()%uint64(within+1)), claim.Link(), e.message()})
	if n := len(c.faults.publishing); n > maxPublishing {
		c.faults.publishing = c.faults.publishing[n-maxPublishing:]
	}
	c.accept(e)
}

// lotOf is the time over which so many in 1,024 of the natives, who find the same lie at the same time, spread their
// proofs: with a heartbeat for each beyond the third, two or three of them publish before they hear of each other.
func (c *Coordinator) lotOf(share int) Tick {
	return Tick(max(0, c.natives()*share/1024-3)) * c.cfg.Timing.Heartbeat
}

// natives is how many natives are here, this peer included.
func (c *Coordinator) natives() int {
	natives := 1
	for _, h := range c.members.heard {
		if h.Kind == Native && c.lately(h) {
			natives++
		}
	}
	return natives
}

// publish sends the proofs whose time has come.
func (c *Coordinator) publish() {
	c.faults.publishing = slices.DeleteFunc(c.faults.publishing, func(p publication) bool {
		if c.now < p.at {
			return false
		}
		c.out.send(Gossip, Peer{}, p.proof)
		return true
	})
}

// onFraudProof takes another peer's proof, to be re-run before it is accepted. Keys are free, so an accuser needs a
// record, or the claim is in an entry.
func (c *Coordinator) onFraudProof(e *evidence) {
	claim, proof := e.claim.Value(), e.proof.Value()
	known := c.known(proof.Accuser)
	if known && c.faults.falseClaims[e.claim.Link()] && c.rules.Contradicts(proof, claim) {
		c.faults.publishing = slices.DeleteFunc(c.faults.publishing, func(p publication) bool { return p.claim == e.claim.Link() })
	}
	parent := c.chain.nodes[claim.Parent]
	if c.faults.falseClaims[e.claim.Link()] || c.faults.peers[proof.Accuser] || parent == nil {
		return
	}
	if !known && c.logger(e.claim) == nil {
		return
	}
	if c.faults.peers[claim.Peer] && !c.vouchedFor(e.claim) {
		return // it is known to be faulty already
	}
	if !c.rules.Contradicts(proof, claim) {
		c.markFaulty(proof.Accuser, "sent a fraud proof that agrees with the claim")
		return
	}
	from := proof.Accuser
	if !known {
		from = Peer{}
	}
	c.faults.pending.Put(proofKey{e.claim.Link(), proof.Accuser}, from, 1, e)
}

// logger is an entry that holds a claim; nil if none does.
func (c *Coordinator) logger(claim seedlog.CheckedClaim) *node {
	if parent := c.chain.nodes[claim.Value().Parent]; parent != nil {
		for _, n := range c.chain.mayHold(parent) {
			if slices.Contains(n.claims, claim.Link()) {
				return n
			}
		}
	}
	return nil
}

// vouchedFor reports whether somebody answers for a claim besides its author: who attested it, or the leader that
// logged it. Where leaders re-run all claims they do for each.
func (c *Coordinator) vouchedFor(claim seedlog.CheckedClaim) bool {
	if c.rules.Spec.SpotChecks == nil || c.chain.maxStale == 0 {
		return true
	}
	n := c.logger(claim)
	return n != nil && c.answered(n, claim)
}

// answered reports whether somebody else than its author answers for a claim that n holds, in format 2.
func (c *Coordinator) answered(n *node, claim seedlog.CheckedClaim) bool {
	if _, attested := c.answers(n, claim.Link()); attested {
		return true
	}
	return c.answersLeader(n, claim.Link(), claim.Value().Peer)
}

// answersLeader reports whether the leader of n answers for a claim there: it is the first one of a key without work in
// the entries below, and nobody attests it.
func (c *Coordinator) answersLeader(n *node, link seedlog.Link, author Peer) bool {
	credit := n.creditOf(author)
	_, attested := c.answers(n, link)
	return !attested && credit != nil && n.claims[credit.first] == link && c.chain.accountsAt(n.parent).of[author].entries == 0
}

// mayHold lists the entries that may hold claims on n: those above it, as far up as claims may lie back.
func (c *chain) mayHold(n *node) []*node {
	list := slices.Clone(n.children)
	for i := 0; i < len(list); i++ {
		if list[i].height-n.height <= c.maxStale {
			list = append(list, list[i].children...)
		}
	}
	return list
}

// issueProofs has proofs re-run that wait: few at a time, one for each claim. A state that is gone is folded again
// within a budget of the accuser; one that was never here comes by itself if the branch is any good.
func (c *Coordinator) issueProofs() {
	if c.faults.pending.Len() == 0 {
		return
	}
	running, folding := make(map[seedlog.Link]bool), false
	for _, j := range c.work.jobs { //lint:sorted each one on its own
		if j.kind == jobProof {
			running[j.claim.Link()] = true
			folding = folding || j.parent.state == nil
		}
	}
	for key, e := range c.faults.pending.All() {
		claim, proof := e.claim.Value(), e.proof.Value()
		parent := c.chain.nodes[claim.Parent]
		if parent == nil || c.faults.falseClaims[key.claim] || c.faults.peers[key.accuser] || c.faults.peers[claim.Peer] && !c.vouchedFor(e.claim) {
			c.faults.pending.Delete(key)
			continue
		}
		if running[key.claim] || len(running) >= maxProofRuns || parent.state == nil && (folding || parent.stage == linked) {
			continue
		}
		from, _ := c.faults.pending.Source(key)
		if parent.state == nil {
			cost := uint64(len(unfolded(parent)))
			if cost == 0 || cost > proofFold || !c.faults.folding.Take(uint64(c.now), from, cost*proofFoldTicks) {
				c.faults.pending.Delete(key)
				continue
			}
			folding = true
		}
		c.faults.pending.Delete(key)
		running[key.claim] = true
		c.issue(&job{kind: jobProof, parent: parent, claim: e.claim, peer: claim.Peer, counter: proof.Counter, evidence: e}, true)
	}
}

// proved decides who is faulty: the author of the claim or the author of the proof.
func (c *Coordinator) proved(j *job, fitness []int64, steps uint64) {
	proof := j.evidence.proof.Value()
	stated, statedSteps := c.rules.At(j.claim.Value(), j.counter)
	switch {
	case !slices.Equal(stated, fitness) || statedSteps != steps:
		c.accept(j.evidence)
		if !slices.Equal(proof.Fitness, fitness) || proof.Steps != steps {
			c.markFaulty(proof.Accuser, "sent a fraud proof with a false re-run")
		}
	default:
		c.markFaulty(proof.Accuser, "sent a fraud proof against a true claim")
	}
}

// accept takes evidence that this peer has verified: entries with the false claim are void or weigh less, its
// author is banned, a leader that logged it is disqualified, and the proof is kept for those who join.
func (c *Coordinator) accept(e *evidence) {
	claim, link := e.claim.Value(), e.claim.Link()
	if c.faults.falseClaims[link] {
		return
	}
	from := proofSource{peer: e.proof.Value().Accuser}
	if n := c.logger(e.claim); n != nil {
		from = proofSource{true, n.leader}
	}
	c.faults.keep(*e.message(), [2]seedlog.Link{link, e.proof.Link()}, from)
	c.hard.Proofs = nil
	for _, k := range c.faults.kept.All() {
		c.hard.Proofs = append(c.hard.Proofs, k.links)
	}
	c.hardChanged = true
	c.out.Blocks = append(c.out.Blocks, e.claim.RawBlock, e.proof.RawBlock)
	c.out.note(NoteFalse, claim.Peer, fmt.Sprintf("claim %s of %s is false", link, claim.Peer.Short()))
	if parent := c.chain.nodes[claim.Parent]; parent != nil {
		for _, n := range c.chain.mayHold(parent) {
			c.markFalse(n)
		}
	}
	c.markFaulty(claim.Peer, "made a false claim")
	if !c.chain.head.usable() {
		c.retreat()
	}
}

// markFaulty bans a peer permanently; its work weighs nothing. One without a record is not remembered over a restart:
// there is nothing of it that could weigh.
func (c *Coordinator) markFaulty(p Peer, why string) {
	if p == c.self || c.faults.peers[p] {
		return
	}
	recorded := c.chain.credits[p] != (Credit{}) || c.chain.weights()[p] > 0
	c.faults.peers[p] = true
	forgiven := false
	for _, l := range c.faults.order.Put(p, recorded, 1, struct{}{}) {
		delete(c.faults.peers, l.Key)
		forgiven = forgiven || l.Source
	}
	if recorded {
		c.hard.Faulty = nil
		for known := range c.faults.order.Of(true) {
			c.hard.Faulty = append(c.hard.Faulty, known)
		}
		c.hardChanged = true
	}
	c.dropClaims(p)
	c.dropDrawn(p)
	c.distrust(p)
	c.suspect(p)
	if recorded || forgiven || len(c.chain.tips) > 1 {
		c.chain.reweigh()
	}
	c.ban(p, why)
}

// markFalse notes whether an entry holds a false claim that its leader should have found: no chain may end less than
// proofDepth above it, or freshDepth. The leader did not re-run what it logged, and is disqualified. Where it answers
// for few claims alone, that costs its key: else who logs lies of free keys could have the work on top of them undone
// again and again.
func (c *Coordinator) markFalse(n *node) {
	for _, link := range n.claims {
		if !c.faults.falseClaims[link] {
			continue
		}
		c.markAttester(n, link)
		if n.fraud || !c.blamed(n, link) {
			continue
		}
		c.void(n)
		why := fmt.Sprintf("logged a false claim at height %d", n.height)
		if c.disqualify(n.leader, why); c.chain.maxStale > 0 {
			c.markFaulty(n.leader, why)
		}
	}
}

// void has no chain end less than proofDepth, or freshDepth, above n.
func (c *Coordinator) void(n *node) {
	n.fraud = true
	spread(n, func(m *node) {
		if m.fraud {
			m.falseAt = m.height
		} else {
			m.falseAt = m.parent.falseAt
		}
	})
}

// retreat moves the head down from a void branch to an entry that may end a chain.
func (c *Coordinator) retreat() {
	n := c.chain.head
	for !n.usable() {
		n = n.parent
	}
	c.moveHead(n)
}
