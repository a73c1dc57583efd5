package rollout

import (
	"sync/atomic"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/noise"
)

// Outcome is the result of evaluating one candidate.
type Outcome struct {
	// Fitness is the mean undiscounted return over the episodes, with rewards modified by the conditions of
	// training, as returned by ToFitness.
	Fitness int64
	// Steps is the number of env-steps of all episodes.
	Steps uint64
}

// lanes is the largest number of episodes that an evaluator runs in lockstep.
const lanes = 16

// Evaluator runs episodes of a policy. Several run in lockstep: their observations pass through the layers of
// the policy as one batch, which reads the weights once for all of them. One goroutine may use it at a time.
// Calls reuse its memory and are otherwise independent.
type Evaluator struct {
	plan    Plan
	actor   *Actor
	lanes   []lane
	obs     []float32 // rows, one for each lane
	act     []float64 // rows, one for each lane
	hold    int       // env-steps for each action
	returns []float64 // of the episodes of Run

	// Conditions of the episodes. All are zero in held-out episodes.
	score  score                            // changes rewards
	jitter float64                          // standard deviation of action noise
	random bool                             // draw actions uniformly and ignore observations
	see    func(episode int, obs []float32) // called with every observation that is acted on, if not nil
	noise  []float64                        // rows, one for each lane
}

// score modifies rewards in training. The zero value leaves them as they are.
type score struct {
	bonus   float64 // subtracted from every reward
	penalty float64 // rewards below -penalty count as -penalty; 0: no bound
}

// of returns the modified reward.
func (s score) of(reward float64) float64 {
	if s.penalty != 0 && reward < -s.penalty {
		reward = -s.penalty
	}
	return reward - s.bonus
}

// lane is an episode in progress.
type lane struct {
	env     envs.Env
	rng     noise.Stream // of the environment
	draws   noise.Stream // of action noise or random actions
	episode int          // index of its seed
	left    int          // env-steps until the limit
	ret     float64      // so far
}

// batch is a list of episodes from which evaluators take the next one.
type batch struct {
	seeds   []uint64
	limit   int          // env-steps of an episode
	returns []float64    // one per seed, set when its episode is over
	next    atomic.Int64 // index of the next seed
}

// NewEvaluator returns an evaluator with its own instances of the plan's environment.
func NewEvaluator(plan Plan) *Evaluator {
	n := plan.Policy.ActDim()
	e := &Evaluator{
		plan:  plan,
		actor: newActor(plan, lanes),
		lanes: make([]lane, lanes),
		obs:   make([]float32, lanes*plan.Env.ObsDim),
		act:   make([]float64, lanes*n),
		hold:  plan.Episodes.Hold(),
		noise: make([]float64, lanes*n),
	}
	// Allocate all at once, so that they are adjacent: a cache line shared by the environments of two evaluators would
	// travel between their cores in every env-step.
	for i := range e.lanes {
		e.lanes[i].env = plan.Env.New()
	}
	return e
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
	b := batch{seeds: episodeSeeds, limit: e.plan.limit(s), returns: e.returns[:len(episodeSeeds)]}
	e.actor.Load(s, theta)
	c := &e.plan.Episodes.Conditions
	e.score, e.jitter = score{c.Bonus, c.Penalty}, c.ActionNoise
	out := Outcome{Steps: e.play(&b, lanes)}
	var sum float64
	for _, ret := range b.returns {
		sum += ret
	}
	out.Fitness = ToFitness(sum / float64(len(episodeSeeds)))
	return out
}

// Returns is held-out evaluation: it writes the return of the mean policy of s in the episode of each seed to
// dst, which has the length of episodeSeeds, and returns the number of env-steps. Rewards and the step limit
// are the environment's own, and there is no noise. It does not allocate after a first call with as many
// seeds. Bit exact.
func (e *Evaluator) Returns(s *evolve.State, episodeSeeds []uint64, dst []float64) (steps uint64) {
	return e.share(s, &batch{seeds: episodeSeeds, limit: e.plan.Env.MaxSteps, returns: dst}, lanes)
}

// share runs held-out episodes of the mean policy of s, taking seeds from b that other evaluators share, up to width in
// lockstep, and returns their env-steps.
func (e *Evaluator) share(s *evolve.State, b *batch, width int) (steps uint64) {
	if int(b.next.Load()) >= len(b.seeds) {
		return 0
	}
	e.actor.Load(s, s.Theta)
	e.score, e.jitter = score{}, 0
	return e.play(b, width)
}

