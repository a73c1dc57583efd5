// Package mountaincar is Gymnasium's MountainCar-v0: a car too weak to drive up a
// hill, which it has to climb by swinging in the valley.
package mountaincar

import (
	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/envs/classic/hill"
	"github.com/evoswarm/evoswarm/internal/noise"
)

const doc = `A car stands in a valley between two hills and has to reach the flag on the right
one. Its engine is too weak to drive straight up, so it must gather speed by driving
to and fro.

## Action space

Discrete(3).

| Action | Meaning |
|---|---|
| 0 | push to the left |
| 1 | do not push |
| 2 | push to the right |

## Observation space

Box(2), float32.

| Index | Observation | Low | High | Unit |
|---|---|---|---|---|
| 0 | position | -1.2 | 0.6 | m |
| 1 | velocity | -0.07 | 0.07 | m per step |

## Dynamics

    velocity += (action - 1) * 0.001 - 0.0025 * cos(3 * position)
    position += velocity

Both are clipped to their bounds. At the left end the car stops.

## Rewards

-1 for every step.

## Starting state

The position is drawn uniformly from [-0.6, -0.4); the velocity is 0.

## Episode end

Terminated when the position is at least 0.5 and the velocity at least goal_velocity. Truncated after 200 steps.
Solved at a mean return of -110.

## Version history

- Revision 1: Gymnasium 1.x.

## Source

A. W. Moore, "Efficient memory-based learning for robot control" (PhD thesis,
University of Cambridge, 1990).
`

// Spec describes the environment. The state's bounds are rounded outwards to float32, so that every
// observation is a valid state.
var Spec = &envs.Spec{
	ID:       "MountainCar-v0",
	Revision: 1,
	Title:    "Mountain Car",
	Doc:      doc,
	ObsDim:   2,
	ObsLow:   []float64{minPosition, -maxSpeed},
	ObsHigh:  []float64{maxPosition, maxSpeed},
	Action:   envs.DiscreteSpace(3),
	State: []envs.Var{
		{Name: "position", Unit: "m", Low: -1.2000000476837158, High: 0.6000000238418579},
		{Name: "velocity", Unit: "m per step", Low: -0.07000000029802322, High: 0.07000000029802322},
	},
	Params: []envs.Param{
		{Name: "goal_velocity", Kind: envs.RealParam, High: maxSpeed, Unit: "m per step", Doc: "least speed to the right at which the goal counts as reached"},
	},
	MaxSteps:     200,
	SolvedReturn: -110,
	View:         hill.View,
	FPS:          30,
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

func (e *env) State() []float64 { return []float64{e.s.Position, e.s.Velocity} }

func (e *env) SetState(state []float64, obs []float32) error {
	if err := envs.CheckState(Spec, state); err != nil {
		return err
	}
	e.s = State{Position: state[0], Velocity: state[1], Goal: e.s.Goal}
	e.s.Observe(obs)
	return nil
}

func (e *env) Draw(s *envs.Scene) { hill.Draw(s, e.s.Position, goalPosition) }
