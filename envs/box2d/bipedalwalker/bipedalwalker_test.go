package bipedalwalker

import (
	"testing"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/envs/envtest"
)

var specs = []*envs.Spec{Plain, Hardcore}

func TestConform(t *testing.T) {
	for _, spec := range specs {
		t.Run(spec.ID, func(t *testing.T) { envtest.Conform(t, spec, clone) })
	}
}

func TestGolden(t *testing.T) {
	for _, spec := range specs {
		envtest.GoldenOf(t, spec, 4)
	}
}

func TestEpisodes(t *testing.T) {
	for _, spec := range specs {
		t.Run(spec.ID, func(t *testing.T) {
			envtest.Episodes(t, spec, "../../testdata", envtest.Likeness{Steps: 50, Obs: 1e-4, Return: 1, SameReturns: 1, SameBits: 1})
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
