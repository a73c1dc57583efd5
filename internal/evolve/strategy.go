package evolve

// InvalidFitness stands for a fitness that is NaN or infinite. It ranks below every
// other fitness; a generation of nothing else moves no model.
const InvalidFitness int64 = -1 << 63

// Result is what was measured for one perturbation seed.
type Result struct {
	// Seed names the perturbation.
	Seed uint64
	// Fitness is maximised: mean return in fixed point 2^-20, or InvalidFitness.
	// Fitness[1] is that of the candidate with sign -1; it is ignored unless the
	// strategy is antithetic.
	Fitness [2]int64
	// Steps counts the env-steps that the measurement took, of both signs together.
	Steps uint64
}

// Strategy is a method with its settings. It does not change and is safe for
// concurrent use.
type Strategy interface {
	// Antithetic reports whether each seed is tried with both signs.
	Antithetic() bool

	// Shape returns the shape of this strategy's states.
	Shape() Shape

	// Init returns the state of generation 0 with the parameters theta, whose length
	// must be the strategy's dimension. It takes ownership of theta. Bit exact.
	Init(theta []float32) *State

	// Candidate writes the parameters to evaluate for seed to dst, whose length is
	// that of s.Theta and which must not overlap it. sign is +1, or -1 if the
	// strategy is antithetic. It does not allocate, and the same state may be asked for
	// several candidates at once. Bit exact.
	Candidate(dst []float32, s *State, seed uint64, sign float32)

	// Apply returns the state after the generation that measured results, which stand
	// in canonical order (peer, counter). It changes neither s nor results, and the
	// new state shares no memory with them; slots after the strategy's own go on as they
	// are. Without any results, or with nothing but
	// InvalidFitness, only Gen may change, and what the strategy says decays. Bit
	// exact.
	Apply(s *State, results []Result) *State

	// Decisive returns the indices of the results that decide the update most, at
	// most n, in ascending order: those that others re-run before they follow.
	// Results that do not move the model are not among them.
	Decisive(results []Result, n int) []int
}

// valid reports whether any result has a fitness, either sign's if both.
func valid(results []Result, both bool) bool {
	for i := range results {
		f := &results[i].Fitness
		if f[0] != InvalidFitness || both && f[1] != InvalidFitness {
			return true
		}
	}
	return false
}
