package model

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

var formats = []Format{Safetensors, NPZ, JSON}

// sample is a small model with everything that a model may have.
func sample(t testing.TB) *Model {
	t.Helper()
	env, err := envs.Find("CartPole-v1")
	if err != nil {
		t.Fatal(err)
	}
	m := &Model{
		Env:    seedlog.EnvRef{ID: env.ID, Revision: env.Revision, Params: envs.Params{"sutton_barto_reward": 1}},
		Policy: policy.Spec{Kind: "mlp", Hidden: []uint64{3}, Activation: "tanh", Bias: true, Head: "argmax"},
		Run:    seedlog.LinkOf([]byte("run")).String(), Head: seedlog.LinkOf([]byte("head")).String(), Height: 7,
		Episodes:     seedlog.Episodes{Count: 2, Shared: true},
		Observations: &rollout.Observations{Kind: rollout.Running, Episodes: 2, Clip: 5},
		Slots: []evolve.Slot{
			{Name: "obs/mean", Values: []float32{0.25, -1, 0, 1e-30}}, {Name: "obs/std", Values: []float32{1, 2, 3, 0}},
		},
	}
	m.Policy.VBN = true
	reference := evolve.Slot{Name: "obs/reference"}
	for i := range policy.ReferenceSize * 4 {
		reference.Values = append(reference.Values, float32(i%7)-3)
	}
	m.Slots = append(m.Slots, reference)
	for i := range 4*3 + 3 + 3*2 + 2 {
		m.Theta = append(m.Theta, float32(i)/3-2)
	}
	return m
}

func encode(t testing.TB, m *Model, f Format) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := m.Write(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestRoundTrip(t *testing.T) {
	m := sample(t)
	for _, f := range formats {
		data := encode(t, m, f)
		got, err := Read(bytes.NewReader(data))
		if err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		if diff := cmp.Diff(m, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", f, diff)
		}
		if again := encode(t, got, f); !bytes.Equal(again, data) {
			t.Errorf("%s: written again it has other bytes", f)
		}
	}
}

// Every policy and every bit of theta survive, but for what JSON cannot say.
func TestRoundTripOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.SampledFrom([]string{"CartPole-v1", "Pendulum-v1"}).Draw(t, "env")
		env, err := envs.Find(id)
		if err != nil {
			t.Fatal(err)
		}
		m := &Model{Env: seedlog.EnvRef{ID: id, Revision: env.Revision}, Height: rapid.Uint64().Draw(t, "height")}
		m.Policy = policy.Spec{Kind: "linear", Bias: rapid.Bool().Draw(t, "bias"), Head: "argmax", Hidden: []uint64{}}
		if !env.Action.Discrete {
			m.Policy.Head = "clip"
		}
		if rapid.Bool().Draw(t, "mlp") {
			m.Policy.Kind, m.Policy.Activation = "mlp", "relu"
			m.Policy.Hidden = rapid.SliceOfN(rapid.Uint64Range(1, 5), 1, 3).Draw(t, "hidden")
		}
		pol, err := policy.New(m.Policy, env)
		if err != nil {
			t.Fatal(err)
		}
		f := rapid.SampledFrom(formats).Draw(t, "format")
		for range pol.Dim() {
			x := math.Float32frombits(rapid.Uint32().Draw(t, "bits"))
			if f == JSON && x-x != 0 {
				x = float32(math.Copysign(0, -1))
			}
			m.Theta = append(m.Theta, x)
		}
		var b bytes.Buffer
		if err := m.Write(&b, f); err != nil {
			t.Fatal(err)
		}
		got, err := Read(&b)
		if err != nil {
			t.Fatal(err)
		}
		for i := range m.Theta {
			if g, w := math.Float32bits(got.Theta[i]), math.Float32bits(m.Theta[i]); g != w {
				t.Fatalf("%s: parameter %d has the bits %#x, want %#x", f, i, g, w)
			}
		}
		if diff := cmp.Diff(m.Policy, got.Policy); diff != "" || got.Height != m.Height {
			t.Fatalf("%s: height %d, want %d; policy (-want +got):\n%s", f, got.Height, m.Height, diff)
		}
	})
}

func TestWriteRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		format Format
		change func(*Model)
		want   error
	}{
		{"NaN in JSON", JSON, func(m *Model) { m.Theta[3] = float32(math.NaN()) }, ErrNotFinite},
		{"infinity in JSON", JSON, func(m *Model) { m.Slots[0].Values[0] = float32(math.Inf(1)) }, ErrNotFinite},
		{"short theta", NPZ, func(m *Model) { m.Theta = m.Theta[1:] }, ErrDamaged},
		{"no statistics", NPZ, func(m *Model) { m.Slots = m.Slots[1:] }, ErrDamaged},
		{"short statistics", JSON, func(m *Model) { m.Slots[1].Values = m.Slots[1].Values[1:] }, ErrDamaged},
		{"another slot", JSON, func(m *Model) { m.Slots[1].Name = "obs/sums" }, ErrDamaged},
		{"statistics for nothing", Safetensors, func(m *Model) { m.Observations = nil }, ErrDamaged},
		{"no clip", Safetensors, func(m *Model) { m.Observations.Clip = 0 }, ErrForeign},
		{"skip", Safetensors, func(m *Model) { m.Episodes.Skip = 1 << 40 }, ErrForeign},
		{"another revision", Safetensors, func(m *Model) { m.Env.Revision += 5 }, ErrForeign},
		{"no such format", "onnx", func(*Model) {}, ErrFormat},
	} {
		m := sample(t)
		c.change(m)
		if err := m.Write(new(bytes.Buffer), c.format); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

func TestFormatOf(t *testing.T) {
	for name, want := range map[string]Format{"a/b.safetensors": Safetensors, "x.NPZ": NPZ, "x.y.json": JSON} {
		if got, ok := FormatOf(name); got != want || !ok {
			t.Errorf("FormatOf(%q) = %q, %t, want %q", name, got, ok, want)
		}
	}
	for _, name := range []string{"", "model", "model.onnx", "npz"} {
		if got, ok := FormatOf(name); ok {
			t.Errorf("FormatOf(%q) = %q, want none", name, got)
		}
	}
}

// A model is tested on the episodes that its log names.
func TestTestSeeds(t *testing.T) {
	m := sample(t)
	run, head := seedlog.LinkOf([]byte("run")), seedlog.LinkOf([]byte("head"))
	want := (&seedlog.Rules{Run: run}).TestSeeds(head, 5)
	if diff := cmp.Diff(want, m.TestSeeds(5)); diff != "" {
		t.Errorf("test seeds (-want +got):\n%s", diff)
	}
	m.Run, m.Head = "", ""
	if got := m.TestSeeds(5); cmp.Equal(got, want) || len(got) != 5 {
		t.Errorf("without a run: %v", got)
	}
}

// TestParams: a model is evaluated with the parameters that it names, and refused where there are none such.
func TestParams(t *testing.T) {
	m := sample(t)
	plan, err := m.Plan()
	if err != nil || len(plan.Env.Given()) != 1 {
		t.Fatalf("the environment has %v (%v), want a parameter", plan.Env.Given(), err)
	}
	for _, params := range []envs.Params{{"rain": 1}, {"sutton_barto_reward": 0.5}} {
		m.Env.Params = params
		if _, err := m.Plan(); !errors.Is(err, ErrForeign) || !errors.Is(err, envs.ErrParam) {
			t.Errorf("%v: %v, want ErrForeign and ErrParam", params, err)
		}
	}
	for _, f := range []Format{Safetensors, JSON} {
		data := bytes.Replace(encode(t, sample(t), f), []byte("sutton_barto_reward"), []byte("sutton_barto_regret"), 1)
		if _, err := Read(bytes.NewReader(data)); !errors.Is(err, ErrForeign) || !errors.Is(err, envs.ErrParam) {
			t.Errorf("an unknown one as %s: %v, want ErrForeign and ErrParam", f, err)
		}
	}
}
