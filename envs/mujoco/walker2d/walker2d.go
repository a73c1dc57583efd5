// Package walker2d is Gymnasium's Walker2d-v5: two legs that have to walk forward without falling over.
package walker2d

import (
	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/envs/mujoco"
	"github.com/evoswarm/evoswarm/envs/mujoco/mujocoenv"
)

const doc = `
A torso on two legs, each of a thigh, a shin and a foot, in a vertical plane. It has to walk forward as fast as it can
without falling over.

## Action space

Box(6), held to [-1, 1].

| Index | Action |
|---|---|
| 0 | torque of the right thigh joint, 100 N m at 1 |
| 1 | torque of the right leg joint, 100 N m at 1 |
| 2 | torque of the right foot joint, 100 N m at 1 |
| 3 | torque of the left thigh joint, 100 N m at 1 |
| 4 | torque of the left leg joint, 100 N m at 1 |
| 5 | torque of the left foot joint, 100 N m at 1 |

Motors clamp what they get to the bounds. The cost of controls is that of the value before that, as in Gymnasium.

## Observation space

Box(17), float32, unbounded.

| Index | Observation | Unit |
|---|---|---|
| 0 | height of the torso | m |
| 1 | angle of the torso | rad |
| 2 | angle of the right thigh joint | rad |
| 3 | angle of the right leg joint | rad |
| 4 | angle of the right foot joint | rad |
| 5 | angle of the left thigh joint | rad |
| 6 | angle of the left leg joint | rad |
| 7 | angle of the left foot joint | rad |
| 8 | velocity of x of the torso, within +-10 | m/s |
| 9 | velocity of the height, within +-10 | m/s |
| 10 | velocity of the angle of the torso, within +-10 | rad/s |
| 11 | velocity of the right thigh joint, within +-10 | rad/s |
| 12 | velocity of the right leg joint, within +-10 | rad/s |
| 13 | velocity of the right foot joint, within +-10 | rad/s |
| 14 | velocity of the left thigh joint, within +-10 | rad/s |
| 15 | velocity of the left leg joint, within +-10 | rad/s |
| 16 | velocity of the left foot joint, within +-10 | rad/s |

With exclude_current_positions_from_observation=false there is one more, the x coordinate, before all of these: Box(18).

## Rewards

    forward_reward_weight * (x after - x before) / 0.008 s + healthy_reward - ctrl_cost_weight * |action|^2

where healthy_reward (1) is given for a step after which the walker is healthy: between 0.8 and 2 m high, and inclined by
less than 1 rad.

## Starting state

Upright at rest, with noise: each coordinate and each velocity is moved by a number that is drawn uniformly from
[-0.005, 0.005).

## Episode end

Terminated when the walker is not healthy. Truncated after 1000 steps. Gymnasium names no return from which the world counts as solved; ours is 5000.

An episode also ends, with a reward of 0, where the physics diverges: a coordinate that is not finite or beyond 1e10.
MuJoCo puts the robot back to its first pose there and continues.

## Version history

- Revision 1: Gymnasium 1.4, version 5 of the world, with the physics of MuJoCo 4.0.

## Source

The hopper of T. Erez, Y. Tassa, E. Todorov (2011) with a second leg, in OpenAI Gym (2016).
`

// joints are the robot's, in MuJoCo's order.
var joints = []string{"rootx", "rootz", "rooty", "thigh_joint", "leg_joint", "foot_joint", "thigh_left_joint", "leg_left_joint", "foot_left_joint"}

// Spec describes Walker2d-v5.
var Spec = mujocoenv.Spec[State](mujocoenv.World{
	ID: "Walker2d-v5", Title: "Walker 2D", Doc: doc, Obs: mostObs - 1, Actions: nu, Bound: bound,
	Parts: []mujocoenv.Part{{Param: excludeCurrentPositions, Values: -1}},
	Params: []envs.Param{
		{Name: "forward_reward_weight", Kind: envs.RealParam, Default: defaults[forwardRewardWeight], Low: -1e6, High: 1e6, Doc: "factor of the forward reward"},
		{Name: "ctrl_cost_weight", Kind: envs.RealParam, Default: defaults[ctrlCostWeight], Low: -1e6, High: 1e6, Doc: "factor of the cost of controls"},
		{Name: "healthy_reward", Kind: envs.RealParam, Default: defaults[healthyReward], Low: -1e6, High: 1e6, Doc: "reward of a step after which the robot is healthy"},
		{Name: "terminate_when_unhealthy", Kind: envs.BoolParam, Default: defaults[terminateWhenUnhealthy], High: 1, Doc: "whether an episode ends when the robot is not healthy"},
		{Name: "healthy_z_low", Kind: envs.RealParam, Default: defaults[healthyZLow], Low: -envs.Unbounded, High: envs.Unbounded, Unit: "m", Doc: "the robot is healthy only if the height is above this"},
		{Name: "healthy_z_high", Kind: envs.RealParam, Default: defaults[healthyZHigh], Low: -envs.Unbounded, High: envs.Unbounded, Unit: "m", Doc: "and below this"},
		{Name: "healthy_angle_low", Kind: envs.RealParam, Default: defaults[healthyAngleLow], Low: -envs.Unbounded, High: envs.Unbounded, Unit: "rad", Doc: "the robot is healthy only if the angle of the torso is above this"},
		{Name: "healthy_angle_high", Kind: envs.RealParam, Default: defaults[healthyAngleHigh], Low: -envs.Unbounded, High: envs.Unbounded, Unit: "rad", Doc: "and below this"},
		{Name: "reset_noise_scale", Kind: envs.RealParam, Default: defaults[resetNoiseScale], High: 1, Doc: "size of the noise of a reset"},
		{Name: "exclude_current_positions_from_observation", Kind: envs.BoolParam, Default: defaults[excludeCurrentPositions], High: 1, Doc: "whether observations lack the x coordinate, which is else the first value"},
		{Name: "frame_skip", Kind: envs.IntegerParam, Default: defaults[frameSkip], Low: 1, High: 20, Doc: "steps of the engine in a step"},
		{Name: "mujoco_rules", Kind: envs.IntegerParam, Default: defaults[mujocoRules], Low: mujoco.Rules40, High: mujoco.Rules33, Doc: "whose physics: 0 MuJoCo 4.0, 1 that of 3.5, 2 that of 3.3"},
	},
	Qpos: joints, Qvel: joints,
	MaxSteps: 1000, SolvedReturn: 5000, SolvedOurs: true, FPS: 125, StepNS: 13000,
	Camera: mujocoenv.Camera{Camera: envs.Camera{Target: [3]float64{0, 0, 0.8}, Distance: 3.4, Azimuth: 90, Elevation: -12}, Follow: 1, Cell: 1},
})

func init() { envs.Register(Spec) }
