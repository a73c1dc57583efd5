package policy

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/evoswarm/evoswarm/envs"
)

// Worlds with a discrete and with a real action space: only what policies look at.
var (
	discrete = &envs.Spec{ID: "Discrete", ObsDim: 4, Action: envs.DiscreteSpace(3)}
	box      = &envs.Spec{ID: "Box", ObsDim: 4, Action: envs.Space{Dim: 2, Low: []float64{-1, 0}, High: []float64{1, 8}}}
)

func TestNewRefuses(t *testing.T) {
	linear := Spec{Kind: "linear", Bias: true, Head: "argmax"}
	mlp := Spec{Kind: "mlp", Hidden: []uint64{8}, Activation: "tanh", Bias: true, Head: "argmax"}
	for _, tt := range []struct {
		name string
		base Spec
		env  *envs.Spec
		set  func(*Spec)
		want []string
	}{
		{"kind", linear, discrete, func(s *Spec) { s.Kind = "rnn" }, []string{"kind", `"rnn"`, `"linear"`, `"mlp"`}},
		{"linear with layers", linear, discrete, func(s *Spec) { s.Hidden = []uint64{1} }, []string{"hidden", "none"}},
		{"linear with activation", linear, discrete, func(s *Spec) { s.Activation = "tanh" }, []string{"activation", `"tanh"`}},
		{"no layers", mlp, discrete, func(s *Spec) { s.Hidden = nil }, []string{"hidden", "1 to 8"}},
		{"nine layers", mlp, discrete, func(s *Spec) { s.Hidden = make([]uint64, 9) }, []string{"hidden", "1 to 8"}},
		{"width 0", mlp, discrete, func(s *Spec) { s.Hidden = []uint64{8, 0} }, []string{"hidden[1]", "0x0", "4096"}},
		{"width 4097", mlp, discrete, func(s *Spec) { s.Hidden = []uint64{4097} }, []string{"hidden[0]", "4096"}},
		{"huge width", mlp, discrete, func(s *Spec) { s.Hidden = []uint64{math.MaxUint64} }, []string{"hidden[0]"}},
		{"activation", mlp, discrete, func(s *Spec) { s.Activation = "gelu" }, []string{"activation", `"gelu"`, `"relu"`}},
		{"no activation", mlp, discrete, func(s *Spec) { s.Activation = "" }, []string{"activation", `""`}},
		{"clip on discrete", linear, discrete, func(s *Spec) { s.Head = "clip" }, []string{"head", `"clip"`, `"argmax"`, "Discrete"}},
		{"argmax on box", linear, box, func(*Spec) {}, []string{"head", `"argmax"`, `"bins"`, `"clip"`, "Box"}},
		{"no head", linear, box, func(s *Spec) { s.Head = "" }, []string{"head", `""`}},
		{"one bin", linear, box, func(s *Spec) { s.Head, s.Bins = "bins", 1 }, []string{"bins", "2 to 256"}},
		{"many bins", linear, box, func(s *Spec) { s.Head, s.Bins = "bins", math.MaxUint64 }, []string{"bins", "2 to 256"}},
		{"bins without the head", linear, discrete, func(s *Spec) { s.Bins = 3 }, []string{"bins", "0"}},
		{"size", mlp, discrete, func(s *Spec) { s.Hidden = []uint64{4096, 4096} }, []string{"hidden", "16777216", "parameters"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := tt.base
			tt.set(&s)
			_, err := New(s, tt.env)
			if !errors.Is(err, ErrSpec) {
				t.Fatalf("New(%+v) = %v, want an error that wraps ErrSpec", s, err)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("New(%+v) = %q, want it to contain %q", s, err, want)
				}
			}
		})
	}
}

