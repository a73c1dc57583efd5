// Package acrobot is Gymnasium's Acrobot-v1: two links that hang from a joint, to be
// swung above a line by a motor between them.
package acrobot

import (
	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/exact"
	"github.com/evoswarm/evoswarm/internal/noise"
)

const doc = `Two links hang one below the other from a fixed joint. A motor in the joint between
them has to swing the free end above a line one link's length over the fixed joint.

## Action space

Discrete(3).

| Action | Meaning |
|---|---|
| 0 | torque of -1 N m |
| 1 | no torque |
| 2 | torque of 1 N m |

## Observation space

Box(6), float32.

| Index | Observation | Low | High | Unit |
|---|---|---|---|---|
| 0 | cosine of the first angle, 0 is hanging down | -1 | 1 | |
| 1 | sine of the first angle | -1 | 1 | |
| 2 | cosine of the second angle, relative to the first link | -1 | 1 | |
| 3 | sine of the second angle | -1 | 1 | |
| 4 | angular velocity of the first link | -12.566 (4 pi) | 12.566 | rad/s |
| 5 | angular velocity of the second link | -28.274 (9 pi) | 28.274 | rad/s |

## Rewards

-1 for every step, but 0 for the one that reaches the line.

## Starting state

Both angles and both velocities are drawn uniformly from [-0.1, 0.1).

## Episode end

Terminated when the free end is above the line: -cos(t1) - cos(t2 + t1) > 1.
Truncated after 500 steps. Solved at a mean return of -100.

## Version history

- Revision 1: Gymnasium 1.x, the equations of the book, no torque noise.

## Source

R. S. Sutton, "Generalization in Reinforcement Learning: Successful Examples Using
Sparse Coarse Coding" (1996); R. S. Sutton, A. G. Barto, "Reinforcement Learning: An
Introduction" (1998), section 11.3.
`

// Spec describes the environment.
var Spec = &envs.Spec{
	ID:       "Acrobot-v1",
	Revision: 1,
	Title:    "Acrobot",
	Doc:      doc,
	ObsDim:   6,
	ObsLow:   []float64{-1, -1, -1, -1, -maxSpeed1, -maxSpeed2},
	ObsHigh:  []float64{1, 1, 1, 1, maxSpeed1, maxSpeed2},
	Action:   envs.DiscreteSpace(3),
	State: []envs.Var{
		{Name: "first angle", Unit: "rad", Low: -1e3, High: 1e3},
		{Name: "second angle", Unit: "rad", Low: -1e3, High: 1e3},
		{Name: "first angular velocity", Unit: "rad/s", Low: -maxSpeed1, High: maxSpeed1},
		{Name: "second angular velocity", Unit: "rad/s", Low: -maxSpeed2, High: maxSpeed2},
	},
	MaxSteps:     500,
	SolvedReturn: -100,
	View:         envs.Bounds{MinX: -2.2, MinY: -2.2, MaxX: 2.2, MaxY: 2.2},
	FPS:          15,
	StepNS:       250,
	New:          func() envs.Env { return new(env) },
}

func init() { envs.Register(Spec) }

// env implements envs.Env.
type env struct{ s State }

func (e *env) Spec() *envs.Spec { return Spec }

func (e *env) Reset(rng *noise.Stream, obs []float32) { e.s.Begin(rng, obs) }

func (e *env) Step(rng *noise.Stream, act []float64, obs []float32) (float64, bool) {
	return e.s.Act(rng, act, obs)
}

func (e *env) State() []float64 {
	return []float64{e.s.Theta1, e.s.Theta2, e.s.ThetaDot1, e.s.ThetaDot2}
}

func (e *env) SetState(state []float64, obs []float32) error {
	if err := envs.CheckState(Spec, state); err != nil {
		return err
	}
	e.s = State{Theta1: state[0], Theta2: state[1], ThetaDot1: state[2], ThetaDot2: state[3]}
	e.s.Observe(obs)
	return nil
}

func (e *env) Draw(s *envs.Scene) {
	s.Clear(Spec.View)
	s.Line(envs.Goal, 0, Spec.View.MinX, 1, Spec.View.MaxX, 1)
	sum := e.s.Theta1 + e.s.Theta2
	x1, y1 := exact.Sin(e.s.Theta1), -exact.Cos(e.s.Theta1)
	x2, y2 := x1+exact.Sin(sum), y1-exact.Cos(sum)
	s.Bar(envs.Body, 0.2, 0, 0, x1, y1)
	s.Bar(envs.Accent, 0.2, x1, y1, x2, y2)
	s.Circle(envs.Joint, 0, 0, 0.1)
	s.Circle(envs.Joint, x1, y1, 0.1)
}
