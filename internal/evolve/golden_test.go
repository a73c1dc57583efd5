package evolve_test

import (
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
