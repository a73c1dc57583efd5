// Package mountaincarcontinuous is Gymnasium's MountainCarContinuous-v0: the car of
// MountainCar-v0 with a pedal instead of a switch, and fuel that costs.
package mountaincarcontinuous

import (
	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/envs/classic/hill"
	"github.com/evoswarm/evoswarm/internal/noise"
)

const doc = `A car stands in a valley between two hills and has to reach the flag on the right
one. Its engine is too weak to drive straight up, so it must gather speed by driving
to and fro; what it spends on that is subtracted from the prize.

## Action space

Box(1), float64.

| Index | Action | Low | High |
|---|---|---|---|
| 0 | force, 1 is 0.0015 m per step^2 | -1 | 1 |

The force is clipped to its bounds; the cost is that of the action as given.

## Observation space

Box(2), float32.

| Index | Observation | Low | High | Unit |
|---|---|---|---|---|
| 0 | position | -1.2 | 0.6 | m |
| 1 | velocity | -0.07 | 0.07 | m per step |

## Dynamics

    velocity += 0.0015 * force - 0.0025 * cos(3 * position)
    position += velocity

Both are clipped to their bounds and stored as float32. At the left end the car
stops.

## Rewards

-0.1 * action^2 for every step, and 100 for the one that reaches the flag.

## Starting state

The position is drawn uniformly from [-0.6, -0.4); the velocity is 0.

## Episode end

Terminated when the position is at least 0.45 and the velocity at least goal_velocity. Truncated after 999 steps.
Solved at a mean return of 90.

## Version history

- Revision 1: Gymnasium 1.x, as it behaves when it is given
  float64 actions.

## Source

A. W. Moore, "Efficient memory-based learning for robot control" (PhD thesis,
University of Cambridge, 1990).
`

// Spec describes the environment. The state's bounds are rounded outwards to float32,
// because states are float32 values.
var Spec = &envs.Spec{
	ID:       "MountainCarContinuous-v0",
	Revision: 1,
	Title:    "Mountain Car Continuous",
	Doc:      doc,
	ObsDim:   2,
	ObsLow:   []float64{minPosition, -maxSpeed},
	ObsHigh:  []float64{maxPosition, maxSpeed},
	Action:   envs.BoxSpace(1, -1, 1),
	State: []envs.Var{
		{Name: "position", Unit: "m", Low: -1.2000000476837158, High: 0.6000000238418579},
		{Name: "velocity", Unit: "m per step", Low: -0.07000000029802322, High: 0.07000000029802322},
	},
	Params: []envs.Param{
		{Name: "goal_velocity", Kind: envs.RealParam, High: maxSpeed, Unit: "m per step", Doc: "least speed to the right at which the goal counts as reached"},
	},
	MaxSteps:     999,
	SolvedReturn: 90,
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

// SetState reads a state whose values are all float32 values as one after a step, and any other as one after Reset.
func (e *env) SetState(state []float64, obs []float32) error {
	if err := envs.CheckState(Spec, state); err != nil {
		return err
	}
	p, v := state[0], state[1]
	e.s = State{Position: p, Velocity: v, Goal: e.s.Goal, Wide: p != float64(float32(p)) || v != float64(float32(v))}
	e.s.Observe(obs)
	return nil
}

func (e *env) Draw(s *envs.Scene) { hill.Draw(s, e.s.Position, goalPosition) }
