package evolve_test

import (
	"math"
	"reflect"
	"sort"
	"testing"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"pgregory.net/rapid"
)

// TestCEMSteps compares steps with EvoRL's SepCEM in float64: elites by log(1 + elites) -
// log(rank), variance around the old mean, noise annealed before it is added.
func TestCEMSteps(t *testing.T) {
	const dim, elites, decay = 6, 5, 0.8
	for _, sampling := range []string{"independent", "mirrored"} {
		for _, weights := range []string{"log", "uniform"} {
			st := strategy(t, "cem", dim, evolve.Params{"sigma": 0.3, "elites": float64(elites), "noise": 0.01, "noise_decay": decay,
				"noise_min": 0.0, "sampling": sampling, "weights": weights})
			s := st.Init(make([]float32, dim))
			theta, variance, noise := make([]float64, dim), make([]float64, dim), 0.01
			for i := range variance {
				variance[i] = 0.3 * 0.3
			}
			for range 6 {
				results := generation(st, s, 10)
				noise *= decay
				elite := fittest(results, st.Antithetic(), elites)
				w := logWeights(elites, 1)
				if weights == "uniform" {
					w = []float64{0.2, 0.2, 0.2, 0.2, 0.2}
				}
				for i := range theta {
					move, square := 0.0, 0.0
					for k, e := range elite {
						z := math.Sqrt(variance[i]) * e.sign * epsOf(e.seed, dim)[i]
						move += w[k] * z
						square += w[k] * z * z
					}
					theta[i] += move
					variance[i] = square + noise
				}
				s = st.Apply(s, results)
				near(t, "theta", s.Theta, theta, 1e-5)
				for i, v := range variance {
					near(t, "sigma", s.Slots[0].Values[i:], []float64{math.Sqrt(v)}, 1e-5)
				}
			}
		}
	}
}

type candidate struct {
	fitness int64
	seed    uint64
	sign    float64
}

// fittest returns the best n candidates, the best first.
func fittest(results []evolve.Result, mirrored bool, n int) []candidate {
	var all []candidate
	for _, r := range results {
		all = append(all, candidate{r.Fitness[0], r.Seed, 1})
		if mirrored {
			all = append(all, candidate{r.Fitness[1], r.Seed, -1})
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].fitness > all[j].fitness })
	return all[:n]
}

func TestCEMStaysInBounds(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		const dim = 4
		low, high := rapid.Float64Range(1e-6, 0.5).Draw(r, "low"), rapid.Float64Range(0.5, 1000).Draw(r, "high")
		st := strategy(t, "cem", dim, evolve.Params{"sigma": 0.5, "sigma_min": low, "sigma_max": high,
			"noise":    rapid.SampledFrom([]float64{0, 1e-4, 1000}).Draw(r, "noise"),
			"elites":   float64(rapid.IntRange(0, 16).Draw(r, "elites")),
			"sampling": rapid.SampledFrom([]string{"independent", "mirrored"}).Draw(r, "sampling")})
		s := st.Init(make([]float32, dim))
		for range 5 {
			s = st.Apply(s, drawn(r))
			for i, x := range s.Slots[0].Values {
				if x < float32(low) || x > float32(high) {
					r.Fatalf("sigma[%d] = %v, want in [%v, %v]", i, x, low, high)
				}
			}
			if err := st.Shape().Check(s); err != nil {
				r.Fatal(err)
			}
		}
	})
}

// TestCEMMirroredPairs: if both signs of all pairs are elites with equal weights, the mean stays.
func TestCEMMirroredPairs(t *testing.T) {
	st := strategy(t, "cem", 3, evolve.Params{"sampling": "mirrored"})
	s := st.Init([]float32{1, 2, 3})
	next := st.Apply(s, []evolve.Result{{Seed: 1, Fitness: [2]int64{5, 5}}, {Seed: 2, Fitness: [2]int64{5, 5}}})
	if !reflect.DeepEqual(next.Theta, s.Theta) {
		t.Errorf("theta = %v, want %v", next.Theta, s.Theta)
	}
}
