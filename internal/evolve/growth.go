package evolve

import "github.com/evoswarm/evoswarm/internal/exact"

// growth is by how much the step of the mean grows with a generation. Where more peers evaluate, an update averages
// more results, and its direction is less of a guess; at the step for a few results most of that would be wasted. The
// noise of the mean of n results falls as 1/sqrt(n), so with a step that is sqrt(n) times as long it stays what it was.
//
// Where results are pooled n counts those of a state. Updates by results of k states each are made while those before
// have not shown yet, so k of them move the mean by what is known of one place: as far as one of all their results
// would if each is 1/sqrt(k) as long as one of results of a single state.
type growth struct {
	population float64
	most       float64
	pooled     bool
}

func newGrowth(size Size) growth {
	return growth{float64(size.Population), float64(size.Growth), size.Pooled}
}

// of is the factor for these results: sqrt(n / population), from 1 to the most, or from 1 / the most where results are
// pooled; 1 where no growth is allowed. Bit exact.
func (g growth) of(results []Result) float64 {
	if g.most <= 1 {
		return 1
	}
	n, least := float64(len(results)), 1.0
	if g.pooled {
		n, least = ofState(results), 1/g.most
	}
	return min(max(exact.Sqrt(n/g.population), least), g.most)
}

// ofState is how many results the state of a result has, on average over the results.
func ofState(results []Result) float64 {
	squares := 0
	for _, members := range byState(results) {
		squares += len(members) * len(members)
	}
	return float64(squares) / float64(len(results))
}

// Grows reports whether the step of a strategy grows with Size.Growth.
func Grows(s Strategy) bool {
	_, ok := s.(interface{ grows() })
	return ok
}

func (c *snes) grows() {}
