package evolve_test

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/kernel"
	"pgregory.net/rapid"
)

// strategy makes the named strategy with the settings given over the defaults.
func strategy(t testing.TB, name string, dim int, p evolve.Params) evolve.Strategy {
	t.Helper()
	m, err := evolve.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	full, err := m.Complete(p)
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.New(full, evolve.Size{Dim: dim, Population: 16})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sphere is a synthetic fitness: minus the squared distance from (0, 0.1, 0.2, ...).
func sphere(theta []float32) int64 {
	sum := 0.0
	for i, x := range theta {
		d := float64(x) - float64(0.1*float64(i))
		sum += float64(d * d)
	}
	return -int64(sum * (1 << 20))
}

// generation evaluates n seeds on sphere.
func generation(st evolve.Strategy, s *evolve.State, n int) []evolve.Result {
	theta := make([]float32, len(s.Theta))
	results := make([]evolve.Result, n)
	for i := range results {
		results[i].Seed = s.Gen*1000 + uint64(i)
		st.Candidate(theta, s, results[i].Seed, 1)
		results[i].Fitness[0] = sphere(theta)
		if st.Antithetic() {
			st.Candidate(theta, s, results[i].Seed, -1)
			results[i].Fitness[1] = sphere(theta)
		}
	}
	return results
}

func TestStrategiesClimb(t *testing.T) {
	for _, test := range []struct {
		name   string
		params evolve.Params
	}{
		{"dises", evolve.Params{"sigma": 0.1, "sigma_decay": 0.97}},
		{"openai-es", evolve.Params{"sigma": 0.05, "alpha": 0.05, "l2": 0.0}},
		{"ars", evolve.Params{"sigma": 0.05, "alpha": 0.1, "alpha_decay": 0.97}},
		{"cem", evolve.Params{"sigma": 0.3, "elites": 4.0, "noise": 0.01, "noise_min": 1e-6}},
		{"pepg", evolve.Params{"alpha": 0.1, "alpha_decay": 0.98}},
		{"pgpe", evolve.Params{"alpha": 0.05, "sigma": 0.2}},
		{"vanilla-es", evolve.Params{"sigma": 0.3, "sigma_decay": 0.97}},
	} {
		st := strategy(t, test.name, 8, test.params)
		s := st.Init(make([]float32, 8))
		first := sphere(s.Theta)
		for range 100 {
			s = st.Apply(s, generation(st, s, 16))
		}
		if last := sphere(s.Theta); last < first/20 {
			t.Errorf("%s: fitness %d at first, %d after 100 generations", test.name, first, last)
		}
		if s.Gen != 100 {
			t.Errorf("%s: Gen = %d after 100 generations", test.name, s.Gen)
		}
	}
}

// TestApplyIsPure changes everything Apply was given or has returned and looks whether anything else moves.
func TestApplyIsPure(t *testing.T) {
	for _, m := range evolve.Methods() {
		st := strategy(t, m.Name, 5, nil)
		s := st.Init([]float32{1, 2, 3, 4, 5})
		for range 3 {
			s = st.Apply(s, generation(st, s, 4))
		}
		results := generation(st, s, 4)
		before, given := s.Clone(), append([]evolve.Result(nil), results...)
		a := st.Apply(s, results)
		if !reflect.DeepEqual(s, before) || !reflect.DeepEqual(results, given) {
			t.Errorf("%s: Apply changed its arguments", m.Name)
		}
		want := a.Digest()
		b := st.Apply(s, results)
		for i := range b.Theta {
			b.Theta[i] = -1
		}
		for _, slot := range b.Slots {
			clear(slot.Values)
			clear(slot.Reals)
			clear(slot.Words)
		}
		if !reflect.DeepEqual(s, before) {
			t.Errorf("%s: the new state shares memory with the old one", m.Name)
		}
		if a.Digest() != want {
			t.Errorf("%s: two results of Apply share memory", m.Name)
		}
	}
}

func TestOrderOfEqualFitness(t *testing.T) {
	st := strategy(t, "dises", 3, nil)
	s := st.Init(make([]float32, 3))
	results := []evolve.Result{{Seed: 9, Fitness: [2]int64{1}}, {Seed: 4, Fitness: [2]int64{7}}, {Seed: 2, Fitness: [2]int64{7}}}
	if got, want := st.Decisive(results, 5), []int{1}; !reflect.DeepEqual(got, want) {
		t.Errorf("Decisive = %v, want %v: the first of equal ones", got, want)
	}
	got, want := st.Apply(s, results), st.Apply(s, results[1:2])
	if got.Digest() != want.Digest() {
		t.Errorf("theta %v, want that of the first of equal ones alone: %v", got.Theta, want.Theta)
	}
}

// TestStepOneIsTheWinner holds Accumulate to Perturb: with step 1 the model becomes
// the candidate that won, to the bit.
func TestStepOneIsTheWinner(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		sigma := rapid.Float64Range(1e-6, 1000).Draw(r, "sigma")
		seed := rapid.Uint64().Draw(r, "seed")
		dim := rapid.IntRange(1, 70).Draw(r, "dim")
		st := strategy(t, "dises", dim, evolve.Params{"sigma": sigma})
		theta := make([]float32, dim)
		for i := range theta {
			theta[i] = float32(i) / 7
		}
		s := st.Init(theta)
		want := make([]float32, dim)
		st.Candidate(want, s, seed, 1)
		got := st.Apply(s, []evolve.Result{{Seed: seed}})
		if !reflect.DeepEqual(got.Theta, want) {
			r.Fatalf("theta = %v, want %v", got.Theta, want)
		}
	})
}

