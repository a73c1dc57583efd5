package evolve

import "github.com/evoswarm/evoswarm/internal/exact"

// rankWeight returns the weight of a rank, 1 for the best, in a recombination of an elite, before normalization.
type rankWeight func(elite, rank int) float64

// logWeight returns the weights log(elite+shift) - log(rank).
func logWeight(shift float64) rankWeight {
	return func(elite, rank int) float64 {
		return exact.Log(float64(elite)+shift) - exact.Log(float64(rank))
	}
}

// uniformWeight gives every rank the same weight.
func uniformWeight(int, int) float64 { return 1 }

// recombine returns the weight of each fitness in a recombination of the elite best: by rank, with the sum 1.
// Equal fitness shares the mean of the weights of the ranks it covers, even if these reach beyond the elite,
// so the order of the results does not matter. InvalidFitness weighs 0; if fewer than elite are valid, these
// are the elite, and if none is, all weights are 0. Bit exact.
func recombine(fitness []int64, elite int, weight rankWeight) []float64 {
	elite = min(elite, countValid(fitness))
	byRank := make([]float64, elite)
	sum := 0.0
	for k := range byRank {
		byRank[k] = weight(elite, k+1)
		sum += byRank[k]
	}
	weights := make([]float64, len(fitness))
	eachTie(fitness, func(tied []int, first int) {
		if first >= elite || fitness[tied[0]] == InvalidFitness {
			return
		}
		share := 0.0
		for _, w := range byRank[first:min(first+len(tied), elite)] {
			share += w
		}
		for _, k := range tied {
			weights[k] = share / float64(len(tied)) / sum
		}
	})
	return weights
}

// countValid returns how many values are not InvalidFitness.
func countValid(fitness []int64) int {
	n := 0
	for _, f := range fitness {
		if f != InvalidFitness {
			n++
		}
	}
	return n
}

// recombinationSetting describes how the elite of a generation is combined.
func recombinationSetting(since uint64) Setting {
	return Setting{Name: "weights", Doc: "weights of the elite: by rank, log(k+1/2) - log(rank) for the best k (rank), by the distance of the " +
		"fitness from the best one outside of the elite (fitness), or equal (uniform)", Default: "rank",
		Choices: []string{"rank", "fitness", "uniform"}, Since: since}
}

// recombineBy returns the weight of each fitness in the mean of the elite best, by the choices of
// recombinationSetting: as recombine does or, with "fitness", by how far each is above the best one outside
// of the elite; if none is above it, the elite has equal weights. Equal fitness has equal weight. Bit exact.
func recombineBy(kind string, fitness []int64, elite int) []float64 {
	switch kind {
	case "rank":
		return recombine(fitness, elite, logWeight(0.5))
	case "fitness":
		weights := make([]float64, len(fitness))
		if valid := countValid(fitness); distances(weights, fitness, min(elite, valid), valid) {
			return weights
		}
	}
	return recombine(fitness, elite, uniformWeight)
}

// distances sets the weights of the elite best of the valid fitness values by their distances from the best
// one outside of the elite or, if there is none, from the last one. It reports whether any distance is
// positive.
func distances(weights []float64, fitness []int64, elite, valid int) bool {
	if elite == 0 {
		return false
	}
	values := fitnessValues(fitness)
	order := byFitness(fitness)
	limit := values[order[min(elite, valid-1)]]
	sum := 0.0
	for _, i := range order[:elite] {
		weights[i] = values[i] - limit
		sum += weights[i]
	}
	if sum == 0 {
		return false
	}
	for _, i := range order[:elite] {
		weights[i] /= sum
	}
	return true
}

// moves returns the terms of a sum of perturbations, each with coef times its weight, in the order of the results.
func moves(results []Result, weights []float64, coef float64) []term {
	var terms []term
	for i, w := range weights {
		if w != 0 {
			terms = append(terms, term{results[i].Seed, float32(coef * w)})
		}
	}
	return terms
}
