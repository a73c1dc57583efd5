package lunarlander

import (
	"testing"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/envs/envtest"
)

var specs = []*envs.Spec{Discrete4, Continuous2}

func TestConform(t *testing.T) {
	for _, spec := range specs {
		t.Run(spec.ID, func(t *testing.T) { envtest.Conform(t, spec, clone) })
	}
}

func TestGolden(t *testing.T) {
	for _, spec := range specs {
		envtest.Golden(t, spec)
	}
	envtest.GoldenParams(t, Discrete4, "LunarLander-v3/gravity", envs.Params{"gravity": -3.71})
	envtest.GoldenParams(t, Continuous2, "LunarLanderContinuous-v3/wind", envs.Params{"gravity": -11.5, "enable_wind": 1, "wind_power": 20, "turbulence_power": 0.5})
}

func TestEpisodes(t *testing.T) {
	for _, spec := range specs {
		t.Run(spec.ID, func(t *testing.T) {
			envtest.Episodes(t, spec, "../../testdata", envtest.Likeness{Steps: 100, Obs: 1e-4, Return: 1, SameReturns: 1, SameBits: 1})
		})
	}
}

func BenchmarkStep(b *testing.B) {
	for _, spec := range specs {
		b.Run(spec.ID, func(b *testing.B) { envtest.Bench(b, spec) })
	}
}

func clone(e envs.Env) envs.Env {
	c := *e.(*env)
	return &c
}
