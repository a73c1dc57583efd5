package tumble

import (
	"testing"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/envs/envtest"
)

// TestConform checks all that the rest of the module relies on.
func TestConform(t *testing.T) { envtest.Conform(t, Spec, clone) }

func BenchmarkStep(b *testing.B) { envtest.Bench(b, Spec) }

func clone(e envs.Env) envs.Env {
	c := *e.(*staff)
	return &c
}

// The staff falls on the floor and stays there, above it.
func TestFalls(t *testing.T) {
	var s state
	rng := envs.NewStream(1)
	s.reset(&rng)
	low := s.X[2]
	for range 1000 {
		s.step(0, 0)
		low = min(low, s.X[2])
	}
	if low < radius*0.8 || s.X[2] > 2*radius || s.U[2] > 0.5 {
		t.Errorf("it was as low as %v, and lies at %v with direction %v", low, s.X, s.U)
	}
}
