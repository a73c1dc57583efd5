package walker2d

import (
	"testing"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/envs/envtest"
	"github.com/evoswarm/evoswarm/envs/mujoco/mujocoenv"
)

func TestConform(t *testing.T) { envtest.Conform(t, Spec, clone) }

func TestGolden(t *testing.T) {
	envtest.GoldenOf(t, Spec, 20)
	envtest.GoldenParams(t, Spec, "Walker2d-v5/params", envs.Params{"forward_reward_weight": 0.5, "healthy_reward": 0.5, "reset_noise_scale": 0.0025, "frame_skip": 3, "mujoco_rules": 2})
}

func TestSteps(t *testing.T) {
	envtest.Steps(t, Spec, "../../testdata/mujoco_Walker2d-v5.jsonl.gz", look, envtest.Nearness{Step: 1e-9, Run: 1e-9})
	envtest.Steps(t, envtest.With(t, Spec, envs.Params{"mujoco_rules": 1}), "../../testdata/mujoco_Walker2d-v5_3.5.jsonl.gz", look, envtest.Nearness{Step: 1e-9, Run: 1e-9})
}

func TestKeywords(t *testing.T) {
	envtest.Keywords(t, Spec, "../../testdata/mujoco_keywords.jsonl.gz", look, envtest.Nearness{Step: 1e-9, Run: 1e-9})
}

func TestStates(t *testing.T) { envtest.States(t, Spec) }

// TestLong takes random steps: the physics never diverges.
func TestLong(t *testing.T) {
	envtest.Long(t, Spec, func(e envs.Env) bool { return !e.(*env).S.Physics.Bad })
}

// TestDiverged ends an episode whose physics diverged.
func TestDiverged(t *testing.T) {
	envtest.Diverged(t, Spec, func(e envs.Env) { e.(*env).S.Physics.Bad = true })
}

func FuzzStep(f *testing.F) {
	f.Add(uint64(1), []byte{0, 1, 2, 3, 255, 7, 9, 200})
	f.Fuzz(func(t *testing.T, seed uint64, data []byte) { envtest.FuzzSteps(t, Spec, seed, data) })
}

func BenchmarkStep(b *testing.B) {
	b.Run(Spec.ID, func(b *testing.B) { envtest.Bench(b, Spec) })
}

type env = mujocoenv.Env[State, *State]

func clone(e envs.Env) envs.Env {
	c := *e.(*env)
	return &c
}

// look returns what the recordings have and the observation rounds or lacks.
func look(e envs.Env) envtest.Look {
	s := &e.(*env).S
	var obs [mostObs]float64
	n := s.view(&obs)
	return envtest.Look{Obs: obs[:n], Contacts: int(s.Physics.Ncon), Rows: int(s.Physics.Nefc)}
}
