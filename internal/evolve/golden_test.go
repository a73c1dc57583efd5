package evolve_test

import (
	"crypto/sha256"
	"testing"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/golden"
)

// TestGoldenGenerations holds the state after 50 generations of each strategy on a
// synthetic fitness, with every schedule in use.
func TestGoldenGenerations(t *testing.T) {
	for _, test := range []struct {
		name   string
		params evolve.Params
	}{
		{"dises", evolve.Params{"sigma": 0.2, "sigma_decay": 0.97, "sigma_min": 0.05, "step": 0.8}},
		{"openai-es", evolve.Params{"sigma": 0.1, "sigma_decay": 0.99, "alpha": 0.05, "alpha_decay": 0.98, "alpha_min": 0.02}},
		{"ars", evolve.Params{"sigma": 0.1, "sigma_decay": 0.99, "alpha": 0.2, "alpha_decay": 0.98, "alpha_min": 0.02, "top": 7.0}},
		{"cem", evolve.Params{"sigma": 0.3, "elites": 5.0, "noise": 0.01, "noise_decay": 0.9}},
		{"pepg", evolve.Params{"sigma": 0.2, "sigma_alpha": 0.5, "l2": 0.01, "alpha": 0.05, "alpha_decay": 0.98}},
		{"pgpe", evolve.Params{"sigma": 0.2, "alpha": 0.1, "alpha_schedule": "cosine", "alpha_min": 0.01, "alpha_span": 40.0}},
		{"random-search", nil},
		{"vanilla-es", evolve.Params{"sigma": 0.3, "sigma_schedule": "linear", "sigma_min": 0.05, "sigma_span": 30.0, "parents": 3.0}},
	} {
		st := strategy(t, test.name, 37, test.params)
		s := st.Init(make([]float32, 37))
		for range 50 {
			s = st.Apply(s, generation(st, s, 12))
		}
		sum := s.Digest()
		golden.Check(t, "generations/"+test.name, sum[:])
	}
}

// TestGoldenRuns holds 200 generations of every strategy, and that folding what was
// measured again gives the same states, digest by digest.
func TestGoldenRuns(t *testing.T) {
	const dim, population, generations = 13, 16, 200
	for _, v := range variants() {
		st := strategy(t, v.method, dim, v.params)
		s, replayed := st.Init(make([]float32, dim)), st.Init(make([]float32, dim))
		n := population
		if st.Antithetic() {
			n /= 2
		}
		all := sha256.New()
		for gen := range generations {
			results := generation(st, s, n)
			s = st.Apply(s, results)
			replayed = st.Apply(replayed, results)
			digest := s.Digest()
			if replayed.Digest() != digest {
				t.Fatalf("%s: replaying generation %d gives another state", v.name, gen)
			}
			all.Write(digest[:])
		}
		golden.Check(t, "runs/"+v.name, all.Sum(nil))
	}
}
