package rollout

import (
	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/noise"
)

// Player plays one episode after another for people to see: step by step, with the
// world's own reward and limit and without noise, as Evaluator.Returns does. It is for
// one goroutine at a time.
type Player struct {
	spec       *envs.Spec
	env        envs.Env
	actor      *Actor // nil: the plan has no policy
	random     bool
	hold       int // env-steps for each action
	rng, draws noise.Stream
	obs        []float32
	act        []float64

	steps int
	ret   float64
	over  bool
}

// NewPlayer returns a player with an instance of the plan's world of its own. A plan
// with nothing but a world is enough for random actions.
func NewPlayer(plan Plan) *Player {
	p := &Player{
		spec: plan.Env, env: plan.Env.New(), hold: plan.Episodes.Hold(), over: true,
		obs: make([]float32, plan.Env.ObsDim), act: make([]float64, plan.Env.Action.Dim),
	}
	if plan.Policy != nil {
		p.actor = NewActor(plan)
	}
	return p
}

// Start begins the episode that seed names, with the mean policy of s, or with actions
// drawn evenly from the world's if s is nil. The player may read s.Theta until the next
// Start.
func (p *Player) Start(s *evolve.State, seed uint64) {
	if p.random = s == nil; !p.random {
		p.actor.Cast(s, s.Theta)
	}
	p.rng = noise.NewStream(seed, noise.DomainEpisode)
	p.draws = noise.NewStream(seed, noise.DomainAction)
	p.steps, p.ret, p.over = 0, 0, false
	p.env.Reset(&p.rng, p.obs)
}

// Step goes on for one env-step of an episode that is not over. Bit exact.
func (p *Player) Step() {
	if p.steps%p.hold == 0 {
		if p.random {
			p.spec.Action.Sample(p.act, &p.draws)
		} else {
			p.actor.Act(p.obs, p.act)
		}
	}
	reward, terminated := p.env.Step(&p.rng, p.act, p.obs)
	p.ret += reward
	p.steps++
	p.over = terminated || p.steps >= p.spec.MaxSteps
}

// Over reports whether the episode has ended, or none was started.
func (p *Player) Over() bool { return p.over }

// Steps returns how many env-steps were taken since the start.
func (p *Player) Steps() int { return p.steps }

// Return returns the sum of their rewards.
func (p *Player) Return() float64 { return p.ret }

// Draw replaces s by a drawing of the present state.
func (p *Player) Draw(s *envs.Scene) { p.env.Draw(s) }
