package cli

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"sort"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evoswarm/evoswarm/internal/policy"
)

// tensor is what a strict reader finds in a safetensors file.
type tensor struct {
	Shape  []int
	Values []float32
}

// readSafetensors reads a file as strictly as the format's own implementation does: every byte of the data belongs to
// exactly one tensor, in order.
func readSafetensors(data []byte) (map[string]tensor, map[string]string, error) {
	if len(data) < 8 {
		return nil, nil, errors.New("too short")
	}
	n := binary.LittleEndian.Uint64(data)
	if n > uint64(len(data)-8) || n%8 != 0 {
		return nil, nil, fmt.Errorf("header of %d bytes", n)
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(data[8:8+n], &raw); err != nil {
		return nil, nil, err
	}
	var meta map[string]string
	if err := json.Unmarshal(raw["__metadata__"], &meta); err != nil {
		return nil, nil, err
	}
	delete(raw, "__metadata__")
	return readTensors(raw, data[8+n:], meta)
}

func readTensors(raw map[string]json.RawMessage, values []byte, meta map[string]string) (map[string]tensor, map[string]string, error) {
	type span struct {
		name       string
		begin, end int
	}
	var spans []span
	tensors := map[string]tensor{}
	for name, m := range raw {
		var head struct {
			DType   string `json:"dtype"`
			Shape   []int  `json:"shape"`
			Offsets [2]int `json:"data_offsets"`
		}
		d := json.NewDecoder(bytes.NewReader(m))
		d.DisallowUnknownFields()
		if err := d.Decode(&head); err != nil {
			return nil, nil, err
		}
		size := 4
		for _, k := range head.Shape {
			size *= k
		}
		begin, end := head.Offsets[0], head.Offsets[1]
		if head.DType != "F32" || begin < 0 || end > len(values) || end-begin != size {
			return nil, nil, fmt.Errorf("tensor %s: %+v over %d bytes", name, head, len(values))
		}
		t := tensor{Shape: head.Shape}
		for at := begin; at < end; at += 4 {
			t.Values = append(t.Values, math.Float32frombits(binary.LittleEndian.Uint32(values[at:])))
		}
		tensors[name] = t
		spans = append(spans, span{name, begin, end})
	}
	sort.Slice(spans, func(i, j int) bool { return spans[i].begin < spans[j].begin })
	at := 0
	for _, s := range spans {
		if s.begin != at {
			return nil, nil, fmt.Errorf("a hole before %s", s.name)
		}
		at = s.end
	}
	if at != len(values) {
		return nil, nil, errors.New("values that belong to no tensor")
	}
	return tensors, meta, nil
}

func testModel() ([]policy.Tensor, []float32) {
	layout := []policy.Tensor{
		{Name: "layers.0.weight", Rows: 2, Cols: 3, Offset: 0},
		{Name: "layers.0.bias", Rows: 1, Cols: 3, Offset: 6},
		{Name: "layers.1.weight", Rows: 3, Cols: 1, Offset: 9},
		{Name: "layers.1.bias", Rows: 1, Cols: 1, Offset: 12},
	}
	theta := make([]float32, 13)
	for i := range theta {
		theta[i] = float32(i) + 0.25
	}
	return layout, theta
}

func TestSafetensors(t *testing.T) {
	layout, theta := testModel()
	var b bytes.Buffer
	if err := writeSafetensors(&b, layout, theta, [][2]string{{"run", "bafy\"quoted"}, {"height", "7"}}); err != nil {
		t.Fatal(err)
	}
	got, meta, err := readSafetensors(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]tensor{
		"layers.0.weight": {[]int{2, 3}, theta[0:6]},
		"layers.0.bias":   {[]int{3}, theta[6:9]},
		"layers.1.weight": {[]int{3, 1}, theta[9:12]},
		"layers.1.bias":   {[]int{1}, theta[12:13]},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tensors (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"run": "bafy\"quoted", "height": "7"}, meta); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
}

// TestSafetensorsRecorded compares with the file that safetensors 0.4.5 for Python read back and wrote itself, byte for
// byte the same values: see testdata/check_safetensors.py.
func TestSafetensorsRecorded(t *testing.T) {
	layout, theta := testModel()
	var b bytes.Buffer
	if err := writeSafetensors(&b, layout, theta, [][2]string{{"run", "bafy"}, {"height", "7"}}); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/model.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), want) {
		t.Errorf("the file differs from the one that Python checked: %d bytes, want %d", b.Len(), len(want))
	}
	python, err := os.ReadFile("testdata/python.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	ours, _, err := readSafetensors(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	theirs, _, err := readSafetensors(python)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(theirs, ours); diff != "" {
		t.Errorf("Python's copy has other tensors (-python +ours):\n%s", diff)
	}
	if !slices.Equal(theirs["layers.0.bias"].Values, theta[6:9]) {
		t.Errorf("Python's bias is %v, want %v", theirs["layers.0.bias"].Values, theta[6:9])
	}
}
