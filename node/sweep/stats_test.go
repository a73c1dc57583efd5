package sweep

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

var inf = math.Inf(1)

func TestQuantile(t *testing.T) {
	for _, c := range []struct {
		sorted []float64
		p      float64
		want   float64
	}{
		{[]float64{1}, 0.5, 1},
		{[]float64{1, 2}, 0.5, 1.5},
		{[]float64{1, 2, 3, 4}, 0.25, 1.75}, // numpy.quantile([1, 2, 3, 4], .25)
		{[]float64{1, 2, 3, 4}, 0.75, 3.25},
		{[]float64{1, 2, 3, 4, 5}, 0.75, 4},
		{[]float64{1, 2, inf}, 0.5, 2},
		{[]float64{1, 2, inf, inf}, 0.5, inf},
		{[]float64{1, inf, inf}, 0.25, inf},
		{[]float64{inf, inf}, 0.5, inf},
		{[]float64{-inf, -inf, 3}, 0.25, -inf},
		{[]float64{-inf, 2}, 0.5, -inf},
		{[]float64{1, 2, inf}, 0, 1},
		{[]float64{1, 2, inf}, 1, inf},
	} {
		if got := Quantile(c.sorted, c.p); got != c.want {
			t.Errorf("Quantile(%v, %v) = %v, want %v", c.sorted, c.p, got, c.want)
		}
	}
	if got := Quantile(nil, 0.5); !math.IsNaN(got) {
		t.Errorf("Quantile without values = %v, want NaN", got)
	}
}

// TestQuantileGrows checks that quantiles of anything grow with p and stay within the values.
func TestQuantileGrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.OneOf(rapid.Float64Range(-1e9, 1e9), rapid.Just(inf)), 1, 20).Draw(t, "x")
		slices.Sort(x)
		p, q := rapid.Float64Range(0, 1).Draw(t, "p"), rapid.Float64Range(0, 1).Draw(t, "q")
		low, high := Quantile(x, min(p, q)), Quantile(x, max(p, q))
		if !(x[0] <= low && low <= high && high <= x[len(x)-1]) {
			t.Fatalf("Quantile(%v) is %v at %v and %v at %v", x, low, min(p, q), high, max(p, q))
		}
	})
}

// rows makes a table: +Inf is a failure.
func rows(env string, steps ...float64) []Row {
	var all []Row
	for i, s := range steps {
		r := Row{Env: env, Seed: uint64(i), Done: true, Solved: s < inf, Steps: 5000, Seconds: 1}
		if r.Solved {
			r.Steps, r.Seconds = uint64(s), s/1000
		}
		all = append(all, r)
	}
	return all
}

func TestSummarize(t *testing.T) {
	all := rows("W", 100, inf, 300, 200, inf)
	all = append(all, Row{Env: "W", Seed: 9, Solved: true})
	s := Summarize(all)
	if s.Runs != 5 || s.Solved != 3 || s.Rate != 0.6 || s.Left != 1 {
		t.Errorf("got %+v, want 3 of 5 solved and 1 left", s)
	}
	if want := [3]Real{200, 300, Real(inf)}; s.Quarters.Steps != want || s.Steps != 300 {
		t.Errorf("quartiles of the env-steps are %v, median %v, want %v", s.Quarters.Steps, s.Steps, want)
	}
	b, err := json.Marshal(s.Quarters)
	if want := `{"steps":[200,300,null],"seconds":[0.2,0.3,null]}`; err != nil || string(b) != want {
		t.Errorf("got %s, %v, want %s", b, err, want)
	}
}

func TestCompare(t *testing.T) {
	ten := []float64{100, 110, 120, 130, 140, 150, 160, 170, 180, 190}
	twice := make([]float64, len(ten))
	for i, x := range ten {
		twice[i] = 2 * x
	}
	never := []float64{inf, inf, inf, inf, inf}
	half := []float64{100, 110, 120, inf, inf, inf}
	for _, c := range []struct {
		name         string
		a, b         []float64
		better       string
		value, ratio float64 // NaN: not known
	}{
		{"the same", ten, ten, "unclear", 0, 1},
		{"twice", ten, twice, "a", 145, 2},
		{"half", twice, ten, "b", -145, 0.5},
		{"never against always", ten, never, "a", inf, inf},
		{"always against never", never, ten, "b", math.Inf(-1), 0},
		{"never against never", never, never, "unclear", math.NaN(), math.NaN()},
		{"half of them fail", ten, half, "unclear", inf, inf},
	} {
		got, err := Compare(rows("W", c.a...), rows("W", c.b...))
		if err != nil {
			t.Fatal(err)
		}
		m := got.Costs[0]
		if m.Better != c.better || !same(m.Difference.Value, c.value) || !same(m.Ratio.Value, c.ratio) {
			t.Errorf("%s: %+v, want better %q, difference %v, ratio %v", c.name, m, c.better, c.value, c.ratio)
		}
		if m.Difference.Low > m.Difference.High || m.Ratio.Low > m.Ratio.High || m.Ratio.Low < 0 {
			t.Errorf("%s: intervals %+v and %+v", c.name, m.Difference, m.Ratio)
		}
		again, _ := Compare(rows("W", c.a...), rows("W", c.b...))
		if g, w := text(t, again), text(t, got); g != w {
			t.Errorf("%s: a second time gives %s, want %s", c.name, g, w)
		}
	}
}

// TestCompareCovers draws both tables from one distribution: the interval of the difference holds 0 in about 95 %.
func TestCompareCovers(t *testing.T) {
	held := 0
	const tries = 50
	for i := range uint64(tries) {
		a, b := sample(2*i, 9), sample(2*i+1, 9)
		c := compareCosts(Steps, a, b)
		if c.Difference.Low <= 0 && c.Difference.High >= 0 {
			held++
		}
	}
	if held < 43 {
		t.Errorf("the interval held 0 in %d of %d, want about 95 %%", held, tries)
	}
}

func TestCompareRefuses(t *testing.T) {
	if _, err := Compare(rows("V", 1), rows("W", 1)); err == nil {
		t.Error("two worlds are compared")
	}
	if _, err := Compare(rows("V", 1), nil); err == nil {
		t.Error("an empty table is compared")
	}
}

func same(x Real, want float64) bool {
	return float64(x) == want || math.IsNaN(float64(x)) && math.IsNaN(want)
}

func text(t *testing.T, v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