func TestLayout(t *testing.T) {
	s := Spec{Kind: "mlp", Hidden: []uint64{5, 6}, Activation: "relu", Bias: true, Head: "bins", Bins: 3}
	p := mustNew(t, s, box)
	want := []Tensor{
		{"layers.0.weight", 4, 5, 0}, {"layers.0.bias", 1, 5, 20},
		{"layers.1.weight", 5, 6, 25}, {"layers.1.bias", 1, 6, 55},
		{"layers.2.weight", 6, 6, 61}, {"layers.2.bias", 1, 6, 97},
	}
	if diff := cmp.Diff(want, p.Layout()); diff != "" {
		t.Error(diff)
	}
	if got := p.Dim(); got != 103 {
		t.Errorf("Dim() = %d, want 103", got)
	}
	if got := p.Outputs(); got != 6 {
		t.Errorf("Outputs() = %d, want 2 dimensions of 3 bins", got)
	}
	s.Bias = false
	if got := mustNew(t, s, box).Dim(); got != 4*5+5*6+6*6 {
		t.Errorf("Dim() without bias = %d, want 86", got)
	}
}

// TestForwardTwin compares the network with a plain one in float64.
func TestForwardTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Spec{Kind: "linear", Bias: rapid.Bool().Draw(t, "bias"), Head: "clip"}
		if rapid.Bool().Draw(t, "mlp") {
			s.Kind = "mlp"
			s.Activation = rapid.SampledFrom([]string{"tanh", "relu"}).Draw(t, "activation")
			s.Hidden = rapid.SliceOfN(rapid.Uint64Range(1, 20), 1, MaxHidden).Draw(t, "hidden")
		}
		p, err := New(s, box)
		if err != nil {
			t.Fatal(err)
		}
		theta := rapid.SliceOfN(rapid.Float32Range(-1, 1), p.Dim(), p.Dim()).Draw(t, "theta")
		obs := rapid.SliceOfN(rapid.Float32Range(-3, 3), 4, 4).Draw(t, "obs")
		got := p.outputs(theta, obs, 1, p.Scratch(1))
		for i, want := range twin(p, s, theta, obs) {
			if d := math.Abs(float64(got[i]) - want); d > 1e-4*(1+math.Abs(want)) {
				t.Fatalf("output %d is %v, want %v", i, got[i], want)
			}
		}
	})
}

// TestActBatchTwin holds each row of a batch to the bits that it has alone, NaN and infinities in theta included.
func TestActBatchTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Spec{Kind: "linear", Bias: rapid.Bool().Draw(t, "bias"), Head: "argmax"}
		if rapid.Bool().Draw(t, "mlp") {
			s.Kind = "mlp"
			s.Activation = rapid.SampledFrom([]string{"tanh", "relu"}).Draw(t, "activation")
			s.Hidden = rapid.SliceOfN(rapid.Uint64Range(1, 70), 1, 3).Draw(t, "hidden")
		}
		env := discrete
		if rapid.Bool().Draw(t, "real") {
			env, s.Head = box, "clip"
			if rapid.Bool().Draw(t, "bins") {
				s.Head, s.Bins = "bins", 5
			}
		}
		p, err := New(s, env)
		if err != nil {
			t.Fatal(err)
		}
		rows := rapid.IntRange(1, 17).Draw(t, "rows")
		seed := rapid.Uint64().Draw(t, "seed")
		theta, obs := draw(seed, p.Dim(), 1, 0), draw(seed+1, rows*4, 2, 0)
		if rapid.IntRange(0, 9).Draw(t, "wild") == 0 {
			theta[len(theta)/2], theta[len(theta)-1] = float32(math.NaN()), float32(math.Inf(-1))
		}
		n := p.ActDim()
		noise := make([]float64, rows*n)
		for i := range noise {
			noise[i] = float64(obs[i%len(obs)]) / 8
		}
		var own []float64
		if rapid.Bool().Draw(t, "noise") {
			own = noise
		}
		got, want := make([]float64, rows*n+1), make([]float64, rows*n+1)
		got[rows*n], want[rows*n] = 12345, 12345
		p.ActBatch(theta, obs, rows, p.Scratch(rows+rows%3), got, own)
		for r := range rows {
			if own == nil {
				p.Act(theta, obs[4*r:4*r+4], p.Scratch(1), want[r*n:r*n+n])
			} else {
				p.ActBatch(theta, obs[4*r:4*r+4], 1, p.Scratch(1), want[r*n:r*n+n], own[r*n:r*n+n])
			}
		}
		for i := range got {
			if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
				t.Fatalf("value %d of %d actions is %v, want %v", i, rows, got[i], want[i])
			}
		}
	})
}

