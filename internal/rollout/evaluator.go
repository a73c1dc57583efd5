package rollout

import (
	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/noise"
	"github.com/evoswarm/evoswarm/internal/policy"
)

// Outcome is what one candidate achieved.
type Outcome struct {
	// Fitness is the mean undiscounted return over the episodes, as ToFitness has it.
	Fitness int64
	// Steps counts the env-steps of all episodes.
	Steps uint64
}

// Evaluator runs a policy in a world. It is for one goroutine at a time and keeps
// nothing from one call to the next but its memory.
type Evaluator struct {
	env     envs.Env
	policy  *policy.Policy
	limit   int
	scratch *policy.Scratch
	rng     noise.Stream
	obs     []float32
	act     []float64
}

// NewEvaluator returns an evaluator with an instance of the plan's world of its own.
func NewEvaluator(plan Plan) *Evaluator {
	return &Evaluator{
		env:     plan.Env.New(),
		policy:  plan.Policy,
		limit:   plan.Env.MaxSteps,
		scratch: plan.Policy.Scratch(),
		obs:     make([]float32, plan.Env.ObsDim),
		act:     make([]float64, plan.Policy.ActDim()),
	}
}

// Run runs one episode for each seed, at least one, with the parameters theta
// (length policy.Dim) of a candidate of s. It does not allocate. Bit exact.
func (e *Evaluator) Run(s *evolve.State, theta []float32, episodeSeeds []uint64) Outcome {
	if len(episodeSeeds) == 0 {
		panic("rollout: Run without episodes")
	}
	var sum float64
	var out Outcome
	for _, seed := range episodeSeeds {
		ret, steps := e.episode(theta, seed)
		sum += ret
		out.Steps += steps
	}
	out.Fitness = ToFitness(sum / float64(len(episodeSeeds)))
	return out
}

// Returns writes the return of the mean policy of s in the episode of each seed to
// dst, which has the length of episodeSeeds, and returns the number of env-steps taken:
// held-out evaluation. It does not allocate. Bit exact.
func (e *Evaluator) Returns(s *evolve.State, episodeSeeds []uint64, dst []float64) (steps uint64) {
	for i, seed := range episodeSeeds {
		ret, n := e.episode(s.Theta, seed)
		dst[i] = ret
		steps += n
	}
	return steps
}

// episode runs one episode until it terminates or the world's time limit is
// reached. The world draws from the stream of seed in noise.DomainEpisode.
func (e *Evaluator) episode(theta []float32, seed uint64) (ret float64, steps uint64) {
	e.rng = noise.NewStream(seed, noise.DomainEpisode)
	e.env.Reset(&e.rng, e.obs)
	for range e.limit {
		e.policy.Act(theta, e.obs, e.scratch, e.act)
		reward, terminated := e.env.Step(&e.rng, e.act, e.obs)
		ret += reward
		steps++
		if terminated {
			break
		}
	}
	return ret, steps
}
