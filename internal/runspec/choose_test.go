package runspec

import (
	"math"
	"reflect"
	"testing"

	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

func TestPolicyOptions(t *testing.T) {
	linear := policy.Spec{Kind: "linear", Hidden: []uint64{}, Head: "clip"}
	mlp := policy.Spec{Kind: "mlp", Hidden: []uint64{8}, Activation: "relu", Bias: true, Head: "bins", Bins: 5}
	for _, tt := range []struct {
		name string
		from policy.Spec
		ask  Policy
		want policy.Spec
	}{
		{"nothing", linear, Policy{}, linear},
		{"nothing of an mlp", mlp, Policy{}, mlp},
		{"hidden layers", linear, Policy{Hidden: []uint64{64, 64}}, policy.Spec{Kind: "mlp", Hidden: []uint64{64, 64}, Activation: "tanh", Bias: true, Head: "clip"}},
		{"mlp", linear, Policy{Kind: "mlp", Bias: new(false)}, policy.Spec{Kind: "mlp", Hidden: []uint64{16}, Activation: "tanh", Head: "clip"}},
		{"bins", linear, Policy{Bins: 7}, policy.Spec{Kind: "linear", Hidden: []uint64{}, Head: "bins", Bins: 7}},
		{"head of bins", linear, Policy{Head: "bins", Bias: new(true)}, policy.Spec{Kind: "linear", Hidden: []uint64{}, Bias: true, Head: "bins", Bins: 10}},
		{"linear", mlp, Policy{Kind: "linear", Head: "clip"}, policy.Spec{Kind: "linear", Hidden: []uint64{}, Bias: true, Head: "clip"}},
		{"vbn", linear, Policy{Hidden: []uint64{4}, VBN: new(true)}, policy.Spec{Kind: "mlp", Hidden: []uint64{4}, Activation: "tanh", Bias: true, Head: "clip", VBN: true}},
		{"other layers", mlp, Policy{Hidden: []uint64{3}, Activation: "tanh"}, policy.Spec{Kind: "mlp", Hidden: []uint64{3}, Activation: "tanh", Bias: true, Head: "bins", Bins: 5}},
	} {
		if got := tt.ask.choose(tt.from); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: got %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

func TestSpecOptionsReachTheSpec(t *testing.T) {
	spec, err := NewSpec(Options{
		Env: "Pendulum-v1", Strategy: "dises", Population: 24,
		Policy: Policy{Hidden: []uint64{5}, Activation: "relu", Bins: 3}, Episodes: 3, Shared: new(false), Chunk: 7, Every: 4, Validate: 9,
		ActionNoise: new(0.5), Bonus: new(0.25), Penalty: new(2.0), Cap: new(3.0), Skip: 4, Observations: rollout.Observations{Kind: rollout.Running},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := policy.Spec{Kind: "mlp", Hidden: []uint64{5}, Activation: "relu", Bias: true, Head: "bins", Bins: 3}
	if !reflect.DeepEqual(spec.Policy, want) {
		t.Errorf("got policy %+v, want %+v", spec.Policy, want)
	}
	e, g, c := spec.Episodes, spec.Generation, spec.Checks
	if e.Count != 3 || e.Shared || g.Chunk != 6 || g.Evaluations != 24 || c.Every != 4 || c.Validate != 9 || c.Test != testEpisodes {
		t.Errorf("got %+v, %+v, %+v", e, g, c)
	}
	if want := (rollout.Conditions{ActionNoise: 0.5, Bonus: 0.25, Penalty: 2, Cap: 3, Skip: 4}); e.Conditions != want {
		t.Errorf("got %+v, want %+v", e.Conditions, want)
	}
	if want := (rollout.Observations{Kind: rollout.Running, Episodes: 1, Clip: 10}); spec.Observations == nil || *spec.Observations != want {
		t.Errorf("got %+v, want %+v", spec.Observations, want)
	}
	for name, o := range map[string]Options{
		"noise":          {Env: "CartPole-v1", ActionNoise: new(0.5)},
		"skip":           {Env: "CartPole-v1", Skip: 1 << 40},
		"bonus":          {Env: "CartPole-v1", Bonus: new(math.NaN())},
		"cap":            {Env: "CartPole-v1", Cap: new(-1.0)},
		"kind":           {Env: "CartPole-v1", Observations: rollout.Observations{Kind: "sliding"}},
		"clip alone":     {Env: "CartPole-v1", Observations: rollout.Observations{Clip: 5}},
		"steps":          {Env: "CartPole-v1", Observations: rollout.Observations{Kind: rollout.Frozen, Steps: 1 << 50}},
		"vbn":            {Env: "CartPole-v1", Policy: Policy{VBN: new(true)}},
		"discrete head":  {Env: "CartPole-v1", Policy: Policy{Head: "clip"}},
		"wide layer":     {Env: "CartPole-v1", Policy: Policy{Hidden: []uint64{1 << 40}}},
		"kind of policy": {Env: "CartPole-v1", Policy: Policy{Kind: "transformer"}},
		"episodes":       {Env: "CartPole-v1", Episodes: 1 << 40},
		"every":          {Env: "CartPole-v1", Every: 1 << 40},
		"validate":       {Env: "CartPole-v1", Validate: 1 << 40},
	} {
		if spec, err := NewSpec(o); err == nil {
			t.Errorf("%s: got %+v, want an error", name, spec)
		}
	}
}

func TestObservationOptions(t *testing.T) {
	frozen := &rollout.Observations{Kind: rollout.Frozen, Steps: 77, Clip: 3}
	for name, tt := range map[string]struct {
		preset *rollout.Observations
		ask    rollout.Observations
		want   *rollout.Observations
	}{
		"nothing":           {nil, rollout.Observations{}, nil},
		"the preset's":      {frozen, rollout.Observations{}, frozen},
		"none":              {frozen, rollout.Observations{Kind: NoObservations}, nil},
		"frozen":            {nil, rollout.Observations{Kind: rollout.Frozen}, &rollout.Observations{Kind: rollout.Frozen, Steps: 10_000, Clip: 10}},
		"running":           {frozen, rollout.Observations{Kind: rollout.Running}, &rollout.Observations{Kind: rollout.Running, Episodes: 1, Clip: 10}},
		"another clip":      {frozen, rollout.Observations{Clip: 5}, &rollout.Observations{Kind: rollout.Frozen, Steps: 77, Clip: 5}},
		"more episodes":     {nil, rollout.Observations{Kind: rollout.Running, Episodes: 4, Clip: 1}, &rollout.Observations{Kind: rollout.Running, Episodes: 4, Clip: 1}},
		"a clip of no kind": {nil, rollout.Observations{Clip: 5}, &rollout.Observations{Clip: 5}}, // refused by Check
	} {
		if got := chooseObservations(tt.preset, tt.ask); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: got %+v, want %+v", name, got, tt.want)
		}
	}
}
