package evolve

import "github.com/evoswarm/evoswarm/internal/kernel"

// openaiMethod is the strategy of Salimans et al. (2017) as in their published code.
func openaiMethod() Method {
	m := Method{
		Name:     "openai-es",
		Revision: 2,
		Doc: "OpenAI's evolution strategy (Salimans et al. 2017, and openai/evolution-strategies-starter): every " +
			"seed is evaluated with both signs, fitness is replaced by centered ranks in [-0.5, 0.5], and Adam follows the " +
			"gradient estimate: the sum of (rank of + minus rank of -) * eps over the number of evaluations, " +
			"less l2 * theta. As in that code, the estimate is not divided by sigma. Equal fitness has equal rank.",
		Settings: settings(
			scheduleSettings("alpha", "step size of the optimizer", 0.01, 2),
			optimizerSettings("adam", 2),
			[]Setting{
				{Name: "l2", Doc: "weight decay: this times theta is subtracted from the gradient estimate", Default: 0.005, Min: 0, Max: 1},
				shapingSetting("ranks", 2),
			},
			scheduleSettings("sigma", "standard deviation of the perturbation of each parameter", 0.02, 2),
		),
	}
	m.build = func(p Params, size Size) (Strategy, error) {
		return &openaiES{
			dim: size.Dim, sigma: newSchedule(p, "sigma"), optimizer: newOptimizer(p),
			shaping: p.text("shaping"), l2: float32(p.number("l2")), pooled: size.Pooled,
		}, pairs(m.Name, size)
	}
	return m
}

type openaiES struct {
	dim       int
	sigma     schedule
	optimizer optimizer
	shaping   string
	l2        float32
	pooled    bool // whether results of several states are ranked together
}

// Antithetic implements Strategy: true.
func (o *openaiES) Antithetic() bool { return true }

// Shape implements Strategy: the optimizer's slots.
func (o *openaiES) Shape() Shape { return Shape{o.dim, o.optimizer.slots(o.dim)} }

// Init implements Strategy: the optimizer starts from zero.
func (o *openaiES) Init(theta []float32) *State { return o.Shape().State(theta) }

// Candidate implements Strategy: theta + sign*sigma*eps(seed).
func (o *openaiES) Candidate(dst []float32, s *State, seed uint64, sign float32) {
	center, sigma := o.Around(s, seed)
	kernel.Perturb(dst, center, sigma, sign, seed)
}

// Around implements Isotropic.
func (o *openaiES) Around(s *State, _ uint64) (center []float32, sigma float32) {
	return s.Theta, o.sigma.at(s.Gen)
}

// Apply implements Strategy. Without a valid fitness only Gen changes.
func (o *openaiES) Apply(s *State, results []Result) *State {
	next := s.Clone()
	next.Gen++
	if !valid(results, true) {
		return next
	}
	weights, divisor := o.weights(results)
	terms := make([]term, len(results))
	for i, w := range weights {
		terms[i] = term{results[i].Seed, float32(w)}
	}
	grad := make([]float32, len(s.Theta))
	accumulate(grad, terms)
	scale := float32(1 / (divisor * float64(2*len(results))))
	for i, x := range s.Theta {
		grad[i] = float32(grad[i]*scale) - float32(o.l2*x)
	}
	o.optimizer.ascend(next.Theta, next.Slots, grad, s.Gen)
	return next
}

// weights returns, for each result, the utility of sign +1 minus that of sign -1, and the divisor of both.
func (o *openaiES) weights(results []Result) (weights []float64, divisor float64) {
	u, divisor := pairUtilities(o.shaping, results, o.pooled)
	weights = make([]float64, len(results))
	for i := range weights {
		weights[i] = u[2*i] - u[2*i+1]
	}
	return weights, divisor
}

// Decisive implements Strategy: the pairs with the largest |weight|; ties go to the first.
func (o *openaiES) Decisive(results []Result, n int) []int {
	weights, _ := o.weights(results)
	return heaviest(weights, n)
}
