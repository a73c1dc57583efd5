// Package inverteddoublependulum is Gymnasium's InvertedDoublePendulum-v5: two poles, one on the other, on a cart.
package inverteddoublependulum

import (
	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/envs/mujoco/mujocoenv"
)

const doc = `
A pole is hinged to a cart on a rail, and a second one to its end. The cart has to be pushed so that both stay upright.

## Action space

Box(1), held to [-1, 1].

| Index | Action |
|---|---|
| 0 | force on the cart, 500 N at 1 |

Motors clamp what they get to the bounds. The cost of controls is that of the value before that, as in Gymnasium.

## Observation space

Box(9), float32, unbounded.

| Index | Observation | Unit |
|---|---|---|
| 0 | position of the cart | m |
| 1 | sine of the angle of the first pole |  |
| 2 | sine of the angle of the second pole, relative to the first |  |
| 3 | cosine of the first angle |  |
| 4 | cosine of the second angle |  |
| 5 | velocity of the cart, within +-10 | m/s |
| 6 | angular velocity of the first pole, within +-10 | rad/s |
| 7 | angular velocity of the second pole, within +-10 | rad/s |
| 8 | force of the rail's ends on the cart, within +-10 | N |

## Rewards

    healthy_reward - 0.01 x^2 - (y - 2)^2 - 0.001 v1^2 - 0.005 v2^2

with the tip of the second pole at (x, y), and the angular velocities v1 and v2. healthy_reward (10) is not given for the
step that ends the episode. The tip is where it was in the last evaluation of the engine, a moment before the end of the
step; so is the force of the rail.

## Starting state

Upright at rest, with noise: each coordinate is moved by a number that is drawn uniformly from [-0.1, 0.1), each
velocity by a normal number times 0.1.

## Episode end

Terminated when the tip is not higher than 1 m. Truncated after 1000 steps. Solved at a mean return of 9100.

An episode also ends, with a reward of 0, where the physics diverges: a coordinate that is not finite or beyond 1e10.
MuJoCo puts the robot back to its first pose there and continues.

## Version history

- Revision 1: Gymnasium 1.4, version 5 of the world, with the physics of MuJoCo 4.0.

## Source

OpenAI Gym (2016), after the inverted pendulum.
`

// joints are the robot's, in MuJoCo's order.
var joints = []string{"slider", "hinge", "hinge2"}

// Spec describes InvertedDoublePendulum-v5.
var Spec = mujocoenv.Spec[State](mujocoenv.World{
	ID: "InvertedDoublePendulum-v5", Title: "Inverted Double Pendulum", Doc: doc, Obs: obsDim, Actions: nu, Bound: bound,
	Params: []envs.Param{
		{Name: "healthy_reward", Kind: envs.RealParam, Default: defaults[healthyReward], Low: -1e6, High: 1e6, Doc: "reward of a step that does not end the episode"},
		{Name: "reset_noise_scale", Kind: envs.RealParam, Default: defaults[resetNoiseScale], High: 1, Doc: "size of the noise of a reset"},
		{Name: "frame_skip", Kind: envs.IntegerParam, Default: defaults[frameSkip], Low: 1, High: 20, Doc: "steps of the engine in a step"},
	},
	Qpos: joints, Qvel: joints,
	Stale:    []string{"qfrc_constraint slider"},
	MaxSteps: 1000, SolvedReturn: 9100, FPS: 20, StepNS: 1700,
	Camera: mujocoenv.Camera{Camera: envs.Camera{Target: [3]float64{0, 0, 0.5}, Distance: 3.2, Azimuth: 90, Elevation: -10}, Cell: 1},
})

func init() { envs.Register(Spec) }
