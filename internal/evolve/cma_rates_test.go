package evolve

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestCMARates holds weights and rates to what pycma 4.4.0 computes with its defaults
// (CMAEvolutionStrategy: sp.weights, adapt_sigma, sm.parameters).
func TestCMARates(t *testing.T) {
	for _, test := range []struct {
		n, count                      int
		mueff, cs, damps, cc, c1, cmu float64
		first, last, sum              float64 // of the weights
	}{
		{2, 6, 2.02861146461, 0.573173162992, 1.57317316299, 0.624554539027, 0.154815399896, 0.0855927794267, 0.637042571241, -1.15598177816, -1.20732365484},
		{10, 10, 3.16729928141, 0.319614252911, 1.31961425291, 0.294990383036, 0.0152838245248, 0.0235517766504, 0.456272646903, -0.549749917697, -0.648945714441},
		{30, 14, 4.28713506619, 0.168614055626, 1.16861405563, 0.120834380827, 0.00203256755541, 0.00538836085191, 0.361148111724, -0.335551139006, -0.377214446336},
		{5, 40, 11.3094820889, 0.689271831716, 2.31091026203, 0.463028123391, 0.0392160845185, 0.319946487139, 0.167124701498, -0.0353429114678, 0.59940961748},
		{100, 17, 5.09618887861, 0.0656469848958, 1.0656469849, 0.0389134200578, 0.000194802926954, 0.000680638141971, 0.315095875268, -0.261726449239, -0.286206303969},
		{3, 300, 78.0309844474, 0.952398510784, 8.72912822335, 0.508471610303, 0.0207208827329, 0.979279117267, 0.0340913480365, 0, 1},
	} {
		r := newCMARates(test.n, test.count, 1, true)
		sum := 0.0
		for _, w := range r.weights {
			sum += w
		}
		for name, pair := range map[string][2]float64{
			"mueff": {r.mueff, test.mueff}, "cs": {r.cs, test.cs}, "damps": {r.damps, test.damps}, "cc": {r.cc, test.cc},
			"c1": {r.c1, test.c1}, "cmu": {r.cmu, test.cmu}, "first weight": {r.weights[0], test.first},
			"last weight": {r.weights[test.count-1], test.last}, "sum of weights": {sum, test.sum},
		} {
			if got, want := pair[0], pair[1]; math.Abs(got-want) > 1e-10*math.Max(1, math.Abs(want)) {
				t.Errorf("n %d, %d candidates: %s = %.12g, want %.12g", test.n, test.count, name, got, want)
			}
		}
	}
}

// TestCMARatesStayInRange: whatever the sizes, no rate leaves its range and the
// covariance cannot lose its sign.
func TestCMARatesStayInRange(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(1, 2000).Draw(r, "n")
		count := rapid.IntRange(2, 5000).Draw(r, "count")
		speed := rapid.SampledFrom([]float64{1, float64(n+2) / 3}).Draw(r, "speed")
		rates := newCMARates(n, count, speed, true)
		negative, positive := 0.0, 0.0
		for i, w := range rates.weights {
			if i > 0 && w > rates.weights[i-1] {
				r.Fatalf("weight %d is %g after %g", i, w, rates.weights[i-1])
			}
			positive += max(w, 0)
			negative += max(-w, 0)
		}
		if math.Abs(positive-1) > 1e-9 {
			r.Fatalf("positive weights have the sum %g, want 1", positive)
		}
		// The covariance keeps at least this share of itself.
		if least := 1 - rates.c1 - float64(rates.cmu*(1-negative)) - float64(float64(n)*rates.cmu*negative); least < -1e-9 {
			r.Fatalf("the covariance keeps %g", least)
		}
		for name, x := range map[string]float64{"cs": rates.cs, "cc": rates.cc, "c1": rates.c1, "cmu": rates.cmu} {
			if !(x > 0 && x <= 1) {
				r.Fatalf("%s = %g", name, x)
			}
		}
		if !(rates.damps >= 1) || !(rates.mueff >= 1-1e-12 && rates.mueff <= float64(count)) || rates.lazy(n) < 1 {
			r.Fatalf("damps %g, mueff %g, lazy %d", rates.damps, rates.mueff, rates.lazy(n))
		}
	})
}

func TestWeightsOfTies(t *testing.T) {
	rates := cmaRates{weights: []float64{0.75, 0.25, -0.25, -0.75}}
	for _, test := range []struct {
		fitness          []int64
		weights, parents []float64
	}{
		{[]int64{1, 4, 3, 2}, []float64{-0.75, 0.75, 0.25, -0.25}, []float64{0, 0.75, 0.25, 0}},
		{[]int64{5, 5, 1, 1}, []float64{0.5, 0.5, -0.5, -0.5}, []float64{0.5, 0.5, 0, 0}},
		{[]int64{7, 9, 7, InvalidFitness}, []float64{0, 0.75, 0, -0.75}, []float64{0.125, 0.75, 0.125, 0}},
	} {
		weights, parents := rates.of(test.fitness)
		for i := range weights {
			if weights[i] != test.weights[i] || parents[i] != test.parents[i] {
				t.Errorf("%v: weights %v, parents %v; want %v, %v", test.fitness, weights, parents, test.weights, test.parents)
				break
			}
		}
	}
}