// twin computes the outputs from Layout and the Spec, in the obvious way.
func twin(p *Policy, s Spec, theta, obs []float32) []float64 {
	x := make([]float64, len(obs))
	for i, o := range obs {
		x[i] = float64(o)
	}
	layout := p.Layout()
	for len(layout) > 0 {
		w := layout[0]
		layout = layout[1:]
		y := make([]float64, w.Cols)
		for o := range y {
			for i := range x {
				y[o] += float64(theta[w.Offset+i*w.Cols+o]) * x[i]
			}
		}
		if s.Bias {
			for o := range y {
				y[o] += float64(theta[layout[0].Offset+o])
			}
			layout = layout[1:]
		}
		for o := range y {
			switch {
			case len(layout) == 0:
			case s.Activation == "tanh":
				y[o] = math.Tanh(y[o])
			default:
				y[o] = max(y[o], 0)
			}
		}
		x = y
	}
	return x
}

func TestArgmax(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, tt := range []struct {
		y    []float32
		want int
	}{
		{[]float32{1, 2, 3}, 2},
		{[]float32{3, 3, 1}, 0},
		{[]float32{1, 3, 3}, 1},
		{[]float32{0, float32(math.Copysign(0, -1))}, 0},
		{[]float32{float32(math.Copysign(0, -1)), 0}, 0},
		{[]float32{nan, -5, -7}, 1},
		{[]float32{-5, nan, -4}, 2},
		{[]float32{nan, nan, -inf}, 2},
		{[]float32{nan, nan, nan}, 0},
		{[]float32{inf, nan, inf}, 0},
		{[]float32{-inf, -inf}, 0},
	} {
		if got := argmax(tt.y); got != tt.want {
			t.Errorf("argmax(%v) = %d, want %d", tt.y, got, tt.want)
		}
	}
}

func TestHeads(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, tt := range []struct {
		name string
		spec Spec
		env  *envs.Spec
		y    []float32
		want []float64
	}{
		{"argmax", Spec{Head: "argmax"}, discrete, []float32{1, 4, 4}, []float64{1}},
		{"bins", Spec{Head: "bins", Bins: 5}, box, []float32{0, 0, 0, 1, 0, 0, 9, 9, 0, nan}, []float64{0.5, 2}},
		{"bins at the ends", Spec{Head: "bins", Bins: 3}, box, []float32{1, 1, 1, 0, 0, 1}, []float64{-1, 8}},
		{"clip inside", Spec{Head: "clip"}, box, []float32{-0.5, 3}, []float64{-0.5, 3}},
		{"clip outside", Spec{Head: "clip"}, box, []float32{-2, 9}, []float64{-1, 8}},
		{"clip infinite", Spec{Head: "clip"}, box, []float32{inf, -inf}, []float64{1, 0}},
		{"clip NaN", Spec{Head: "clip"}, box, []float32{nan, nan}, []float64{-1, 0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.spec.Kind = "linear"
			p := mustNew(t, tt.spec, tt.env)
			got := make([]float64, p.ActDim())
			p.net.Choose(got, tt.y, p.low, p.high, nil)
			if !slices.Equal(got, tt.want) {
				t.Errorf("choose(%v) = %v, want %v", tt.y, got, tt.want)
			}
		})
	}
}

