package evolve

import (
	"math"
	"testing"
)

// TestGrowth: the step of snes grows with the square root of the results beyond the population, up to a bound, and
// nothing else of the update changes; without growth, or with no more results, the bits are those of before. Where
// results are pooled those of one state count.
func TestGrowth(t *testing.T) {
	const dim, population = 12, 16
	method, err := Find("snes")
	if err != nil {
		t.Fatal(err)
	}
	params, err := method.Complete(nil)
	if err != nil {
		t.Fatal(err)
	}
	strategy := func(most int, pooled bool) Strategy {
		s, err := method.New(params, Size{Dim: dim, Population: population, Growth: most, Pooled: pooled})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, test := range []struct {
		most, results, states int // states of a pooled generation; 0: it is of one state
		factor                float64
	}{
		{8, population, 0, 1}, {8, population - 1, 0, 1}, {8, 4 * population, 0, 2}, {8, 2 * population, 0, math.Sqrt2}, {8, 100 * population, 0, 8},
		{3, 100 * population, 0, 3}, {0, 100 * population, 0, 1}, {1, 100 * population, 0, 1},
		{3, population, 1, 1}, {3, 4 * population, 1, 2}, {3, 4 * population, 4, 1}, {3, 2 * population, 8, 0.5}, {3, population, 16, 1. / 3}, {0, population, 4, 1},
	} {
		results := make([]Result, test.results)
		for i := range results {
			results[i] = Result{Seed: uint64(i), Fitness: [2]int64{int64(i*i%101) << 16}}
		}
		for i := range results {
			if test.states > 0 {
				results[i].Group = uint32(i % test.states)
			}
		}
		plain, grown := strategy(0, test.states > 0), strategy(test.most, test.states > 0)
		if !Grows(grown) {
			t.Fatal("the step of snes does not grow")
		}
		start := plain.Init(make([]float32, dim))
		a, b := plain.Apply(start, results), grown.Apply(start, results)
		for i := range dim {
			step, want := b.Slots[0].Reals[i], test.factor*a.Slots[0].Reals[i]
			if math.Abs(step-want) > 1e-12*math.Abs(want) || test.factor == 1 && step != want {
				t.Errorf("most %d, %d results of %d states: the mean moves by %v, want %v", test.most, test.results, test.states, step, want)
			}
			if a.Slots[1].Reals[i] != b.Slots[1].Reals[i] {
				t.Errorf("most %d, %d results of %d states: sigma is %v, want %v", test.most, test.results, test.states, b.Slots[1].Reals[i], a.Slots[1].Reals[i])
			}
		}
	}
}
