package evolve

// TakesStale reports whether results of other groups than 0 may move a strategy's model: what a peer measured on an
// earlier state. All that take them see a result as a direction, eps(seed), and as its rank: among all results if they
// are pooled (Size.Pooled), else among those that were measured on the same state, since episodes differ.
// The direction counts under the mean and the sigma of today, as if it had been drawn around them; the state that it
// was drawn around is not needed. Where the best alone moves the model, or a covariance is learned from where the
// samples lie, an old result is none.
func TakesStale(s Strategy) bool {
	t, ok := s.(interface{ takesStale() bool })
	return ok && t.takesStale()
}

func (o *openaiES) takesStale() bool { return true }

// takesStale: raw fitness has a mean subtracted, which differs from group to group.
func (g *pgpe) takesStale() bool { return g.shaping != "raw" }

func (c *snes) takesStale() bool { return true }

func (d *dises) takesStale() bool { return !d.best }

// takesStale: groups have centers that move and are replaced.
func (g *groups) takesStale() bool { return false }

// byState returns the indices of the results of each group in ascending order, the groups in the order in which they
// first appear.
func byState(results []Result) [][]int {
	var groups [][]int
	at := make(map[uint32]int)
	for i := range results {
		k, seen := at[results[i].Group]
		if !seen {
			k = len(groups)
			at[results[i].Group] = k
			groups = append(groups, nil)
		}
		groups[k] = append(groups[k], i)
	}
	return groups
}

// oneState reports whether all results are of one group.
func oneState(results []Result) bool {
	for i := range results {
		if results[i].Group != results[0].Group {
			return false
		}
	}
	return true
}

// pick returns the results at indices.
func pick(results []Result, at []int) []Result {
	picked := make([]Result, len(at))
	for i, k := range at {
		picked[i] = results[k]
	}
	return picked
}

// pairUtilities returns the utilities of both signs of all results as utilities does: sign +1 of result i at 2i, sign
// -1 at 2i+1. Groups that are not pooled have utilities of their own each, whose divisor is 1. Bit exact.
//
// A rank among few says less than one among many: with ranks it counts for its expected quantile, rank/(n+1), so that
// a group of one pair weighs no more than a pair of a large group does on average.
func pairUtilities(shaping string, results []Result, pooled bool) (u []float64, divisor float64) {
	if pooled || oneState(results) {
		return utilities(shaping, bothSigns(results))
	}
	u = make([]float64, 2*len(results))
	for _, at := range byState(results) {
		own, divisor := utilities(shaping, bothSigns(pick(results, at)))
		n := float64(len(own))
		scale := 1 / divisor
		switch shaping {
		case "ranks":
			scale = 1 / (2 * (n + 1))
		case "nes":
			scale = n / float64(len(u))
		}
		for i, k := range at {
			u[2*k], u[2*k+1] = float64(own[2*i]*scale), float64(own[2*i+1]*scale)
		}
	}
	return u, 1
}

// nesByState returns nesUtilities of the fitness of sign +1. Groups that are not pooled have utilities of their own
// each, times their part of all results. Bit exact.
func nesByState(results []Result, pooled bool) []float64 {
	return byStates(results, pooled, func(members []Result) []float64 { return nesUtilities(oneSign(members)) })
}

// byStates returns the weights of results. Groups that are not pooled have weights of their own each, times their part
// of all results; there a result that is alone in its group weighs 0. Bit exact.
func byStates(results []Result, pooled bool, weights func(members []Result) []float64) []float64 {
	if pooled || oneState(results) {
		return weights(results)
	}
	all := make([]float64, len(results))
	for _, at := range byState(results) {
		if len(at) == 1 {
			continue
		}
		part := float64(len(at)) / float64(len(results))
		for i, w := range weights(pick(results, at)) {
			all[at[i]] = float64(w * part)
		}
	}
	return all
}
