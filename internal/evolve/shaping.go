package evolve

import (
	"sort"

	"github.com/evoswarm/evoswarm/internal/exact"
)

// shapingSetting describes how a method turns fitness into utilities, by default choice.
func shapingSetting(choice string, since uint64) Setting {
	return Setting{Name: "shaping", Doc: "what replaces a fitness: nothing (raw), its centered rank in [-0.5, 0.5] (ranks), its distance from the " +
		"mean in standard deviations (zscore), or its utility in natural evolution strategies (nes)", Default: choice,
		Choices: []string{"raw", "ranks", "zscore", "nes"}, Since: since}
}

// utilities returns the utility of each fitness as u/divisor; the caller divides. Except for raw, u sums to 0
// up to rounding. Invalid fitness counts as the lowest valid one; by rank it comes last. Equal fitness has
// equal utility. Bit exact.
func utilities(shaping string, fitness []int64) (u []float64, divisor float64) {
	switch shaping {
	case "raw":
		return fitnessValues(fitness), 1
	case "zscore":
		return zScores(fitness), 1
	case "nes":
		return nesUtilities(fitness), 1
	}
	u = make([]float64, len(fitness))
	for i, r := range CenteredRanks(fitness) {
		u[i] = float64(r)
	}
	return u, 2 * (float64(len(fitness)) - 1)
}

// CenteredRanks returns the centered mid-rank of each fitness as an integer: twice its rank minus twice the
// mean rank, where the worst has rank 0 and equal fitness shares the mean of the ranks it covers. The values
// lie in -(n-1) .. n-1, sum to 0, and do not depend on the order of fitness; divided by 2(n-1) they are
// OpenAI-ES's centered ranks in [-0.5, 0.5]. InvalidFitness ranks last. Bit exact.
//
// Source: Salimans et al., "Evolution Strategies as a Scalable Alternative to
// Reinforcement Learning" (2017), section 2.1; ties as in Wierstra et al. (2014).
func CenteredRanks(fitness []int64) []int64 {
	n := len(fitness)
	ranks := make([]int64, n)
	eachTie(fitness, func(tied []int, first int) {
		// Ranks i .. j-1 from the worst: twice their mean is i+j-1, twice the mean of all n-1.
		i, j := n-first-len(tied), n-first
		for _, k := range tied {
			ranks[k] = int64(i + j - n)
		}
	})
	return ranks
}

// nesUtilities returns max(0, log(n/2+1) - log(rank)), with rank 1 for the best, normalized to sum to 1, less
// 1/n. Equal fitness shares the mean.
//
// Source: Wierstra et al., "Natural Evolution Strategies" (2014), section 3.1.
func nesUtilities(fitness []int64) []float64 {
	n := len(fitness)
	top := exact.Log(float64(float64(n)/2) + 1)
	byRank := make([]float64, n)
	sum := 0.0
	for k := range byRank {
		byRank[k] = max(0, top-exact.Log(float64(k+1)))
		sum += byRank[k]
	}
	u := make([]float64, n)
	eachTie(fitness, func(tied []int, first int) {
		share := 0.0
		for k := range tied {
			share += byRank[first+k]
		}
		share = float64(share/float64(len(tied))/sum) - 1/float64(n)
		for _, k := range tied {
			u[k] = share
		}
	})
	return u
}

// eachTie calls f for each set of equal fitness, best first, with its indices in ascending order and the rank
// of its first member, where the best has rank 0.
func eachTie(fitness []int64, f func(tied []int, first int)) {
	order := byFitness(fitness)
	for i := 0; i < len(order); {
		j := i + 1
		for j < len(order) && fitness[order[j]] == fitness[order[i]] {
			j++
		}
		f(order[i:j], i)
		i = j
	}
}

// byFitness returns the indices of fitness sorted from best to worst; ties keep their order. InvalidFitness comes last.
func byFitness(fitness []int64) []int {
	order := make([]int, len(fitness))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return fitness[order[a]] > fitness[order[b]] })
	return order
}

// fitnessValues returns each fitness as a mean return. Invalid fitness counts as the lowest valid one, or 0
// if there is none.
func fitnessValues(fitness []int64) []float64 {
	const one = 1 << 20
	lowest, found := int64(0), false
	for _, f := range fitness {
		if f != InvalidFitness && (!found || f < lowest) {
			lowest, found = f, true
		}
	}
	x := make([]float64, len(fitness))
	for i, f := range fitness {
		if f == InvalidFitness {
			f = lowest
		}
		x[i] = float64(f) / one
	}
	return x
}

// zScores returns (x - mean) / standard deviation, or all 0 if no fitness differs.
func zScores(fitness []int64) []float64 { return standardize(fitnessValues(fitness)) }

// standardize replaces each x with (x - mean) / standard deviation, the population's, and returns x. All are 0 if none
// differs.
func standardize(x []float64) []float64 {
	n := float64(len(x))
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	mean := sum / n
	squares := 0.0
	for i, v := range x {
		x[i] = v - mean
		squares += float64(x[i] * x[i])
	}
	deviation := exact.Sqrt(squares / n)
	// Rounding of the mean must not make equal fitness look different.
	if !(deviation > exact.Abs(mean)*1e-12) {
		clear(x)
		return x
	}
	for i := range x {
		x[i] /= deviation
	}
	return x
}

// bothSigns returns the fitness of both signs of all results: sign +1 of result i at 2i, sign -1 at 2i+1.
func bothSigns(results []Result) []int64 {
	fitness := make([]int64, 2*len(results))
	for i := range results {
		fitness[2*i], fitness[2*i+1] = results[i].Fitness[0], results[i].Fitness[1]
	}
	return fitness
}

// oneSign returns the fitness of all results of a strategy that is not antithetic.
func oneSign(results []Result) []int64 {
	fitness := make([]int64, len(results))
	for i := range results {
		fitness[i] = results[i].Fitness[0]
	}
	return fitness
}

// heaviest returns the indices of the n largest |weights|, except zeros, in ascending order; ties go to the
// first. It is the answer of Decisive where a weighted sum moves the model.
func heaviest(weights []float64, n int) []int {
	var at []int
	for i, w := range weights {
		if w != 0 {
			at = append(at, i)
		}
	}
	sort.SliceStable(at, func(a, b int) bool { return exact.Abs(weights[at[a]]) > exact.Abs(weights[at[b]]) })
	if len(at) > n {
		at = at[:max(n, 0)]
	}
	sort.Ints(at)
	return at
}
