package coordinator

import (
	"fmt"
	"slices"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// maxLiars bounds the liars that are remembered over a restart.
const maxLiars = 1024

// maxAccusations bounds the proofs that are kept and passed on.
const maxAccusations = 256

// faults are what this peer knows of false claims and of those who made or logged them.
type faults struct {
	peers        map[Peer]bool   // cut off: their work weighs nothing
	disqualified map[Peer]uint64 // leaders that may not lead up to this height
	falseClaims  map[seedlog.Link]bool
	proofs       []Accuse
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

// exposeCounter publishes what the re-run of one counter gave, and acts on it.
func (c *Coordinator) exposeCounter(claim seedlog.CheckedClaim, counter uint64, fitness []int64, steps uint64) {
	if !c.faults.falseClaims[claim.Link()] {
		c.convict(&evidence{claim, c.rules.OwnProof(claim, counter, fitness, steps, c.cfg.Key)})
	}
}

// onAccuse re-runs a proof by somebody else before anything is done about it.
func (c *Coordinator) onAccuse(e *evidence) {
	claim, proof := e.claim.Value(), e.proof.Value()
	parent := c.chain.nodes[claim.Parent]
	if c.faults.falseClaims[e.claim.Link()] || c.faults.peers[proof.Accuser] || parent == nil {
		return
	}
	if !proof.Contradicts(claim) {
		c.brand(proof.Accuser, "accused with a proof that agrees with the claim")
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

// proved decides between the claimant and the accuser.
func (c *Coordinator) proved(j *job, fitness []int64, steps uint64) {
	proof := j.evidence.proof.Value()
	stated, statedSteps := j.claim.Value().At(j.counter)
	switch {
	case !slices.Equal(stated, fitness) || statedSteps != steps:
		c.convict(j.evidence)
		if !slices.Equal(proof.Fitness, fitness) || proof.Steps != steps {
			c.brand(proof.Accuser, "accused a liar with a false re-run")
		}
	default:
		c.brand(proof.Accuser, "sent a false proof")
	}
}

// convict acts on a claim that this peer knows to be false: the entries that hold it are void or weigh less, its peer is
// cut off, a leader that logged it is barred, and others are told.
func (c *Coordinator) convict(e *evidence) {
	claim, link := e.claim.Value(), e.claim.Link()
	if c.faults.falseClaims[link] {
		return
	}
	c.faults.falseClaims[link] = true
	if len(c.faults.proofs) < maxAccusations {
		c.faults.proofs = append(c.faults.proofs, *e.message())
		c.hard.Accusations = append(c.hard.Accusations, [2]seedlog.Link{link, e.proof.Link()})
		c.hardChanged = true
		c.out.Blocks = append(c.out.Blocks, e.claim.Bytes(), e.proof.Bytes())
	}
	c.out.note(NoteFalse, claim.Peer, fmt.Sprintf("claim %s of %s is false", link, claim.Peer.Short()))
	c.out.send(Gossip, Peer{}, e.message())
	if parent := c.chain.nodes[claim.Parent]; parent != nil {
		for _, n := range slices.Clone(parent.children) {
			c.markLie(n)
		}
	}
	c.brand(claim.Peer, "made a false claim")
	if !c.chain.head.usable() {
		c.retreat()
	}
}

// brand marks a peer as a liar for good: its work weighs nothing and it is cut off.
func (c *Coordinator) brand(p Peer, why string) {
	if p == c.self || c.faults.peers[p] {
		return
	}
	c.faults.peers[p] = true
	if len(c.hard.Liars) < maxLiars {
		c.hard.Liars = append(c.hard.Liars, p)
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

// markLie notes whether an entry holds a false claim: no chain may end less than proofDepth above it. The leader that
// logged it did not re-run what it logged, and is barred.
func (c *Coordinator) markLie(n *node) {
	for _, link := range n.claims {
		if !c.faults.falseClaims[link] || n.lie {
			continue
		}
		n.lie = true
		spread(n, func(m *node) {
			if m.lie {
				m.lieAt = m.height
			} else {
				m.lieAt = m.parent.lieAt
			}
		})
		c.disqualify(n.leader, fmt.Sprintf("logged a false claim at height %d", n.height))
		return
	}
}

// retreat moves the head off a voided branch, to the best trusted entry that is left.
func (c *Coordinator) retreat() {
	c.moveHead(bestEnd(c.chain.root, c.chain.tips, func(n *node) bool { return n.stage == trusted }))
}
