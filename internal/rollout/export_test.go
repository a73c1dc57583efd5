package rollout

import "github.com/evoswarm/evoswarm/internal/evolve"

// RunReturns returns the returns of the episodes of the last Run of n.
func (e *Evaluator) RunReturns(n int) []float64 { return e.returns[:n] }

// Limit returns after how many env-steps an episode of training on s ends.
func Limit(p Plan, s *evolve.State) int { return p.limit(s) }
