package evolve_test

import (
	"reflect"
	"testing"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"pgregory.net/rapid"
)

// TestRandomSearchKeepsTheBest compares runs with a search that remembers everything.
func TestRandomSearchKeepsTheBest(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		const dim = 4
		st := strategy(t, "random-search", dim, evolve.Params{"sigma": 0.5})
		first := []float32{1, 2, 3, 4}
		s := st.Init(append([]float32(nil), first...))
		want, best := append([]float32(nil), first...), evolve.InvalidFitness
		for range 4 {
			results := drawn(r)
			for _, result := range results {
				if result.Fitness[0] > best {
					best = result.Fitness[0]
					for i, e := range epsOf(result.Seed, dim) {
						want[i] = first[i] + float32(float32(0.5)*float32(e))
					}
				}
			}
			s = st.Apply(s, results)
			if !reflect.DeepEqual(s.Theta, want) || int64(s.Slots[1].Words[0]) != best {
				r.Fatalf("theta %v with fitness %d, want %v with %d", s.Theta, int64(s.Slots[1].Words[0]), want, best)
			}
			candidate, again := make([]float32, dim), make([]float32, dim)
			st.Candidate(candidate, s, 9, 1)
			st.Candidate(again, st.Init(append([]float32(nil), first...)), 9, 1)
			if !reflect.DeepEqual(candidate, again) {
				r.Fatalf("candidate %v, want %v: draws do not depend on what was found", candidate, again)
			}
		}
	})
}

func TestRandomSearchDecisive(t *testing.T) {
	st := strategy(t, "random-search", 1, nil)
	results := []evolve.Result{{Fitness: [2]int64{5}}, {Fitness: [2]int64{9}}, {Fitness: [2]int64{9}}}
	if got, want := st.Decisive(results, 3), []int{1}; !reflect.DeepEqual(got, want) {
		t.Errorf("Decisive = %v, want %v", got, want)
	}
}
