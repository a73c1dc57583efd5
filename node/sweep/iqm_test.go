package sweep

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"
)

// The interquartile mean is that of rliable, and so is the interval, as far as resampling allows: both draw at random.
// testdata/record.py recorded rliable's.
func TestIQMLikeRliable(t *testing.T) {
	data, err := os.ReadFile("testdata/rliable.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name           string
		Values         []float64
		IQM, Low, High float64
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Fatal("nothing was recorded")
	}
	for _, c := range cases {
		low, high := iqmInterval(c.Values)
		sorted := slices.Sorted(slices.Values(c.Values))
		if got := IQM(sorted); math.Abs(got-c.IQM) > 1e-9*math.Abs(c.IQM) {
			t.Errorf("%s: IQM is %v, rliable has %v", c.Name, got, c.IQM)
		}
		tolerance := 0.04 * (c.High - c.Low)
		if math.Abs(low-c.Low) > tolerance || math.Abs(high-c.High) > tolerance {
			t.Errorf("%s: interval is %v to %v, rliable has %v to %v", c.Name, low, high, c.Low, c.High)
		}
	}
	if got := IQM(nil); !math.IsNaN(got) {
		t.Errorf("IQM without values is %v, want NaN", got)
	}
}

func TestBand(t *testing.T) {
	curves := Curves{
		0: {{100, 0}, {300, 20}},
		1: {{200, 5}}, // solved at its first evaluation
		2: {{50, 0}, {400, 35}},
		3: {{200, 100}, {400, 100}},
		9: nil, // interrupted before its first evaluation
	}
	b := curves.Band(600)
	if b.Runs != 4 || b.Steps[0] != 200 || b.Steps[len(b.Steps)-1] != 600 {
		t.Fatalf("%d runs from %v to %v, want 4 from 200, where all have begun, to 600", b.Runs, b.Steps[0], b.Steps[len(b.Steps)-1])
	}
	// At 200 the returns are 10, 5, 15 and 100; at the end 20, 5, 35 and 100.
	for _, c := range []struct {
		i    int
		want float64
	}{{0, 12.5}, {len(b.IQM) - 1, 27.5}} {
		if math.Abs(b.IQM[c.i]-c.want) > 1e-9 {
			t.Errorf("after %v env-steps the IQM is %v, want %v", b.Steps[c.i], b.IQM[c.i], c.want)
		}
	}
	for i := range b.Steps {
		if !(b.Low[i] <= b.IQM[i] && b.IQM[i] <= b.High[i]) || b.Low[i] == b.High[i] {
			t.Errorf("after %v env-steps %v is not within %v to %v", b.Steps[i], b.IQM[i], b.Low[i], b.High[i])
		}
	}
	if none := (Curves{}).Band(600); none.Runs != 0 || none.Steps != nil {
		t.Errorf("no curves give %+v", none)
	}
}
