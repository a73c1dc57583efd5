package evolve

// slotEachSigma is the standard deviation of each parameter.
const slotEachSigma = "search/sigma"

// pgpeMethod is PGPE with ClipUp, as in EvoTorch.
func pgpeMethod() Method {
	return exploring(Method{
		Name:     "pgpe",
		Revision: 1,
		Doc: "Policy gradients with parameter-based exploration, symmetric sampling (Sehnke et al. 2010), with " +
			"ClipUp (Toklu, Liskowski, Srivastava 2020; EvoTorch's PGPE): every seed is evaluated with both signs, " +
			"and gradients of the expected centered rank, divided by the number of directions, move the model " +
			"through the optimizer and the standard deviation of each parameter by sigma_alpha, at most by the " +
			"fraction sigma_max_change of itself. ClipUp wants max_speed * alpha of about 1/15 of the norm of all " +
			"sigmas. The same strategy as pepg with other defaults.",
	}, "clipup", 0.15, 0.5, 1e-6, 1)
}

// pepgMethod is PGPE with Adam, as in estool.
func pepgMethod() Method {
	return exploring(Method{
		Name:     "pepg",
		Revision: 1,
		Doc: "Parameter-exploring policy gradients as in estool (Ha, \"A Visual Guide to Evolution Strategies\", " +
			"2017): PGPE with Adam for the model, and standard deviations that adapt and also decay. " +
			"sigma_alpha refers to the mean over directions, as in EvoTorch and evosax: 0.1 is estool's 0.2, " +
			"which refers to the mean over candidates. Weight decay acts on the gradient, in estool on the rank of " +
			"each candidate. The same strategy as pgpe with other defaults.",
	}, "adam", 0.01, 0.1, 0.02, 0.999)
}

// exploring adds the settings, with these defaults, and the constructor to a method of the PGPE family.
func exploring(m Method, optimizer string, alpha, sigma, floor, decay float64) Method {
	m.Settings = settings(
		scheduleSettings("alpha", "step size of the optimizer", alpha, 0),
		optimizerSettings(optimizer, 0),
		eachSigmaSettings(sigma, floor),
		[]Setting{
			{Name: "l2", Doc: "weight decay: this times theta is subtracted from the gradient estimate", Default: 0.0, Min: 0, Max: 1},
			shapingSetting("ranks", 0),
			{Name: "sigma_alpha", Doc: "learning rate of the standard deviations; 0 keeps them from adapting", Default: 0.1, Min: 0, Max: 1000},
			{Name: "sigma_decay", Doc: "factor on each sigma per generation, down to sigma_min", Default: decay, Min: 0.5, Max: 1},
			{Name: "sigma_max_change", Doc: "largest change of each sigma by adaptation in a generation, as a fraction of itself", Default: 0.2, Min: 0, Max: 0.9},
		},
	)
	name := m.Name
	m.build = func(p Params, size Size) (Strategy, error) {
		if err := pairs(name, size); err != nil {
			return nil, err
		}
		bounds, err := newSigmaBounds(name, p)
		return &pgpe{
			dim: size.Dim, optimizer: newOptimizer(p), shaping: p.text("shaping"), l2: float32(p.number("l2")),
			bounds: bounds, alpha: p.number("sigma_alpha"), change: float32(p.number("sigma_max_change")),
			decay: float32(p.number("sigma_decay")), pooled: size.Pooled,
		}, err
	}
	return m
}

type pgpe struct {
	dim           int
	optimizer     optimizer
	shaping       string
	l2            float32
	bounds        sigmaBounds
	alpha         float64 // of the standard deviations
	change, decay float32 // of the standard deviations
	pooled        bool    // whether results of several states are ranked together
}

// Antithetic implements Strategy: true.
func (g *pgpe) Antithetic() bool { return true }

// Shape implements Strategy: the standard deviations and the optimizer's slots.
func (g *pgpe) Shape() Shape {
	return Shape{g.dim, append([]SlotShape{{slotEachSigma, Float32, g.dim}}, g.optimizer.slots(g.dim)...)}
}

// Init implements Strategy: all standard deviations are equal, and the optimizer starts from zero.
func (g *pgpe) Init(theta []float32) *State {
	s := g.Shape().State(theta)
	g.bounds.fill(s.Slots[0].Values)
	return s
}

// Candidate implements Strategy: theta + sign*sigma*eps(seed), with a sigma per parameter.
func (g *pgpe) Candidate(dst []float32, s *State, seed uint64, sign float32) {
	perturbEach(dst, s.Theta, s.Slots[0].Values, sign, seed)
}

// Apply implements Strategy. Without a valid fitness only Gen changes and the standard deviations decay.
func (g *pgpe) Apply(s *State, results []Result) *State {
	next := s.Clone()
	next.Gen++
	sigma := next.Slots[0].Values
	if valid(results, true) {
		grad, change := g.gradients(s, results)
		g.optimizer.ascend(next.Theta, next.Slots[1:], grad, s.Gen)
		for i, c := range change {
			sigma[i] += float32(sigma[i] * min(max(c, -g.change), g.change))
		}
	}
	for i, x := range sigma {
		sigma[i] = g.bounds.hold(float32(x * g.decay))
	}
	return next
}

// gradients returns the gradient of the expected utility with respect to the parameters, less l2 * theta, and
// with respect to the logarithms of the standard deviations, times their learning rate: Sehnke et al. (2010),
// equations 15 and 16, each without a factor of sigma^2.
func (g *pgpe) gradients(s *State, results []Result) (grad, change []float32) {
	difference, mean, divisor := g.weights(results)
	terms := make([]moment, len(results))
	for i := range terms {
		terms[i] = moment{results[i].Seed, float32(difference[i]), float32(mean[i])}
	}
	grad, change = moments(g.dim, terms)
	scale := 1 / (divisor * float64(len(results)))
	toGrad, toChange := float32(scale), float32(g.alpha*scale)
	for i, sigma := range s.Slots[0].Values {
		grad[i] = float32(float32(grad[i]*toGrad)*sigma) - float32(g.l2*s.Theta[i])
		change[i] *= toChange
	}
	return grad, change
}

// weights returns, for each result, half the difference between the utilities of sign +1 and -1 and their
// mean less the mean of all, and the divisor of both.
func (g *pgpe) weights(results []Result) (difference, mean []float64, divisor float64) {
	u, divisor := pairUtilities(g.shaping, results, g.pooled)
	if g.shaping == "raw" {
		center(u)
	}
	difference, mean = make([]float64, len(results)), make([]float64, len(results))
	for i := range results {
		difference[i], mean[i] = (u[2*i]-u[2*i+1])/2, (u[2*i]+u[2*i+1])/2
	}
	return difference, mean, divisor
}

// center subtracts the mean of u from each of its values. If all are equal, the result is exactly 0.
func center(u []float64) {
	first, sum := u[0], 0.0
	for i := range u {
		u[i] -= first
		sum += u[i]
	}
	mean := sum / float64(len(u))
	for i := range u {
		u[i] -= mean
	}
}

// Decisive implements Strategy: the pairs that move the model or the standard deviations most.
func (g *pgpe) Decisive(results []Result, n int) []int {
	return heaviest(g.influence(results), n)
}
