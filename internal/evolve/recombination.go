package evolve

import "github.com/evoswarm/evoswarm/internal/exact"

// recombinationSetting describes how the best candidates of a generation are combined.
func recombinationSetting(since uint64) Setting {
	return Setting{Name: "weights", Doc: "what each of the best counts for: by rank, log(k+1/2) - log(rank) for the best k (rank), by the distance of its " +
		"fitness from the best one that is left out (fitness), or all the same (uniform)", Default: "rank",
		Choices: []string{"rank", "fitness", "uniform"}, Since: since}
}

// recombination returns the weight of each fitness in the mean of the best top, with
// the sum 1, or all 0 if no fitness is valid. What is not valid weighs nothing. Equal
// fitness has equal weight, also where only some of the equal ones are among the best:
// so the weights do not depend on the order. Bit exact.
func recombination(kind string, fitness []int64, top int) []float64 {
	weights := make([]float64, len(fitness))
	count := 0
	for _, f := range fitness {
		if f != InvalidFitness {
			count++
		}
	}
	if top = min(top, count); top == 0 {
		return weights
	}
	if kind == "fitness" && distances(weights, fitness, top, count) {
		return weights
	}
	byRank := make([]float64, len(fitness))
	sum := 0.0
	for i := range top {
		byRank[i] = 1
		if kind == "rank" {
			byRank[i] = exact.Log(float64(top)+0.5) - exact.Log(float64(i+1))
		}
		sum += byRank[i]
	}
	eachTie(fitness, func(tied []int, first int) {
		share := 0.0
		for k := range tied {
			share += byRank[first+k]
		}
		share = share / float64(len(tied)) / sum
		for _, k := range tied {
			weights[k] = share
		}
	})
	return weights
}

// distances sets the weights of the top best of count valid fitness values by their
// distances from the best one left out, or from the last one if none is. It reports
// whether there are any.
func distances(weights []float64, fitness []int64, top, count int) bool {
	values := fitnessValues(fitness)
	order := byFitness(fitness)
	limit := values[order[min(top, count-1)]]
	sum := 0.0
	for _, i := range order[:top] {
		weights[i] = values[i] - limit
		sum += weights[i]
	}
	if sum == 0 {
		return false
	}
	for _, i := range order[:top] {
		weights[i] /= sum
	}
	return true
}

// moves returns the terms of a sum of perturbations, coef times their weight each, in
// the order of the results.
func moves(results []Result, weights []float64, coef float64) []term {
	var terms []term
	for i, w := range weights {
		if w != 0 {
			terms = append(terms, term{results[i].Seed, float32(coef * w)})
		}
	}
	return terms
}
