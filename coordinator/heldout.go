package coordinator

import (
	"math"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// The best state. Peers have the mean policy of some states play held-out episodes, each as large a part of them as its
// part of the work of late, and claim what that got. The chain says which state is the best; who leads has no say.

// bestChecks is how many results of a state that becomes the best are re-run, by all natives together.
const bestChecks = 8

// heldOut is what an entry holds of a peer's held-out results: of one state, since no other has a place at the time.
type heldOut struct {
	chunks uint64
	tally  seedlog.Tally
}

func (h *heldOut) add(claim *seedlog.Claim, chunks uint64) {
	h.chunks += chunks
	h.tally = h.tally.Plus(seedlog.TallyOf(claim))
}

// workShares are what says how many held-out results of a state each peer may have: the work of the entries up to it.
type workShares struct {
	steps map[Peer]uint64
	all   uint64 // 0: some of these entries are not here
}

// sharesAt counts the work up to n, once.
func sharesAt(n *node) *workShares {
	if n.shares != nil {
		return n.shares
	}
	s := &workShares{steps: make(map[Peer]uint64)}
	m, whole := n, false
	for count := 0; m.parent != nil && count < seedlog.ShareEntries; count++ {
		for _, credit := range m.credits {
			s.steps[credit.peer] += credit.Steps
			s.all += credit.Steps
		}
		m = m.parent
		whole = count+1 == seedlog.ShareEntries
	}
	if !whole && m.height > 0 {
		s = &workShares{}
	}
	n.shares = s
	return s
}

// HeldOut implements seedlog.Below.
func (b below) HeldOut(on seedlog.Link, peer Peer) (chunks, steps, all uint64) {
	to := b.n
	for depth := 0; to.link != on; depth++ {
		if to = to.parent; to == nil || depth == seedlog.MaxStale {
			return 0, 0, 0
		}
	}
	for m := b.n; m != to; m = m.parent {
		if credit := m.creditOf(peer); credit != nil {
			chunks += credit.held.chunks
		}
	}
	s := sharesAt(to)
	return chunks, s.steps[peer], s.all
}

// heldOutPlace is where the next held-out chunk of a peer belongs on the state that a claim names; false if the claim
// has no place in the next entry.
func (c *Coordinator) heldOutPlace(claim *seedlog.Claim) (next uint64, ok bool) {
	if on := c.chain.nodes[claim.Parent]; !c.rules.Evaluated(on.height) {
		return 0, false
	}
	logged, steps, all := below{c.chain.head}.HeldOut(claim.Parent, claim.Peer)
	first, most := claim.Chunk-seedlog.FirstHeldOut, c.rules.HeldOutChunks(claim.Parent, claim.Peer, steps, all)
	return seedlog.FirstHeldOut + logged, first >= logged && first < most && c.rules.Chunks(claim) <= most-first
}

// of is where the first chunk of a claim's kind has its place.
func (k poolKey) of(claim *seedlog.Claim) poolKey {
	if k.chunk = 0; claim.HeldOut() {
		k.chunk = seedlog.FirstHeldOut
	}
	return k
}

// mark gives n the marks that follow from those below. What peers claim that are known to be faulty counts for nothing.
func (c *chain) mark(n *node) {
	var held seedlog.Tally
	for _, credit := range n.credits {
		if !c.faulty[credit.peer] {
			held = held.Plus(credit.held.tally)
		}
	}
	n.marks = c.rules.Mark(n.height, n.parent.marks, held)
}

// ownHeld is how far this peer is with its held-out episodes.
type ownHeld struct {
	on         seedlog.Link // the state
	next, most uint64       // chunks
}

// issueHeldOut has this peer's part of the held-out episodes of the newest state that is evaluated played, before
// candidates: claims on it have a place in a few entries only.
func (c *Coordinator) issueHeldOut() {
	height := c.rules.EvaluatedBelow(c.chain.head.height)
	if height == 0 || c.work.paused || !c.trusts(c.self) || c.ended() != seedlog.Open || c.joining() && !c.ahead.led {
		return
	}
	on, h := c.chain.canonAt(height), &c.work.held
	if on == nil || !c.soonEnough(on) {
		return
	}
	if h.on != on.link {
		logged, steps, all := below{c.chain.head}.HeldOut(on.link, c.self)
		*h = ownHeld{on.link, logged, c.rules.HeldOutChunks(on.link, c.self, steps, all)}
	}
	for h.next < h.most && c.takesOwn() {
		k := seedlog.FirstHeldOut + h.next
		if p := c.work.pool.get(poolKey{c.self, on.link, k}); p != nil {
			h.next += c.rules.Chunks(p.claim.Value())
			continue
		}
		h.next = c.issueClaim(on, k, seedlog.FirstHeldOut+h.most) - seedlog.FirstHeldOut
	}
}

// soonEnough reports whether held-out episodes of n that begin now are likely to have a place.
func (c *Coordinator) soonEnough(n *node) bool {
	newest := c.chain.head.height
	if c.ahead.led {
		newest = max(newest, c.ahead.on.height)
	}
	return n.height+c.chain.maxStale/2 >= newest
}

// checkBest has results re-run of a state that became the best with one of these entries: they decide what people see.
// They are drawn in secret, each as often as it lifts the mean: by how far it lies above the lowest.
func (c *Coordinator) checkBest(come []*node) {
	if c.rules.Spec.Best == nil || c.rules.Spec.SpotChecks == nil || c.cfg.Audit == 0 || c.quiet {
		return
	}
	for _, n := range come {
		if best := n.marks.Best; best != n.parent.marks.Best && n.height+c.chain.maxStale >= c.chain.head.height {
			c.checkScore(n, best.Height)
		}
	}
}

// checkScore re-runs this peer's part of bestChecks results of a state whose held-out results the entries up to n hold.
func (c *Coordinator) checkScore(n *node, height uint64) {
	var claims []seedlog.CheckedClaim
	for m := n; m.height > height; m = m.parent {
		for _, claim := range m.body.claimsOf(c, m) {
			if claim.Value().HeldOut() {
				claims = append(claims, claim)
			}
		}
	}
	if len(claims) == 0 {
		return // their blocks are still on their way to the disk
	}
	weights := lifts(claims)
	for range c.lot(bestChecks, uint64(c.natives())) {
		d := resultAt(claims, c.heavy(weights))
		claim := claims[d.claim]
		v := claim.Value()
		if on := c.chain.stateOf(n, v); on != nil && v.Peer != c.self && !c.faults.falseClaims[claim.Link()] {
			c.issue(&job{kind: jobSpot, parent: on, claim: claim, peer: v.Peer, counter: c.rules.First(v) + uint64(d.result)}, false)
		}
	}
}

// lifts is how far each result lies above the lowest one, and a little more, so that equal ones are drawn alike.
func lifts(claims []seedlog.CheckedClaim) (weights []float64) {
	lowest := int64(math.MaxInt64)
	for _, claim := range claims {
		for _, f := range claim.Value().Fitness {
			lowest = min(lowest, f)
		}
	}
	for _, claim := range claims {
		for _, f := range claim.Value().Fitness {
			weights = append(weights, 1+float64(f)-float64(lowest))
		}
	}
	return weights
}

// finest is the best state that this peer keeps in memory.
type finest struct {
	height uint64
	on     seedlog.Link
	state  *evolve.State
}

// keepBest keeps the best state once it is known to be that.
func (c *Coordinator) keepBest() {
	best := c.chain.head.marks.Best
	if best.Height == 0 {
		c.finest = finest{}
		return
	}
	if n := c.chain.canonAt(best.Height); n != nil && n.link != c.finest.on {
		c.finest = finest{}
		if n.state != nil {
			c.finest = finest{best.Height, n.link, n.state}
		}
	}
}

// bestWanted is the entry whose state is the best one if that is to be folded again; nil: it is here, or too deep.
func (c *Coordinator) bestWanted() *node {
	best := c.chain.head.marks.Best
	if n := c.chain.canonAt(best.Height); best.Height > 0 && n != nil && n.state == nil && n.link != c.finest.on {
		return n
	}
	return nil
}

// bestModel is the best state; nil: it is not in memory.
func (c *Coordinator) bestModel() *evolve.State {
	if best := c.chain.head.marks.Best; best.Height == 0 || best.Height != c.finest.height {
		return nil
	}
	return c.finest.state
}

// bestAt is the best state up to a canonical entry, or up to the head if that has left memory.
func (c *chain) bestAt(height uint64) seedlog.Best {
	if n := c.canonAt(height); n != nil {
		return n.marks.Best
	}
	return c.head.marks.Best
}

// raiseBest makes a state the best one of all entries here above it that know of no better: it lies below the base,
// where the chain begins.
func (c *Coordinator) raiseBest(best seedlog.Best) {
	raise := func(n *node) {
		if own := n.marks.Best; best.Height > 0 && best.Height+c.chain.maxStale < n.height && (own.Height == 0 || best.Score >= own.Score) {
			n.marks.Best = best
		}
	}
	spread(c.chain.root, raise)
}

// lacksHeldOut reports whether the head's state is evaluated and results of it are still to come.
func (c *Coordinator) lacksHeldOut() bool {
	if !c.rules.Evaluated(c.chain.head.height) {
		return false
	}
	results := uint64(0)
	for p := range c.work.pool.all {
		if claim := p.claim.Value(); claim.HeldOut() && p.ready() {
			results += claim.Evaluations()
		}
	}
	return 4*results < 3*c.rules.Spec.Best.Results // shares are rounded by lot
}
