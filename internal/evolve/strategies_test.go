package evolve_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/exact"
)

// TestSettingsThatContradict: settings that do not fit each other or the population
// are refused by one message that names the setting, its value and what is allowed.
func TestSettingsThatContradict(t *testing.T) {
	for _, test := range []struct {
		name       string
		params     evolve.Params
		population int
		want       []string // nil: accepted
	}{
		{"ars", nil, 15, []string{"population is 15", "even"}},
		{"ars", evolve.Params{"top": 9.0}, 16, []string{"top is 9", "[0, 8]", "population of 16"}},
		{"ars", evolve.Params{"top": 8.0}, 16, nil},
		{"ars", evolve.Params{"top": -1.0}, 16, []string{"top is -1", "[0, "}},
		{"ars", evolve.Params{"top": 1.5}, 16, []string{"top is 1.5", "an integer"}},
		{"ars", evolve.Params{"alpha": math.NaN()}, 16, []string{"alpha is NaN"}},
		{"ars", evolve.Params{"sigma": -1.0}, 16, []string{"sigma is -1"}},
		{"cem", evolve.Params{"elites": 17.0}, 16, []string{"elites is 17", "[0, 16]", "population of 16"}},
		{"cem", evolve.Params{"elites": 16.0}, 16, nil},
		{"cem", nil, 1, nil},
		{"cem", nil, 15, nil},
		{"cem", evolve.Params{"sampling": "mirrored"}, 15, []string{"population is 15", "even"}},
		{"cem", evolve.Params{"sigma": 0.01, "sigma_min": 0.1}, 16, []string{"sigma is 0.01", "[0.1, 1000]"}},
		{"cem", evolve.Params{"noise": -0.1}, 16, []string{"noise is -0.1"}},
		{"pepg", nil, 15, []string{"population is 15", "even"}},
		{"pepg", evolve.Params{"sigma": 0.01}, 16, []string{"sigma is 0.01", "[0.02, 1000]"}},
		{"pgpe", nil, 1, []string{"population is 1", "even"}},
		{"pgpe", evolve.Params{"sigma": 2.0, "sigma_max": 1.0}, 16, []string{"sigma is 2", "1]"}},
		{"pgpe", evolve.Params{"sigma_max_change": 1.0}, 16, []string{"sigma_max_change is 1", "[0, 0.9]"}},
		{"pgpe", evolve.Params{"optimizer": "clip"}, 16, []string{`optimizer is "clip"`, "clipup"}},
		{"random-search", evolve.Params{"sigma": 0.0}, 16, []string{"sigma is 0"}},
		{"vanilla-es", evolve.Params{"parents": 17.0}, 16, []string{"parents is 17", "[0, 16]", "population of 16"}},
		{"vanilla-es", nil, 1, nil},
	} {
		_, err := build(test.name, test.params, evolve.Size{Dim: 3, Population: test.population})
		if test.want == nil {
			if err != nil {
				t.Errorf("%s %v, population %d: %v", test.name, test.params, test.population, err)
			}
			continue
		}
		if !errors.Is(err, evolve.ErrParams) {
			t.Errorf("%s %v, population %d: %v, want ErrParams", test.name, test.params, test.population, err)
			continue
		}
		for _, part := range append(test.want, test.name) {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s %v, population %d: %q, want it to name %s", test.name, test.params, test.population, err, part)
			}
		}
	}
}

// build makes a strategy of the named method.
func build(name string, p evolve.Params, size evolve.Size) (evolve.Strategy, error) {
	m, err := evolve.Find(name)
	if err != nil {
		return nil, err
	}
	full, err := m.Complete(p)
	if err != nil {
		return nil, err
	}
	return m.New(full, size)
}

// TestAnyNumberOfResults: a generation of a swarm may have more results than the population, or fewer than
// there are to be parents. Then what moves the model is still among them, and the state has its shape.
func TestAnyNumberOfResults(t *testing.T) {
	for _, m := range evolve.Methods() {
		st := strategy(t, m.Name, 3, nil)
		s := st.Init([]float32{1, 2, 3})
		for _, n := range []int{2, 3, 1, 40, 7} {
			results := generation(st, s, n)
			for i, k := range st.Decisive(results, n) {
				if k < i || k >= n {
					t.Errorf("%s: Decisive names %d of %d results", m.Name, k, n)
				}
			}
			s = st.Apply(s, results)
			if err := st.Shape().Check(s); err != nil {
				t.Fatalf("%s: after %d results: %v", m.Name, n, err)
			}
		}
	}
}

func TestCandidatesDoNotAllocate(t *testing.T) {
	for _, v := range variants() {
		const dim = 300
		st := strategy(t, v.method, dim, v.params)
		s := st.Init(make([]float32, dim))
		s = st.Apply(s, generation(st, s, 8))
		dst := make([]float32, dim)
		if n := testing.AllocsPerRun(10, func() { st.Candidate(dst, s, 3, 1) }); n != 0 {
			t.Errorf("%s: Candidate allocates %v times", v.name, n)
		}
	}
}

// TestOtherSlotsGoOn: what the evaluation keeps in a state is carried on by every strategy as it is.
func TestOtherSlotsGoOn(t *testing.T) {
	for _, v := range variants() {
		st := strategy(t, v.method, 3, v.params)
		s := st.Init(make([]float32, 3))
		s.Slots = append(s.Slots, evolve.Slot{Name: "obs/mean", Reals: []float64{1, 2}})
		next := st.Apply(s, generation(st, s, 8))
		if slot := next.Slot("obs/mean"); slot == nil || len(slot.Reals) != 2 || slot.Reals[1] != 2 || len(next.Slots) != len(s.Slots) {
			t.Errorf("%s: the slot is %v, want as it was", v.name, slot)
		}
	}
}

// TestRunsAreFinite: no strategy leaves float32 on a fitness that rewards distance
// without end, or is nothing but luck.
func TestRunsAreFinite(t *testing.T) {
	for _, m := range evolve.Methods() {
		for _, fitness := range []func(theta []float32, seed uint64) int64{
			func(theta []float32, _ uint64) int64 {
				return int64(min(exact.Abs(float64(theta[0])), 1e12) * (1 << 20))
			},
			func(_ []float32, seed uint64) int64 { return int64(seed*0x9e3779b97f4a7c15) >> 8 },
		} {
			st := strategy(t, m.Name, 3, nil)
			s := st.Init(make([]float32, 3))
			theta := make([]float32, 3)
			for range 300 {
				results := generation(st, s, 8)
				for i := range results {
					st.Candidate(theta, s, results[i].Seed, 1)
					results[i].Fitness[0] = fitness(theta, results[i].Seed)
					if st.Antithetic() {
						st.Candidate(theta, s, results[i].Seed, -1)
						results[i].Fitness[1] = fitness(theta, results[i].Seed+1e6)
					}
				}
				s = st.Apply(s, results)
			}
			if err := st.Shape().Check(s); err != nil {
				t.Errorf("%s: after 300 generations: %v", m.Name, err)
			}
		}
	}
}
