package rollout

import (
	"errors"
	"fmt"

	"github.com/evoswarm/evoswarm/internal/evolve"
)

// Limits of a task.
const (
	// MaxCandidates is the largest number of seeds.
	MaxCandidates = 1 << 16
	// MaxEpisodes is the largest number of episodes of one candidate.
	MaxEpisodes = 1 << 12
	// MaxEpisodeSeeds is the largest number of episode seeds of a task.
	MaxEpisodeSeeds = 1 << 20
)

// ErrTask is wrapped by every error about a task, its results or their encodings.
var ErrTask = errors.New("rollout: bad task")

// Task describes candidates to evaluate.
type Task struct {
	// State is the state that the candidates are generated from. Read-only.
	State *evolve.State
	// Seeds are the seeds of the perturbations, 1 to MaxCandidates of them.
	Seeds []uint64
	// Episodes holds a list of episode seeds per candidate, or one list that all share. All lists have the
	// same length, 1 to MaxEpisodes. Both signs of an antithetic pair run the same episodes.
	Episodes [][]uint64
	// HeldOut has the mean policy play the episodes in place of candidates, under no conditions of training: a result
	// for each seed, which perturbs nothing, without signs.
	HeldOut bool
}

// CandidateResult is the result for one seed of a task.
type CandidateResult struct {
	// Fitness[0] belongs to sign +1; Fitness[1] to sign -1, or is 0 if the strategy is not antithetic or the task held
	// out.
	Fitness [2]int64
	// Steps is the number of env-steps, both signs together.
	Steps uint64
}

// Check returns an error that wraps ErrTask unless t is within the limits.
func (t *Task) Check() error {
	if t.State == nil {
		return fmt.Errorf("%w: no state", ErrTask)
	}
	if n := len(t.Seeds); n == 0 || n > MaxCandidates {
		return fmt.Errorf("%w: %d candidates, want 1 to %d", ErrTask, n, MaxCandidates)
	}
	lists := len(t.Episodes)
	if lists != 1 && lists != len(t.Seeds) {
		return fmt.Errorf("%w: %d lists of episodes for %d candidates", ErrTask, lists, len(t.Seeds))
	}
	n := len(t.Episodes[0])
	if n == 0 || n > MaxEpisodes || lists*n > MaxEpisodeSeeds {
		return fmt.Errorf("%w: %d lists of %d episodes, want 1 to %d each and at most %d in all", ErrTask, lists, n, MaxEpisodes, MaxEpisodeSeeds)
	}
	for _, list := range t.Episodes {
		if len(list) != n {
			return fmt.Errorf("%w: lists of %d and %d episodes", ErrTask, n, len(list))
		}
	}
	return nil
}

// episodes returns the episode seeds of candidate i.
func (t *Task) episodes(i int) []uint64 {
	if len(t.Episodes) == 1 {
		return t.Episodes[0]
	}
	return t.Episodes[i]
}

// signs returns how many candidates to run for each seed.
func signs(t *Task, strategy evolve.Strategy) int {
	if strategy.Antithetic() && !t.HeldOut {
		return 2
	}
	return 1
}

// items returns the number of candidates to run: one per seed and sign.
func items(t *Task, strategy evolve.Strategy) int { return signs(t, strategy) * len(t.Seeds) }

// runner is an evaluator with memory for the parameters of one candidate.
type runner struct {
	evaluator *Evaluator
	theta     []float32
}

func newRunner(plan Plan) runner {
	return runner{NewEvaluator(plan), make([]float32, plan.Policy.Dim())}
}

// run evaluates item k of t. With an antithetic strategy this is seed k/2, with sign +1 if k is even and -1
// if it is odd.
func (s *runner) run(t *Task, strategy evolve.Strategy, k int) Outcome {
	if t.HeldOut {
		return s.evaluator.heldOut(t.State, t.episodes(k))
	}
	i, sign := item(strategy, k)
	strategy.Candidate(s.theta, t.State, t.Seeds[i], sign)
	return s.evaluator.Run(t.State, s.theta, t.episodes(i))
}

// item returns which seed item k of a task is about, and its sign.
func item(strategy evolve.Strategy, k int) (i int, sign float32) {
	switch {
	case !strategy.Antithetic():
		return k, 1
	case k%2 == 0:
		return k / 2, 1
	}
	return k / 2, -1
}

// join combines the outcomes of all items, as many per seed as there are signs, into one result per seed.
func join(outcomes []Outcome, signs int) []CandidateResult {
	results := make([]CandidateResult, len(outcomes)/signs)
	for k, o := range outcomes {
		r := &results[k/signs]
		r.Fitness[k%signs] = o.Fitness
		r.Steps += o.Steps
	}
	return results
}
