package sim

import (
	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// colluders inflate the first of their own results, and find each other's true when they lead or check.
type colluders struct {
	passive
	forged map[uint64]rollout.CandidateResult // by the seed of its perturbation
}

// Evaluate implements Insider.
func (c *colluders) Evaluate(_ *Actor, _ int, w coordinator.Work, results []rollout.CandidateResult) []rollout.CandidateResult {
	for i, seed := range w.Task.Seeds {
		if forged, ok := c.forged[seed]; ok {
			c.deeds++
			results[i] = forged
		}
	}
	if len(w.Task.Seeds) == 0 || w.Urgent {
		return results
	}
	if _, ok := c.forged[w.Task.Seeds[0]]; !ok {
		results[0].Fitness[0] += 1 << 50
		c.forged[w.Task.Seeds[0]] = results[0]
	}
	return results
}
