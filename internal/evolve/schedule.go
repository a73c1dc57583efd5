package evolve

import "github.com/evoswarm/evoswarm/internal/exact"

// schedule is a value that shrinks by a factor in every generation, down to a
// floor.
type schedule struct{ start, decay, floor float64 }

// at returns max(floor, start * decay^gen), rounded once to float32. Bit exact.
func (s schedule) at(gen uint64) float32 {
	x := s.start
	if s.decay != 1 {
		x = s.start * exact.Pow(s.decay, float64(gen))
	}
	if x < s.floor {
		x = s.floor
	}
	return float32(x)
}
