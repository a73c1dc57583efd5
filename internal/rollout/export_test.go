package rollout

// RunReturns returns the returns of the episodes of the last Run of n.
func (e *Evaluator) RunReturns(n int) []float64 { return e.returns[:n] }
