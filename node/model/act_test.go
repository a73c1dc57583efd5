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
	"github.com/evoswarm/evoswarm/internal/noise"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/testnet/foreign"
)

// Who has the file and docs/spec/model.md gets the actions of the policy: with NumPy, of each kind and head.
func TestActInPython(t *testing.T) {
	for _, c := range []struct {
		name, env string
		spec      policy.Spec
	}{
		{"linear argmax", "CartPole-v1", policy.Spec{Kind: "linear", Head: "argmax"}},
		{"tanh argmax", "Acrobot-v1", policy.Spec{Kind: "mlp", Hidden: []uint64{8, 5}, Activation: "tanh", Bias: true, Head: "argmax"}},
		{"relu clip", "Pendulum-v1", policy.Spec{Kind: "mlp", Hidden: []uint64{16}, Activation: "relu", Bias: true, Head: "clip"}},
		{"tanh bins", "Pendulum-v1", policy.Spec{Kind: "mlp", Hidden: []uint64{7}, Activation: "tanh", Head: "bins", Bins: 5}},
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
			for range pol.Dim() {
				m.Theta = append(m.Theta, rng.Normal())
			}
			observations, want := make([][]float32, 200), make([][]float64, 200)
			for i := range observations {
				for range env.ObsDim {
					observations[i] = append(observations[i], rng.Normal())
				}
				want[i] = make([]float64, pol.ActDim())
				pol.Act(m.Theta, observations[i], pol.Scratch(), want[i])
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
			if err := json.Unmarshal(foreign.PythonWith(t, stdin, "testdata/act.py", path, numbers(env.Action.Low), numbers(env.Action.High)), &got); err != nil {
				t.Fatal(err)
			}
			for i := range want {
				for k := range want[i] {
					if math.Abs(got[i][k]-want[i][k]) > 1e-5 {
						t.Errorf("observation %d: action %v, want %v", i, got[i], want[i])
					}
				}
			}
		})
	}
}

func numbers(x []float64) string {
	var all []string
	for _, v := range x {
		all = append(all, strconv.FormatFloat(v, 'g', -1, 64))
	}
	return strings.Join(all, ",")
}
