package policy

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/internal/golden"
	"github.com/evoswarm/evoswarm/internal/noise"
)

func vbn(activation string, hidden ...uint64) Spec {
	return Spec{Kind: "mlp", Hidden: hidden, Activation: activation, Bias: true, Head: "clip", VBN: true}
}

// draw returns n normal numbers around shift.
func draw(seed uint64, n int, scale, shift float32) []float32 {
	x := make([]float32, n)
	noise.FillNormal(x, seed, 0)
	for i := range x {
		x[i] = float32(x[i]*scale) + shift
	}
	return x
}

// unfolded computes the outputs for obs with virtual batch normalization done as it is defined, in float64.
func unfolded(p *Policy, theta, reference, obs []float32) []float64 {
	rows := make([][]float64, ReferenceSize+1) // the batch, and obs behind it
	n := len(obs)
	for r := range rows {
		x := obs
		if r < ReferenceSize {
			x = reference[r*n : (r+1)*n]
		}
		for _, v := range x {
			rows[r] = append(rows[r], float64(v))
		}
	}
	for l := range int(p.net.Layers) {
		w, b := p.weights(l), p.tensors[2*l+1]
		z := make([][]float64, len(rows))
		for r, x := range rows {
			z[r] = make([]float64, w.Cols)
			for i := range x {
				for o := range z[r] {
					z[r][o] += x[i] * float64(theta[w.Offset+i*w.Cols+o])
				}
			}
		}
		for o := range w.Cols {
			scale, mean := 1.0, 0.0
			if l < int(p.net.Layers)-1 {
				var squares float64
				for _, x := range z[:ReferenceSize] {
					mean += x[o] / ReferenceSize
				}
				for _, x := range z[:ReferenceSize] {
					squares += (x[o] - mean) * (x[o] - mean) / ReferenceSize
				}
				scale = 1 / math.Sqrt(squares+1e-5)
			}
			for r := range z {
				z[r][o] = (z[r][o]-mean)*scale + float64(theta[b.Offset+o])
				if l == int(p.net.Layers)-1 {
					continue
				}
				if p.net.Activation == actTanh {
					z[r][o] = math.Tanh(z[r][o])
				} else {
					z[r][o] = max(z[r][o], 0)
				}
			}
		}
		rows = z
	}
	return rows[ReferenceSize]
}

func TestFoldIsBatchNormalization(t *testing.T) {
	for _, spec := range []Spec{vbn("tanh", 8), vbn("relu", 16, 5), vbn("tanh", 3, 33, 7)} {
		p := mustNew(t, spec, box)
		b, folded := p.Batch(), make([]float32, p.Dim())
		for seed := range uint64(20) {
			theta := draw(seed, p.Dim(), 0.7, 0)
			reference := draw(100+seed, ReferenceSize*int(p.net.Sizes[0]), 3, 5)
			p.Fold(folded, theta, reference, b)
			obs := draw(200+seed, int(p.net.Sizes[0]), 3, 5)
			got := p.outputs(folded, obs, 1, p.Scratch(1))
			for o, want := range unfolded(p, theta, reference, obs) {
				if math.Abs(float64(got[o])-want) > 2e-5*(1+math.Abs(want)) {
					t.Fatalf("%v seed %d: output %d is %v, unfolded %v", spec.Hidden, seed, o, got[o], want)
				}
			}
		}
	}
}

// A unit's weights may be scaled, by powers of two without any other bit, and the observations shifted: the
// normalization takes both out again.
func TestFoldInvariances(t *testing.T) {
	p := mustNew(t, vbn("tanh", 8, 4), box)
	in := int(p.net.Sizes[0])
	theta := draw(1, p.Dim(), 1, 0)
	reference, obs := draw(2, ReferenceSize*in, 1, 0), draw(3, in, 1, 0)
	outputs := func(theta, reference, obs []float32) []float32 {
		folded := make([]float32, p.Dim())
		p.Fold(folded, theta, reference, p.Batch())
		return p.outputs(folded, obs, 1, p.Scratch(1))
	}
	near := func(what string, got, want []float32) {
		t.Helper()
		for i := range want {
			if math.Abs(float64(got[i]-want[i])) > 1e-4 {
				t.Errorf("%s: output %d is %v, want %v", what, i, got[i], want[i])
			}
		}
	}
	want := outputs(theta, reference, obs)
	scaled := append([]float32(nil), theta...)
	for l := range 2 {
		w := p.weights(l)
		for i := range w.Rows {
			for o := range w.Cols {
				scaled[w.Offset+i*w.Cols+o] *= float32(int(2) << o)
			}
		}
	}
	near("scaled weights", outputs(scaled, reference, obs), want)
	shifted, moved := append([]float32(nil), reference...), append([]float32(nil), obs...)
	for i := range shifted {
		shifted[i] += 4
	}
	for i := range moved {
		moved[i] += 4
	}
	near("shifted observations", outputs(theta, shifted, moved), want)
}

