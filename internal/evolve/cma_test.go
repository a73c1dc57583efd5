package evolve_test

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/golden"
	"github.com/evoswarm/evoswarm/internal/noise"
	"pgregory.net/rapid"
)

// adaptive are the strategies whose step sizes adapt, on reals.
var adaptive = []string{"cma-es", "sep-cma-es", "snes", "xnes"}

// landscapes are the functions that adaptive strategies are tried on, to be minimized.
var landscapes = map[string]func(x []float32) float64{
	"sphere":    func(x []float32) float64 { return stretched(x, 1) },
	"ellipsoid": func(x []float32) float64 { return stretched(x, 1e6) },
	"rosenbrock": func(x []float32) float64 {
		sum := 0.0
		for i := range len(x) - 1 {
			a, b := float64(x[i]), float64(x[i+1])
			sum += 100*(b-a*a)*(b-a*a) + (1-a)*(1-a)
		}
		return sum
	},
	"rotated": func(x []float32) float64 { // an ellipsoid along no axis
		y := make([]float32, len(x))
		sum := float32(0)
		for _, v := range x {
			sum += v
		}
		for i, v := range x {
			y[i] = v - 2*sum/float32(len(x))
		}
		return stretched(y, 1e4)
	},
}

func stretched(x []float32, condition float64) float64 {
	sum := 0.0
	for i, v := range x {
		sum += math.Pow(condition, float64(i)/float64(len(x)-1)) * float64(v) * float64(v)
	}
	return sum
}

// fixed returns -x as a fitness.
func fixed(x float64) int64 { return -int64(math.Min(math.Round(x*(1<<20)), 1<<62)) }

// evaluate returns the results of count candidates of s.
func evaluate(st evolve.Strategy, s *evolve.State, run uint64, count int, f func(x []float32) int64) []evolve.Result {
	x := make([]float32, len(s.Theta))
	results := make([]evolve.Result, count)
	for k := range results {
		results[k].Seed = run<<48 + s.Gen<<16 + uint64(k)
		st.Candidate(x, s, results[k].Seed, 1)
		results[k].Fitness[0] = f(x)
	}
	return results
}

// TestAdaptiveConverge bounds the evaluations until the mean reaches 1e-3. The bounds
// are some 1.3 times the median of 30 runs.
func TestAdaptiveConverge(t *testing.T) {
	for _, test := range []struct {
		name, function        string
		dim, population, most int
		start                 float32
		sigma                 float64
	}{
		{"cma-es", "sphere", 10, 10, 920, 3, 1},
		{"cma-es", "ellipsoid", 10, 10, 4100, 1, 1},
		{"cma-es", "rotated", 10, 10, 3000, 1, 1},
		{"cma-es", "rosenbrock", 10, 10, 5500, 0, 0.3},
		{"sep-cma-es", "sphere", 10, 10, 800, 3, 1},
		{"sep-cma-es", "ellipsoid", 30, 14, 6500, 1, 1},
		{"sep-cma-es", "rosenbrock", 10, 10, 50000, 0, 0.3},
		{"snes", "sphere", 10, 10, 1050, 3, 1},
		{"snes", "ellipsoid", 10, 10, 2000, 1, 1},
		{"xnes", "sphere", 10, 10, 3100, 3, 1},
		{"xnes", "rotated", 10, 10, 6000, 1, 1},
		{"xnes", "rosenbrock", 10, 10, 8800, 0, 0.3},
		{"xnes", "sphere", 30, 14, 35000, 3, 1},
	} {
		t.Run(fmt.Sprint(test.name, " ", test.function, " ", test.dim), func(t *testing.T) {
			f := landscapes[test.function]
			st := strategy(t, test.name, test.dim, evolve.Params{"sigma": test.sigma})
			theta := make([]float32, test.dim)
			for i := range theta {
				theta[i] = test.start
			}
			s := st.Init(theta)
			evaluations := 0
			for f(s.Theta) > 1e-3 {
				if evaluations += test.population; evaluations > test.most {
					t.Fatalf("%g after %d evaluations, want 0.001", f(s.Theta), test.most)
				}
				s = st.Apply(s, evaluate(st, s, 1, test.population, func(x []float32) int64 { return fixed(f(x)) }))
			}
		})
	}
}

