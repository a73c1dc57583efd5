package evolve

import "github.com/evoswarm/evoswarm/internal/exact"

// Influence returns how much each result moves the model, as far as results differ in that: multiples of one unknown
// number, none below 0. It is nil where nothing moves, or where s takes no results of other states: there [Strategy]'s
// Decisive says what decides. Bit exact.
func Influence(s Strategy, results []Result) []float64 {
	t, ok := s.(interface{ influence([]Result) []float64 })
	if !ok || !TakesStale(s) {
		return nil
	}
	weights, moves := t.influence(results), false
	for i, w := range weights {
		weights[i] = exact.Abs(w)
		moves = moves || w != 0
	}
	if !moves {
		return nil
	}
	return weights
}

func (o *openaiES) influence(results []Result) []float64 {
	weights, _ := o.weights(results)
	return weights
}

// influence: the utility, of which all results of a state have the same subtracted. What ranks low has next to none,
// true or not: who claims less than he got only loses it.
func (c *snes) influence(results []Result) []float64 {
	if !informative(results) {
		return nil
	}
	weights, least := nesByState(results, c.pooled), 0.0
	for _, w := range weights {
		least = min(least, w)
	}
	for i, w := range weights {
		if w != 0 { // else it is alone on its state
			weights[i] = w - least
		}
	}
	return weights
}

func (d *dises) influence(results []Result) []float64 { return d.weights(results) }

// influence: what moves the model, and what moves the standard deviations.
func (g *pgpe) influence(results []Result) []float64 {
	if !valid(results, true) {
		return nil
	}
	both, mean, _ := g.weights(results)
	for i := range both {
		both[i] = exact.Abs(both[i]) + exact.Abs(mean[i])
	}
	return both
}