// play runs episodes of b, up to width in lockstep, and returns their env-steps. The next episode replaces
// one that is over; when there is none, the last lane in use moves into the gap.
func (e *Evaluator) play(b *batch, width int) (steps uint64) {
	n := 0
	for n < min(width, lanes) && e.begin(b, n) {
		n++
	}
	obsDim, actDim := e.plan.Env.ObsDim, e.plan.Policy.ActDim()
	for n > 1 {
		e.decide(n)
		for i := n - 1; i >= 0; i-- {
			l, obs := &e.lanes[i], e.obs[i*obsDim:(i+1)*obsDim]
			taken, over := l.advance(e.act[i*actDim:(i+1)*actDim], obs, e.hold, e.score)
			steps += taken
			if !over {
				continue
			}
			b.returns[l.episode] = l.ret
			if e.begin(b, i) {
				continue
			}
			n--
			if i < n {
				e.lanes[i], e.lanes[n] = e.lanes[n], e.lanes[i]
				copy(obs, e.obs[n*obsDim:(n+1)*obsDim])
			}
		}
	}
	for more := n == 1; more; more = e.begin(b, 0) {
		steps += e.alone(b)
	}
	return steps
}

// alone runs the episode in lane 0 to its end and returns its env-steps.
func (e *Evaluator) alone(b *batch) (steps uint64) {
	l := &e.lanes[0]
	env, obs, act := l.env, e.obs[:e.plan.Env.ObsDim], e.act[:e.plan.Policy.ActDim()]
	// Unneeded calls and copies take a tenth of the time of a small policy.
	bare := e.see == nil && !e.random && e.jitter == 0 && e.actor.scale == nil
	ret, held := l.ret, 0
	for range l.left {
		if held == 0 {
			if bare {
				e.actor.policy.Act(e.actor.theta, obs, e.actor.scratch, act)
			} else {
				e.decide(1)
			}
			held = e.hold
		}
		held--
		reward, terminated := env.Step(&l.rng, act, obs)
		ret += e.score.of(reward)
		steps++
		if terminated {
			break
		}
	}
	b.returns[l.episode] = ret
	return steps
}

// begin starts the next episode of b in lane i and reports whether there was one. The environment draws from
// the stream of the seed in noise.DomainEpisode, actions draw from its stream in noise.DomainAction.
func (e *Evaluator) begin(b *batch, i int) bool {
	if int(b.next.Load()) >= len(b.seeds) {
		return false
	}
	k := int(b.next.Add(1)) - 1
	if k >= len(b.seeds) {
		return false
	}
	l := &e.lanes[i]
	l.rng = noise.NewStream(b.seeds[k], noise.DomainEpisode)
	l.draws = noise.NewStream(b.seeds[k], noise.DomainAction)
	l.episode, l.left, l.ret = k, b.limit, 0
	n := e.plan.Env.ObsDim
	l.env.Reset(&l.rng, e.obs[i*n:(i+1)*n])
	return true
}

// advance repeats act for up to hold env-steps and reports whether the episode is over.
func (l *lane) advance(act []float64, obs []float32, hold int, s score) (steps uint64, over bool) {
	for range min(hold, l.left) {
		reward, terminated := l.env.Step(&l.rng, act, obs)
		l.ret += s.of(reward)
		steps++
		if terminated {
			return steps, true
		}
	}
	l.left -= int(steps)
	return steps, l.left == 0
}

// decide chooses the next actions of the first n lanes.
func (e *Evaluator) decide(n int) {
	obs, actDim := e.obs[:n*e.plan.Env.ObsDim], e.plan.Policy.ActDim()
	if e.see != nil {
		for i := range n {
			e.see(e.lanes[i].episode, obs[i*e.plan.Env.ObsDim:(i+1)*e.plan.Env.ObsDim])
		}
	}
	act := e.act[:n*actDim]
	switch {
	case e.random:
		for i := range n {
			e.plan.Env.Action.Sample(act[i*actDim:(i+1)*actDim], &e.lanes[i].draws)
		}
	case e.jitter != 0:
		for i := range act {
			e.noise[i] = float64(e.jitter * float64(e.lanes[i/actDim].draws.Normal()))
		}
		e.actor.actBatch(obs, n, act, e.noise[:len(act)])
	default:
		e.actor.actBatch(obs, n, act, nil)
	}
}
