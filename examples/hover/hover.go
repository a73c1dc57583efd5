// Package hover is an environment to copy: a drone that has to keep its height in the wind. It is complete,
// and small: step.go has what happens, this file has the description and the drawing, and hover_test.go runs
// the conformance suite. It uses nothing that another module could not use.
//
// A program that imports this package can train in it, as examples/hover/train does.
package hover

import "github.com/evoswarm/evoswarm/envs"

const doc = `A drone moves up and down. Its thrust has to keep it at one height, in a wind that changes in every step.

## Action space

Box(1): the thrust, from -1 (full, downwards) to 1 (full, upwards). What is beyond is cut off.

## Observation space

Box(2), float32: the height above the one to keep [m], and the velocity [m/s], both upwards.

## Rewards

In every step 1, less half of the distance to the height [m], less 0.01 times the thrust squared.

## Starting state

The height is uniform on [-1, 1), the velocity on [-0.1, 0.1).

## Episode end

Terminated when the drone is more than 2 m away. Truncated after 200 steps. Solved at a mean return of 180.
`

// Spec describes the environment. Revision counts the changes that change what happens: a log names it.
var Spec = &envs.Spec{
	ID:       "Hover-v0",
	Revision: 1,
	Title:    "Hover",
	Doc:      doc,
	ObsDim:   2,
	ObsLow:   []float64{-3, -envs.Unbounded},
	ObsHigh:  []float64{3, envs.Unbounded},
	Action:   envs.BoxSpace(1, -1, 1),
	State: []envs.Var{
		{Name: "height", Unit: "m", Low: -1e3, High: 1e3},
		{Name: "velocity", Unit: "m/s", Low: -1e3, High: 1e3},
	},
	MaxSteps:     200,
	SolvedReturn: 180,
	SolvedOurs:   true, // Gymnasium has no such environment
	View:         envs.Bounds{MinX: -2, MinY: -2, MaxX: 2, MaxY: 2},
	FPS:          20,
	New:          func() envs.Env { return new(drone) },
}

func init() { envs.Register(Spec) }

// drone is the environment as an envs.Drawer and envs.Stateful: with less it would still train.
type drone struct{ s state }

func (d *drone) Spec() *envs.Spec { return Spec }

func (d *drone) Reset(rng *envs.Stream, obs []float32) {
	d.s.reset(rng)
	d.s.observe(obs)
}

func (d *drone) Step(rng *envs.Stream, act []float64, obs []float32) (float64, bool) {
	reward, terminated := d.s.step(rng, envs.Real(act[0], -1)) // NaN becomes harmless
	d.s.observe(obs)
	return reward, terminated
}

func (d *drone) State() []float64 { return []float64{d.s.X, d.s.V} }

func (d *drone) SetState(x []float64, obs []float32) error {
	if err := envs.CheckState(Spec, x); err != nil {
		return err
	}
	d.s = state{X: x[0], V: x[1]}
	d.s.observe(obs)
	return nil
}

func (d *drone) Draw(s *envs.Scene) {
	s.Clear(Spec.View)
	s.Line(envs.Goal, 0, Spec.View.MinX, 0, Spec.View.MaxX, 0)
	y := d.s.X
	s.Polygon(envs.Body, -0.3, y-0.05, 0.3, y-0.05, 0.3, y+0.05, -0.3, y+0.05)
	for _, x := range []float64{-0.3, 0.3} {
		s.Line(envs.Accent, 0.03, x-0.18, y+0.1, x+0.18, y+0.1)
		s.Circle(envs.Joint, x, y+0.1, 0.04)
	}
}
