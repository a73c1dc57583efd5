package sim

import (
	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// trueUntil is how long colluders tell the truth: who has no record is found out before anything of it is logged.
const trueUntil coordinator.Tick = 200

// colluders earn a record. Then they inflate the first of their own results, and find each other's true when they lead
// or check.
type colluders struct {
	passive
	forged map[uint64]rollout.CandidateResult // by the seed of its perturbation
	author map[uint64]coordinator.Peer        // which of them may claim a seed
	known  map[origin]bool                    // whose seeds are in author
}

// origin is where a peer's candidates begin: an entry.
type origin struct {
	peer coordinator.Peer
	on   seedlog.Link
}

func newColluders() *colluders {
	return &colluders{forged: make(map[uint64]rollout.CandidateResult), author: make(map[uint64]coordinator.Peer), known: make(map[origin]bool)}
}

// Evaluate implements Insider.
func (c *colluders) Evaluate(a *Actor, node int, w coordinator.Work, results []rollout.CandidateResult) []rollout.CandidateResult {
	for i, seed := range w.Task.Seeds {
		if forged, ok := c.forged[seed]; ok {
			c.deeds++
			results[i] = forged
		}
	}
	if len(w.Task.Seeds) == 0 || a.Now() < trueUntil {
		return results
	}
	self := a.swarm.nodes[node]
	c.learn(a, self)
	if first := w.Task.Seeds[0]; c.author[first] == self.peer {
		if _, ok := c.forged[first]; !ok {
			results[0].Fitness[0] += 1 << 50
			c.forged[first] = results[0]
		}
	}
	return results
}

// learn lists the seeds of what a peer may claim on its newest entries. All else that it evaluates are checks of
// others.
func (c *colluders) learn(a *Actor, n *node) {
	g := a.Rules().Spec.Generation
	for _, on := range n.disk.chain[max(0, len(n.disk.chain)-maxStale-1):] {
		if at := (origin{n.peer, on}); !c.known[at] {
			c.known[at] = true
			for counter := range g.Quota * g.Chunk {
				c.author[a.Rules().Seed(on, n.peer, counter)] = n.peer
			}
		}
	}
}