// TestEqualFitnessMovesNothing: where all fitness is equal, neither sign of any pair
// is better, so an antithetic strategy without weight decay stays where it is.
func TestEqualFitnessMovesNothing(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		f := rapid.Int64().Draw(r, "fitness")
		n := rapid.IntRange(1, 9).Draw(r, "n")
		st := strategy(t, "openai-es", 4, evolve.Params{"l2": 0.0})
		s := st.Init([]float32{1, -2, 3, -4})
		results := make([]evolve.Result, n)
		for i := range results {
			results[i] = evolve.Result{Seed: uint64(i), Fitness: [2]int64{f, f}}
		}
		next := st.Apply(s, results)
		if !reflect.DeepEqual(next.Theta, s.Theta) || !reflect.DeepEqual(next.Slots, s.Slots) {
			r.Fatalf("state %+v, want %+v", next, s)
		}
		if got := st.Decisive(results, 9); len(got) != 0 {
			r.Fatalf("Decisive = %v, want none", got)
		}
	})
}

func TestInvalidFitness(t *testing.T) {
	const bad = evolve.InvalidFitness
	for _, m := range evolve.Methods() {
		st := strategy(t, m.Name, 2, nil)
		s := st.Init([]float32{1, 2})
		for _, results := range [][]evolve.Result{nil, {{Seed: 1, Fitness: [2]int64{bad, bad}}, {Seed: 2, Fitness: [2]int64{bad, bad}}}} {
			next := st.Apply(s, results)
			if next.Gen != 1 || !reflect.DeepEqual(next.Theta, s.Theta) {
				t.Errorf("%s: theta %v at generation %d after %d results without fitness, want %v at 1", m.Name, next.Theta, next.Gen, len(results), s.Theta)
			}
			if got := st.Decisive(results, 3); len(got) != 0 {
				t.Errorf("%s: Decisive = %v, want none", m.Name, got)
			}
		}
		low := []evolve.Result{{Seed: 1, Fitness: [2]int64{bad, bad + 1}}, {Seed: 2, Fitness: [2]int64{bad + 1, bad + 1}}}
		if next := st.Apply(s, low); reflect.DeepEqual(next.Theta, s.Theta) {
			t.Errorf("%s: the lowest valid fitness does not rank above none", m.Name)
		}
	}
}

