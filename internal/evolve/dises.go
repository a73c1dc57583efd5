package evolve

import (
	"fmt"

	"github.com/evoswarm/evoswarm/internal/kernel"
)

// disesMethod is Algorithm 1 of the DisES paper, and the two next steps that its
// conclusion names.
func disesMethod() Method {
	m := Method{
		Name:     "dises",
		Revision: 2,
		Doc: "Seed-passing evolution strategy, Algorithm 1 of the paper \"DisES\": of all candidates " +
			"theta + sigma*eps(seed) of a generation the best one's perturbation moves the model, whether or " +
			"not it is better than the model was. The paper multiplies the model by the perturbation; here it " +
			"is added, so that a parameter can leave zero and change its sign. Equal fitness: the first in " +
			"order (peer, counter) wins. The paper's next steps: selection linear moves the model by the weighted mean " +
			"of the best perturbations; selection group keeps several centres, of which a candidate's seed names the one " +
			"that it perturbs and moves, each as linear does with its own candidates. Every so many generations the group " +
			"whose candidates had the lowest mean fitness since the last time moves to the centre of the group with the " +
			"highest; the model is the centre of that one. What noise needs: linear with the best 10 to 33 % and a " +
			"sigma that decays; max with 20 to 40 candidates of two episodes and a step of 0.1 or 0.2.",
		Settings: settings([]Setting{
			{Name: "exchange", Doc: "generations from one exchange of the groups to the next", Default: 10.0, Min: 1, Max: 1e9, Integer: true, Since: 2},
			{Name: "groups", Doc: "centres of selection group", Default: 4.0, Min: 1, Max: 1024, Integer: true, Since: 2},
			recombinationSetting(2),
			{Name: "selection", Doc: "which candidates move the model: max, the best one alone; linear, the best ones by their weights; or group, as linear " +
				"with several centres", Default: "max", Choices: []string{"max", "linear", "group"}, First: []string{"max"}},
			partSetting("top", "candidates that linear and group combine", 0.1, 2),
		}, scheduleSettings("sigma", "standard deviation of the perturbation of each parameter", 0.1, 2), []Setting{
			{Name: "step", Doc: "how far the model moves, in units of the winning perturbation or of the weighted mean", Default: 1.0, Min: 1e-6, Max: 1000},
		}),
	}
	m.build = func(p Params, size Size) (Strategy, error) {
		if err := checkPart(m.Name, p, "top", size); err != nil {
			return nil, err
		}
		d := dises{
			dim: size.Dim, sigma: newSchedule(p, "sigma"), step: p.number("step"),
			best: p.text("selection") == "max", top: p.number("top"), kind: p.text("weights"),
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

// checkRows returns an error that wraps ErrParams if that many vectors of parameters
// do not fit a slot.
func checkRows(method, name string, rows int, size Size) error {
	if rows*size.Dim > MaxDim {
		return fmt.Errorf("%w: %s: %s is %d, want at most %d: each keeps %d parameters, and a state %d values of a kind",
			ErrParams, method, name, rows, MaxDim/size.Dim, size.Dim, MaxDim)
	}
	return nil
}

// dises is the strategy with one centre.
type dises struct {
	dim   int
	sigma schedule
	step  float64
	best  bool    // the best one alone moves the model
	top   float64 // else: how many do, as partOf takes it,
	kind  string  // and with which weights
}

// Antithetic implements Strategy: false.
func (d *dises) Antithetic() bool { return false }

// Shape implements Strategy: theta and nothing else.
func (d *dises) Shape() Shape { return Shape{Dim: d.dim} }

// Init implements Strategy.
func (d *dises) Init(theta []float32) *State { return d.Shape().State(theta) }

// Candidate implements Strategy: theta + sign*sigma*eps(seed).
func (d *dises) Candidate(dst []float32, s *State, seed uint64, sign float32) {
	kernel.Perturb(dst, s.Theta, d.sigma.at(s.Gen), sign, seed)
}

// Apply implements Strategy: theta + step*sigma*(sum of weight*eps(seed)).
func (d *dises) Apply(s *State, results []Result) *State {
	next := s.Clone()
	next.Gen++
	accumulate(next.Theta, d.moves(results, s.Gen))
	return next
}

// moves returns what results add to their centre in generation gen.
func (d *dises) moves(results []Result, gen uint64) []term {
	return moves(results, d.weights(results), d.step*float64(d.sigma.at(gen)))
}

// weights returns the weight of each result.
func (d *dises) weights(results []Result) []float64 {
	if !d.best {
		return recombination(d.kind, oneSign(results), partOf(d.top, len(results)))
	}
	weights := make([]float64, len(results))
	if i := best(results); i >= 0 {
		weights[i] = 1
	}
	return weights
}

// Decisive implements Strategy: the winner, or the heaviest.
func (d *dises) Decisive(results []Result, n int) []int { return heaviest(d.weights(results), n) }

// best returns the index of the first result with the largest Fitness[0], or -1 if
// none is valid.
func best(results []Result) int {
	at, top := -1, InvalidFitness
	for i := range results {
		if f := results[i].Fitness[0]; f > top {
			at, top = i, f
		}
	}
	return at
}
