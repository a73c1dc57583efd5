package evolve

import "github.com/evoswarm/evoswarm/internal/exact"

// growth is by how much the step of the mean grows with a generation. Where more peers evaluate, an update averages
// more results, and its direction is less of a guess; at the step for a few results most of that would be wasted. The
// noise of the mean of n results falls as 1/sqrt(n), so with a step that is sqrt(n) times as long it stays what it was.
type growth struct {
	population float64
	most       float64
}

func newGrowth(size Size) growth { return growth{float64(size.Population), float64(size.Growth)} }

// of is the factor for so many results: sqrt(results / population), from 1 to the most; 1 where no growth is allowed.
// Bit exact.
func (g growth) of(results int) float64 {
	if n := float64(results); g.most > 1 && n > g.population {
		return min(exact.Sqrt(n/g.population), g.most)
	}
	return 1
}

// Grows reports whether the step of a strategy grows with Size.Growth.
func Grows(s Strategy) bool {
	_, ok := s.(interface{ grows() })
	return ok
}

func (c *snes) grows() {}
