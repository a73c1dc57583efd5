package rollout

import (
	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/episode"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/worlds"
)

// Outcome is the result of evaluating one candidate.
type Outcome struct {
	// Fitness is the mean undiscounted return over the episodes, with rewards modified by the conditions of
	// training, as returned by ToFitness.
	Fitness int64
	// Steps is the number of env-steps of all episodes.
	Steps uint64
}

// Evaluator runs episodes of a policy, up to episode.MaxLanes of them in lockstep. One goroutine may use it at a
// time. Calls reuse its memory and are otherwise independent.
type Evaluator struct {
	plan    Plan
	actor   *Actor
	setup   episode.Setup
	bounds  []float64
	params  []float64  // of the environment
	world   int        // in worlds.Table, or -1
	worlds  []envs.Env // nil until an episode is played in Go
	lanes   []episode.Lane
	mem     []float32
	work    []float64
	returns []float64 // of the episodes of Run
}

// NewEvaluator returns an evaluator with its own instances of the plan's environment.
func NewEvaluator(plan Plan) *Evaluator {
	e := &Evaluator{
		plan: plan, actor: NewActor(plan), setup: plan.setup(), bounds: plan.bounds(),
		params: plan.Env.Values(), world: worlds.Find(plan.Env.ID),
	}
	if worlds.Active() == worlds.Go {
		e.prepare()
	}
	return e
}

// prepare makes what episodes in Go need.
func (e *Evaluator) prepare() {
	e.lanes, e.mem, e.work = make([]episode.Lane, episode.MaxLanes), make([]float32, e.setup.Values()), make([]float64, e.setup.Reals())
	// Allocate all at once, so that they are adjacent: a cache line shared by the environments of two evaluators would
	// travel between their cores in every env-step.
	e.worlds = make([]envs.Env, episode.MaxLanes)
	for i := range e.worlds {
		e.worlds[i] = e.plan.Env.New()
	}
}

// setup returns what all episodes have in common, under no conditions of training.
func (p Plan) setup() episode.Setup {
	s := episode.Setup{
		Net: p.Policy.Network(), ObsDim: int32(p.Env.ObsDim), ActDim: int32(p.Policy.ActDim()),
		Widest: int32(p.Policy.Widest()), Lanes: episode.MaxLanes,
		Hold: int32(p.Episodes.Hold()), Limit: int64(p.Env.MaxSteps),
	}
	if o := p.Episodes.Observations; o != nil {
		s.Normalize, s.Clip = true, float32(o.Clip)
	}
	return s
}

// training returns setup under the conditions of training candidates of s.
func (p Plan) training(setup episode.Setup, s *evolve.State) episode.Setup {
	c := &p.Episodes.Conditions
	setup.Limit, setup.Bonus, setup.Penalty, setup.Jitter = int64(p.limit(s)), c.Bonus, c.Penalty, c.ActionNoise
	return setup
}

// bounds returns the lower bounds of a continuous action, then the upper ones.
func (p Plan) bounds() []float64 {
	if p.Env.Action.Discrete {
		return nil
	}
	return append(append([]float64(nil), p.Env.Action.Low...), p.Env.Action.High...)
}

// Run runs one episode per seed with the parameters theta (length policy.Dim) of a candidate of s, under the
// conditions of training. It panics without seeds, and does not allocate after a first call with as many. Bit
// exact.
func (e *Evaluator) Run(s *evolve.State, theta []float32, episodeSeeds []uint64) Outcome {
	if len(episodeSeeds) == 0 {
		panic("rollout: Run without episodes")
	}
	if len(episodeSeeds) > len(e.returns) {
		e.returns = make([]float64, len(episodeSeeds))
	}
	e.actor.Load(s, theta)
	setup := e.plan.training(e.setup, s)
	out := Outcome{Steps: e.play(&setup, episodeSeeds, e.returns, nil)}
	out.Fitness = Fitness(e.returns[:len(episodeSeeds)])
	return out
}

// Returns is held-out evaluation: it writes the return of the mean policy of s in the episode of each seed to
// dst, which has the length of episodeSeeds, and returns the number of env-steps. Rewards and the step limit
// are the environment's own, and there is no noise. It does not allocate after a first call with as many
// seeds. Bit exact.
func (e *Evaluator) Returns(s *evolve.State, episodeSeeds []uint64, dst []float64) (steps uint64) {
	return e.held(s, episodeSeeds, dst, nil)
}

// heldOut plays episodes of the mean policy of s as Returns does, and gives their mean return as a fitness.
func (e *Evaluator) heldOut(s *evolve.State, episodeSeeds []uint64) Outcome {
	if len(episodeSeeds) > len(e.returns) {
		e.returns = make([]float64, len(episodeSeeds))
	}
	steps := e.held(s, episodeSeeds, e.returns[:len(episodeSeeds)], nil)
	return Outcome{Fitness: Fitness(e.returns[:len(episodeSeeds)]), Steps: steps}
}

// held is Returns, and adds the observations of each episode to its part of sums, unless that is empty.
func (e *Evaluator) held(s *evolve.State, episodeSeeds []uint64, dst []float64, sums []uint64) (steps uint64) {
	e.actor.Load(s, s.Theta)
	return e.play(&e.setup, episodeSeeds, dst, sums)
}

// play runs the episodes with what the actor holds, in the engine in use.
func (e *Evaluator) play(setup *episode.Setup, seeds []uint64, returns []float64, sums []uint64) (steps uint64) {
	if steps, ok := worlds.Play(e.world, setup, e.params, seeds, e.actor.theta, e.actor.norm, e.bounds, returns, sums); ok {
		return uint64(steps)
	}
	if e.worlds == nil {
		e.prepare()
	}
	return uint64(episode.Play(setup, e.worlds, e.lanes, seeds, e.actor.theta, e.actor.norm, e.mem, e.bounds, e.work, returns, sums))
}
