package rollout

import (
	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/noise"
)

// Player runs episodes step by step so that they can be drawn, with the environment's own reward and limit
// and without noise, as Evaluator.Returns does. One goroutine may use it at a time.
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

// NewPlayer returns a player with its own instance of the plan's environment. For random actions a plan needs
// no more than an environment.
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

// Start begins the episode of seed with the mean policy of s or, if s is nil, with uniformly drawn actions.
// The player may read s.Theta until the next Start.
func (p *Player) Start(s *evolve.State, seed uint64) {
	if p.random = s == nil; !p.random {
		p.actor.Load(s, s.Theta)
	}
	p.rng = noise.NewStream(seed, noise.DomainEpisode)
	p.draws = noise.NewStream(seed, noise.DomainAction)
	p.steps, p.ret, p.over = 0, 0, false
	p.env.Reset(&p.rng, p.obs)
}

// Step takes one env-step in an episode that is not over. Bit exact.
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

// Steps returns the number of env-steps since Start.
func (p *Player) Steps() int { return p.steps }

// Return returns the sum of the rewards since Start.
func (p *Player) Return() float64 { return p.ret }

// Draw replaces s with a drawing of the current state, which is empty for an environment that cannot be drawn.
func (p *Player) Draw(s *envs.Scene) {
	if d, ok := p.env.(envs.Drawer); ok {
		d.Draw(s)
	} else {
		s.Clear(p.spec.View)
	}
}
