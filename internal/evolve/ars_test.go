package evolve_test

import (
	"math"
	"reflect"
	"sort"
	"testing"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/kernel"
	"pgregory.net/rapid"
)

// epsOf returns the perturbation that seed names.
func epsOf(seed uint64, dim int) []float64 {
	eps := make([]float32, dim)
	kernel.Accumulate(eps, 1, seed, 0)
	x := make([]float64, dim)
	for i, e := range eps {
		x[i] = float64(e)
	}
	return x
}

// near reports an error for each value of got that is not within tolerance of want.
func near(t testing.TB, what string, got []float32, want []float64, tolerance float64) {
	t.Helper()
	for i, w := range want {
		if d := math.Abs(float64(got[i]) - w); !(d <= tolerance*math.Max(1, math.Abs(w))) {
			t.Errorf("%s[%d] = %v, want %v", what, i, got[i], w)
		}
	}
}

func widened(x []float32) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}

// arsStep is algorithm 2 of Mania et al. (2018), V1-t, with rewards in units of
// 2^-20, whose unit does not count.
func arsStep(theta []float64, results []evolve.Result, alpha float64, b int) []float64 {
	order := make([]int, len(results))
	for i := range order {
		order[i] = i
	}
	better := func(i int) int64 { return max(results[i].Fitness[0], results[i].Fitness[1]) }
	sort.SliceStable(order, func(i, j int) bool { return better(order[i]) > better(order[j]) })
	order = order[:b]
	mean, square := 0.0, 0.0
	for _, i := range order {
		mean += (float64(results[i].Fitness[0]) + float64(results[i].Fitness[1])) / float64(2*b)
	}
	for _, i := range order {
		for _, f := range results[i].Fitness {
			square += (float64(f) - mean) * (float64(f) - mean) / float64(2*b)
		}
	}
	next := append([]float64(nil), theta...)
	for _, i := range order {
		for j, e := range epsOf(results[i].Seed, len(theta)) {
			next[j] += alpha / (float64(b) * math.Sqrt(square)) * float64(results[i].Fitness[0]-results[i].Fitness[1]) * e
		}
	}
	return next
}

func TestARSSteps(t *testing.T) {
	const dim = 9
	for _, top := range []int{1, 3, 8} {
		st := strategy(t, "ars", dim, evolve.Params{"alpha": 0.3, "sigma": 0.1, "top": float64(top)})
		s := st.Init(make([]float32, dim))
		want := make([]float64, dim)
		for range 5 {
			results := generation(st, s, 8)
			want = arsStep(want, results, 0.3, top)
			s = st.Apply(s, results)
			near(t, "theta", s.Theta, want, 1e-5)
			if got := len(st.Decisive(results, 99)); got > top {
				t.Errorf("Decisive names %d, but only %d directions move the model", got, top)
			}
		}
	}
}

// TestARSUsesTheTop: what is not among the top directions does not matter.
func TestARSUsesTheTop(t *testing.T) {
	st := strategy(t, "ars", 4, evolve.Params{"top": 2.0})
	s := st.Init(make([]float32, 4))
	top := []evolve.Result{{Seed: 1, Fitness: [2]int64{-50, 90}}, {Seed: 2, Fitness: [2]int64{80, 10}}}
	all := append(append([]evolve.Result(nil), top...), evolve.Result{Seed: 3, Fitness: [2]int64{70, 79}}, evolve.Result{Seed: 4, Fitness: [2]int64{80, 80}})
	if got, want := st.Apply(s, all), st.Apply(s, top); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v: of equal directions the first is used", got.Theta, want.Theta)
	}
	if got, want := st.Decisive(all, 1), []int{0}; !reflect.DeepEqual(got, want) {
		t.Errorf("Decisive = %v, want %v", got, want)
	}
}

// TestARSInvalid: a sign without fitness is worse than all others, by no more than
// these differ, and a direction without any is not used.
func TestARSInvalid(t *testing.T) {
	const bad, one = evolve.InvalidFitness, 1 << 20
	st := strategy(t, "ars", 4, nil)
	s := st.Init(make([]float32, 4))
	rest := []evolve.Result{{Seed: 2, Fitness: [2]int64{4 * one, 2 * one}}}
	with := func(minus int64) *evolve.State {
		return st.Apply(s, append([]evolve.Result{{Seed: 1, Fitness: [2]int64{3 * one, minus}}}, rest...))
	}
	if got, want := with(bad), with(0); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v: as far below the lowest as that is below the highest", got.Theta, want.Theta)
	}
	if got, want := st.Apply(s, append([]evolve.Result{{Seed: 1, Fitness: [2]int64{bad, bad}}}, rest...)), st.Apply(s, rest); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v: a direction without fitness is not used", got.Theta, want.Theta)
	}
	if got := with(bad); reflect.DeepEqual(got.Theta, s.Theta) {
		t.Error("nothing moved")
	}
}

// TestARSScale: the unit and the zero of the reward do not count.
func TestARSScale(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		st := strategy(t, "ars", 3, evolve.Params{"alpha": 1.0})
		s := st.Init(make([]float32, 3))
		n := rapid.IntRange(1, 8).Draw(r, "n")
		results, scaled := make([]evolve.Result, n), make([]evolve.Result, n)
		for i := range results {
			for k := range 2 {
				f := rapid.Int64Range(-1000, 1000).Draw(r, "fitness") << 20
				results[i].Fitness[k], scaled[i].Fitness[k] = f, 64*f+7<<20
			}
			results[i].Seed, scaled[i].Seed = uint64(i), uint64(i)
		}
		near(t, "theta", st.Apply(s, scaled).Theta, widened(st.Apply(s, results).Theta), 1e-5)
	})
}
