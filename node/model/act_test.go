package model

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/noise"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/testnet/python"
)

// Who has the file and docs/spec/model.md gets the actions of the policy: with NumPy, of each kind and head.
func TestActInPython(t *testing.T) {
	for _, c := range []struct {
		name, env string
		spec      policy.Spec
		observed  *rollout.Observations
	}{
		{"linear argmax", "CartPole-v1", policy.Spec{Kind: "linear", Head: "argmax"}, nil},
		{"tanh argmax", "Acrobot-v1", policy.Spec{Kind: "mlp", Hidden: []uint64{8, 5}, Activation: "tanh", Bias: true, Head: "argmax"}, nil},
		{"relu clip", "Pendulum-v1", policy.Spec{Kind: "mlp", Hidden: []uint64{16}, Activation: "relu", Bias: true, Head: "clip"}, nil},
		{"tanh bins", "Pendulum-v1", policy.Spec{Kind: "mlp", Hidden: []uint64{7}, Activation: "tanh", Head: "bins", Bins: 5}, nil},
		{"normalized", "Pendulum-v1", policy.Spec{Kind: "mlp", Hidden: []uint64{9}, Activation: "tanh", Bias: true, Head: "clip"}, &rollout.Observations{Kind: rollout.Running, Episodes: 1, Clip: 1.5}},
		{"batch", "Pendulum-v1", policy.Spec{Kind: "mlp", Hidden: []uint64{9, 6}, Activation: "relu", Bias: true, Head: "clip", VBN: true}, nil},
		{"normalized batch", "Acrobot-v1", policy.Spec{Kind: "mlp", Hidden: []uint64{9, 6}, Activation: "tanh", Bias: true, Head: "argmax", VBN: true}, &rollout.Observations{Kind: rollout.Frozen, Steps: 100, Clip: 10}},
	} {
		t.Run(c.name, func(t *testing.T) {
			env, err := envs.Find(c.env)
			if err != nil {
				t.Fatal(err)
			}
			m := &Model{Env: seedlog.EnvRef{ID: env.ID, Revision: env.Revision}, Policy: c.spec}
			pol, err := policy.New(c.spec, env)
			if err != nil {
				t.Fatal(err)
			}
			rng := noise.NewStream(1, noise.DomainEpisode)
			m.Theta = normals(&rng, pol.Dim())
			if m.Observations = c.observed; c.observed != nil {
				m.Slots = append(m.Slots, evolve.Slot{Name: slotMean, Values: normals(&rng, env.ObsDim)}, evolve.Slot{Name: slotStd, Values: normals(&rng, env.ObsDim)})
				m.Slots[1].Values[0] = 0
				m.Slots[1].Values[1] = 0.5
			}
			if c.spec.VBN {
				m.Slots = append(m.Slots, evolve.Slot{Name: slotReference, Values: normals(&rng, policy.ReferenceSize*env.ObsDim)})
			}
			plan, err := m.Plan()
			if err != nil {
				t.Fatal(err)
			}
			actor := rollout.NewActor(plan)
			actor.Load(m.State(), m.Theta)
			observations, want := make([][]float32, 200), make([][]float64, 200)
			for i := range observations {
				observations[i], want[i] = normals(&rng, env.ObsDim), make([]float64, pol.ActDim())
				actor.Act(observations[i], want[i])
			}
			path := filepath.Join(t.TempDir(), "model.npz")
			if err := os.WriteFile(path, encode(t, m, NPZ), 0o600); err != nil {
				t.Fatal(err)
			}
			stdin, err := json.Marshal(observations)
			if err != nil {
				t.Fatal(err)
			}
			var got [][]float64
			if err := json.Unmarshal(python.RunWith(t, stdin, "testdata/act.py", path, numbers(env.Action.Low), numbers(env.Action.High)), &got); err != nil {
				t.Fatal(err)
			}
			for i := range want {
				for k := range want[i] {
					if math.Abs(got[i][k]-want[i][k]) > 1e-4 {
						t.Errorf("observation %d: action %v, want %v", i, got[i], want[i])
					}
				}
			}
		})
	}
}

// normals draws n values.
func normals(rng *noise.Stream, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = rng.Normal()
	}
	return x
}

func numbers(x []float64) string {
	var all []string
	for _, v := range x {
		all = append(all, strconv.FormatFloat(v, 'g', -1, 64))
	}
	return strings.Join(all, ",")
}
