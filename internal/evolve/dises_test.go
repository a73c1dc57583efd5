package evolve_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/kernel"
)

// eps returns a perturbation.
func eps(seed uint64, dim int) []float32 {
	x := make([]float32, dim)
	kernel.Accumulate(x, 1, seed, 0)
	return x
}

// TestLinearOfOneIsMax: the best one alone, whatever it weighs.
func TestLinearOfOneIsMax(t *testing.T) {
	for _, kind := range []string{"rank", "fitness", "uniform"} {
		max := strategy(t, "dises", 20, evolve.Params{"step": 0.7})
		linear := strategy(t, "dises", 20, evolve.Params{"step": 0.7, "selection": "linear", "weights": kind, "top": 1.0})
		a, b := max.Init(make([]float32, 20)), linear.Init(make([]float32, 20))
		for range 10 {
			a, b = max.Apply(a, generation(max, a, 16)), linear.Apply(b, generation(linear, b, 16))
		}
		if a.Digest() != b.Digest() {
			t.Errorf("%s: the best one alone gives another model than max", kind)
		}
	}
}

// TestLinearStep compares a step with a float64 computation.
func TestLinearStep(t *testing.T) {
	const dim, step, sigma = 5, 1.5, 0.3
	st := strategy(t, "dises", dim, evolve.Params{"selection": "linear", "top": 3.0, "step": step, "sigma": sigma})
	theta := []float32{1, 2, -3, 0, 0.5}
	next := st.Apply(st.Init(slices.Clone(theta)), []evolve.Result{
		{Seed: 1, Fitness: [2]int64{5}}, {Seed: 2, Fitness: [2]int64{9}}, {Seed: 3, Fitness: [2]int64{evolve.InvalidFitness}}, {Seed: 4, Fitness: [2]int64{7}}, {Seed: 5, Fitness: [2]int64{-2}},
	})
	sum := 0.0
	for rank := 1; rank <= 3; rank++ {
		sum += math.Log(3.5) - math.Log(float64(rank))
	}
	for i := range theta {
		want := float64(theta[i])
		for rank, seed := range []uint64{2, 4, 1} {
			want += step * sigma * (math.Log(3.5) - math.Log(float64(rank+1))) / sum * float64(eps(seed, dim)[i])
		}
		if got := float64(next.Theta[i]); math.Abs(got-want) > 1e-6 {
			t.Errorf("theta[%d] = %v, want %v", i, got, want)
		}
	}
}

// TestLinearClimbsNoise is what the paper's next step is for: where luck decides which
// single candidate is best, the mean of the best ones comes nearer.
func TestLinearClimbsNoise(t *testing.T) {
	distance := func(p evolve.Params) float64 {
		st := strategy(t, "dises", 10, p)
		s := st.Init(make([]float32, 10))
		for gen := range uint64(150) {
			results := generation(st, s, 64)
			for i := range results {
				// The noise of an episode, a few times what sigma makes.
				results[i].Fitness[0] += int64(float64(eps(gen<<32|uint64(i)|1<<63, 1)[0]) * (1 << 20))
			}
			s = st.Apply(s, results)
		}
		return -float64(sphere(s.Theta)) / (1 << 20)
	}
	best := distance(evolve.Params{"sigma": 0.3})
	linear := distance(evolve.Params{"sigma": 0.3, "sigma_decay": 0.98, "selection": "linear"})
	if !(linear < best/4) {
		t.Errorf("squared distance %v with linear, %v with max, want less than a quarter", linear, best)
	}
}

func TestOneGroupIsLinear(t *testing.T) {
	linear := strategy(t, "dises", 6, evolve.Params{"selection": "linear", "top": 4.0})
	group := strategy(t, "dises", 6, evolve.Params{"selection": "group", "groups": 1.0, "top": 4.0})
	a, b := linear.Init(make([]float32, 6)), group.Init(make([]float32, 6))
	for range 25 {
		a, b = linear.Apply(a, generation(linear, a, 16)), group.Apply(b, generation(group, b, 16))
	}
	if a.ThetaDigest() != b.ThetaDigest() {
		t.Errorf("theta %v with one group, %v with linear", b.Theta, a.Theta)
	}
}

