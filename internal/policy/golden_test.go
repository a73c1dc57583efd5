package policy

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"testing"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/golden"
	"github.com/evoswarm/evoswarm/internal/noise"
)

// TestGoldenAct holds Init, the outputs and the actions to the bit, for every kind of policy and every head.
func TestGoldenAct(t *testing.T) {
	for _, tt := range []struct {
		name string
		spec Spec
		env  *envs.Spec
	}{
		{"linear-argmax", Spec{Kind: "linear", Bias: true, Head: "argmax"}, discrete},
		{"linear-bins", Spec{Kind: "linear", Head: "bins", Bins: 7}, box},
		{"linear-clip", Spec{Kind: "linear", Bias: true, Head: "clip"}, box},
		{"tanh-argmax", Spec{Kind: "mlp", Hidden: []uint64{17}, Activation: "tanh", Bias: true, Head: "argmax"}, discrete},
		{"tanh-clip", Spec{Kind: "mlp", Hidden: []uint64{64, 64}, Activation: "tanh", Bias: true, Head: "clip"}, box},
		{"relu-bins", Spec{Kind: "mlp", Hidden: []uint64{33, 5, 8}, Activation: "relu", Bias: true, Head: "bins", Bins: 5}, box},
		{"relu-nobias-clip", Spec{Kind: "mlp", Hidden: []uint64{16}, Activation: "relu", Head: "clip"}, box},
	} {
		t.Run(tt.name, func(t *testing.T) { golden.Check(t, tt.name, digest(t, tt.spec, tt.env)) })
	}
}

// digest hashes what a policy does in 100 situations.
func digest(t *testing.T, s Spec, env *envs.Spec) []byte {
	p := mustNew(t, s, env)
	theta, obs := make([]float32, p.Dim()), make([]float32, env.ObsDim)
	eps, act := make([]float32, p.Dim()), make([]float64, p.ActDim())
	sc := p.Scratch(1)
	p.Init(theta, 42)
	h := sha256.New()
	var buf []byte
	for _, x := range theta {
		buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(x))
	}
	for n := range 100 {
		// Perturbed, because a linear policy starts at zero.
		noise.FillNormal(eps, uint64(n), 0)
		for i := range eps {
			eps[i] = float32(eps[i]*0.25) + theta[i]
		}
		noise.FillNormal(obs, uint64(n+1000), 0)
		for _, y := range p.outputs(eps, obs, 1, sc) {
			buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(y))
		}
		p.Act(eps, obs, sc, act)
		for _, a := range act {
			buf = binary.LittleEndian.AppendUint64(buf, math.Float64bits(a))
		}
	}
	h.Write(buf)
	return h.Sum(nil)
}
