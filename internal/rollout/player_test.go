package rollout_test

import (
	"slices"
	"testing"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/presets"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// play runs an episode to its end and returns its steps and return.
func play(p *rollout.Player, s *evolve.State, seed uint64) (steps int, ret float64) {
	p.Start(s, seed)
	for !p.Over() {
		p.Step()
	}
	return p.Steps(), p.Return()
}

// What is played for people is what held-out evaluation counts, in every world, with
// frame skip, normalized observations and batch normalization.
func TestPlayerTwin(t *testing.T) {
	for _, id := range presets.Envs() {
		r := newRun(t, id, "")
		plan := r.plan()
		plan.Episodes.Skip = 3
		plan.Episodes.Observations = &rollout.Observations{Kind: rollout.Frozen, Steps: 500, Clip: 5}
		head := "clip"
		if r.env.Action.Discrete {
			head = "argmax"
		}
		pol, err := policy.New(policy.Spec{Kind: "mlp", Hidden: []uint64{5}, Activation: "tanh", Bias: true, Head: head, VBN: true}, r.env)
		if err != nil {
			t.Fatal(err)
		}
		plan.Policy = pol
		method, _ := evolve.Find("dises")
		params, _ := method.Complete(nil)
		if plan.Strategy, err = method.New(params, evolve.Size{Dim: pol.Dim(), Population: 8}); err != nil {
			t.Fatal(err)
		}
		s := plan.Initial(3)
		p := rollout.NewPlayer(plan)
		for seed := range uint64(3) {
			want := make([]float64, 1)
			wantSteps := rollout.NewEvaluator(plan).Returns(s, []uint64{seed}, want)
			if steps, ret := play(p, s, seed); uint64(steps) != wantSteps || ret != want[0] {
				t.Errorf("%s: got %d steps with return %v, want %d with %v", id, steps, ret, wantSteps, want[0])
			}
		}
	}
}

// Random actions need no policy, differ from seed to seed, and are the same for the same one.
func TestPlayerRandom(t *testing.T) {
	for _, spec := range envs.All() {
		p := rollout.NewPlayer(rollout.Plan{Env: spec})
		if !p.Over() {
			t.Errorf("%s: an episode is under way before the first start", spec.ID)
		}
		var scene, again envs.Scene
		p.Start(nil, 1)
		p.Step()
		p.Draw(&scene)
		if p.Steps() != 1 || len(scene.Shapes) == 0 {
			t.Errorf("%s: %d steps, %d shapes after one", spec.ID, p.Steps(), len(scene.Shapes))
		}
		steps, ret := play(p, nil, 1)
		if n, r := play(rollout.NewPlayer(rollout.Plan{Env: spec}), nil, 1); n != steps || r != ret {
			t.Errorf("%s: got %d steps with return %v, again %d with %v", spec.ID, steps, ret, n, r)
		}
		p.Start(nil, 2)
		p.Step()
		p.Draw(&again)
		if slices.EqualFunc(scene.Shapes, again.Shapes, func(a, b envs.Shape) bool { return slices.Equal(a.Points, b.Points) }) {
			t.Errorf("%s: another seed gives the same picture", spec.ID)
		}
	}
}
