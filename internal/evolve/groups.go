package evolve

import (
	"github.com/evoswarm/evoswarm/internal/kernel"
	"github.com/evoswarm/evoswarm/internal/noise"
)

// Slots of groups, in their order.
const (
	groupCentres = iota // the centres, one after the other
	groupScores         // for each group the sum and the number of its fitness values since the last exchange
	groupSlots
)

// groups is DisES with several centres.
type groups struct {
	dises
	count    int
	exchange uint64 // generations
}

// Shape implements Strategy.
func (g *groups) Shape() Shape {
	return Shape{g.dim, []SlotShape{groupCentres: {"group/centres", Float32, g.count * g.dim}, groupScores: {"group/scores", Float64, 2 * g.count}}}
}

// Init implements Strategy: all groups begin at theta.
func (g *groups) Init(theta []float32) *State {
	s := g.Shape().State(theta)
	for k := range g.count {
		copy(g.centre(s, k), theta)
	}
	return s
}

// centre returns that of group k; it is part of s.
func (g *groups) centre(s *State, k int) []float32 {
	return s.Slots[groupCentres].Values[k*g.dim : (k+1)*g.dim]
}

// of returns the group that seed belongs to.
func (g *groups) of(seed uint64) int {
	draw := noise.NewStream(seed, noise.DomainStrategy)
	return below(draw.Uint32(), g.count)
}

// below maps a uniform word to 0 .. n-1, n at most 2^31.
func below(word uint32, n int) int { return int(uint64(word) * uint64(n) >> 32) }

// Candidate implements Strategy: centre + sign*sigma*eps(seed).
func (g *groups) Candidate(dst []float32, s *State, seed uint64, sign float32) {
	kernel.Perturb(dst, g.centre(s, g.of(seed)), g.sigma.at(s.Gen), sign, seed)
}

// Apply implements Strategy.
func (g *groups) Apply(s *State, results []Result) *State {
	next := s.Clone()
	next.Gen++
	if !valid(results, false) {
		return next
	}
	scores := next.Slots[groupScores].Reals
	for k, members := range g.members(results) {
		accumulate(g.centre(next, k), g.moves(members, s.Gen))
		score(scores[2*k:], members)
	}
	lead, last := g.extremes(scores)
	copy(next.Theta, g.centre(next, lead))
	if next.Gen%g.exchange == 0 {
		copy(g.centre(next, last), g.centre(next, lead))
		clear(scores)
	}
	return next
}

// members returns the results of each group.
func (g *groups) members(results []Result) [][]Result {
	members := make([][]Result, g.count)
	for _, r := range results {
		k := g.of(r.Seed)
		members[k] = append(members[k], r)
	}
	return members
}

// score adds the valid fitness of results to a sum and a number.
func score(sum []float64, results []Result) {
	fitness := oneSign(results)
	for i, x := range fitnessValues(fitness) {
		if fitness[i] != InvalidFitness {
			sum[0] += x
			sum[1]++
		}
	}
}

// extremes returns the groups with the highest and the lowest mean fitness, the first
// of equal ones, among those that have any.
func (g *groups) extremes(scores []float64) (lead, last int) {
	high, low := 0.0, 0.0
	found := false
	for k := range g.count {
		if !(scores[2*k+1] > 0) {
			continue
		}
		mean := scores[2*k] / scores[2*k+1]
		if !found || mean > high {
			lead, high = k, mean
		}
		if !found || mean < low {
			last, low = k, mean
		}
		found = true
	}
	return lead, last
}

// Decisive implements Strategy: the heaviest of all groups.
func (g *groups) Decisive(results []Result, n int) []int {
	weights := make([]float64, len(results))
	inGroup := make([][]float64, g.count)
	for k, members := range g.members(results) {
		inGroup[k] = g.weights(members)
	}
	for i := range results {
		k := g.of(results[i].Seed)
		weights[i], inGroup[k] = inGroup[k][0], inGroup[k][1:]
	}
	return heaviest(weights, n)
}
