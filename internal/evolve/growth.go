package evolve

import "github.com/evoswarm/evoswarm/internal/exact"

// growth is by how much the step of the mean grows with a generation. Where more peers evaluate, an update averages
// more results, and its direction is less of a guess; at the step for a few results most of that would be wasted. The
// noise of the mean of n results falls as 1/sqrt(n), so with a step that is sqrt(n) times as long it stays what it was.
//
// Where results are pooled, of k states, it is 1/sqrt(k) of that, the step for a kth of them. Updates that are made
// before the last ones show take the same direction again, so the mean goes too far and swings; k of them go as far as
// one of all their results would. Two states are as good as one, since where nobody waits most results are of the state
// before, and from there to four it is 2/k.
type growth struct {
	population float64
	most       float64
	pooled     bool
}

func newGrowth(size Size) growth {
	return growth{float64(size.Population), float64(size.Growth), size.Pooled}
}

// of is the factor for these results: sqrt(results / population), from 1 to the most, and less where pooled results
// are of more than two states, from 1 / the most on; 1 where no growth is allowed. Bit exact.
func (g growth) of(results []Result) float64 {
	if g.most <= 1 {
		return 1
	}
	grown := min(max(exact.Sqrt(float64(len(results))/g.population), 1), g.most)
	if !g.pooled {
		return grown
	}
	k := states(results)
	return max(float64(grown*min(max(2/k, 1/exact.Sqrt(k)), 1)), 1/g.most)
}

// states is how many states results are of, where each counts by its part of them: the number of results over how many
// of them are of the same state as one of them, on average.
func states(results []Result) float64 {
	squares := 0
	for _, members := range byState(results) {
		squares += len(members) * len(members)
	}
	return float64(len(results)) * float64(len(results)) / float64(squares)
}

// Grows reports whether the step of a strategy grows with Size.Growth.
func Grows(s Strategy) bool {
	_, ok := s.(interface{ grows() })
	return ok
}

func (c *snes) grows() {}
