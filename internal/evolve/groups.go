package evolve

import (
	"github.com/evoswarm/evoswarm/internal/kernel"
	"github.com/evoswarm/evoswarm/internal/noise"
)

// Slots of groups, in their order.
const (
	groupCenters = iota // the centers, one after another
	groupScores         // for each group the sum and the number of its fitness values since the last exchange
	groupSlots
)

// groups is DisES with several centers.
type groups struct {
	dises
	count    int
	exchange uint64 // generations
}

// Shape implements Strategy.
func (g *groups) Shape() Shape {
	return Shape{g.dim, []SlotShape{groupCenters: {"group/centres", Float32, g.count * g.dim}, groupScores: {"group/scores", Float64, 2 * g.count}}}
}

// Init implements Strategy: all groups start at theta.
func (g *groups) Init(theta []float32) *State {
	s := g.Shape().State(theta)
	for k := range g.count {
		copy(g.center(s, k), theta)
	}
	return s
}

// center returns the center of group k. It shares memory with s.
func (g *groups) center(s *State, k int) []float32 {
	return s.Slots[groupCenters].Values[k*g.dim : (k+1)*g.dim]
}

// of returns the group that seed belongs to.
func (g *groups) of(seed uint64) int {
	draw := noise.NewStream(seed, noise.DomainStrategy)
	return below(draw.Uint32(), g.count)
}

// below maps a uniform word to 0 .. n-1 for n <= 2^31.
func below(word uint32, n int) int { return int(uint64(word) * uint64(n) >> 32) }

// Candidate implements Strategy: center + sign*sigma*eps(seed).
func (g *groups) Candidate(dst []float32, s *State, seed uint64, sign float32) {
	center, sigma := g.Around(s, seed)
	kernel.Perturb(dst, center, sigma, sign, seed)
}

// Around implements Isotropic: each group has a center of its own.
func (g *groups) Around(s *State, seed uint64) (center []float32, sigma float32) {
	return g.center(s, g.of(seed)), g.sigma.at(s.Gen)
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
		accumulate(g.center(next, k), g.moves(members, s.Gen))
		score(scores[2*k:], members)
	}
	lead, last := g.extremes(scores)
	copy(next.Theta, g.center(next, lead))
	if next.Gen%g.exchange == 0 {
		copy(g.center(next, last), g.center(next, lead))
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

// score adds the valid fitness of results to sum[0] and their number to sum[1].
func score(sum []float64, results []Result) {
	fitness := oneSign(results)
	for i, x := range fitnessValues(fitness) {
		if fitness[i] != InvalidFitness {
			sum[0] += x
			sum[1]++
		}
	}
}

// extremes returns the groups with the highest and the lowest mean fitness among those that have any; ties go
// to the first.
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

// Decisive implements Strategy: the results with the largest weights across all groups.
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