func TestFoldLeavesNothingBehind(t *testing.T) {
	p := mustNew(t, vbn("relu", 9, 6, 12), box)
	in := int(p.net.Sizes[0])
	theta, reference := draw(1, p.Dim(), 1, 0), draw(2, ReferenceSize*in, 1, 0)
	want, got, b := make([]float32, p.Dim()), make([]float32, p.Dim()), p.Batch()
	p.Fold(want, theta, reference, p.Batch())
	p.Fold(got, draw(9, p.Dim(), 5, 1), draw(8, ReferenceSize*in, 9, 1), b)
	if n := testing.AllocsPerRun(10, func() { p.Fold(got, theta, reference, b) }); n != 0 {
		t.Errorf("Fold allocates %v times, want none", n)
	}
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("parameter %d is %v after other use, want %v", i, got[i], want[i])
		}
	}
	out := p.weights(3)
	for i := out.Offset; i < p.Dim(); i++ {
		if want[i] != theta[i] {
			t.Errorf("parameter %d of the output layer changed", i)
		}
	}
}

// Parameters beyond all measure make no action that the world does not define.
func TestFoldOfHugeParameters(t *testing.T) {
	p := mustNew(t, vbn("relu", 8, 8), box)
	in := int(p.net.Sizes[0])
	folded, act := make([]float32, p.Dim()), make([]float64, p.ActDim())
	for _, scale := range []float32{0, 1e30, math.MaxFloat32} {
		p.Fold(folded, draw(1, p.Dim(), scale, 0), draw(2, ReferenceSize*in, 1e30, 0), p.Batch())
		p.Act(folded, draw(3, in, 1, 0), p.Scratch(1), act)
		for i, a := range act {
			if !(a >= p.low[i] && a <= p.high[i]) {
				t.Errorf("scale %v: action %d is %v", scale, i, a)
			}
		}
	}
}

func TestVBNSpec(t *testing.T) {
	for name, s := range map[string]Spec{
		"linear":  {Kind: "linear", Bias: true, Head: "clip", VBN: true},
		"no bias": {Kind: "mlp", Hidden: []uint64{4}, Activation: "tanh", Head: "clip", VBN: true},
	} {
		if _, err := New(s, box); !errors.Is(err, ErrSpec) || !strings.Contains(err.Error(), "vbn is true") {
			t.Errorf("%s: %v, want ErrSpec that names vbn", name, err)
		}
	}
	if mustNew(t, Spec{Kind: "linear", Head: "clip"}, box).VBN() {
		t.Error("a policy has VBN that nobody asked for")
	}
}

func TestActNoisy(t *testing.T) {
	for name, s := range map[string]Spec{
		"clip": {Kind: "linear", Head: "clip"},
		"bins": {Kind: "linear", Head: "bins", Bins: 3},
	} {
		p := mustNew(t, s, box)
		theta, obs := draw(1, p.Dim(), 0.05, 0), draw(2, int(p.net.Sizes[0]), 1, 0)
		n := p.ActDim()
		plain, got := make([]float64, n), make([]float64, n)
		p.Act(theta, obs, p.Scratch(1), plain)
		p.ActBatch(theta, obs, 1, p.Scratch(1), got, make([]float64, n))
		for i := range got {
			if got[i] != plain[i] {
				t.Errorf("%s: without noise action %d is %v, want %v", name, i, got[i], plain[i])
			}
		}
		// Noise comes before the bounds.
		base := append([]float64(nil), plain...)
		if s.Head == "clip" {
			for i, y := range p.outputs(theta, obs, 1, p.Scratch(1)) {
				base[i] = float64(y)
			}
		}
		for _, x := range []float64{0.125, -0.125, 1e9, -1e9, math.NaN()} {
			eps := make([]float64, n)
			for i := range eps {
				eps[i] = x
			}
			p.ActBatch(theta, obs, 1, p.Scratch(1), got, eps)
			for i := range got {
				if want := clip(base[i]+x, p.low[i], p.high[i]); got[i] != want {
					t.Errorf("%s: with noise %v action %d is %v, want %v", name, x, i, got[i], want)
				}
			}
		}
	}
}

func TestGoldenFold(t *testing.T) {
	h := sha256.New()
	for _, spec := range []Spec{vbn("tanh", 8), vbn("relu", 16, 5)} {
		p := mustNew(t, spec, box)
		folded := make([]float32, p.Dim())
		for seed := range uint64(10) {
			p.Fold(folded, draw(seed, p.Dim(), 1, 0), draw(50+seed, ReferenceSize*int(p.net.Sizes[0]), 2, 1), p.Batch())
			for _, x := range folded {
				h.Write(binary.LittleEndian.AppendUint32(nil, math.Float32bits(x)))
			}
		}
	}
	golden.Check(t, "fold", h.Sum(nil))
}
