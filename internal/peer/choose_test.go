package peer

import (
	"reflect"
	"testing"

	"github.com/evoswarm/evoswarm/internal/policy"
)

func TestPolicyOptions(t *testing.T) {
	linear := policy.Spec{Kind: "linear", Hidden: []uint64{}, Head: "clip"}
	mlp := policy.Spec{Kind: "mlp", Hidden: []uint64{8}, Activation: "relu", Bias: true, Head: "bins", Bins: 5}
	for _, tt := range []struct {
		name string
		from policy.Spec
		ask  PolicyOptions
		want policy.Spec
	}{
		{"nothing", linear, PolicyOptions{}, linear},
		{"nothing of an mlp", mlp, PolicyOptions{}, mlp},
		{"hidden layers", linear, PolicyOptions{Hidden: []uint64{64, 64}}, policy.Spec{Kind: "mlp", Hidden: []uint64{64, 64}, Activation: "tanh", Bias: true, Head: "clip"}},
		{"mlp", linear, PolicyOptions{Kind: "mlp", Bias: new(false)}, policy.Spec{Kind: "mlp", Hidden: []uint64{16}, Activation: "tanh", Head: "clip"}},
		{"bins", linear, PolicyOptions{Bins: 7}, policy.Spec{Kind: "linear", Hidden: []uint64{}, Head: "bins", Bins: 7}},
		{"head of bins", linear, PolicyOptions{Head: "bins", Bias: new(true)}, policy.Spec{Kind: "linear", Hidden: []uint64{}, Bias: true, Head: "bins", Bins: 10}},
		{"linear", mlp, PolicyOptions{Kind: "linear", Head: "clip"}, policy.Spec{Kind: "linear", Hidden: []uint64{}, Bias: true, Head: "clip"}},
		{"other layers", mlp, PolicyOptions{Hidden: []uint64{3}, Activation: "tanh"}, policy.Spec{Kind: "mlp", Hidden: []uint64{3}, Activation: "tanh", Bias: true, Head: "bins", Bins: 5}},
	} {
		if got := tt.ask.choose(tt.from); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: got %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

func TestSpecOptionsReachTheSpec(t *testing.T) {
	spec, err := NewSpec(SpecOptions{
		Env: "Pendulum-v1", Strategy: "dises", Population: 24,
		Policy: PolicyOptions{Hidden: []uint64{5}, Activation: "relu", Bins: 3}, Episodes: 3, Shared: new(false), Chunk: 7, Every: 4, Validate: 9,
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
	for name, o := range map[string]SpecOptions{
		"discrete head": {Env: "CartPole-v1", Policy: PolicyOptions{Head: "clip"}},
		"wide layer":    {Env: "CartPole-v1", Policy: PolicyOptions{Hidden: []uint64{1 << 40}}},
		"kind":          {Env: "CartPole-v1", Policy: PolicyOptions{Kind: "transformer"}},
		"episodes":      {Env: "CartPole-v1", Episodes: 1 << 40},
		"every":         {Env: "CartPole-v1", Every: 1 << 40},
		"validate":      {Env: "CartPole-v1", Validate: 1 << 40},
	} {
		if spec, err := NewSpec(o); err == nil {
			t.Errorf("%s: got %+v, want an error", name, spec)
		}
	}
}
