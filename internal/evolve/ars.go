package evolve

import (
	"github.com/evoswarm/evoswarm/internal/exact"
	"github.com/evoswarm/evoswarm/internal/kernel"
)

// arsMethod is augmented random search.
func arsMethod() Method {
	m := Method{
		Name:     "ars",
		Revision: 1,
		Doc: "Augmented random search (Mania, Guy, Recht, \"Simple random search of static linear policies is " +
			"competitive for reinforcement learning\", 2018, algorithm 2): every seed is evaluated with both signs; " +
			"the top directions by the better of their two rewards move the model by alpha/(top * sigma_R) " +
			"times the sum of (reward of + minus reward of -) * eps, where sigma_R is the standard deviation of " +
			"the rewards used. V1-t and V2-t are those with top below the number of directions; V2 is V1 with " +
			"running statistics of the observations, which belong to the policy. Ties between directions are broken " +
			"by their order (peer, counter).",
		Settings: settings(
			scheduleSettings("alpha", "step size", 0.02, 0),
			scheduleSettings("sigma", "standard deviation of the perturbation of each parameter, the paper's nu,", 0.03, 0),
			[]Setting{countSetting("top", "number of directions used, the paper's b; 0 for all")},
		),
	}
	m.build = func(p Params, size Size) (Strategy, error) {
		if err := pairs(m.Name, size); err != nil {
			return nil, err
		}
		top, err := count(m.Name, "top", p, 1<<31-1, size.Population/2, size)
		return &ars{dim: size.Dim, top: top, alpha: newSchedule(p, "alpha"), sigma: newSchedule(p, "sigma")}, err
	}
	return m
}

type ars struct {
	dim, top     int
	alpha, sigma schedule
}

// Antithetic implements Strategy: true.
func (a *ars) Antithetic() bool { return true }

// Shape implements Strategy: theta without slots.
func (a *ars) Shape() Shape { return Shape{Dim: a.dim} }

// Init implements Strategy.
func (a *ars) Init(theta []float32) *State { return a.Shape().State(theta) }

// Candidate implements Strategy: theta + sign*sigma*eps(seed).
func (a *ars) Candidate(dst []float32, s *State, seed uint64, sign float32) {
	center, sigma := a.Around(s, seed)
	kernel.Perturb(dst, center, sigma, sign, seed)
}

// Around implements Isotropic.
func (a *ars) Around(s *State, _ uint64) (center []float32, sigma float32) {
	return s.Theta, a.sigma.at(s.Gen)
}

// Apply implements Strategy. If all rewards used are equal, or none is valid, only Gen changes.
func (a *ars) Apply(s *State, results []Result) *State {
	next := s.Clone()
	next.Gen++
	weights, used := a.weights(results)
	if used == 0 {
		return next
	}
	terms := make([]term, len(results))
	for i, w := range weights {
		terms[i] = term{results[i].Seed, float32(w)}
	}
	sum := make([]float32, len(s.Theta))
	accumulate(sum, terms)
	rate := float32(float64(a.alpha.at(s.Gen)) / float64(used))
	for i, x := range sum {
		next.Theta[i] += float32(rate * x)
	}
	return next
}

// weights returns (reward of + minus reward of -)/sigma_R for each result, 0 for directions that are not used, and the
// number of directions that are.
func (a *ars) weights(results []Result) (weights []float64, used int) {
	directions := a.directions(results)
	var fitness []int64
	for i := range results {
		if directions[i] {
			fitness = append(fitness, results[i].Fitness[0], results[i].Fitness[1])
		}
	}
	scores := standardize(rewards(fitness))
	weights = make([]float64, len(results))
	for i := range results {
		if directions[i] {
			weights[i] = scores[2*used] - scores[2*used+1]
			used++
		}
	}
	return weights, used
}

// directions reports which results are used: the top ones by the better reward of their two signs, among those with a
// valid reward.
func (a *ars) directions(results []Result) []bool {
	better := make([]int64, len(results))
	for i := range results {
		better[i] = max(results[i].Fitness[0], results[i].Fitness[1])
	}
	use := make([]bool, len(results))
	order := byFitness(better)
	for _, i := range order[:min(a.top, countValid(better))] {
		use[i] = true
	}
	return use
}

// rewards returns each fitness as a real number. An invalid one ranks below all valid ones: as far below the
// lowest as the lowest is below the highest or, where these are practically equal, below by the magnitude of
// the lowest, at least 1.
func rewards(fitness []int64) []float64 {
	x := fitnessValues(fitness)
	if len(x) == 0 || countValid(fitness) == len(x) {
		return x
	}
	lowest, highest := x[0], x[0]
	for _, v := range x {
		lowest, highest = min(lowest, v), max(highest, v)
	}
	gap := highest - lowest
	if size := exact.Abs(lowest); gap <= size*1e-9 {
		gap = max(size, 1)
	}
	for i, f := range fitness {
		if f == InvalidFitness {
			x[i] = lowest - gap
		}
	}
	return x
}

// Decisive implements Strategy: the directions with the largest |weight|; ties go to the first.
func (a *ars) Decisive(results []Result, n int) []int {
	weights, _ := a.weights(results)
	return heaviest(weights, n)
}
