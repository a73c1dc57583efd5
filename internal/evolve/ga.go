package evolve

import (
	"fmt"
	"slices"

	"github.com/evoswarm/evoswarm/internal/cores"
	"github.com/evoswarm/evoswarm/internal/kernel"
	"github.com/evoswarm/evoswarm/internal/noise"
)

// gaMethod is Uber's Deep GA.
func gaMethod() Method {
	m := Method{
		Name:     "ga",
		Revision: 1,
		Doc: "Genetic algorithm without crossover (Such et al. 2017, \"Deep Neuroevolution\", algorithm 1): a candidate is the " +
			"parent that its seed names, plus sigma*eps(seed); the best candidates become the next parents. Some candidates " +
			"are parents without a mutation, which tests them again: parents of the elite and as many of the best others. Their " +
			"fitness is the mean over all of their tests, the best of those tested again stay parents (the elite), and the model " +
			"is the first of them, or the best candidate while there is none. A genome is the chain of (generation, seed) of the " +
			"mutations that lead from the first model to a parent; the state keeps the parameters of each parent and the last " +
			"mutations of its genome, and the log has the older ones. Ties go to the first in order (peer, counter). Uber's code " +
			"draws the first generation from the initializer; here it is the first model with mutations spread times as large.",
		Settings: settings([]Setting{
			eliteSetting("elite", "parents that stay", 0.05, 0),
			{Name: "genome", Doc: "mutations of each parent that the state remembers", Default: 256.0, Min: 0, Max: 4096, Integer: true},
			{Name: "retest", Doc: "fraction of the candidates that test a parent again, without a mutation: the elite and as many of the best others", Default: 0.15, Min: 0, Max: 0.9},
			{Name: "spread", Doc: "factor on sigma in generation 0, in which every parent is the first model", Default: 1.0, Min: 1e-3, Max: 1e6},
			eliteSetting("top", "candidates that become parents, including the elite", 0.2, 0),
		}, scheduleSettings("sigma", "standard deviation of the mutation of each parameter", 0.1, 0)),
	}
	m.build = func(p Params, size Size) (Strategy, error) {
		for _, name := range []string{"elite", "top"} {
			if err := checkElite(m.Name, p, name, size); err != nil {
				return nil, err
			}
		}
		g := &ga{
			dim: size.Dim, parents: eliteCount(p.number("top"), size.Population), elite: eliteCount(p.number("elite"), size.Population),
			retest: uint32(float64(p.number("retest") * (1 << 32))), genome: int(p.number("genome")),
			sigma: newSchedule(p, "sigma"), spread: p.number("spread"),
		}
		if g.elite > g.parents {
			return nil, fmt.Errorf("%w: %s: elite is %v, which is %d of %d candidates, want at most the %[7]d parents that top = %[6]v gives",
				ErrParams, m.Name, p.number("elite"), g.elite, size.Population, p.number("top"), g.parents)
		}
		if words := g.parents * (1 + 2*g.genome); words > MaxDim {
			return nil, fmt.Errorf("%w: %s: genome is %d, want at most %d with %d parents", ErrParams, m.Name, g.genome, (MaxDim/g.parents-1)/2, g.parents)
		}
		return g, checkRows(m.Name, "top", g.parents, size)
	}
	return m
}

type ga struct {
	dim            int
	parents, elite int
	retest         uint32 // fraction of the candidates, in units of 2^-32
	genome         int
	sigma          schedule
	spread         float64
}

// Slots of ga, in their order. All of them list the parents in the same order: the elite by mean fitness,
// then the others by fitness.
const (
	gaParents = iota // parameters of the parents, one parent after another
	gaSums           // sum of each parent's fitness over its tests
	gaTests          // number of these tests; 0: never tested
	gaGenomes        // for each parent the number of its mutations, then the last of them as (generation, seed)
	gaSlots
)

// Antithetic implements Strategy: false.
func (g *ga) Antithetic() bool { return false }

// Shape implements Strategy.
func (g *ga) Shape() Shape {
	return Shape{g.dim, []SlotShape{
		gaParents: {"ga/parents", Float32, g.parents * g.dim}, gaSums: {"ga/fitness", Float64, g.parents},
		gaTests: {"ga/tests", Uint64, g.parents}, gaGenomes: {"ga/genomes", Uint64, AnyLen},
	}}
}

// Init implements Strategy: all parents are theta.
func (g *ga) Init(theta []float32) *State {
	s := g.Shape().State(theta)
	for k := range g.parents {
		copy(g.parent(s, k), theta)
	}
	s.Slots[gaGenomes].Words = make([]uint64, g.parents)
	return s
}

// parent returns the parameters of parent k. They share memory with s.
func (g *ga) parent(s *State, k int) []float32 {
	return s.Slots[gaParents].Values[k*g.dim : (k+1)*g.dim]
}

// draw returns the parent that seed names and whether seed tests it again.
func (g *ga) draw(seed uint64) (parent int, again bool) {
	stream := noise.NewStream(seed, noise.DomainStrategy)
	word := stream.Uint32()
	if stream.Uint32() < g.retest {
		return below(word, min(2*g.elite, g.parents)), true
	}
	return below(word, g.parents), false
}

// sigmaAt returns the standard deviation of the mutations of generation gen.
func (g *ga) sigmaAt(gen uint64) float32 {
	sigma := g.sigma.at(gen)
	if gen == 0 {
		sigma = float32(g.spread * float64(sigma))
	}
	return sigma
}

