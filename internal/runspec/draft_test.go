package runspec

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/presets"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

func TestPolicySettings(t *testing.T) {
	linear := policy.Spec{Kind: "linear", Hidden: []uint64{}, Head: "clip"}
	mlp := policy.Spec{Kind: "mlp", Hidden: []uint64{8}, Activation: "relu", Bias: true, Head: "bins", Bins: 5}
	for _, tt := range []struct {
		name string
		from policy.Spec
		ask  Settings
		want policy.Spec
	}{
		{"nothing", linear, nil, linear},
		{"nothing of an mlp", mlp, nil, mlp},
		{"hidden layers", linear, Settings{"hidden": []uint64{64, 64}}, policy.Spec{Kind: "mlp", Hidden: []uint64{64, 64}, Activation: "tanh", Bias: true, Head: "clip"}},
		{"mlp", linear, Settings{"policy": "mlp", "bias": false}, policy.Spec{Kind: "mlp", Hidden: []uint64{16}, Activation: "tanh", Head: "clip"}},
		{"bins", linear, Settings{"bins": uint64(7)}, policy.Spec{Kind: "linear", Hidden: []uint64{}, Head: "bins", Bins: 7}},
		{"head of bins", linear, Settings{"head": "bins", "bias": true}, policy.Spec{Kind: "linear", Hidden: []uint64{}, Bias: true, Head: "bins", Bins: 10}},
		{"linear", mlp, Settings{"policy": "linear", "head": "clip"}, policy.Spec{Kind: "linear", Hidden: []uint64{}, Bias: true, Head: "clip"}},
		{"vbn", linear, Settings{"hidden": []uint64{4}, "vbn": true}, policy.Spec{Kind: "mlp", Hidden: []uint64{4}, Activation: "tanh", Bias: true, Head: "clip", VBN: true}},
		{"other layers", mlp, Settings{"hidden": []uint64{3}, "activation": "tanh"}, policy.Spec{Kind: "mlp", Hidden: []uint64{3}, Activation: "tanh", Bias: true, Head: "bins", Bins: 5}},
		{"a linear model's", mlp, PolicySettings(linear), linear},
		{"an mlp model's", linear, PolicySettings(mlp), mlp},
	} {
		d := newDraft(presets.Preset{Policy: tt.from})
		if err := d.apply(tt.ask); err != nil || !reflect.DeepEqual(d.Policy, tt.want) {
			t.Errorf("%s: got %+v, %v, want %+v", tt.name, d.Policy, err, tt.want)
		}
	}
}

func TestSettingsReachTheSpec(t *testing.T) {
	spec, err := NewSpec(Options{Env: "Pendulum-v1", Strategy: "dises", Settings: Settings{
		"population": uint64(24), "hidden": []uint64{5}, "activation": "relu", "bins": uint64(3),
		"episodes": uint64(3), "shared": false, "chunk": uint64(7), "eval-every": uint64(4), "eval-episodes": uint64(9),
		"action-noise": 0.5, "subtract-alive-bonus": 0.25, "max-penalty": 2.0, "cap": 3.0, "horizon": uint64(90), "horizon-growth": 0.5, "frame-skip": uint64(4), "observations": "running",
	}})
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
	if want := (rollout.Conditions{ActionNoise: 0.5, Bonus: 0.25, Penalty: 2, Cap: 3, Skip: 4, Horizon: 90, Growth: 0.5}); e.Conditions != want {
		t.Errorf("got %+v, want %+v", e.Conditions, want)
	}
	if want := (rollout.Observations{Kind: rollout.Running, Episodes: 1, Clip: 10}); spec.Observations == nil || *spec.Observations != want {
		t.Errorf("got %+v, want %+v", spec.Observations, want)
	}
}

func TestSettingsAreRefused(t *testing.T) {
	for _, settings := range []Settings{
		{"frame-skip": uint64(1 << 40)}, {"frame-skip": uint64(0)}, {"frame-skip": 2.0},
		{"subtract-alive-bonus": math.NaN()}, {"cap": -1.0}, {"cap": 1.05}, {"cap": math.Inf(1)},
		{"horizon": uint64(1 << 40)}, {"horizon-growth": -1.0}, {"horizon-growth": math.NaN()},
		{"observations": "sliding"}, {"observations": "none", "observe-clip": 5.0}, {"observe-clip": 5.0},
		{"observations": "frozen", "observe-steps": uint64(1 << 50)}, {"observations": "running", "observe-steps": uint64(100)},
		{"hidden": []uint64{1 << 40}}, {"hidden": []uint64{}}, {"policy": "transformer"},
		{"episodes": uint64(1 << 40)}, {"eval-every": uint64(1 << 40)}, {"eval-episodes": uint64(1 << 40)},
		{"population": uint64(1 << 40)}, {"look-every": uint64(2)}, {"sigma": 0.5},
	} {
		if spec, err := NewSpec(Options{Env: "CartPole-v1", Settings: settings}); !errors.Is(err, ErrSetting) {
			t.Errorf("%v: got %+v, %v, want %v", settings, spec, err, ErrSetting)
		}
	}
	for _, settings := range []Settings{{"action-noise": 0.5}, {"vbn": true}, {"head": "clip"}} { // in range, but not here
		if spec, err := NewSpec(Options{Env: "CartPole-v1", Settings: settings}); err == nil {
			t.Errorf("%v: got %+v, want an error", settings, spec)
		}
	}
}

func TestObservationSettings(t *testing.T) {
	frozen := &rollout.Observations{Kind: rollout.Frozen, Steps: 77, Clip: 3}
	for name, tt := range map[string]struct {
		preset *rollout.Observations
		ask    Settings
		want   *rollout.Observations
	}{
		"nothing":        {nil, nil, nil},
		"the preset's":   {frozen, nil, frozen},
		"none":           {frozen, Settings{"observations": "none"}, nil},
		"frozen":         {nil, Settings{"observations": "frozen"}, &rollout.Observations{Kind: rollout.Frozen, Steps: 10_000, Clip: 10}},
		"frozen again":   {frozen, Settings{"observations": "frozen"}, frozen},
		"running":        {frozen, Settings{"observations": "running"}, &rollout.Observations{Kind: rollout.Running, Episodes: 1, Clip: 10}},
		"another clip":   {frozen, Settings{"observe-clip": 5.0}, &rollout.Observations{Kind: rollout.Frozen, Steps: 77, Clip: 5}},
		"more episodes":  {nil, Settings{"observations": "running", "observe-episodes": uint64(4), "observe-clip": 1.0}, &rollout.Observations{Kind: rollout.Running, Episodes: 4, Clip: 1}},
		"fewer of those": {frozen, Settings{"observe-steps": uint64(16)}, &rollout.Observations{Kind: rollout.Frozen, Steps: 16, Clip: 3}},
	} {
		d := newDraft(presets.Preset{Observations: tt.preset})
		if err := d.apply(tt.ask); err != nil || !reflect.DeepEqual(d.normalization(), tt.want) {
			t.Errorf("%s: got %+v, %v, want %+v", name, d.normalization(), err, tt.want)
		}
	}
}
