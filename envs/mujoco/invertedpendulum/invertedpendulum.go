// Package invertedpendulum is Gymnasium's InvertedPendulum-v5: a pole on a cart that has to stay upright.
package invertedpendulum

import (
	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/envs/mujoco"
	"github.com/evoswarm/evoswarm/envs/mujoco/mujocoenv"
)

const doc = `
A pole is hinged to a cart on a rail. The cart has to be pushed so that the pole stays upright.

## Action space

Box(1), held to [-3, 3].

| Index | Action |
|---|---|
| 0 | force on the cart, 100 N at 1 |

Motors clamp what they get to the bounds. The cost of controls is that of the value before that, as in Gymnasium.

## Observation space

Box(4), float32, unbounded.

| Index | Observation | Unit |
|---|---|---|
| 0 | position of the cart | m |
| 1 | angle of the pole | rad |
| 2 | velocity of the cart | m/s |
| 3 | angular velocity of the pole | rad/s |

## Rewards

1 for each step, 0 for the one that ends the episode.

## Starting state

Upright at rest, with noise: each coordinate and each velocity is moved by a number that is drawn uniformly from
[-0.01, 0.01).

## Episode end

Terminated when the pole is inclined by more than 0.2 rad. Truncated after 1000 steps. Solved at a mean return of 950.

An episode also ends, with a reward of 0, where the physics diverges: a coordinate that is not finite or beyond 1e10.
MuJoCo puts the robot back to its first pose there and continues.

## Version history

- Revision 1: Gymnasium 1.4, version 5 of the world, with the physics of MuJoCo 4.0.

## Source

A. Barto, R. Sutton, C. Anderson, "Neuronlike Adaptive Elements That Can Solve Difficult Learning Control Problems"
(1983), in OpenAI Gym (2016).
`

// joints are the robot's, in MuJoCo's order.
var joints = []string{"slider", "hinge"}

// Spec describes InvertedPendulum-v5.
var Spec = mujocoenv.Spec[State](mujocoenv.World{
	ID: "InvertedPendulum-v5", Title: "Inverted Pendulum", Doc: doc, Obs: obsDim, Actions: nu, Bound: bound,
	Params: []envs.Param{
		{Name: "reset_noise_scale", Kind: envs.RealParam, Default: defaults[resetNoiseScale], High: 1, Doc: "size of the noise of a reset"},
		{Name: "frame_skip", Kind: envs.IntegerParam, Default: defaults[frameSkip], Low: 1, High: 20, Doc: "steps of the engine in a step"},
		{Name: "mujoco_rules", Kind: envs.IntegerParam, Default: defaults[mujocoRules], Low: mujoco.Rules40, High: mujoco.Rules33, Doc: "whose physics: 0 MuJoCo 4.0, 1 that of 3.5, 2 that of 3.3"},
	},
	Qpos: joints, Qvel: joints,
	MaxSteps: 1000, SolvedReturn: 950, FPS: 25, StepNS: 480,
	Camera: mujocoenv.Camera{Camera: envs.Camera{Target: [3]float64{0, 0, 0.3}, Distance: 2.2, Azimuth: 90, Elevation: -10}, Cell: 1, Level: -0.3},
})

func init() { envs.Register(Spec) }
