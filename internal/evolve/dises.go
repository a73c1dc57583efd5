package evolve

import "github.com/evoswarm/evoswarm/internal/kernel"

// disesMethod is Algorithm 1 of the DisES paper.
func disesMethod() Method {
	m := Method{
		Name:     "dises",
		Revision: 2,
		Doc: "Seed-passing evolution strategy, Algorithm 1 of the paper \"DisES\": of all candidates " +
			"theta + sigma*eps(seed) of a generation the best one's perturbation moves the model, whether or " +
			"not it is better than the model was. The paper multiplies the model by the perturbation; here it " +
			"is added, so that a parameter can leave zero and change its sign. Equal fitness: the first in " +
			"order (peer, counter) wins.",
		Settings: settings([]Setting{
			{Name: "selection", Doc: "which candidates move the model: max, the best one alone", Default: "max", Choices: []string{"max"}},
		}, scheduleSettings("sigma", "standard deviation of the perturbation of each parameter", 0.1, 2), []Setting{
			{Name: "step", Doc: "how far the model moves, in units of the winning perturbation", Default: 1.0, Min: 1e-6, Max: 1000},
		}),
	}
	m.build = func(p Params, size Size) (Strategy, error) {
		return &dises{dim: size.Dim, sigma: newSchedule(p, "sigma"), step: p.number("step")}, nil
	}
	return m
}

type dises struct {
	dim   int
	sigma schedule
	step  float64
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

// Apply implements Strategy: theta + step*sigma*eps(seed of the best).
func (d *dises) Apply(s *State, results []Result) *State {
	next := s.Clone()
	next.Gen++
	if i := best(results); i >= 0 {
		coef := float32(d.step * float64(d.sigma.at(s.Gen)))
		kernel.Accumulate(next.Theta, coef, results[i].Seed, 0)
	}
	return next
}

// Decisive implements Strategy: the winner.
func (d *dises) Decisive(results []Result, n int) []int {
	if i := best(results); i >= 0 && n >= 1 {
		return []int{i}
	}
	return nil
}

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
