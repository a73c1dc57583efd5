package evolve

// InvalidFitness represents a fitness that is NaN or infinite. It ranks below every other fitness, and a
// generation without any other does not move the model.
const InvalidFitness int64 = -1 << 63

// Result is the fitness measured for one perturbation seed.
type Result struct {
	// Seed names the perturbation.
	Seed uint64
	// Fitness is maximized: the mean return in fixed point 2^-20, or InvalidFitness. Fitness[0] belongs to
	// the candidate with sign +1, Fitness[1] to the one with sign -1; the latter is ignored unless the
	// strategy is antithetic.
	Fitness [2]int64
	// Steps is the number of env-steps taken, both signs together.
	Steps uint64
	// Group is 0 for what was measured on the state that the results are applied to. Other numbers tell earlier states
	// apart: their results are stale, and only for strategies that take them (TakesStale).
	Group uint32
}

// Strategy is a method with its settings. It is immutable and safe for concurrent use.
type Strategy interface {
	// Antithetic reports whether every seed is evaluated with both signs.
	Antithetic() bool

	// Shape returns the layout of this strategy's states.
	Shape() Shape

	// Init returns the state of generation 0 with the parameters theta, whose length must be the strategy's
	// dimension. It takes ownership of theta. Bit exact.
	Init(theta []float32) *State

	// Candidate writes the parameters to evaluate for seed to dst, which has the length of s.Theta and must
	// not overlap it. sign is +1, or -1 if the strategy is antithetic. It does not allocate and may be called
	// concurrently on one state. Bit exact.
	Candidate(dst []float32, s *State, seed uint64, sign float32)

	// Apply returns the state after a generation with these results, which must be in canonical order (peer,
	// counter). It changes neither s nor results, and the new state shares no memory with them. Slots after
	// the strategy's own are copied. Without results, or with InvalidFitness alone, nothing changes but Gen
	// and what decays by schedule. Bit exact.
	Apply(s *State, results []Result) *State

	// Decisive returns the indices of the results that determine the update most, at most n, in ascending
	// order. Other peers re-run these before they accept the update. Results that do not move the model are
	// not among them.
	Decisive(results []Result, n int) []int
}

// Isotropic is a strategy whose candidates are center + sign*sigma*eps(seed), as kernel.Perturb computes them: a device
// that computes them needs nothing but center and sigma.
type Isotropic interface {
	Strategy
	// Around returns the center of the candidates of seed, which shares memory with s, and sigma. Bit exact.
	Around(s *State, seed uint64) (center []float32, sigma float32)
}

// valid reports whether any result has a valid fitness; both says that sign -1 counts too.
func valid(results []Result, both bool) bool {
	for i := range results {
		f := &results[i].Fitness
		if f[0] != InvalidFitness || both && f[1] != InvalidFitness {
			return true
		}
	}
	return false
}