// TestOrderAlone: a transformation of the fitness that keeps the order changes no bit.
func TestOrderAlone(t *testing.T) {
	for _, name := range adaptive {
		rapid.Check(t, func(r *rapid.T) {
			st := strategy(t, name, 4, nil)
			a := st.Init([]float32{1, -2, 0, 3})
			b := a.Clone()
			for g := range 4 {
				values := rapid.SliceOfN(rapid.Int64Range(-5, 5), 2, 12).Draw(r, "fitness")
				scale := rapid.Int64Range(1, 1<<50).Draw(r, "scale")
				offset := rapid.Int64Range(-1<<60, 1<<60).Draw(r, "offset")
				one, two := make([]evolve.Result, len(values)), make([]evolve.Result, len(values))
				for i, v := range values {
					seed := uint64(g*100 + i)
					one[i] = evolve.Result{Seed: seed, Fitness: [2]int64{v}}
					two[i] = evolve.Result{Seed: seed, Fitness: [2]int64{v*scale + offset}}
				}
				if got, want := st.Decisive(two, 3), st.Decisive(one, 3); !reflect.DeepEqual(got, want) {
					r.Fatalf("%s: Decisive = %v, want %v", name, got, want)
				}
				a, b = st.Apply(a, one), st.Apply(b, two)
			}
			if a.Digest() != b.Digest() {
				r.Fatalf("%s: states differ", name)
			}
		})
	}
}

// TestTranslation: where the search begins matters for nothing but the mean.
func TestTranslation(t *testing.T) {
	for _, name := range adaptive {
		rapid.Check(t, func(r *rapid.T) {
			st := strategy(t, name, 3, nil)
			shift := rapid.Float32Range(-100, 100).Draw(r, "shift")
			a, b := st.Init([]float32{0, 0, 0}), st.Init([]float32{shift, shift, shift})
			for g := range 5 {
				results := make([]evolve.Result, 6)
				for i := range results {
					results[i] = evolve.Result{Seed: uint64(g*10 + i), Fitness: [2]int64{rapid.Int64Range(-9, 9).Draw(r, "fitness")}}
				}
				a, b = st.Apply(a, results), st.Apply(b, results)
			}
			for i, got := range b.Slots[0].Reals {
				if want := a.Slots[0].Reals[i] + float64(shift); math.Abs(got-want) > 1e-10 {
					r.Fatalf("%s: mean[%d] = %g, want %g", name, i, got, want)
				}
			}
			if !reflect.DeepEqual(a.Slots[1:], b.Slots[1:]) {
				r.Fatalf("%s: slots other than the mean differ", name)
			}
		})
	}
}

// TestAdaptiveStayFinite runs thousands of generations where sigma grows without end, shrinks without end, or
// does either in one direction alone, and looks that every state is one that can be written. Fitness is a
// function of the noise, so that no rounding of the candidates ends it.
func TestAdaptiveStayFinite(t *testing.T) {
	length := func(eps []float32) float64 { return stretched(eps, 1) }
	for _, name := range adaptive {
		for kind, f := range map[string]func(eps []float32) float64{
			"flat":      func([]float32) float64 { return 7 },
			"linear":    func(eps []float32) float64 { return -float64(eps[0]) },
			"growing":   func(eps []float32) float64 { return -length(eps) },
			"shrinking": length,
			"needle":    func(eps []float32) float64 { return math.Abs(float64(eps[0])) - math.Abs(float64(eps[1])) },
		} {
			st := strategy(t, name, 4, nil)
			s := st.Init(make([]float32, 4))
			eps, x := make([]float32, 4), make([]float32, 4)
			for g := range 4000 {
				results := make([]evolve.Result, 8)
				for k := range results {
					results[k].Seed = uint64(g<<16 + k)
					noise.FillNormal(eps, results[k].Seed, 0)
					results[k].Fitness[0] = fixed(f(eps))
				}
				s = st.Apply(s, results)
				if err := st.Shape().Check(s); err != nil {
					t.Fatalf("%s, %s, generation %d: %v", name, kind, g, err)
				}
			}
			st.Candidate(x, s, 1, 1)
			if l := length(x); l-l != 0 {
				t.Errorf("%s, %s: candidate %v", name, kind, x)
			}
		}
	}
}

