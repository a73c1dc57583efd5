package sim

import (
	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// colluders inflate their own results, and find each other's true when they lead or check.
type colluders struct {
	passive
	forged map[uint64][]rollout.CandidateResult // by the seed of their first perturbation
}

// Evaluate implements Insider.
func (c *colluders) Evaluate(_ *Actor, _ int, w coordinator.Work, results []rollout.CandidateResult) []rollout.CandidateResult {
	if len(w.Task.Seeds) == 0 {
		return results
	}
	if forged := c.forged[w.Task.Seeds[0]]; forged != nil {
		c.deeds++
		return forged[:len(results)]
	}
	if w.Urgent {
		return results
	}
	results[0].Fitness[0] += 1 << 50
	c.forged[w.Task.Seeds[0]] = results
	return results
}
