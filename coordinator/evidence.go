package coordinator

import (
	"fmt"
	"slices"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// maxFaulty bounds the faulty peers that are remembered over a restart.
const maxFaulty = 1024

// maxProofs bounds the proofs that are kept and passed on.
const maxProofs = 256

// faults are the false claims that this peer knows of, and the peers that made or logged them.
type faults struct {
	peers        map[Peer]bool   // banned: their work weighs nothing
	disqualified map[Peer]uint64 // leaders that may not lead up to this height
	falseClaims  map[seedlog.Link]bool
	proofs       []FraudProof
}

// disqualifiedFor is how many entries a leader that broke a rule may not lead.
const disqualifiedFor = 100

// mayLead reports whether a peer may lead on an entry of a height.
func (f *faults) mayLead(p Peer, height uint64) bool {
	return !f.peers[p] && f.disqualified[p] <= height
}

// expose publishes that a claim is false in counter, given the re-run of the whole claim.
func (c *Coordinator) expose(claim seedlog.CheckedClaim, counter uint64, fitness []int64, steps []uint64) {
	signs := len(fitness) / len(steps)
	i := int(counter - claim.Value().Chunk*uint64(len(steps)))
	c.exposeCounter(claim, counter, fitness[i*signs:(i+1)*signs], steps[i])
}

// exposeCounter publishes a fraud proof: what the re-run of one counter gave.
func (c *Coordinator) exposeCounter(claim seedlog.CheckedClaim, counter uint64, fitness []int64, steps uint64) {
	if !c.faults.falseClaims[claim.Link()] {
		c.accept(&evidence{claim, c.rules.OwnProof(claim, counter, fitness, steps, c.cfg.Key)})
	}
}

// onFraudProof has another peer's proof re-run before it is accepted.
func (c *Coordinator) onFraudProof(e *evidence) {
	claim, proof := e.claim.Value(), e.proof.Value()
	parent := c.chain.nodes[claim.Parent]
	if c.faults.falseClaims[e.claim.Link()] || c.faults.peers[proof.Accuser] || parent == nil {
		return
	}
	if !proof.Contradicts(claim) {
		c.markFaulty(proof.Accuser, "sent a fraud proof that agrees with the claim")
		return
	}
	for _, id := range sortedJobs(c.work.jobs) {
		if j := c.work.jobs[id]; j.kind == jobProof && j.claim.Link() == e.claim.Link() && j.counter == proof.Counter {
			return // under re-run already
		}
	}
	if parent.state == nil && len(c.work.waiting) >= maxWaiting {
		return
	}
	c.issue(&job{kind: jobProof, parent: parent, claim: e.claim, peer: claim.Peer, counter: proof.Counter, evidence: e}, true)
}

// proved decides who is faulty: the author of the claim or the author of the proof.
func (c *Coordinator) proved(j *job, fitness []int64, steps uint64) {
	proof := j.evidence.proof.Value()
	stated, statedSteps := j.claim.Value().At(j.counter)
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
// author is banned, a leader that logged it is disqualified, and the proof is passed on.
func (c *Coordinator) accept(e *evidence) {
	claim, link := e.claim.Value(), e.claim.Link()
	if c.faults.falseClaims[link] {
		return
	}
	c.faults.falseClaims[link] = true
	if len(c.faults.proofs) < maxProofs {
		c.faults.proofs = append(c.faults.proofs, *e.message())
		c.hard.Proofs = append(c.hard.Proofs, [2]seedlog.Link{link, e.proof.Link()})
		c.hardChanged = true
		c.out.Blocks = append(c.out.Blocks, e.claim.RawBlock, e.proof.RawBlock)
	}
	c.out.note(NoteFalse, claim.Peer, fmt.Sprintf("claim %s of %s is false", link, claim.Peer.Short()))
	c.out.send(Gossip, Peer{}, e.message())
	if parent := c.chain.nodes[claim.Parent]; parent != nil {
		for _, n := range slices.Clone(parent.children) {
			c.markFalse(n)
		}
	}
	c.markFaulty(claim.Peer, "made a false claim")
	if !c.chain.head.usable() {
		c.retreat()
	}
}

// markFaulty bans a peer permanently; its work weighs nothing.
func (c *Coordinator) markFaulty(p Peer, why string) {
	if p == c.self || c.faults.peers[p] {
		return
	}
	c.faults.peers[p] = true
	if len(c.hard.Faulty) < maxFaulty {
		c.hard.Faulty = append(c.hard.Faulty, p)
		c.hardChanged = true
	}
	for key, entry := range c.work.pool.claims { //lint:sorted each one on its own
		if key.peer == p {
			delete(c.work.pool.claims, key)
			delete(c.work.pool.links, entry.claim.Link())
		}
	}
	c.chain.reweigh()
	c.ban(p, why)
}

// markFalse notes whether an entry holds a false claim: no chain may end less than proofDepth above it. The leader that
// logged it did not re-run what it logged, and is disqualified.
func (c *Coordinator) markFalse(n *node) {
	for _, link := range n.claims {
		if !c.faults.falseClaims[link] || n.fraud {
			continue
		}
		n.fraud = true
		spread(n, func(m *node) {
			if m.fraud {
				m.falseAt = m.height
			} else {
				m.falseAt = m.parent.falseAt
			}
		})
		c.disqualify(n.leader, fmt.Sprintf("logged a false claim at height %d", n.height))
		return
	}
}

// retreat moves the head from a void branch to the best trusted entry.
func (c *Coordinator) retreat() {
	c.moveHead(bestTip(c.chain.root, c.chain.tips, func(n *node) bool { return n.stage == trusted }))
}
