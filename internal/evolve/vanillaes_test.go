package evolve_test

import (
	"math"
	"reflect"
	"sort"
	"testing"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"pgregory.net/rapid"
)

// ranked returns the indices of results by Fitness[0], the best first.
func ranked(results []evolve.Result) []int {
	order := make([]int, len(results))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(i, j int) bool { return results[order[i]].Fitness[0] > results[order[j]].Fitness[0] })
	return order
}

// logWeights returns log(k+shift) - log(rank) for the ranks 1 to k, over their sum.
func logWeights(k int, shift float64) []float64 {
	weights, sum := make([]float64, k), 0.0
	for i := range weights {
		weights[i] = math.Log(float64(k)+shift) - math.Log(float64(i+1))
		sum += weights[i]
	}
	for i := range weights {
		weights[i] /= sum
	}
	return weights
}

// TestVanillaSteps compares steps with algorithm 1 of Chrabaszcz et al. (2018).
func TestVanillaSteps(t *testing.T) {
	const dim = 6
	for _, test := range []struct {
		setting float64
		parents int
	}{{0, 8}, {1, 1}, {5, 5}, {16, 16}} {
		st := strategy(t, "vanilla-es", dim, evolve.Params{"sigma": 0.2, "sigma_decay": 0.9, "parents": test.setting})
		s, want, sigma := st.Init(make([]float32, dim)), make([]float64, dim), 0.2
		for range 6 {
			results := generation(st, s, 16)
			order := ranked(results)
			for k, w := range logWeights(test.parents, 0.5) {
				for i, e := range epsOf(results[order[k]].Seed, dim) {
					want[i] += sigma * w * e
				}
			}
			sigma *= 0.9
			s = st.Apply(s, results)
			near(t, "theta", s.Theta, want, 1e-5)
			best := order[:min(3, test.parents)]
			sort.Ints(best)
			if got := st.Decisive(results, 3); !reflect.DeepEqual(got, best) {
				t.Errorf("Decisive = %v, want the best %v", got, best)
			}
		}
	}
}

// TestRecombinationIsOfRanks: of a recombination neither the order of the results nor
// the values of the fitness count, only their order; equal ones count alike.
func TestRecombinationIsOfRanks(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		const dim = 3
		name := rapid.SampledFrom([]string{"vanilla-es", "cem"}).Draw(r, "name")
		few := map[string]string{"vanilla-es": "parents", "cem": "elites"}[name]
		st := strategy(t, name, dim, evolve.Params{few: float64(rapid.IntRange(0, 16).Draw(r, few))})
		s := st.Init(make([]float32, dim))
		fitness := rapid.OneOf(rapid.Int64Range(-3, 3), rapid.Just(evolve.InvalidFitness))
		results := make([]evolve.Result, rapid.IntRange(1, 20).Draw(r, "n"))
		other := make([]evolve.Result, len(results))
		for i := range results {
			f := fitness.Draw(r, "fitness")
			results[i] = evolve.Result{Seed: uint64(i), Fitness: [2]int64{f}}
			if f != evolve.InvalidFitness {
				f = f*f*f*1000 + 5
			}
			other[len(other)-1-i] = evolve.Result{Seed: uint64(i), Fitness: [2]int64{f}}
		}
		got, want := st.Apply(s, results), st.Apply(s, other)
		near(t, "theta", got.Theta, widened(want.Theta), 1e-5)
		for i := range want.Slots {
			near(t, "slot", got.Slots[i].Values, widened(want.Slots[i].Values), 1e-5)
		}
	})
}

// TestInvalidIsNoParent: candidates without fitness have no part in the next model,
// however many parents there are to be.
func TestInvalidIsNoParent(t *testing.T) {
	for _, name := range []string{"vanilla-es", "cem"} {
		st := strategy(t, name, 3, nil)
		s := st.Init(make([]float32, 3))
		results := []evolve.Result{{Seed: 1, Fitness: [2]int64{4}}, {Seed: 2, Fitness: [2]int64{9}}}
		bad := evolve.Result{Seed: 3, Fitness: [2]int64{evolve.InvalidFitness}}
		if got, want := st.Apply(s, append([]evolve.Result{bad}, results...)), st.Apply(s, results); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
		if got, want := st.Decisive(append([]evolve.Result{bad}, results...), 9), []int{1, 2}; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: Decisive = %v, want %v", name, got, want)
		}
	}
}
