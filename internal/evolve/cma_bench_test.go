package evolve_test

import (
	"fmt"
	"testing"

	"github.com/evoswarm/evoswarm/internal/evolve"
)

// BenchmarkAdaptive measures one update of pycma's default number of candidates, on the
// average over the generations that share a decomposition, and one candidate.
func BenchmarkAdaptive(b *testing.B) {
	for _, name := range adaptive {
		for _, size := range []evolve.Size{{Dim: 100, Population: 17}, {Dim: 300, Population: 21}, {Dim: 1000, Population: 24}} {
			st := strategy(b, name, size.Dim, nil)
			s := st.Init(make([]float32, size.Dim))
			results := evaluate(st, s, 1, size.Population, func(x []float32) int64 { return fixed(stretched(x, 10)) })
			b.Run(fmt.Sprintf("apply/%s/%d", name, size.Dim), func(b *testing.B) {
				state := s
				for b.Loop() {
					state = st.Apply(state, results)
				}
			})
			x := make([]float32, size.Dim)
			b.Run(fmt.Sprintf("candidate/%s/%d", name, size.Dim), func(b *testing.B) {
				for seed := uint64(0); b.Loop(); seed++ {
					st.Candidate(x, s, seed, 1)
				}
			})
		}
	}
}
