package pendulum

import (
	"testing"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/envs/envtest"
)

func TestConform(t *testing.T) { envtest.Conform(t, Spec, clone) }

func TestGolden(t *testing.T) {
	envtest.Golden(t, Spec)
	envtest.GoldenParams(t, Spec, "Pendulum-v1/g", envs.Params{"g": 9.81})
}

func TestOracle(t *testing.T) {
	envtest.Oracle(t, Spec, "../../testdata", envtest.Tolerance{Step: 1e-14, Episode: 1e-9, EpisodeReward: 1e-9})
}

func BenchmarkStep(b *testing.B) { envtest.Bench(b, Spec) }

func clone(e envs.Env) envs.Env {
	c := *e.(*env)
	return &c
}
