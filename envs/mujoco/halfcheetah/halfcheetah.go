// Package halfcheetah is Gymnasium's HalfCheetah-v5: two legs and a back that have to run forward.
package halfcheetah

import (
	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/envs/mujoco"
	"github.com/evoswarm/evoswarm/envs/mujoco/mujocoenv"
)

const doc = `
A back with a head on two legs, each of a thigh, a shin and a foot, in a vertical plane. It has to run forward as fast
as it can.

## Action space

Box(6), held to [-1, 1].

| Index | Action |
|---|---|
| 0 | torque of the back thigh, 120 N m at 1 |
| 1 | torque of the back shin, 90 N m at 1 |
| 2 | torque of the back foot, 60 N m at 1 |
| 3 | torque of the front thigh, 120 N m at 1 |
| 4 | torque of the front shin, 60 N m at 1 |
| 5 | torque of the front foot, 30 N m at 1 |

Motors clamp what they get to the bounds. The cost of controls is that of the value before that, as in Gymnasium.

## Observation space

Box(17), float32, unbounded.

| Index | Observation | Unit |
|---|---|---|
| 0 | height of the front tip | m |
| 1 | angle of the front tip | rad |
| 2 | angle of the back thigh joint | rad |
| 3 | angle of the back shin joint | rad |
| 4 | angle of the back foot joint | rad |
| 5 | angle of the front thigh joint | rad |
| 6 | angle of the front shin joint | rad |
| 7 | angle of the front foot joint | rad |
| 8 | velocity of x of the front tip | m/s |
| 9 | velocity of the height | m/s |
| 10 | velocity of the angle of the front tip | rad/s |
| 11 | velocity of the back thigh joint | rad/s |
| 12 | velocity of the back shin joint | rad/s |
| 13 | velocity of the back foot joint | rad/s |
| 14 | velocity of the front thigh joint | rad/s |
| 15 | velocity of the front shin joint | rad/s |
| 16 | velocity of the front foot joint | rad/s |

With exclude_current_positions_from_observation=false there is one more, the x coordinate, before all of these: Box(18).

## Rewards

    forward_reward_weight * (x after - x before) / 0.05 s - ctrl_cost_weight * |action|^2

## Starting state

On its feet at rest, with noise: each coordinate is moved by a number that is drawn uniformly from [-0.1, 0.1), each
velocity by a normal number times 0.1.

## Episode end

No state is terminal. Truncated after 1000 steps. Solved at a mean return of 4800.

An episode also ends, with a reward of 0, where the physics diverges: a coordinate that is not finite or beyond 1e10.
MuJoCo puts the robot back to its first pose there and continues.

## Version history

- Revision 1: Gymnasium 1.4, version 5 of the world, with the physics of MuJoCo 4.0.

## Source

P. Wawrzynski, "A Cat-Like Robot Real-Time Learning to Run" (2009).
`

// joints are the robot's, in MuJoCo's order.
var joints = []string{"rootx", "rootz", "rooty", "bthigh", "bshin", "bfoot", "fthigh", "fshin", "ffoot"}

// Spec describes HalfCheetah-v5.
var Spec = mujocoenv.Spec[State](mujocoenv.World{
	ID: "HalfCheetah-v5", Title: "Half Cheetah", Doc: doc, Obs: mostObs - 1, Actions: nu, Bound: bound,
	Parts: []mujocoenv.Part{{Param: excludeCurrentPositions, Values: -1}},
	Params: []envs.Param{
		{Name: "forward_reward_weight", Kind: envs.RealParam, Default: defaults[forwardRewardWeight], Low: -1e6, High: 1e6, Doc: "factor of the forward reward"},
		{Name: "ctrl_cost_weight", Kind: envs.RealParam, Default: defaults[ctrlCostWeight], Low: -1e6, High: 1e6, Doc: "factor of the cost of controls"},
		{Name: "reset_noise_scale", Kind: envs.RealParam, Default: defaults[resetNoiseScale], High: 1, Doc: "size of the noise of a reset"},
		{Name: "exclude_current_positions_from_observation", Kind: envs.BoolParam, Default: defaults[excludeCurrentPositions], High: 1, Doc: "whether observations lack the x coordinate, which is else the first value"},
		{Name: "frame_skip", Kind: envs.IntegerParam, Default: defaults[frameSkip], Low: 1, High: 20, Doc: "steps of the engine in a step"},
		{Name: "mujoco_rules", Kind: envs.IntegerParam, Default: defaults[mujocoRules], Low: mujoco.Rules40, High: mujoco.Rules33, Doc: "whose physics: 0 MuJoCo 4.0, 1 that of 3.5, 2 that of 3.3"},
	},
	Qpos: joints, Qvel: joints,
	MaxSteps: 1000, SolvedReturn: 4800, FPS: 20, StepNS: 3600,
	Camera: mujocoenv.Camera{Camera: envs.Camera{Target: [3]float64{0, 0, 0.5}, Distance: 3.4, Azimuth: 90, Elevation: -12}, Follow: 1, Cell: 1},
})

func init() { envs.Register(Spec) }
