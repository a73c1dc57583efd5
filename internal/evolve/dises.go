package evolve

import (
	"fmt"

	"github.com/evoswarm/evoswarm/internal/kernel"
)

// disesMethod is Algorithm 1 of the DisES paper with the two extensions that its conclusion proposes.
func disesMethod() Method {
	m := Method{
		Name:     "dises",
		Revision: 2,
		Doc: "Seed-passing evolution strategy, Algorithm 1 of the paper \"DisES\": of all candidates " +
			"theta + sigma*eps(seed) of a generation, the perturbation of the best one moves the model, whether or " +
			"not it beats the model. The paper multiplies the model by the perturbation; here it " +
			"is added, so that a parameter can leave zero and change its sign. Ties go to the first in " +
			"order (peer, counter). Two extensions: selection linear moves the model by the weighted mean " +
			"of the best perturbations; selection group keeps several centers. A candidate's seed names the center that it " +
			"perturbs and moves, and each center moves as with linear, by its own candidates. At every exchange the group " +
			"whose candidates had the lowest mean fitness since the last one moves to the center of the group with the " +
			"highest, which is also the model. For noisy fitness: linear with an elite fraction of 0.1 to 0.33 and a " +
			"decaying sigma, or max with 20 to 40 candidates, two episodes and a step of 0.1 or 0.2.",
		Settings: settings([]Setting{
			{Name: "exchange", Doc: "generations between two exchanges of the groups", Default: 10.0, Min: 1, Max: 1e9, Integer: true, Since: 2},
			{Name: "groups", Doc: "number of centers of selection group", Default: 4.0, Min: 1, Max: 1024, Integer: true, Since: 2},
			recombinationSetting(2),
			{Name: "selection", Doc: "which candidates move the model: max, the best one alone; linear, the elite by its weights; or group, as linear " +
				"with several centers", Default: "max", Choices: []string{"max", "linear", "group"}, First: []string{"max"}},
			eliteSetting("top", "elite fraction: candidates that linear and group combine", 0.1, 2),
		}, scheduleSettings("sigma", "standard deviation of the perturbation of each parameter", 0.1, 2), []Setting{
			{Name: "step", Doc: "how far the model moves, in units of the winning perturbation or of the weighted mean", Default: 1.0, Min: 1e-6, Max: 1000},
		}),
	}
	m.build = func(p Params, size Size) (Strategy, error) {
		if err := checkElite(m.Name, p, "top", size); err != nil {
			return nil, err
		}
		d := dises{
			dim: size.Dim, sigma: newSchedule(p, "sigma"), step: p.number("step"),
			best: p.text("selection") == "max", top: p.number("top"), kind: p.text("weights"), pooled: size.Pooled,
		}
		if p.text("selection") != "group" {
			return &d, nil
		}
		g := &groups{dises: d, count: int(p.number("groups")), exchange: uint64(p.number("exchange"))}
		if g.count > size.Population {
			return nil, fmt.Errorf("%w: %s: groups is %d, want at most the population, %d", ErrParams, m.Name, g.count, size.Population)
		}
		return g, checkRows(m.Name, "groups", g.count, size)
	}
	return m
}

// checkRows returns an error that wraps ErrParams if that many parameter vectors do not fit into a slot.
func checkRows(method, name string, rows int, size Size) error {
	if rows*size.Dim > MaxDim {
		return fmt.Errorf("%w: %s: %s is %d, want at most %d: each has %d parameters, and a slot holds at most %d values",
			ErrParams, method, name, rows, MaxDim/size.Dim, size.Dim, MaxDim)
	}
	return nil
}

// dises is the strategy with one center.
type dises struct {
	dim   int
	sigma schedule
	step  float64
	best  bool    // the best candidate alone moves the model; otherwise:
	top   float64 // the elite fraction
	kind  string  // the weights of the elite

	pooled bool // whether it is one elite of all states, not one of each
}

// Antithetic implements Strategy: false.
func (d *dises) Antithetic() bool { return false }

// Shape implements Strategy: theta without slots.
func (d *dises) Shape() Shape { return Shape{Dim: d.dim} }

// Init implements Strategy.
func (d *dises) Init(theta []float32) *State { return d.Shape().State(theta) }

// Candidate implements Strategy: theta + sign*sigma*eps(seed).
func (d *dises) Candidate(dst []float32, s *State, seed uint64, sign float32) {
	center, sigma := d.Around(s, seed)
	kernel.Perturb(dst, center, sigma, sign, seed)
}

// Around implements Isotropic.
func (d *dises) Around(s *State, _ uint64) (center []float32, sigma float32) {
	return s.Theta, d.sigma.at(s.Gen)
}

// Apply implements Strategy: theta + step*sigma*(sum of weight*eps(seed)).
func (d *dises) Apply(s *State, results []Result) *State {
	next := s.Clone()
	next.Gen++
	accumulate(next.Theta, d.moves(results, s.Gen))
	return next
}

// moves returns what the results of generation gen add to their center.
func (d *dises) moves(results []Result, gen uint64) []term {
	return moves(results, d.weights(results), d.step*float64(d.sigma.at(gen)))
}

// weights returns the weight of each result.
func (d *dises) weights(results []Result) []float64 {
	if !d.best {
		return byStates(results, d.pooled, func(members []Result) []float64 {
			return recombineBy(d.kind, oneSign(members), eliteCount(d.top, len(members)))
		})
	}
	weights := make([]float64, len(results))
	if i := best(results); i >= 0 {
		weights[i] = 1
	}
	return weights
}

// Decisive implements Strategy: the winner, or the heaviest.
func (d *dises) Decisive(results []Result, n int) []int { return heaviest(d.weights(results), n) }

// best returns the index of the first result with the largest Fitness[0], or -1 if none is valid.
func best(results []Result) int {
	at, top := -1, InvalidFitness
	for i := range results {
		if f := results[i].Fitness[0]; f > top {
			at, top = i, f
		}
	}
	return at
}
