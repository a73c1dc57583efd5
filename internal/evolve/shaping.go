package evolve

import "sort"

// CenteredRanks returns the centred mid-rank of each fitness as an integer: twice
// (its rank minus the mean rank), where the worst has rank 0 and equal ones share
// the mean of the ranks that they cover. The values lie in -(n-1) .. n-1, have the
// sum 0, and depend on the values of fitness only, not on their order; divided by
// 2(n-1) they are OpenAI-ES's centred ranks in [-0.5, 0.5]. InvalidFitness ranks
// last by its value. Bit exact.
//
// Source: Salimans et al., "Evolution Strategies as a Scalable Alternative to
// Reinforcement Learning" (2017), section 2.1; ties as in Wierstra et al. (2014).
func CenteredRanks(fitness []int64) []int64 {
	n := len(fitness)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	sort.Slice(order, func(a, b int) bool { return fitness[order[a]] < fitness[order[b]] })
	ranks := make([]int64, n)
	for i := 0; i < n; {
		j := i
		for j < n && fitness[order[j]] == fitness[order[i]] {
			j++
		}
		// Ranks i .. j-1: twice their mean is i+j-1, twice the mean of all is n-1.
		for k := i; k < j; k++ {
			ranks[order[k]] = int64(i + j - n)
		}
		i = j
	}
	return ranks
}

// pairWeights returns for each result the centred rank of sign +1 minus that of
// sign -1, ranked among both signs of all results.
func pairWeights(results []Result) []int64 {
	n := len(results)
	fitness := make([]int64, 2*n)
	for i := range results {
		fitness[2*i], fitness[2*i+1] = results[i].Fitness[0], results[i].Fitness[1]
	}
	ranks := CenteredRanks(fitness)
	weights := make([]int64, n)
	for i := range weights {
		weights[i] = ranks[2*i] - ranks[2*i+1]
	}
	return weights
}
