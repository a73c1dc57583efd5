package evolve

import "github.com/evoswarm/evoswarm/internal/kernel"

// Names of random search's slots.
const (
	slotStart = "search/start" // theta of generation 0
	slotBest  = "search/best"  // fitness of theta as uint64, or InvalidFitness
)

// randomMethod is random search, the control experiment.
func randomMethod() Method {
	m := Method{
		Name:     "random-search",
		Revision: 1,
		Doc: "Random search, the control that every other strategy must beat: all candidates are drawn from one " +
			"normal distribution around the initial parameters, and the model is the best candidate so far. It " +
			"does not learn, and noisy fitness deceives it. A candidate replaces the model only if it is better.",
		Settings: []Setting{
			{Name: "sigma", Doc: "standard deviation of each parameter around its initial value", Default: 1.0, Min: 1e-6, Max: 1000},
		},
	}
	m.build = func(p Params, size Size) (Strategy, error) {
		return &randomSearch{size.Dim, float32(p.number("sigma"))}, nil
	}
	return m
}

type randomSearch struct {
	dim   int
	sigma float32
}

// Antithetic implements Strategy: false.
func (r *randomSearch) Antithetic() bool { return false }

// Shape implements Strategy: the initial theta and the fitness of the best candidate.
func (r *randomSearch) Shape() Shape {
	return Shape{r.dim, []SlotShape{{slotStart, Float32, r.dim}, {slotBest, Uint64, 1}}}
}

// Init implements Strategy: the fitness of theta is not known.
func (r *randomSearch) Init(theta []float32) *State {
	s := r.Shape().State(theta)
	copy(s.Slots[0].Values, theta)
	best := InvalidFitness
	s.Slots[1].Words[0] = uint64(best)
	return s
}

// Candidate implements Strategy: initial theta + sign*sigma*eps(seed).
func (r *randomSearch) Candidate(dst []float32, s *State, seed uint64, sign float32) {
	center, sigma := r.Around(s, seed)
	kernel.Perturb(dst, center, sigma, sign, seed)
}

// Around implements Isotropic.
func (r *randomSearch) Around(s *State, _ uint64) (center []float32, sigma float32) {
	return s.Slots[0].Values, r.sigma
}

// Apply implements Strategy: the best candidate becomes the model if it is better than all earlier ones.
func (r *randomSearch) Apply(s *State, results []Result) *State {
	next := s.Clone()
	next.Gen++
	i := best(results)
	if i < 0 || results[i].Fitness[0] <= int64(s.Slots[1].Words[0]) {
		return next
	}
	r.Candidate(next.Theta, s, results[i].Seed, 1)
	next.Slots[1].Words[0] = uint64(results[i].Fitness[0])
	return next
}

// Decisive implements Strategy: the best candidate, which may still be worse than the model.
func (r *randomSearch) Decisive(results []Result, n int) []int {
	if i := best(results); i >= 0 && n >= 1 {
		return []int{i}
	}
	return nil
}