// TestAdaptiveAnyFitness: no fitness whatever brings a NaN or an infinity into a state.
func TestAdaptiveAnyFitness(t *testing.T) {
	for _, name := range adaptive {
		rapid.Check(t, func(r *rapid.T) {
			dim := rapid.IntRange(1, 6).Draw(r, "dim")
			st := strategy(t, name, dim, evolve.Params{"sigma": rapid.SampledFrom([]float64{1e-6, 0.5, 1000}).Draw(r, "sigma")})
			s := st.Init(make([]float32, dim))
			any := rapid.OneOf(rapid.Int64(), rapid.Int64Range(-1, 1), rapid.Just(evolve.InvalidFitness), rapid.Just(int64(math.MaxInt64)))
			for range rapid.IntRange(1, 40).Draw(r, "generations") {
				values := rapid.SliceOfN(any, 0, 20).Draw(r, "fitness")
				results := make([]evolve.Result, len(values))
				for i, v := range values {
					results[i] = evolve.Result{Seed: s.Gen*32 + uint64(i), Fitness: [2]int64{v}}
				}
				s = st.Apply(s, results)
				if err := st.Shape().Check(s); err != nil {
					r.Fatalf("%s: %v", name, err)
				}
			}
			x := make([]float32, dim)
			st.Candidate(x, s, 1, 1)
			for i, v := range x {
				if v-v != 0 {
					r.Fatalf("%s: candidate[%d] = %g", name, i, v)
				}
			}
		})
	}
}

// TestPlateau: where all fitness is equal nothing moves, and CMA-ES's sigma grows up to a bound.
func TestPlateau(t *testing.T) {
	for _, name := range adaptive {
		st := strategy(t, name, 3, evolve.Params{"sigma": 0.25})
		s := st.Init([]float32{1, 2, 3})
		for range 3 {
			s = st.Apply(s, evaluate(st, s, 1, 7, func(x []float32) int64 { return fixed(stretched(x, 1)) }))
		}
		next := s
		for range 100 {
			next = st.Apply(next, evaluate(st, next, 1, 7, func([]float32) int64 { return 5 }))
		}
		got := next.Clone()
		got.Gen = s.Gen
		if sigma := got.Slot("cma/sigma"); sigma != nil {
			if sigma.Reals[0] != 2.5 {
				t.Errorf("%s: sigma = %g after 100 generations on a plateau, want 10 times 0.25", name, sigma.Reals[0])
			}
			sigma.Reals[0] = s.Slot("cma/sigma").Reals[0]
		}
		if !reflect.DeepEqual(got, s) {
			t.Errorf("%s: a plateau moved more than sigma", name)
		}
		if got := st.Decisive(evaluate(st, s, 1, 7, func([]float32) int64 { return 5 }), 3); got != nil {
			t.Errorf("%s: Decisive = %v on a plateau, want none", name, got)
		}
	}
}

// TestSigmaRange drives sigma to both ends of its range, and looks that it gets there and no further.
func TestSigmaRange(t *testing.T) {
	for _, name := range []string{"cma-es", "sep-cma-es"} {
		st := strategy(t, name, 2, evolve.Params{"sigma": 0.5, "sigma_min": 0.25, "sigma_max": 2.0})
		low, high := math.Inf(1), 0.0
		for _, sign := range []int64{-1, 1} {
			s := st.Init([]float32{0, 0})
			for range 60 {
				mean := s.Slots[0].Reals
				s = st.Apply(s, evaluate(st, s, 1, 8, func(x []float32) int64 {
					return sign * fixed(math.Abs(float64(x[0])-mean[0])+math.Abs(float64(x[1])-mean[1]))
				}))
				sigma := s.Slot("cma/sigma").Reals[0]
				low, high = min(low, sigma), max(high, sigma)
			}
		}
		if low != 0.25 || high != 2 {
			t.Errorf("%s: sigma was in [%g, %g], want [0.25, 2]", name, low, high)
		}
	}
}

func TestAdaptiveDecisive(t *testing.T) {
	results := make([]evolve.Result, 6)
	for i, f := range []int64{3, 9, evolve.InvalidFitness, 5, 1, 7} {
		results[i] = evolve.Result{Seed: uint64(i), Fitness: [2]int64{f}}
	}
	for name, want := range map[string][][]int{
		"cma-es":     {nil, {1}, {1, 5}, {1, 3, 5}, {1, 3, 5}},
		"sep-cma-es": {nil, {1}, {1, 5}, {1, 3, 5}, {1, 3, 5}},
		// By magnitude: 0.47 for rank 1, then -1/6 for ranks 4 to 6.
		"snes": {nil, {1}, {0, 1}, {0, 1, 2}},
		"xnes": {nil, {1}, {0, 1}, {0, 1, 2}},
	} {
		st := strategy(t, name, 3, nil)
		for n := range want {
			if got := st.Decisive(results, n); !reflect.DeepEqual(got, want[n]) && len(got)+len(want[n]) > 0 {
				t.Errorf("%s: Decisive(%d) = %v, want %v", name, n, got, want[n])
			}
		}
	}
}

