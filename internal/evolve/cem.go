package evolve

import "github.com/evoswarm/evoswarm/internal/exact"

// cemMethod is the separable cross-entropy method.
func cemMethod() Method {
	noise := scheduleSettings("noise", "variance added to the variance of each parameter", 0.001, 0)
	for i := range noise {
		switch noise[i].Name {
		case "noise":
			noise[i].Min = 0
		case "noise_decay":
			noise[i].Default = 0.95
		case "noise_min":
			noise[i].Default = 1e-5
		}
	}
	m := Method{
		Name:     "cem",
		Revision: 1,
		Doc: "Cross-entropy method with a diagonal covariance (Pourchot, Sigaud, \"CEM-RL: Combining " +
			"evolutionary and gradient-based methods for policy search\", 2019, equations 1 and 2; EvoRL's " +
			"SepCEM): the weighted mean of the elites is the next model, and their weighted squared distance " +
			"from the previous model, plus annealed noise, is the next variance of each parameter. Elites are " +
			"weighted by log(1 + elites) - log(rank), or equally. Equal fitness shares its weights.",
		Settings: settings(
			[]Setting{
				countSetting("elites", "number of elites: the best candidates, from which the next model is made; 0 for half the population"),
				{Name: "sampling", Doc: "independent candidates, or mirrored: every seed is evaluated with both signs", Default: "independent",
					Choices: []string{"independent", "mirrored"}},
				{Name: "weights", Doc: "how elites are weighted: log of the rank, or uniform", Default: "log", Choices: []string{"log", "uniform"}},
			},
			noise,
			eachSigmaSettings(0.1, 1e-6),
		),
	}
	m.build = func(p Params, size Size) (Strategy, error) {
		c := &cem{dim: size.Dim, mirrored: p.text("sampling") == "mirrored", weight: logWeight(1), noise: newSchedule(p, "noise")}
		if p.text("weights") == "uniform" {
			c.weight = uniformWeight
		}
		if c.mirrored {
			if err := pairs(m.Name, size); err != nil {
				return nil, err
			}
		}
		var err error
		if c.bounds, err = newSigmaBounds(m.Name, p); err != nil {
			return nil, err
		}
		c.elites, err = count(m.Name, "elites", p, size.Population/2, size.Population, size)
		return c, err
	}
	return m
}

type cem struct {
	dim, elites int
	mirrored    bool
	weight      rankWeight
	noise       schedule // variance
	bounds      sigmaBounds
}

// Antithetic implements Strategy: true if sampling is mirrored.
func (c *cem) Antithetic() bool { return c.mirrored }

// Shape implements Strategy: the standard deviations.
func (c *cem) Shape() Shape { return Shape{c.dim, []SlotShape{{slotEachSigma, Float32, c.dim}}} }

// Init implements Strategy: all standard deviations are equal.
func (c *cem) Init(theta []float32) *State {
	s := c.Shape().State(theta)
	c.bounds.fill(s.Slots[0].Values)
	return s
}

// Candidate implements Strategy: theta + sign*sigma*eps(seed), with a sigma per parameter.
func (c *cem) Candidate(dst []float32, s *State, seed uint64, sign float32) {
	perturbEach(dst, s.Theta, s.Slots[0].Values, sign, seed)
}

// Apply implements Strategy. Without a valid fitness only Gen changes.
func (c *cem) Apply(s *State, results []Result) *State {
	next := s.Clone()
	next.Gen++
	if !valid(results, c.mirrored) {
		return next
	}
	plus, minus := c.weights(results)
	terms := make([]moment, len(results))
	for i := range terms {
		terms[i] = moment{results[i].Seed, float32(plus[i] - minus[i]), float32(plus[i] + minus[i])}
	}
	first, second := moments(c.dim, terms)
	sigma := next.Slots[0].Values
	// EvoRL anneals the noise before it is added.
	noise := float64(c.noise.at(next.Gen))
	for i, x := range sigma {
		next.Theta[i] += float32(x * first[i])
		// The weights have the sum 1, so that the 1 in moments comes back here.
		variance := float64(float64(x)*float64(x)) * max(0, 1+float64(second[i]))
		sigma[i] = c.bounds.hold(float32(exact.Sqrt(float64(variance) + noise)))
	}
	return next
}

// weights returns, for each result, the weights of the candidates with sign +1 and -1; the latter is 0 unless
// sampling is mirrored.
func (c *cem) weights(results []Result) (plus, minus []float64) {
	minus = make([]float64, len(results))
	if !c.mirrored {
		return recombine(oneSign(results), c.elites, c.weight), minus
	}
	plus = make([]float64, len(results))
	for i, w := range recombine(bothSigns(results), c.elites, c.weight) {
		if i%2 == 0 {
			plus[i/2] = w
		} else {
			minus[i/2] = w
		}
	}
	return plus, minus
}

// Decisive implements Strategy: the results whose candidates have the largest weights.
func (c *cem) Decisive(results []Result, n int) []int {
	plus, minus := c.weights(results)
	for i, w := range minus {
		plus[i] = max(plus[i], w)
	}
	return heaviest(plus, n)
}
