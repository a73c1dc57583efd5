// Package cartpole is Gymnasium's CartPole-v1: a pole on a cart, to be kept upright
// by pushing the cart to the left and to the right.
package cartpole

import (
	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/exact"
	"github.com/evoswarm/evoswarm/internal/noise"
)

const doc = `A pole is joined without friction to a cart that runs on a track without friction.
It starts upright; pushing the cart to the left and to the right has to keep it up.

## Action space

Discrete(2). The force is always 10 N; how much it changes the velocity depends on
where the pole points.

| Action | Meaning |
|---|---|
| 0 | push the cart to the left |
| 1 | push the cart to the right |

## Observation space

Box(4), float32.

| Index | Observation | Low | High | Unit |
|---|---|---|---|---|
| 0 | cart position | -4.8 | 4.8 | m |
| 1 | cart velocity | -Inf | Inf | m/s |
| 2 | pole angle | -0.4189 (24 degrees) | 0.4189 | rad |
| 3 | pole angular velocity | -Inf | Inf | rad/s |

The bounds are twice those at which an episode ends.

## Rewards

1 for every step, the last one included. With sutton_barto_reward, the reward of Barto, Sutton and
Anderson: 0 for every step, -1 for one that ends in a terminal state.

## Starting state

Every value is drawn uniformly from [-0.05, 0.05).

## Episode end

Terminated when the pole leans more than 12 degrees or the cart is more than 2.4 m
from the center, judged by the state after the step. Truncated after 500 steps.
Solved at a mean return of 475.

## Version history

- Revision 1: Gymnasium 1.x, Euler integration, the standard reward.

## Source

R. V. Florian, "Correct equations for the dynamics of the cart-pole system" (2007),
without friction; the problem is from A. G. Barto, R. S. Sutton, C. W. Anderson,
"Neuronlike adaptive elements that can solve difficult learning control problems"
(1983).
`

// Spec describes the environment.
var Spec = &envs.Spec{
	ID:       "CartPole-v1",
	Revision: 1,
	Title:    "Cart Pole",
	Doc:      doc,
	ObsDim:   4,
	ObsLow:   []float64{-4.8, -envs.Unbounded, -0.41887903, -envs.Unbounded},
	ObsHigh:  []float64{4.8, envs.Unbounded, 0.41887903, envs.Unbounded},
	Action:   envs.DiscreteSpace(2),
	State: []envs.Var{
		{Name: "cart position", Unit: "m", Low: -1e3, High: 1e3},
		{Name: "cart velocity", Unit: "m/s", Low: -1e3, High: 1e3},
		{Name: "pole angle", Unit: "rad", Low: -1e3, High: 1e3},
		{Name: "pole angular velocity", Unit: "rad/s", Low: -1e3, High: 1e3},
	},
	Params: []envs.Param{
		{Name: "sutton_barto_reward", Kind: envs.BoolParam, High: 1, Doc: "whether a step is worth 0 and the one that fails -1, in place of 1 each"},
	},
	MaxSteps:     500,
	SolvedReturn: 475,
	View:         envs.Bounds{MinX: -2.4, MinY: -0.8, MaxX: 2.4, MaxY: 1.6},
	FPS:          50,
	New:          func() envs.Env { return new(env) },
}

func init() { envs.Register(Spec) }

// env implements envs.Env.
type env struct{ s State }

func (e *env) Spec() *envs.Spec { return Spec }

// SetParam implements envs.Parametric.
func (e *env) SetParam(i int, value float64) { e.s.Set(int32(i), value) }

func (e *env) Reset(rng *noise.Stream, obs []float32) { e.s.Begin(rng, obs) }

func (e *env) Step(rng *noise.Stream, act []float64, obs []float32) (float64, bool) {
	return e.s.Act(rng, act, obs)
}

func (e *env) State() []float64 {
	return []float64{e.s.X, e.s.XDot, e.s.Theta, e.s.ThetaDot}
}

func (e *env) SetState(state []float64, obs []float32) error {
	if err := envs.CheckState(Spec, state); err != nil {
		return err
	}
	e.s = State{X: state[0], XDot: state[1], Theta: state[2], ThetaDot: state[3], Sutton: e.s.Sutton}
	e.s.Observe(obs)
	return nil
}

func (e *env) Draw(s *envs.Scene) {
	const axle = 0.06 // above the middle of the cart [m]
	s.Clear(Spec.View)
	s.Line(envs.Ground, 0, Spec.View.MinX, 0, Spec.View.MaxX, 0)
	x := e.s.X
	s.Polygon(envs.Body, x-0.2, -0.12, x+0.2, -0.12, x+0.2, 0.12, x-0.2, 0.12)
	tipX := x + float64(2*halfLength*exact.Sin(e.s.Theta))
	tipY := axle + float64(2*halfLength*exact.Cos(e.s.Theta))
	s.Bar(envs.Accent, 0.08, x, axle, tipX, tipY)
	s.Circle(envs.Joint, x, axle, 0.04)
}
