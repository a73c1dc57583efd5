package evolve_test

import (
	"math"
	"reflect"
	"testing"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"pgregory.net/rapid"
)

// dumbRanks counts: twice a centered mid-rank is how many are worse minus how many are better.
func dumbRanks(fitness []int64) []int64 {
	ranks := make([]int64, len(fitness))
	for i, f := range fitness {
		for _, g := range fitness {
			if g < f {
				ranks[i]++
			}
			if g > f {
				ranks[i]--
			}
		}
	}
	return ranks
}

func TestCenteredRanks(t *testing.T) {
	for _, test := range []struct{ fitness, want []int64 }{
		{[]int64{}, []int64{}},
		{[]int64{7}, []int64{0}},
		{[]int64{1, 2}, []int64{-1, 1}},
		{[]int64{5, 5, 5}, []int64{0, 0, 0}},
		{[]int64{3, 1, 3, 9}, []int64{0, -3, 0, 3}},
		{[]int64{math.MinInt64, 0, math.MinInt64 + 1}, []int64{-2, 2, 0}},
	} {
		if got := evolve.CenteredRanks(test.fitness); !reflect.DeepEqual(got, test.want) {
			t.Errorf("CenteredRanks(%v) = %v, want %v", test.fitness, got, test.want)
		}
	}
}

func TestCenteredRanksTwin(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		gen := rapid.OneOf(rapid.Int64Range(-3, 3), rapid.Int64(), rapid.Just(evolve.InvalidFitness))
		fitness := rapid.SliceOfN(gen, 0, 40).Draw(r, "fitness")
		given := append([]int64{}, fitness...)
		got := evolve.CenteredRanks(fitness)
		if want := dumbRanks(fitness); !reflect.DeepEqual(got, want) {
			r.Fatalf("got %v, want %v", got, want)
		}
		if !reflect.DeepEqual(fitness, given) {
			r.Fatalf("the argument became %v", fitness)
		}
		sum := int64(0)
		for _, x := range got {
			sum += x
		}
		if sum != 0 {
			r.Fatalf("ranks %v have the sum %d", got, sum)
		}
	})
}