// TestActIsAnAction checks that whatever theta and obs hold, the world defines the
// action, and that nothing outside of act is written.
func TestActIsAnAction(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		env := rapid.SampledFrom([]*envs.Spec{discrete, box}).Draw(t, "env")
		s := Spec{Kind: "mlp", Hidden: []uint64{7, 3}, Activation: "relu", Bias: true, Head: "argmax"}
		if env == box {
			s.Head = rapid.SampledFrom([]string{"bins", "clip"}).Draw(t, "head")
		}
		if s.Head == "bins" {
			s.Bins = rapid.Uint64Range(2, 9).Draw(t, "bins")
		}
		p, err := New(s, env)
		if err != nil {
			t.Fatal(err)
		}
		odd := rapid.OneOf(rapid.Float32(), rapid.SampledFrom([]float32{
			0, float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), math.MaxFloat32, math.SmallestNonzeroFloat32,
		}))
		theta := rapid.SliceOfN(odd, p.Dim(), p.Dim()).Draw(t, "theta")
		obs := rapid.SliceOfN(odd, env.ObsDim, env.ObsDim).Draw(t, "obs")
		const guard = 77
		act := make([]float64, p.ActDim()+1)
		act[p.ActDim()] = guard
		p.Act(theta, obs, p.Scratch(1), act)
		if err := envs.CheckAction(env, act[:p.ActDim()]); err != nil {
			t.Fatal(err)
		}
		for i, a := range act[:p.ActDim()] {
			if env == box && (a < env.Action.Low[i] || a > env.Action.High[i]) {
				t.Fatalf("action %d is %v, not in [%v, %v]", i, a, env.Action.Low[i], env.Action.High[i])
			}
		}
		if act[p.ActDim()] != guard {
			t.Fatal("wrote behind the action")
		}
	})
}

func TestActDoesNotAllocate(t *testing.T) {
	p := mustNew(t, Spec{Kind: "mlp", Hidden: []uint64{16, 16}, Activation: "tanh", Bias: true, Head: "clip"}, box)
	theta, obs, act := make([]float32, p.Dim()), make([]float32, 4), make([]float64, 2)
	p.Init(theta, 1)
	sc := p.Scratch(1)
	if got := testing.AllocsPerRun(100, func() { p.Act(theta, obs, sc, act) }); got != 0 {
		t.Errorf("Act allocates %v times, want 0", got)
	}
	many := p.Scratch(8)
	if got := testing.AllocsPerRun(100, func() { p.ActBatch(theta, make([]float32, 32), 8, many, make([]float64, 16), nil) }); got != 0 {
		t.Errorf("ActBatch allocates %v times, want 0", got)
	}
}

func TestSpecJSON(t *testing.T) {
	s := Spec{Kind: "mlp", Hidden: []uint64{8}, Activation: "tanh", Bias: true, Head: "bins", Bins: 3}
	got, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"kind":"mlp","hidden":[8],"activation":"tanh","bias":true,"head":"bins","bins":3}`
	if string(got) != want {
		t.Errorf("JSON is %s, want %s", got, want)
	}
}

func BenchmarkAct(b *testing.B) {
	env := &envs.Spec{ID: "Bench", ObsDim: 24, Action: envs.BoxSpace(4, -1, 1)}
	for _, tt := range []struct {
		name string
		spec Spec
	}{
		{"linear-24-4", Spec{Kind: "linear", Bias: true, Head: "clip"}},
		{"tanh-24-64-64-4", Spec{Kind: "mlp", Hidden: []uint64{64, 64}, Activation: "tanh", Bias: true, Head: "clip"}},
		{"relu-24-64-64-4", Spec{Kind: "mlp", Hidden: []uint64{64, 64}, Activation: "relu", Bias: true, Head: "clip"}},
	} {
		b.Run(tt.name, func(b *testing.B) {
			p, err := New(tt.spec, env)
			if err != nil {
				b.Fatal(err)
			}
			theta, obs, act := make([]float32, p.Dim()), make([]float32, 24), make([]float64, 4)
			p.Init(theta, 1)
			for i := range obs {
				obs[i] = float32(i) / 24
			}
			sc := p.Scratch(1)
			b.SetBytes(int64(4 * p.Dim()))
			b.ReportAllocs()
			for b.Loop() {
				p.Act(theta, obs, sc, act)
			}
		})
	}
}

// mustNew returns the policy or ends the test.
func mustNew(t testing.TB, s Spec, env *envs.Spec) *Policy {
	t.Helper()
	p, err := New(s, env)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
