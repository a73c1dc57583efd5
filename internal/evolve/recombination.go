package evolve

// recombinationSetting describes how the best candidates of a generation are combined.
func recombinationSetting(since uint64) Setting {
	return Setting{Name: "weights", Doc: "what each of the best counts for: by rank, log(k+1/2) - log(rank) for the best k (rank), by the distance of its " +
		"fitness from the best one that is left out (fitness), or all the same (uniform)", Default: "rank",
		Choices: []string{"rank", "fitness", "uniform"}, Since: since}
}

// recombination returns the weight of each fitness in the mean of the best top, as
// recombine does, or with the weights "fitness" by how far each is above the best one
// left out; if none is, all of the best weigh alike. Equal fitness has equal weight.
// Bit exact.
func recombination(kind string, fitness []int64, top int) []float64 {
	switch kind {
	case "rank":
		return recombine(fitness, top, logWeight(0.5))
	case "fitness":
		weights := make([]float64, len(fitness))
		if count := countValid(fitness); distances(weights, fitness, min(top, count), count) {
			return weights
		}
	}
	return recombine(fitness, top, uniformWeight)
}

// distances sets the weights of the top best of count valid fitness values by their
// distances from the best one left out, or from the last one if none is. It reports
// whether there are any.
func distances(weights []float64, fitness []int64, top, count int) bool {
	if top == 0 {
		return false
	}
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
