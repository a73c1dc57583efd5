package model

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/testnet/python"
)

// pythonTensor is what testdata/read.py prints about a tensor.
type pythonTensor struct {
	DType string `json:"dtype"`
	Shape []int  `json:"shape"`
	Bits  string `json:"bits"`
}

// Python's safetensors, NumPy and json find every value, bit for bit; and what those libraries write themselves is
// read here.
func TestPython(t *testing.T) {
	m := sample(t)
	_, pol, err := m.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]pythonTensor{}
	for _, p := range pol.Layout() {
		want[p.Name] = pythonTensor{"float32", shapeOf(p), hex.EncodeToString(bytes32(m.Theta[p.Offset : p.Offset+p.Rows*p.Cols]))}
	}
	for i := range m.Slots {
		v := tensorOf(&m.Slots[i])
		data, _ := v.load()
		want[v.name] = pythonTensor{"float32", v.shape, hex.EncodeToString(data)}
	}
	for _, f := range formats {
		t.Run(string(f), func(t *testing.T) {
			path, copied := filepath.Join(t.TempDir(), "model."+string(f)), filepath.Join(t.TempDir(), "copy."+string(f))
			if err := os.WriteFile(path, encode(t, m, f), 0o600); err != nil {
				t.Fatal(err)
			}
			var got struct {
				Metadata map[string]string       `json:"metadata"`
				Tensors  map[string]pythonTensor `json:"tensors"`
			}
			if err := json.Unmarshal(python.Run(t, "testdata/read.py", path, copied), &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got.Tensors); diff != "" {
				t.Errorf("tensors (-ours +Python's):\n%s", diff)
			}
			checkMetadata(t, m, got.Metadata)
			if f != JSON {
				checkCopy(t, m, copied)
			}
		})
	}
}

func checkMetadata(t *testing.T, m *Model, meta map[string]string) {
	t.Helper()
	for key, want := range map[string]string{"run": m.Run, "head": m.Head, "height": "7", "env": "CartPole-v1", "env_revision": "1", "theta": m.Digest()} {
		if got := meta[key]; got != want {
			t.Errorf("metadata %s is %q, want %q", key, got, want)
		}
	}
	var spec policy.Spec
	if err := json.Unmarshal([]byte(meta["policy"]), &spec); err != nil || !cmp.Equal(spec, m.Policy) {
		t.Errorf("metadata policy is %s (%v), want %+v", meta["policy"], err, m.Policy)
	}
}

// checkCopy reads what the foreign library wrote.
func checkCopy(t *testing.T, m *Model, path string) {
	t.Helper()
	in, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	got, err := Read(in)
	if err != nil {
		t.Fatalf("reading what Python wrote: %v", err)
	}
	want := *m
	want.Slots = slices.Clone(m.Slots)
	order := func(a, b evolve.Slot) int { return strings.Compare(a.Name, b.Name) }
	slices.SortFunc(got.Slots, order)
	slices.SortFunc(want.Slots, order)
	if diff := cmp.Diff(&want, got); diff != "" {
		t.Errorf("what Python wrote (-want +got):\n%s", diff)
	}
}