// TestOpenAIFirstStep compares one step with a float64 computation of the published formulas.
func TestOpenAIFirstStep(t *testing.T) {
	const alpha, sigma, l2, dim = 0.05, 0.1, 0.01, 6
	st := strategy(t, "openai-es", dim, evolve.Params{"alpha": alpha, "sigma": sigma, "l2": l2})
	theta := []float32{0.5, -0.25, 1, 0, 2, -1}
	s := st.Init(append([]float32(nil), theta...))
	results := []evolve.Result{{Seed: 11, Fitness: [2]int64{5, 1}}, {Seed: 12, Fitness: [2]int64{3, 9}}, {Seed: 13, Fitness: [2]int64{4, 3}}}
	// Fitness 1 3 3 4 5 9 has the ranks 0 1.5 1.5 3 4 5.
	weights := []float64{(4 - 0.0) / 5, (1.5 - 5) / 5, (3 - 1.5) / 5}
	m, v := make([]float64, dim), make([]float64, dim)
	want := make([]float64, dim)
	for i := range want {
		want[i] = float64(theta[i])
	}
	for step := 1; step <= 3; step++ {
		for i := range want {
			g := -l2 * want[i]
			for k, w := range weights {
				eps := make([]float32, dim)
				kernel.Accumulate(eps, 1, results[k].Seed, 0)
				g += w * float64(eps[i]) / 6
			}
			m[i] = 0.9*m[i] + 0.1*g
			v[i] = 0.999*v[i] + 0.001*g*g
			a := alpha * math.Sqrt(1-math.Pow(0.999, float64(step))) / (1 - math.Pow(0.9, float64(step)))
			want[i] += a * m[i] / (math.Sqrt(v[i]) + 1e-8)
		}
		s = st.Apply(s, results)
		for i := range want {
			if d := math.Abs(float64(s.Theta[i]) - want[i]); d > 1e-5 {
				t.Errorf("step %d: theta[%d] = %v, want %v", step, i, s.Theta[i], want[i])
			}
		}
	}
}

func TestDecisiveTakesTheLargest(t *testing.T) {
	st := strategy(t, "openai-es", 1, nil)
	results := []evolve.Result{
		{Fitness: [2]int64{5, 4}}, {Fitness: [2]int64{0, 9}}, {Fitness: [2]int64{3, 3}}, {Fitness: [2]int64{8, 1}},
	}
	for n, want := range [][]int{nil, {1}, {1, 3}, {0, 1, 3}, {0, 1, 3}} {
		got := st.Decisive(results, n)
		if len(got) != len(want) || len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Errorf("Decisive(%d) = %v, want %v", n, got, want)
		}
	}
}

func TestSigmaDecays(t *testing.T) {
	st := strategy(t, "dises", 1, evolve.Params{"sigma": 0.5, "sigma_decay": 0.5, "sigma_min": 0.1})
	eps := make([]float32, 1)
	kernel.Accumulate(eps, 1, 3, 0)
	got := make([]float32, 1)
	for gen, sigma := range []float32{0.5, 0.25, 0.125, 0.1, 0.1} {
		st.Candidate(got, &evolve.State{Gen: uint64(gen), Theta: []float32{0}}, 3, 1)
		if want := float32(sigma * eps[0]); got[0] != want {
			t.Errorf("generation %d: candidate %v, want %v", gen, got[0], want)
		}
	}
}

func TestCheckState(t *testing.T) {
	for _, m := range evolve.Methods() {
		st := strategy(t, m.Name, 3, nil)
		good := st.Init(make([]float32, 3))
		if err := st.Shape().Check(good); err != nil {
			t.Errorf("%s: Check of its own state: %v", m.Name, err)
		}
		longer, more := good.Clone(), good.Clone()
		longer.Theta = make([]float32, 4)
		more.Slots = append(more.Slots, evolve.Slot{Name: "x", Values: make([]float32, 3)})
		for _, bad := range []*evolve.State{longer, more} {
			if err := st.Shape().Check(bad); !errors.Is(err, evolve.ErrState) {
				t.Errorf("%s: Check(%+v) = %v, want ErrState", m.Name, bad, err)
			}
		}
	}
}

func TestFind(t *testing.T) {
	for _, name := range []string{"dises", " DisES", "OpenAI-ES"} {
		if _, err := evolve.Find(name); err != nil {
			t.Errorf("Find(%q): %v", name, err)
		}
	}
	_, err := evolve.Find("openaies")
	if !errors.Is(err, evolve.ErrMethod) || !strings.Contains(err.Error(), "nearest: openai-es") {
		t.Errorf("Find of a wrong name: %v, want ErrMethod with openai-es first", err)
	}
}

