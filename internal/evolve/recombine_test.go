package evolve

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestRecombination checks what holds for all kinds: the weights are not negative, have
// the sum 1 unless nothing is valid, follow the fitness, and do not depend on the order.
func TestRecombination(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		kind := rapid.SampledFrom([]string{"rank", "fitness", "uniform"}).Draw(r, "kind")
		one := rapid.OneOf(rapid.Int64Range(-3, 3), rapid.Int64(), rapid.Just(InvalidFitness))
		fitness := rapid.SliceOfN(one, 1, 40).Draw(r, "fitness")
		top := rapid.IntRange(1, len(fitness)).Draw(r, "top")
		weights := recombineBy(kind, fitness, top)
		sum, count := 0.0, 0
		for i, w := range weights {
			sum += w
			if fitness[i] != InvalidFitness {
				count++
			}
			if !(w >= 0) || fitness[i] == InvalidFitness && w != 0 {
				r.Fatalf("weights %v of fitness %v", weights, fitness)
			}
			for j, v := range weights {
				if fitness[i] > fitness[j] && w < v || fitness[i] == fitness[j] && w != v {
					r.Fatalf("weights %v do not follow fitness %v", weights, fitness)
				}
			}
		}
		if want := float64(min(count, 1)); math.Abs(sum-want) > 1e-12 {
			r.Fatalf("sum %v, want %v", sum, want)
		}
		order := rapid.Permutation(byFitness(fitness)).Draw(r, "order")
		mixed := make([]int64, len(fitness))
		for i, k := range order {
			mixed[i] = fitness[k]
		}
		again := recombineBy(kind, mixed, top)
		for i, k := range order {
			if math.Abs(again[i]-weights[k]) > 1e-15 {
				r.Fatalf("in another order %v has the weight %v, was %v", fitness[k], again[i], weights[k])
			}
		}
	})
}

func TestRecombinationKinds(t *testing.T) {
	const bad = InvalidFitness
	l1, l2, l3 := math.Log(3.5), math.Log(3.5)-math.Log(2), math.Log(3.5)-math.Log(3)
	l := l1 + l2 + l3
	for _, test := range []struct {
		kind    string
		fitness []int64
		top     int
		want    []float64
	}{
		{"rank", []int64{1, 9, 5, 4, bad}, 3, []float64{0, l1 / l, l2 / l, l3 / l, 0}},
		{"rank", []int64{7, 7, 7, 7}, 3, []float64{0.25, 0.25, 0.25, 0.25}},
		{"rank", []int64{9, 4, 4}, 2, []float64{1 - (math.Log(2.5)-math.Log(2))/(2*math.Log(2.5)-math.Log(2)), 0.5 * (math.Log(2.5) - math.Log(2)) / (2*math.Log(2.5) - math.Log(2)), 0.5 * (math.Log(2.5) - math.Log(2)) / (2*math.Log(2.5) - math.Log(2))}},
		{"uniform", []int64{1, 9, 5, 4, bad}, 2, []float64{0, 0.5, 0.5, 0, 0}},
		{"uniform", []int64{bad, 3}, 2, []float64{0, 1}},
		{"fitness", []int64{1, 9, 5, 4, bad}, 2, []float64{0, 5.0 / 6, 1.0 / 6, 0, 0}},
		{"fitness", []int64{1, 9, 5, bad}, 4, []float64{0, 8.0 / 12, 4.0 / 12, 0}},
		{"fitness", []int64{4, 4, 4}, 2, []float64{1.0 / 3, 1.0 / 3, 1.0 / 3}},
		{"fitness", []int64{bad, bad}, 2, []float64{0, 0}},
	} {
		got := recombineBy(test.kind, test.fitness, test.top)
		for i, w := range test.want {
			if math.Abs(got[i]-w) > 1e-12 {
				t.Errorf("%s, best %d of %v: %v, want %v", test.kind, test.top, test.fitness, got, test.want)
				break
			}
		}
	}
}

func TestPartOf(t *testing.T) {
	for _, test := range []struct {
		part float64
		n    int
		want int
	}{{0.1, 200, 20}, {0.1, 4, 1}, {0.5, 5, 3}, {1, 8, 1}, {3, 8, 3}, {30, 8, 8}, {0.999, 8, 8}, {0.1, 0, 1}} {
		if got := eliteCount(test.part, test.n); got != test.want {
			t.Errorf("eliteCount(%v, %d) = %d, want %d", test.part, test.n, got, test.want)
		}
	}
}