// TestGroups follows one generation of three groups by hand: which center a candidate perturbs, that only its
// own candidates move a center, which center the model is, and the exchange.
func TestGroups(t *testing.T) {
	const dim, count, sigma = 4, 3, 0.5
	for _, exchange := range []uint64{1, 2} {
		st := strategy(t, "dises", dim, evolve.Params{"selection": "group", "groups": float64(count), "exchange": float64(exchange), "top": 1.0, "sigma": sigma})
		s := st.Init(make([]float32, dim))
		centers := s.Slot("group/centres").Values
		for i := range centers {
			centers[i] = float32(3 * i)
		}
		results := generation(st, s, 16)
		var want [count][]float32
		var sum, number, high [count]float64
		for _, r := range results {
			k := memberOf(t, st, s, r.Seed, sigma)
			f := float64(r.Fitness[0]) / (1 << 20)
			if number[k] == 0 || f > high[k] {
				high[k], want[k] = f, perturbed(centers[k*dim:(k+1)*dim], sigma, r.Seed)
			}
			sum[k] += f
			number[k]++
		}
		lead, last := 0, 0
		for k := range count {
			if sum[k]/number[k] > sum[lead]/number[lead] {
				lead = k
			}
			if sum[k]/number[k] < sum[last]/number[last] {
				last = k
			}
		}
		if exchange == 1 {
			want[last] = want[lead]
		}
		next := st.Apply(s, results)
		if got := next.Slot("group/centres").Values; !slices.Equal(got, slices.Concat(want[:]...)) {
			t.Errorf("exchange %d: centers %v, want %v", exchange, got, want)
		}
		if !slices.Equal(next.Theta, want[lead]) {
			t.Errorf("exchange %d: theta %v, want %v", exchange, next.Theta, want[lead])
		}
		for k, score := range next.Slot("group/scores").Reals {
			if whole := [2][count]float64{sum, number}; exchange == 1 && score != 0 || exchange == 2 && score != whole[k%2][k/2] {
				t.Errorf("exchange %d: score %d is %v, the groups have %v", exchange, k, score, whole)
			}
		}
	}
}

// perturbed returns center + sigma*eps(seed).
func perturbed(center []float32, sigma float32, seed uint64) []float32 {
	x := slices.Clone(center)
	kernel.Accumulate(x, sigma, seed, 0)
	return x
}

// memberOf returns the group that seed belongs to, by its candidate.
func memberOf(t *testing.T, st evolve.Strategy, s *evolve.State, seed uint64, sigma float32) int {
	t.Helper()
	dim := len(s.Theta)
	candidate := make([]float32, dim)
	st.Candidate(candidate, s, seed, 1)
	centers := s.Slot("group/centres").Values
	for k := range len(centers) / dim {
		if slices.Equal(candidate, perturbed(centers[k*dim:(k+1)*dim], sigma, seed)) {
			return k
		}
	}
	t.Fatalf("candidate %d belongs to no center", seed)
	return 0
}

func TestRevisionOneHasMaxOnly(t *testing.T) {
	m, err := evolve.FindRevision("dises", 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Complete(evolve.Params{"selection": "linear"}); !errors.Is(err, evolve.ErrParams) {
		t.Errorf("selection linear in revision 1: %v, want ErrParams", err)
	}
	full, err := m.Complete(nil)
	if err != nil || len(full) != 5 {
		t.Errorf("settings of revision 1: %v, %v", full, err)
	}
}

// TestContradictions: settings that do not fit the size of a run are refused with the
// setting, the value and the limit.
func TestContradictions(t *testing.T) {
	for _, test := range []struct {
		method string
		params evolve.Params
		size   evolve.Size
		want   []string
	}{
		{"dises", evolve.Params{"top": 17.0}, evolve.Size{Dim: 5, Population: 16}, []string{"top is 17", "population, 16"}},
		{"dises", evolve.Params{"top": 2.5}, evolve.Size{Dim: 5, Population: 16}, []string{"top is 2.5", "whole number"}},
		{"dises", evolve.Params{"selection": "group", "groups": 32.0}, evolve.Size{Dim: 5, Population: 16}, []string{"groups is 32", "population, 16"}},
		{"dises", evolve.Params{"selection": "group"}, evolve.Size{Dim: 5 << 20, Population: 16}, []string{"groups is 4", "at most 3", "5242880 parameters"}},
		{"ga", evolve.Params{"top": 0.1, "elite": 3.0}, evolve.Size{Dim: 5, Population: 20}, []string{"elite is 3", "top = 0.1", "2"}},
		{"ga", evolve.Params{"top": 21.0}, evolve.Size{Dim: 5, Population: 20}, []string{"top is 21", "population, 20"}},
		{"ga", evolve.Params{"elite": 1.5}, evolve.Size{Dim: 5, Population: 20}, []string{"elite is 1.5"}},
		{"ga", nil, evolve.Size{Dim: 5 << 20, Population: 20}, []string{"top is 4", "at most 3", "5242880 parameters"}},
		{"ga", evolve.Params{"top": 0.5, "genome": 4096.0}, evolve.Size{Dim: 5, Population: 100000}, []string{"genome is 4096", "at most 167"}},
	} {
		m, err := evolve.Find(test.method)
		if err != nil {
			t.Fatal(err)
		}
		full, err := m.Complete(test.params)
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.New(full, test.size)
		if !errors.Is(err, evolve.ErrParams) {
			t.Errorf("%s %v for %+v: %v, want ErrParams", test.method, test.params, test.size, err)
			continue
		}
		for _, part := range test.want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s %v for %+v: %q, want it to name %s", test.method, test.params, test.size, err, part)
			}
		}
	}
}