func TestComplete(t *testing.T) {
	m, _ := evolve.Find("dises")
	given := evolve.Params{"sigma": 0.25}
	full, err := m.Complete(given)
	if err != nil {
		t.Fatal(err)
	}
	want := evolve.Params{"selection": "max", "sigma": 0.25, "sigma_decay": 1.0, "sigma_min": 0.0,
		"sigma_schedule": "exponential", "sigma_span": 100.0, "step": 1.0,
		"top": 0.1, "weights": "rank", "groups": 4.0, "exchange": 10.0}
	if !reflect.DeepEqual(full, want) {
		t.Errorf("Complete = %v, want %v", full, want)
	}
	if len(given) != 1 {
		t.Errorf("Complete changed its argument to %v", given)
	}
	for _, m := range evolve.Methods() {
		if _, err := m.Complete(nil); err != nil {
			t.Errorf("%s: the defaults are refused: %v", m.Name, err)
		}
	}
}

func TestBadParams(t *testing.T) {
	m, _ := evolve.Find("dises")
	for _, test := range []struct {
		params evolve.Params
		want   []string
	}{
		{evolve.Params{"sigmma": 1.0}, []string{`"sigmma"`, "sigma_decay"}},
		{evolve.Params{"sigma": 0.0}, []string{"sigma", "0", "[1e-06, 1000]"}},
		{evolve.Params{"sigma": math.NaN()}, []string{"sigma", "NaN"}},
		{evolve.Params{"sigma": math.Inf(1)}, []string{"sigma", "+Inf"}},
		{evolve.Params{"sigma_min": math.Copysign(0, -1)}, []string{"sigma_min", "-0"}},
		{evolve.Params{"sigma": 1}, []string{"sigma", "int"}},
		{evolve.Params{"sigma": "big"}, []string{"sigma", `"big"`, "a number"}},
		{evolve.Params{"selection": "best"}, []string{"selection", `"best"`, `"max"`}},
		{evolve.Params{"selection": 1.0}, []string{"selection", "1", `"max"`}},
	} {
		_, err := m.Complete(test.params)
		if !errors.Is(err, evolve.ErrParams) {
			t.Errorf("Complete(%v) = %v, want ErrParams", test.params, err)
			continue
		}
		for _, part := range test.want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("Complete(%v) = %q, want it to name %s", test.params, err, part)
			}
		}
	}
	if err := m.Check(evolve.Params{"sigma": 0.1}); !errors.Is(err, evolve.ErrParams) || !strings.Contains(err.Error(), "missing") {
		t.Errorf("Check of incomplete settings = %v, want ErrParams naming what is missing", err)
	}
	full, _ := m.Complete(nil)
	for _, dim := range []int{-1, 0, evolve.MaxDim + 1} {
		if _, err := m.New(full, evolve.Size{Dim: dim, Population: 8}); !errors.Is(err, evolve.ErrParams) {
			t.Errorf("New with dimension %d: %v, want ErrParams", dim, err)
		}
	}
	if _, err := m.New(nil, evolve.Size{Dim: 3, Population: 8}); !errors.Is(err, evolve.ErrParams) {
		t.Errorf("New without settings: %v, want ErrParams", err)
	}
}

// TestSettings checks what callers rely on: sorted, documented, defaults allowed.
func TestSettings(t *testing.T) {
	for i, m := range evolve.Methods() {
		if m.Name == "" || m.Revision == 0 || m.Doc == "" || i > 0 && evolve.Methods()[i-1].Name >= m.Name {
			t.Errorf("method %d, %q: not complete or not in order", i, m.Name)
		}
		for j, s := range m.Settings {
			if s.Name == "" || s.Doc == "" || j > 0 && m.Settings[j-1].Name >= s.Name {
				t.Errorf("%s: setting %d, %q: not complete or not in order", m.Name, j, s.Name)
			}
		}
	}
}
