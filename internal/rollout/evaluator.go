package rollout

import (
	"sync/atomic"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/noise"
)

// Outcome is what one candidate achieved.
type Outcome struct {
	// Fitness is the mean undiscounted return over the episodes, of rewards as
	// the conditions of training count them, as ToFitness has it.
	Fitness int64
	// Steps counts the env-steps of all episodes.
	Steps uint64
}

// lanes is how many episodes of one candidate an evaluator runs side by side at most.
const lanes = 16

// Evaluator runs a policy in a world, several episodes side by side: what they see goes
// through the policy's layers as one batch, which reads the weights once for all. It is
// for one goroutine at a time and keeps nothing from one call to the next but its memory.
type Evaluator struct {
	plan    Plan
	actor   *Actor
	lanes   []lane
	obs     []float32 // rows, one for each lane
	act     []float64 // rows, one for each lane
	hold    int       // env-steps for each action
	returns []float64 // of the episodes of Run

	// What the episodes are for. Held-out episodes have none of these.
	score  score                            // what a reward counts for
	jitter float64                          // standard deviation of action noise
	random bool                             // actions are drawn evenly, whatever is observed
	see    func(episode int, obs []float32) // shown every observation that is acted on; nil: nobody
	noise  []float64                        // rows, one for each lane
}

// score says what a reward counts for in training. Zero: for itself.
type score struct {
	bonus   float64 // is taken off
	penalty float64 // bounds what a reward costs, if it is not zero
}

// of returns what reward counts for.
func (s score) of(reward float64) float64 {
	if s.penalty != 0 && reward < -s.penalty {
		reward = -s.penalty
	}
	return reward - s.bonus
}

// lane is an episode under way.
type lane struct {
	env     envs.Env
	rng     noise.Stream // the world's
	draws   noise.Stream // of action noise or random actions
	episode int          // index of its seed
	left    int          // env-steps until the limit
	ret     float64      // so far
}

// batch is a list of episodes that evaluators take from, each the next one.
type batch struct {
	seeds   []uint64
	limit   int          // of each episode, in env-steps
	returns []float64    // one for each seed, set when its episode is over
	next    atomic.Int64 // index of the first seed that nobody took
}

// NewEvaluator returns an evaluator with instances of the plan's world of its own.
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
	// All at once, so that they lie together: a line of the cache with worlds of two
	// evaluators would travel between their cores in every env-step.
	for i := range e.lanes {
		e.lanes[i].env = plan.Env.New()
	}
	return e
}

// Run runs one episode for each seed, at least one, with the parameters theta
// (length policy.Dim) of a candidate of s, under the conditions of training. It does
// not allocate once it has run as many episodes. Bit exact.
func (e *Evaluator) Run(s *evolve.State, theta []float32, episodeSeeds []uint64) Outcome {
	if len(episodeSeeds) == 0 {
		panic("rollout: Run without episodes")
	}
	if len(episodeSeeds) > len(e.returns) {
		e.returns = make([]float64, len(episodeSeeds))
	}
	b := batch{seeds: episodeSeeds, limit: e.plan.limit(s), returns: e.returns[:len(episodeSeeds)]}
	e.actor.Cast(s, theta)
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

// Returns writes the return of the mean policy of s in the episode of each seed to
// dst, which has the length of episodeSeeds, and returns the number of env-steps taken:
// held-out evaluation, with the world's own reward and limit and no noise. It does not
// allocate once it has run as many episodes. Bit exact.
func (e *Evaluator) Returns(s *evolve.State, episodeSeeds []uint64, dst []float64) (steps uint64) {
	return e.share(s, &batch{seeds: episodeSeeds, limit: e.plan.Env.MaxSteps, returns: dst}, lanes)
}

// share runs held-out episodes of the mean policy of s, those of b that nobody else
// takes, up to width side by side, and returns its env-steps.
func (e *Evaluator) share(s *evolve.State, b *batch, width int) (steps uint64) {
	if int(b.next.Load()) >= len(b.seeds) {
		return 0
	}
	e.actor.Cast(s, s.Theta)
	e.score, e.jitter = score{}, 0
	return e.play(b, width)
}

// play runs episodes of b, up to width side by side, and returns their env-steps. In the
// place of one that is over comes the next, or the last one under way, so that there is
// no gap.
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

// alone runs lane 0 to the end of its episode and returns the env-steps that it took.
func (e *Evaluator) alone(b *batch) (steps uint64) {
	l := &e.lanes[0]
	env, obs, act := l.env, e.obs[:e.plan.Env.ObsDim], e.act[:e.plan.Policy.ActDim()]
	// Calls and copies that nothing asks for are a tenth of the time of a small policy.
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

// begin starts the next episode of b in lane i, and reports whether there was one. The
// world draws from the stream of its seed in noise.DomainEpisode, actions draw from that
// in noise.DomainAction.
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

// advance holds act for up to that many env-steps, and reports whether the episode is
// over.
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

// decide chooses the next action of the first n lanes.
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
