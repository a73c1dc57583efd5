// Package pendulum is Gymnasium's Pendulum-v1: a rod that hangs from a joint, to be
// swung up and held upright with a weak motor.
package pendulum

import (
	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/exact"
	"github.com/evoswarm/evoswarm/internal/noise"
)

const doc = `A rod turns about a fixed joint. It starts anywhere; a motor in the joint, too weak to
lift it at once, has to swing it up and hold it upright.

## Action space

Box(1), float64.

| Index | Action | Low | High | Unit |
|---|---|---|---|---|
| 0 | torque, counter-clockwise | -2 | 2 | N m |

The torque is clipped to its bounds before anything else.

## Observation space

Box(3), float32.

| Index | Observation | Low | High | Unit |
|---|---|---|---|---|
| 0 | cosine of the angle from upright | -1 | 1 | |
| 1 | sine of the angle | -1 | 1 | |
| 2 | angular velocity | -8 | 8 | rad/s |

## Rewards

    -(angle^2 + 0.1 * velocity^2 + 0.001 * torque^2)

for every step, with the angle in [-pi, pi) and the state before the step: at worst
-16.2736044, at best 0.

## Starting state

The angle is drawn uniformly from [-pi, pi), then the angular velocity from [-1, 1).

## Episode end

No state is terminal. Truncated after 200 steps. Gymnasium names no return from which
the world counts as solved; ours is -200.

## Version history

- Revision 1: Gymnasium 1.x, as it behaves when it is given float64
  actions.

## Source

The equation of motion of a rod of mass 1 kg and length 1 m.
`

// Spec describes the environment.
var Spec = &envs.Spec{
	ID:       "Pendulum-v1",
	Revision: 1,
	Title:    "Pendulum",
	Doc:      doc,
	ObsDim:   3,
	ObsLow:   []float64{-1, -1, -maxSpeed},
	ObsHigh:  []float64{1, 1, maxSpeed},
	Action:   envs.BoxSpace(1, -maxTorque, maxTorque),
	State: []envs.Var{
		{Name: "angle", Unit: "rad", Low: -1e4, High: 1e4},
		{Name: "angular velocity", Unit: "rad/s", Low: -maxSpeed, High: maxSpeed},
	},
	Params: []envs.Param{
		{Name: "g", Kind: envs.RealParam, Default: defaultGravity, High: 100, Unit: "m/s^2", Doc: "gravity"},
	},
	MaxSteps:     200,
	SolvedReturn: -200,
	SolvedOurs:   true,
	View:         envs.Bounds{MinX: -1.3, MinY: -1.3, MaxX: 1.3, MaxY: 1.3},
	FPS:          30,
	New:          newEnv,
}

func init() { envs.Register(Spec) }

// env implements envs.Env.
type env struct{ s State }

func newEnv() envs.Env {
	e := new(env)
	e.s.Choose(0)
	return e
}

func (e *env) Spec() *envs.Spec { return Spec }

// SetParam implements envs.Parametric.
func (e *env) SetParam(i int, value float64) { e.s.Set(int32(i), value) }

func (e *env) Reset(rng *noise.Stream, obs []float32) { e.s.Begin(rng, obs) }

func (e *env) Step(rng *noise.Stream, act []float64, obs []float32) (float64, bool) {
	return e.s.Act(rng, act, obs)
}

func (e *env) State() []float64 { return []float64{e.s.Theta, e.s.ThetaDot} }

func (e *env) SetState(state []float64, obs []float32) error {
	if err := envs.CheckState(Spec, state); err != nil {
		return err
	}
	e.s = State{Theta: state[0], ThetaDot: state[1], Gravity: e.s.Gravity}
	e.s.Observe(obs)
	return nil
}

func (e *env) Draw(s *envs.Scene) {
	s.Clear(Spec.View)
	x, y := -exact.Sin(e.s.Theta), exact.Cos(e.s.Theta)
	s.Bar(envs.Body, 0.2, 0, 0, x, y)
	s.Circle(envs.Body, 0, 0, 0.1)
	s.Circle(envs.Body, x, y, 0.1)
	s.Circle(envs.Joint, 0, 0, 0.05)
}
