// Package stepgood is step code within the kernel subset.
package stepgood

import (
	"github.com/evoswarm/evoswarm/internal/exact"
	"github.com/evoswarm/evoswarm/internal/noise"
)

// State is flat.
type State struct {
	X, V  float64
	Pool  [4]body
	Count int32
}

type body struct {
	Mass float64
	Next int32
	Live bool
}

const limit = 10

var gears = [3]float64{1, limit / 3.0, -2}

// Reset draws.
func (s *State) Reset(r *noise.Stream) {
	*s = State{}
	s.X = r.UniformIn(-1, 1)
	for i := range s.Pool {
		s.Pool[i] = body{Mass: r.Uniform(), Next: int32(i) + 1}
	}
}

// Step moves.
func (s *State) Step(act []float32, obs []float32) (reward float64, done bool) {
	f := float64(act[0])
	for i := int32(0); i < s.Count; i++ {
		b := &s.Pool[i]
		b.Mass = min(b.Mass, exact.Sqrt(f))
	}
	switch {
	case f > 0:
		s.V += float64(f * gears[1])
	default:
		s.V = clip(s.V)
	}
	copy(obs[:2], act[:2])
	return s.V, len(obs) > limit
}

func clip(x float64) float64 {
	if x > limit {
		return limit
	}
	return x
}
