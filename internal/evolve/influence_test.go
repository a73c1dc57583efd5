package evolve_test

import (
	"slices"
	"testing"

	"github.com/evoswarm/evoswarm/internal/evolve"
)

// TestInfluence: who takes stale results says how much each of them moves the model. The most decisive one has the
// largest influence, nobody has one below none, and a generation that moves nothing has none.
func TestInfluence(t *testing.T) {
	list := takers(t, 3)
	for name, st := range list {
		results := generation(st, st.Init(make([]float32, 3)), 12)
		weights := evolve.Influence(st, results)
		if len(weights) != len(results) || slices.Min(weights) < 0 {
			t.Fatalf("%s: %v", name, weights)
		}
		if first := st.Decisive(results, 1); len(first) != 1 || weights[first[0]] != slices.Max(weights) {
			t.Errorf("%s: %v is decisive of %v", name, first, weights)
		}
		for i := range results {
			results[i].Fitness = [2]int64{5, 5}
		}
		if weights := evolve.Influence(st, results); weights != nil && slices.Min(weights) != slices.Max(weights) { // dises moves to their mean
			t.Errorf("%s: equal fitness has influence %v", name, weights)
		}
	}
	for _, v := range variants() {
		if st := strategy(t, v.method, 3, v.params); list[v.name] == nil && evolve.Influence(st, generation(st, st.Init(make([]float32, 3)), 12)) != nil {
			t.Errorf("%s takes no stale results and has influence", v.name)
		}
	}
}