func TestAdaptiveRefuse(t *testing.T) {
	for _, test := range []struct {
		name   string
		size   evolve.Size
		params evolve.Params
		want   string
	}{
		{"cma-es", evolve.Size{Dim: 1025, Population: 20}, nil, "use sep-cma-es"},
		{"xnes", evolve.Size{Dim: 1025, Population: 20}, nil, "use snes"},
		{"cma-es", evolve.Size{Dim: 10, Population: 1}, nil, "population is 1, want at least 2"},
		{"sep-cma-es", evolve.Size{Dim: 10, Population: 1}, nil, "population is 1, want at least 2"},
		{"snes", evolve.Size{Dim: 10, Population: 1}, nil, "population is 1, want at least 2"},
		{"xnes", evolve.Size{Dim: 10, Population: 1}, nil, "population is 1, want at least 2"},
		{"cma-es", evolve.Size{Dim: 10, Population: 8}, evolve.Params{"sigma": 0.1, "sigma_min": 0.2}, "sigma is 0.1, want a number from sigma_min (0.2)"},
		{"sep-cma-es", evolve.Size{Dim: 10, Population: 8}, evolve.Params{"sigma": 3.0, "sigma_max": 2.0}, "sigma is 3"},
		{"snes", evolve.Size{Dim: 10, Population: 8}, evolve.Params{"alpha": math.NaN()}, "alpha is NaN"},
	} {
		m, err := evolve.Find(test.name)
		if err != nil {
			t.Fatal(err)
		}
		full, err := m.Complete(test.params)
		if err == nil {
			_, err = m.New(full, test.size)
		}
		if !errors.Is(err, evolve.ErrParams) || !strings.Contains(fmt.Sprint(err), test.want) {
			t.Errorf("%s %+v %v: error %v, want %q", test.name, test.size, test.params, err, test.want)
		}
	}
}

func TestAdaptiveCandidatesDoNotAllocate(t *testing.T) {
	for _, name := range adaptive {
		for _, dim := range []int{5, 1024} {
			st := strategy(t, name, dim, nil)
			s := st.Init(make([]float32, dim))
			dst := make([]float32, dim)
			if n := testing.AllocsPerRun(10, func() { st.Candidate(dst, s, 3, 1) }); n != 0 {
				t.Errorf("%s, %d parameters: %v allocations", name, dim, n)
			}
		}
	}
}

// TestOtherSlotsStay: slots after the strategy's own are copied unchanged.
func TestOtherSlotsStay(t *testing.T) {
	for _, name := range adaptive {
		st := strategy(t, name, 3, nil)
		s := st.Init(make([]float32, 3))
		s.Slots = append(s.Slots, evolve.Slot{Name: "obs/count", Words: []uint64{42}})
		next := st.Apply(s, evaluate(st, s, 1, 6, func(x []float32) int64 { return fixed(stretched(x, 1)) }))
		if got := next.Slot("obs/count"); got == nil || got.Words[0] != 42 {
			t.Errorf("%s: slot %v, want 42", name, got)
		}
	}
}

// TestCoresDoNotMatter: one core and several give the same bits.
func TestCoresDoNotMatter(t *testing.T) {
	for _, name := range adaptive {
		dim := 150
		if name == "snes" || name == "sep-cma-es" {
			dim = 5000
		}
		st := strategy(t, name, dim, nil)
		run := func(cores int) [32]byte {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
			s := st.Init(make([]float32, dim))
			for range 3 {
				s = st.Apply(s, evaluate(st, s, 1, 100, func(x []float32) int64 { return fixed(stretched(x, 10)) }))
			}
			return s.Digest()
		}
		if one, many := run(1), run(4); one != many {
			t.Errorf("%s: state %x with one core, %x with four", name, one, many)
		}
	}
}

// TestGoldenAdaptive holds the state after 40 generations: of fewer candidates than
// half the parameters, and of more than are worked on at once.
func TestGoldenAdaptive(t *testing.T) {
	for _, name := range adaptive {
		for _, population := range []int{12, 130} {
			st := strategy(t, name, 37, evolve.Params{"sigma": 0.2})
			s := st.Init(make([]float32, 37))
			for range 40 {
				s = st.Apply(s, evaluate(st, s, 1, population, sphere))
			}
			sum := s.Digest()
			golden.Check(t, fmt.Sprintf("adaptive/%s/%d", name, population), sum[:])
		}
	}
}
