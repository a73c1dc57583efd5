package evolve

import (
	"sort"

	"github.com/evoswarm/evoswarm/internal/kernel"
)

// openaiMethod is the strategy of Salimans et al. (2017) as their published code
// has it.
func openaiMethod() Method {
	m := Method{
		Name:     "openai-es",
		Revision: 1,
		Doc: "OpenAI's evolution strategy (Salimans et al. 2017, and openai/evolution-strategies-starter): each " +
			"seed is tried with both signs, all fitnesses are replaced by centred ranks in [-0.5, 0.5], and the " +
			"gradient estimate, the sum of (rank of + minus rank of -) * eps over the number of evaluations, " +
			"less l2 * theta, goes to Adam. As in that code the estimate is not divided by sigma. Equal fitness " +
			"has equal rank.",
		Settings: []Setting{
			{Name: "alpha", Doc: "Adam's step size in generation 0", Default: 0.01, Min: 1e-6, Max: 1000},
			{Name: "alpha_decay", Doc: "factor on alpha per generation", Default: 1.0, Min: 0.5, Max: 1},
			{Name: "alpha_min", Doc: "floor under the decaying alpha", Default: 0.0, Min: 0, Max: 1000},
			{Name: "beta1", Doc: "Adam's decay of the mean gradient", Default: 0.9, Min: 0, Max: 0.999999},
			{Name: "beta2", Doc: "Adam's decay of the mean squared gradient", Default: 0.999, Min: 0, Max: 0.999999},
			{Name: "epsilon", Doc: "what Adam adds to the root of the mean square before it divides", Default: 1e-8, Min: 1e-12, Max: 1},
			{Name: "l2", Doc: "weight decay: coefficient of theta taken off the gradient estimate", Default: 0.005, Min: 0, Max: 1},
			{Name: "sigma", Doc: "standard deviation of the perturbation of each parameter in generation 0", Default: 0.02, Min: 1e-6, Max: 1000},
			{Name: "sigma_decay", Doc: "factor on sigma per generation", Default: 1.0, Min: 0.5, Max: 1},
			{Name: "sigma_min", Doc: "floor under the decaying sigma", Default: 0.0, Min: 0, Max: 1000},
		},
	}
	m.New = func(p Params, dim int) (Strategy, error) {
		if err := m.open(p, dim); err != nil {
			return nil, err
		}
		return &openaiES{
			dim:   dim,
			sigma: schedule{p.number("sigma"), p.number("sigma_decay"), p.number("sigma_min")},
			alpha: schedule{p.number("alpha"), p.number("alpha_decay"), p.number("alpha_min")},
			adam:  adam{p.number("beta1"), p.number("beta2"), p.number("epsilon")},
			l2:    float32(p.number("l2")),
		}, nil
	}
	return m
}

// Names of the slots.
const (
	slotM = "adam/m"
	slotV = "adam/v"
)

type openaiES struct {
	dim          int
	sigma, alpha schedule
	adam         adam
	l2           float32
}

// Antithetic implements Strategy: true.
func (o *openaiES) Antithetic() bool { return true }

// Init implements Strategy: both moments are zero.
func (o *openaiES) Init(theta []float32) *State {
	s := &State{Theta: theta, Slots: []Slot{
		{slotM, make([]float32, len(theta))},
		{slotV, make([]float32, len(theta))},
	}}
	mustShape(o.Check(s))
	return s
}

// Check implements Strategy: theta and Adam's moments.
func (o *openaiES) Check(s *State) error { return s.shape(o.dim, slotM, slotV) }

// Candidate implements Strategy: theta + sign*sigma*eps(seed).
func (o *openaiES) Candidate(dst []float32, s *State, seed uint64, sign float32) {
	kernel.Perturb(dst, s.Theta, o.sigma.at(s.Gen), sign, seed)
}

// Apply implements Strategy. Without a valid fitness only Gen changes.
func (o *openaiES) Apply(s *State, results []Result) *State {
	next := s.Clone()
	next.Gen++
	if !valid(results, true) {
		return next
	}
	grad := make([]float32, len(s.Theta))
	for i, w := range pairWeights(results) {
		if w != 0 {
			kernel.Accumulate(grad, float32(w), results[i].Seed, 0)
		}
	}
	// The weights are centred ranks times 2(n-1); n evaluations in all.
	n := float64(2 * len(results))
	scale := float32(1 / (2 * (n - 1) * n))
	for i, x := range s.Theta {
		grad[i] = float32(grad[i]*scale) - float32(o.l2*x)
	}
	o.adam.ascend(next.Theta, next.Slots[0].Values, next.Slots[1].Values, grad, o.alpha.at(s.Gen), next.Gen)
	return next
}

// Decisive implements Strategy: the pairs with the largest |weight|, of equal ones
// the first.
func (o *openaiES) Decisive(results []Result, n int) []int {
	weights := pairWeights(results)
	var at []int
	for i, w := range weights {
		if w != 0 {
			at = append(at, i)
		}
		if w < 0 {
			weights[i] = -w
		}
	}
	sort.SliceStable(at, func(a, b int) bool { return weights[at[a]] > weights[at[b]] })
	if len(at) > n {
		at = at[:max(n, 0)]
	}
	sort.Ints(at)
	return at
}
