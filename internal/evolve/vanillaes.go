package evolve

import "github.com/evoswarm/evoswarm/internal/kernel"

// vanillaMethod is the canonical evolution strategy.
func vanillaMethod() Method {
	m := Method{
		Name:     "vanilla-es",
		Revision: 1,
		Doc: "Canonical (mu, lambda) evolution strategy (Chrabaszcz, Loshchilov, Hutter, \"Back to Basics: " +
			"Benchmarking Canonical Evolution Strategies for Playing Atari\", 2018, algorithm 1; EvoRL's " +
			"VanillaES): the mean of the best mu candidates, weighted by log(mu + 1/2) - log(rank), is the next " +
			"model; one sigma for all parameters follows its schedule. Equal fitness shares its weights.",
		Settings: settings(
			[]Setting{countSetting("parents", "number of best candidates that are recombined, mu; 0 for half the population")},
			scheduleSettings("sigma", "standard deviation of the perturbation of each parameter", 0.05, 0),
		),
	}
	m.build = func(p Params, size Size) (Strategy, error) {
		parents, err := count(m.Name, "parents", p, size.Population/2, size.Population, size)
		return &vanillaES{dim: size.Dim, parents: parents, sigma: newSchedule(p, "sigma")}, err
	}
	return m
}

type vanillaES struct {
	dim, parents int
	sigma        schedule
}

// Antithetic implements Strategy: false.
func (v *vanillaES) Antithetic() bool { return false }

// Shape implements Strategy: theta without slots.
func (v *vanillaES) Shape() Shape { return Shape{Dim: v.dim} }

// Init implements Strategy.
func (v *vanillaES) Init(theta []float32) *State { return v.Shape().State(theta) }

// Candidate implements Strategy: theta + sign*sigma*eps(seed).
func (v *vanillaES) Candidate(dst []float32, s *State, seed uint64, sign float32) {
	center, sigma := v.Around(s, seed)
	kernel.Perturb(dst, center, sigma, sign, seed)
}

// Around implements Isotropic.
func (v *vanillaES) Around(s *State, _ uint64) (center []float32, sigma float32) {
	return s.Theta, v.sigma.at(s.Gen)
}

// Apply implements Strategy. Without a valid fitness only Gen changes.
func (v *vanillaES) Apply(s *State, results []Result) *State {
	next := s.Clone()
	next.Gen++
	if !valid(results, false) {
		return next
	}
	terms := make([]term, len(results))
	for i, w := range v.weights(results) {
		terms[i] = term{results[i].Seed, float32(w)}
	}
	mean := make([]float32, len(s.Theta))
	accumulate(mean, terms)
	sigma := v.sigma.at(s.Gen)
	for i, x := range mean {
		next.Theta[i] += float32(sigma * x)
	}
	return next
}

func (v *vanillaES) weights(results []Result) []float64 {
	return recombine(oneSign(results), v.parents, logWeight(0.5))
}

// Decisive implements Strategy: the parents with the largest weights.
func (v *vanillaES) Decisive(results []Result, n int) []int { return heaviest(v.weights(results), n) }