// Candidate implements Strategy: the parent that seed names, mutated unless it is tested again.
func (g *ga) Candidate(dst []float32, s *State, seed uint64, sign float32) {
	k, again := g.draw(seed)
	if again {
		copy(dst, g.parent(s, k))
		return
	}
	kernel.Perturb(dst, g.parent(s, k), g.sigmaAt(s.Gen), sign, seed)
}

// heir is a parent of the next generation.
type heir struct {
	parent int     // the parent that it is, or that it mutates
	seed   uint64  // of the mutation, if mutated
	sum    float64 // of the fitness over all tests
	tests  uint64

	mutated bool
}

// Apply implements Strategy.
func (g *ga) Apply(s *State, results []Result) *State {
	if !valid(results, false) {
		next := s.Clone()
		next.Gen++
		return next
	}
	heirs := g.heirs(s, results)
	next := &State{Gen: s.Gen + 1, Theta: make([]float32, g.dim), Slots: []Slot{
		gaParents: {Name: "ga/parents", Values: make([]float32, g.parents*g.dim)},
		gaSums:    {Name: "ga/fitness", Reals: make([]float64, g.parents)},
		gaTests:   {Name: "ga/tests", Words: make([]uint64, g.parents)},
		gaGenomes: {Name: "ga/genomes", Words: g.genomes(s, heirs)},
	}}
	cores.Each(g.parents, func(k int) {
		h := heirs[k]
		next.Slots[gaSums].Reals[k], next.Slots[gaTests].Words[k] = h.sum, h.tests
		if h.mutated {
			kernel.Perturb(g.parent(next, k), g.parent(s, h.parent), g.sigmaAt(s.Gen), 1, h.seed)
		} else {
			copy(g.parent(next, k), g.parent(s, h.parent))
		}
	})
	copy(next.Theta, g.parent(next, 0))
	for i := gaSlots; i < len(s.Slots); i++ {
		next.Slots = append(next.Slots, s.Slots[i].Clone())
	}
	return next
}

// heirs returns the next parents: the elite, then the best mutants and, if these are too few, other parents.
func (g *ga) heirs(s *State, results []Result) []heir {
	parents, mutants := g.tested(s, results)
	elite := make([]heir, 0, g.elite)
	for _, h := range parents {
		if h.tests >= 2 {
			elite = append(elite, h)
		}
	}
	slices.SortStableFunc(elite, func(a, b heir) int { return compare(b.sum/float64(b.tests), a.sum/float64(a.tests)) })
	elite = elite[:min(len(elite), g.elite)]
	slices.SortStableFunc(mutants, func(a, b heir) int { return compare(b.sum, a.sum) })
	heirs := append(elite, mutants[:min(len(mutants), g.parents-len(elite))]...)
	stays := make([]bool, g.parents)
	for _, h := range elite {
		stays[h.parent] = true
	}
	for k := 0; len(heirs) < g.parents; k++ {
		if !stays[k] {
			heirs = append(heirs, parents[k])
		}
	}
	return heirs
}

// compare is negative if a < b, positive if a > b, else 0.
func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// tested returns the parents of s with their new tests, and the mutants with a valid fitness. A parent whose test was
// invalid gets the lowest fitness of the generation.
func (g *ga) tested(s *State, results []Result) (parents, mutants []heir) {
	parents = make([]heir, g.parents)
	first := true // all parents are the first model
	for k := range parents {
		parents[k] = heir{parent: k, sum: s.Slots[gaSums].Reals[k], tests: s.Slots[gaTests].Words[k]}
		first = first && parents[k].tests == 0
	}
	values := fitnessValues(oneSign(results))
	for i, r := range results {
		k, again := g.draw(r.Seed)
		switch {
		case again && first:
			parents[0].sum += values[i]
			parents[0].tests++
		case again:
			parents[k].sum += values[i]
			parents[k].tests++
		case r.Fitness[0] != InvalidFitness:
			mutants = append(mutants, heir{parent: k, seed: r.Seed, sum: values[i], tests: 1, mutated: true})
		}
	}
	return parents, mutants
}

// genomes returns the words of the genome slot for heirs.
func (g *ga) genomes(s *State, heirs []heir) []uint64 {
	old := make([][]uint64, g.parents)
	rest := s.Slots[gaGenomes].Words
	for k := range old {
		old[k], rest = g.takeGenome(rest)
	}
	var words []uint64
	for _, h := range heirs {
		count, links := old[h.parent][0], old[h.parent][1:]
		if !h.mutated {
			words = append(append(words, count), links...)
			continue
		}
		words = append(words, count+1)
		if g.genome == 0 {
			continue
		}
		if len(links) == 2*g.genome {
			links = links[2:]
		}
		words = append(append(words, links...), s.Gen, h.seed)
	}
	return words
}

// takeGenome takes a genome from the front of words: the number of mutations, then the last of them. Words
// that do not have this form can only come from a forged state; it takes as many as there are.
func (g *ga) takeGenome(words []uint64) (genome, rest []uint64) {
	if len(words) == 0 {
		return []uint64{0}, nil
	}
	n := 1 + 2*int(min(words[0], uint64(g.genome)))
	n = min(n, 1+2*((len(words)-1)/2))
	return words[:n], words[n:]
}

// Decisive implements Strategy: the results with the highest fitness, including parents that were tested again.
func (g *ga) Decisive(results []Result, n int) []int {
	var at []int
	for _, i := range byFitness(oneSign(results)) {
		if results[i].Fitness[0] != InvalidFitness && len(at) < min(n, g.parents) {
			at = append(at, i)
		}
	}
	slices.Sort(at)
	return at
}
