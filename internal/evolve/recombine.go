package evolve

import (
	"fmt"

	"github.com/evoswarm/evoswarm/internal/exact"
)

// rankWeight is what the fitness of a rank, counted from 1 for the best, weighs in a
// recombination of the best few, before all are divided by their sum.
type rankWeight func(few, rank int) float64

// logWeight returns the weights log(few+shift) - log(rank).
func logWeight(shift float64) rankWeight {
	return func(few, rank int) float64 {
		return exact.Log(float64(few)+shift) - exact.Log(float64(rank))
	}
}

// uniformWeight weighs all of the best few alike.
func uniformWeight(int, int) float64 { return 1 }

// recombine returns the weight of each fitness in a recombination of the best few: by
// its rank, with the sum 1. Equal fitness shares the mean of the weights of the ranks
// that it covers, also where these reach beyond few, so that the order of the results
// does not count. InvalidFitness weighs nothing; if less than few are valid, these are
// the few, and if none is, all weights are 0. Bit exact.
func recombine(fitness []int64, few int, weight rankWeight) []float64 {
	few = min(few, countValid(fitness))
	byRank := make([]float64, few)
	sum := 0.0
	for k := range byRank {
		byRank[k] = weight(few, k+1)
		sum += byRank[k]
	}
	weights := make([]float64, len(fitness))
	eachTie(fitness, func(tied []int, first int) {
		if first >= few || fitness[tied[0]] == InvalidFitness {
			return
		}
		share := 0.0
		for _, w := range byRank[first:min(first+len(tied), few)] {
			share += w
		}
		for _, k := range tied {
			weights[k] = share / float64(len(tied)) / sum
		}
	})
	return weights
}

// countValid returns how many are not InvalidFitness.
func countValid(fitness []int64) int {
	n := 0
	for _, f := range fitness {
		if f != InvalidFitness {
			n++
		}
	}
	return n
}

// fewSetting describes how many of a generation count; 0 stands for what doc says.
func fewSetting(name, doc string) Setting {
	return Setting{Name: name, Doc: doc, Default: 0.0, Min: 0, Max: 1 << 30, Integer: true}
}

// few reads a fewSetting; 0 stands for none. There are at most count of what it
// counts, in a population of this size; more are refused with an error that wraps
// ErrParams.
func few(method, name string, p Params, none, count int, size Size) (int, error) {
	n := int(p.number(name))
	if n > count {
		return 0, fmt.Errorf("%w: %s: %s is %d, want an integer in [0, %d] with a population of %d",
			ErrParams, method, name, n, count, size.Population)
	}
	if n == 0 {
		n = max(none, 1)
	}
	return n, nil
}
