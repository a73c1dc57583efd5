package evolve_test

import (
	"runtime"
	"slices"
	"testing"

	"github.com/evoswarm/evoswarm/internal/evolve"
)

// variant is a strategy with settings worth a test of its own.
type variant struct {
	name, method string
	params       evolve.Params
}

// variants returns every method with its defaults, and the choices that lead to other code.
func variants() []variant {
	var all []variant
	for _, m := range evolve.Methods() {
		all = append(all, variant{m.Name, m.Name, nil})
	}
	falling := evolve.Params{"sigma": 0.2, "sigma_schedule": "cosine", "sigma_min": 0.05, "sigma_span": 150.0}
	return append(all,
		variant{"cem-mirrored-uniform", "cem", evolve.Params{"sampling": "mirrored", "weights": "uniform"}},
		variant{"pgpe-adam", "pgpe", evolve.Params{"optimizer": "adam", "shaping": "zscore"}},
		variant{"dises-linear", "dises", evolve.Params{"selection": "linear", "top": 0.3, "sigma_decay": 0.98}},
		variant{"dises-fitness", "dises", with(falling, evolve.Params{"selection": "linear", "top": 5.0, "weights": "fitness"})},
		variant{"dises-group", "dises", evolve.Params{"selection": "group", "groups": 3.0, "exchange": 4.0, "top": 0.5}},
		variant{"ga-short", "ga", with(falling, evolve.Params{"genome": 3.0, "retest": 0.3, "elite": 2.0, "top": 5.0})},
		variant{"openai-es-zscore-clipup", "openai-es", evolve.Params{"shaping": "zscore", "optimizer": "clipup"}},
		variant{"openai-es-nes-momentum", "openai-es", evolve.Params{"shaping": "nes", "optimizer": "momentum", "alpha_schedule": "linear"}},
		variant{"openai-es-raw-sgd", "openai-es", with(falling, evolve.Params{"shaping": "raw", "optimizer": "sgd"})},
	)
}

// with joins settings.
func with(p, more evolve.Params) evolve.Params {
	all := evolve.Params{}
	for _, part := range []evolve.Params{p, more} {
		for name, x := range part {
			all[name] = x
		}
	}
	return all
}

// TestResumeEverywhere encodes and decodes the state after every generation, which must not change the run.
func TestResumeEverywhere(t *testing.T) {
	for _, v := range variants() {
		st := strategy(t, v.method, 7, v.params)
		whole, parts := st.Init(make([]float32, 7)), st.Init(make([]float32, 7))
		for gen := range 12 {
			whole = st.Apply(whole, generation(st, whole, 16))
			b, err := parts.MarshalBinary()
			if err != nil {
				t.Fatalf("%s: %v", v.name, err)
			}
			parts = new(evolve.State)
			if err := parts.UnmarshalBinary(b); err != nil {
				t.Fatalf("%s: %v", v.name, err)
			}
			if err := st.Shape().Check(parts); err != nil {
				t.Fatalf("%s: %v", v.name, err)
			}
			parts = st.Apply(parts, generation(st, parts, 16))
			if parts.Digest() != whole.Digest() {
				t.Fatalf("%s: resumed at generation %d the run diverges", v.name, gen)
			}
		}
	}
}

// TestCoresChangeNothing folds generations of a model large enough to be spread over
// cores on 1, 2 and 7 of them.
func TestCoresChangeNothing(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	for _, v := range variants() {
		m, err := evolve.Find(v.method)
		if err != nil {
			t.Fatal(err)
		}
		full, err := m.Complete(v.params)
		if err != nil {
			t.Fatal(err)
		}
		dim := 20000
		st, err := m.New(full, evolve.Size{Dim: dim, Population: 16})
		if err != nil { // a full covariance
			dim = 150
			if st, err = m.New(full, evolve.Size{Dim: dim, Population: 16}); err != nil {
				t.Fatalf("%s: %v", v.name, err)
			}
		}
		var want [32]byte
		for _, n := range []int{1, 2, 7} {
			runtime.GOMAXPROCS(n)
			s := st.Init(make([]float32, dim))
			for range 2 {
				s = st.Apply(s, generation(st, s, 16))
			}
			if got := s.Digest(); n == 1 {
				want = got
			} else if got != want {
				t.Errorf("%s: %d cores give %x, one gives %x", v.name, n, got, want)
			}
		}
	}
}

// TestCandidateIsPure asks for one candidate before and after many others.
func TestCandidateIsPure(t *testing.T) {
	for _, v := range variants() {
		st := strategy(t, v.method, 9, v.params)
		s := st.Init(make([]float32, 9))
		s = st.Apply(s, generation(st, s, 16))
		before := s.Digest()
		a, b, other := make([]float32, 9), make([]float32, 9), make([]float32, 9)
		st.Candidate(a, s, 77, 1)
		for seed := range uint64(20) {
			st.Candidate(other, s, seed, 1)
		}
		st.Candidate(b, s, 77, 1)
		if !slices.Equal(a, b) || s.Digest() != before {
			t.Errorf("%s: Candidate depends on what was asked before, or changes the state", v.name)
		}
	}
}

// TestApplyMemory: an update asks for some states and a few words for each result, and
// never for a vector for each result. What is given back counts too.
func TestApplyMemory(t *testing.T) {
	const dim, population = 20000, 512
	for _, v := range variants() {
		st, err := build(v.method, v.params, evolve.Size{Dim: dim, Population: population})
		if err != nil {
			continue // a full covariance, which refuses this dimension
		}
		results := make([]evolve.Result, population)
		for i := range results {
			results[i] = evolve.Result{Seed: uint64(i), Fitness: [2]int64{int64(i * 7919 % 512), int64(i * 104729 % 512)}}
		}
		s := st.Init(make([]float32, dim))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		runtime.KeepAlive(st.Apply(s, results))
		runtime.ReadMemStats(&after)
		state := st.Shape().Bytes()
		limit := 3*state + 6*8*dim + population*512
		if got := int64(after.TotalAlloc - before.TotalAlloc); got > limit {
			t.Errorf("%s, %d parameters: %d bytes for a state of %d, want at most %d; a vector for each result is %d", v.name, dim, got, state, limit, population*4*dim)
		}
	}
}
