// Package tumble is an example of an environment in space: a policy pushes a tumbling staff until it is upright. It
// shows how to draw a scene in space. examples/hover is simpler and explains the rest.
package tumble

import "github.com/evoswarm/evoswarm/envs"

const doc = `A staff falls on a floor and tumbles. The policy pushes its upper end to keep it upright.

## Action space

Box(2): the push along x and y, from -1 to 1. What is beyond is cut off.

## Observation space

Box(12), float32: position [m] and velocity [m/s] of the middle, direction of the axis, and how it turns [rad/s], each x, y, z.

## Rewards

Each step gives the third coordinate of the direction: 1 for an upright staff, -1 for one upside down.

## Starting state

The middle is 0.8 to 1.2 m above the floor, and the staff leans by up to 35 degrees and turns by up to 2 rad/s.

## Episode end

Terminated when the staff is more than 10 m away. Truncated after 300 steps. Solved at a mean return of 250.
`

// Spec describes the environment. Revision counts the changes that change what happens: a log names it.
var Spec = &envs.Spec{
	ID:           "Tumble-v0",
	Revision:     1,
	Title:        "Tumble",
	Doc:          doc,
	ObsDim:       12,
	ObsLow:       repeated(12, -envs.Unbounded),
	ObsHigh:      repeated(12, envs.Unbounded),
	Action:       envs.BoxSpace(2, -1, 1),
	MaxSteps:     300,
	SolvedReturn: 250,
	SolvedOurs:   true,                          // Gymnasium has no such environment
	View:         envs.Bounds{MaxX: 3, MaxY: 2}, // the form of the picture
	FPS:          50,
	New:          func() envs.Env { return new(staff) },
}

func repeated(n int, x float64) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = x
	}
	return list
}

func init() { envs.Register(Spec) }

// staff is the environment as an envs.Drawer.
type staff struct{ s state }

func (e *staff) Spec() *envs.Spec { return Spec }

func (e *staff) Reset(rng *envs.Stream, obs []float32) {
	e.s.reset(rng)
	e.s.observe(obs)
}

func (e *staff) Step(_ *envs.Stream, act []float64, obs []float32) (float64, bool) {
	reward, terminated := e.s.step(envs.Real(act[0], -1), envs.Real(act[1], -1)) // NaN becomes harmless
	e.s.observe(obs)
	return reward, terminated
}

// Draw implements envs.Drawer. The camera follows the staff, but not up and down: then one sees it bounce.
func (e *staff) Draw(s *envs.Scene) {
	x, u := e.s.X, e.s.U
	end := func(by float64) [3]float64 { return [3]float64{x[0] + by*u[0], x[1] + by*u[1], x[2] + by*u[2]} }
	s.Look(Spec.View, envs.Camera{Target: [3]float64{x[0], x[1], 0.5}, Distance: 4, Azimuth: 110, Elevation: -20})
	s.Floor(envs.Terrain, envs.Ground, 0.5, 0, 0, 0)
	s.Box(envs.Goal, [3]float64{0, 0, 0.02}, [3]float64{0.2, 0, 0}, [3]float64{0, 0.2, 0}, [3]float64{0, 0, 0.02}) // where it began
	s.Capsule(envs.Body, radius, end(-half), end(half))
	s.Cylinder(envs.Joint, radius*1.1, end(-half/6), end(half/6))
	s.Sphere(envs.Accent, radius*1.15, end(half)) // the end that is pushed
}
