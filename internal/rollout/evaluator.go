package rollout

import (
	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/noise"
)

// Outcome is what one candidate achieved.
type Outcome struct {
	// Fitness is the mean undiscounted return over the episodes, the bonus taken off, as
	// ToFitness has it.
	Fitness int64
	// Steps counts the env-steps of all episodes.
	Steps uint64
}

// Evaluator runs a policy in a world. It is for one goroutine at a time and keeps
// nothing from one call to the next but its memory.
type Evaluator struct {
	plan  Plan
	env   envs.Env
	actor *Actor
	rng   noise.Stream
	obs   []float32
	act   []float64
	hold  int // env-steps for each action

	// What the episode is for. Held-out episodes have none of these.
	bonus  float64             // taken off each reward
	jitter float64             // standard deviation of action noise
	random bool                // actions are drawn evenly, whatever is observed
	see    func(obs []float32) // shown every observation that is acted on; nil: nobody
	draws  noise.Stream        // of action noise or random actions
	noise  []float64           // of one action
}

// NewEvaluator returns an evaluator with an instance of the plan's world of its own.
func NewEvaluator(plan Plan) *Evaluator {
	return &Evaluator{
		plan:  plan,
		env:   plan.Env.New(),
		actor: NewActor(plan),
		obs:   make([]float32, plan.Env.ObsDim),
		act:   make([]float64, plan.Policy.ActDim()),
		hold:  plan.Episodes.Hold(),
		noise: make([]float64, plan.Policy.ActDim()),
	}
}

// Run runs one episode for each seed, at least one, with the parameters theta
// (length policy.Dim) of a candidate of s, under the conditions of training. It does
// not allocate. Bit exact.
func (e *Evaluator) Run(s *evolve.State, theta []float32, episodeSeeds []uint64) Outcome {
	if len(episodeSeeds) == 0 {
		panic("rollout: Run without episodes")
	}
	e.actor.Cast(s, theta)
	e.bonus, e.jitter = e.plan.Episodes.Bonus, e.plan.Episodes.ActionNoise
	limit := e.plan.limit(s)
	var sum float64
	var out Outcome
	for _, seed := range episodeSeeds {
		ret, steps := e.episode(seed, limit)
		sum += ret
		out.Steps += steps
	}
	out.Fitness = ToFitness(sum / float64(len(episodeSeeds)))
	return out
}

// Returns writes the return of the mean policy of s in the episode of each seed to
// dst, which has the length of episodeSeeds, and returns the number of env-steps taken:
// held-out evaluation, with the world's own reward and limit and no noise. It does not
// allocate. Bit exact.
func (e *Evaluator) Returns(s *evolve.State, episodeSeeds []uint64, dst []float64) (steps uint64) {
	e.actor.Cast(s, s.Theta)
	e.bonus, e.jitter = 0, 0
	for i, seed := range episodeSeeds {
		ret, n := e.episode(seed, e.plan.Env.MaxSteps)
		dst[i] = ret
		steps += n
	}
	return steps
}

// episode runs one episode until it terminates or has taken limit env-steps. The world
// draws from the stream of seed in noise.DomainEpisode, actions draw from that in
// noise.DomainAction.
func (e *Evaluator) episode(seed uint64, limit int) (ret float64, steps uint64) {
	e.rng = noise.NewStream(seed, noise.DomainEpisode)
	e.draws = noise.NewStream(seed, noise.DomainAction)
	e.env.Reset(&e.rng, e.obs)
	// Two calls in each step are a twentieth of CartPole's time.
	bare := e.see == nil && !e.random && e.jitter == 0 && e.actor.scale == nil
	held := 0
	for range limit {
		if held == 0 {
			if bare {
				e.actor.policy.Act(e.actor.theta, e.obs, e.actor.scratch, e.act)
			} else {
				e.decide()
			}
			held = e.hold
		}
		held--
		reward, terminated := e.env.Step(&e.rng, e.act, e.obs)
		ret += reward - e.bonus
		steps++
		if terminated {
			break
		}
	}
	return ret, steps
}

// decide chooses the next action.
func (e *Evaluator) decide() {
	if e.see != nil {
		e.see(e.obs)
	}
	switch {
	case e.random:
		e.wander()
	case e.jitter != 0:
		for i := range e.noise {
			e.noise[i] = float64(e.jitter * float64(e.draws.Normal()))
		}
		e.actor.ActNoisy(e.obs, e.act, e.noise)
	default:
		e.actor.Act(e.obs, e.act)
	}
}

// wander draws an action evenly from the world's.
func (e *Evaluator) wander() {
	space := &e.plan.Env.Action
	if space.Discrete {
		e.act[0] = float64(e.draws.IntN(0, int64(space.N)))
		return
	}
	for i := range e.act {
		e.act[i] = e.draws.UniformIn(space.Low[i], space.High[i])
	}
}
