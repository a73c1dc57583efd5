// Package ant is Gymnasium's Ant-v5: a torso on four legs that has to walk forward.
package ant

import (
	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/envs/mujoco"
	"github.com/evoswarm/evoswarm/envs/mujoco/mujocoenv"
)

const doc = `
A round torso on four legs, each of two links, in space. It has to walk along x as fast as it can.

## Action space

Box(8), held to [-1, 1].

| Index | Action |
|---|---|
| 0 | torque of the back right hip, 150 N m at 1 |
| 1 | torque of the back right ankle, 150 N m at 1 |
| 2 | torque of the front left hip, 150 N m at 1 |
| 3 | torque of the front left ankle, 150 N m at 1 |
| 4 | torque of the front right hip, 150 N m at 1 |
| 5 | torque of the front right ankle, 150 N m at 1 |
| 6 | torque of the back left hip, 150 N m at 1 |
| 7 | torque of the back left ankle, 150 N m at 1 |

Motors clamp what they get to the bounds. The cost of controls is that of the value before that, as in Gymnasium.

## Observation space

Box(105), float32, unbounded.

| Index | Observation | Unit |
|---|---|---|
| 0 | height of the torso | m |
| 1-4 | orientation of the torso, a quaternion |  |
| 5-12 | angles of hip and ankle: front left, front right, back left, back right | rad |
| 13-15 | velocity of the torso | m/s |
| 16-18 | angular velocity of the torso | rad/s |
| 19-26 | angular velocities of the joints, as 5-12 | rad/s |
| 27-104 | external torque and force on each of 13 bodies (cfrc_ext), within +-1 | N m, N |

With exclude_current_positions_from_observation=false there are two more, the x and y coordinates, before all of these:
Box(107). With include_cfrc_ext_in_observation=false those from index 27 on are missing: Box(27).

## Rewards

    forward_reward_weight * (x after - x before) / 0.05 s + healthy_reward
        - ctrl_cost_weight * |action|^2 - contact_cost_weight * |cfrc_ext|^2

where healthy_reward (1) is given for a step after which the height of the torso is in [0.2, 1]. x is that of the main body
in the last evaluation of the engine, a moment before the end of a step; contact forces are of that moment too. main_body
is MuJoCo's number of a body: 0 the world, 1 the torso, 2 to 4 the parts of the front left leg from the torso outward, 5 to 7
of the front right, 8 to 10 of the back left, 11 to 13 of the back right one.

## Starting state

On its feet at rest, with noise: each coordinate, those of the quaternion too, is moved by a number that is drawn
uniformly from [-0.1, 0.1), each velocity by a normal number times 0.1.

## Episode end

Terminated when the height is not in [0.2, 1]. Truncated after 1000 steps. Solved at a mean return of 6000.

An episode also ends, with a reward of 0, where the physics diverges: a coordinate that is not finite or beyond 1e10.
MuJoCo puts the robot back to its first pose there and continues.

## Version history

- Revision 1: Gymnasium 1.4, version 5 of the world, with the physics of MuJoCo 4.0.

## Source

J. Schulman, P. Moritz, S. Levine, M. Jordan, P. Abbeel, "High-Dimensional Continuous Control Using Generalized Advantage
Estimation" (2015).
`

// Spec describes Ant-v5.
var Spec = mujocoenv.Spec[State](mujocoenv.World{
	ID: "Ant-v5", Title: "Ant", Doc: doc, Obs: mostObs - 2, Actions: nu, Bound: bound,
	Parts: []mujocoenv.Part{{Param: excludeCurrentPositions, Values: -2}, {Param: includeCfrcExt, Values: 6 * (nbody - 1)}},
	Params: []envs.Param{
		{Name: "forward_reward_weight", Kind: envs.RealParam, Default: defaults[forwardRewardWeight], Low: -1e6, High: 1e6, Doc: "factor of the forward reward"},
		{Name: "ctrl_cost_weight", Kind: envs.RealParam, Default: defaults[ctrlCostWeight], Low: -1e6, High: 1e6, Doc: "factor of the cost of controls"},
		{Name: "contact_cost_weight", Kind: envs.RealParam, Default: defaults[contactCostWeight], Low: -1e6, High: 1e6, Doc: "factor of the cost of contact forces"},
		{Name: "healthy_reward", Kind: envs.RealParam, Default: defaults[healthyReward], Low: -1e6, High: 1e6, Doc: "reward of a step after which the robot is healthy"},
		{Name: "main_body", Kind: envs.IntegerParam, Default: defaults[mainBody], High: nbody - 1, Doc: "whose velocity the forward reward is for, by MuJoCo's number of bodies: 0 the world, 1 the torso"},
		{Name: "terminate_when_unhealthy", Kind: envs.BoolParam, Default: defaults[terminateWhenUnhealthy], High: 1, Doc: "whether an episode ends when the robot is not healthy"},
		{Name: "healthy_z_low", Kind: envs.RealParam, Default: defaults[healthyZLow], Low: -envs.Unbounded, High: envs.Unbounded, Unit: "m", Doc: "the robot is healthy only if the height is at least this"},
		{Name: "healthy_z_high", Kind: envs.RealParam, Default: defaults[healthyZHigh], Low: -envs.Unbounded, High: envs.Unbounded, Unit: "m", Doc: "and at most this"},
		{Name: "contact_force_low", Kind: envs.RealParam, Default: defaults[contactForceLow], Low: -1e6, Unit: "N", Doc: "contact forces are held to at least this"},
		{Name: "contact_force_high", Kind: envs.RealParam, Default: defaults[contactForceHigh], High: 1e6, Unit: "N", Doc: "and at most this"},
		{Name: "reset_noise_scale", Kind: envs.RealParam, Default: defaults[resetNoiseScale], High: 1, Doc: "size of the noise of a reset"},
		{Name: "exclude_current_positions_from_observation", Kind: envs.BoolParam, Default: defaults[excludeCurrentPositions], High: 1, Doc: "whether observations lack the x and y coordinates, which are else the first two values"},
		{Name: "include_cfrc_ext_in_observation", Kind: envs.BoolParam, Default: defaults[includeCfrcExt], High: 1, Doc: "whether observations have contact forces (cfrc_ext), 78 values"},
		{Name: "frame_skip", Kind: envs.IntegerParam, Default: defaults[frameSkip], Low: 1, High: 20, Doc: "steps of the engine in a step"},
		{Name: "mujoco_rules", Kind: envs.IntegerParam, Default: defaults[mujocoRules], Low: mujoco.Rules40, High: mujoco.Rules33, Doc: "whose physics: 0 MuJoCo 4.0, 1 that of 3.5, 2 that of 3.3"},
	},
	Qpos:     []string{"x", "y", "z", "qw", "qx", "qy", "qz", "hip_1", "ankle_1", "hip_2", "ankle_2", "hip_3", "ankle_3", "hip_4", "ankle_4"},
	Qvel:     []string{"x", "y", "z", "turn x", "turn y", "turn z", "hip_1", "ankle_1", "hip_2", "ankle_2", "hip_3", "ankle_3", "hip_4", "ankle_4"},
	Stale:    append([]string{"xpos of the main body"}, mujocoenv.Names("cfrc_ext", 6, 6*nbody)...),
	Free:     true,
	MaxSteps: 1000, SolvedReturn: 6000, FPS: 20, StepNS: 68000,
	Camera: mujocoenv.Camera{Camera: envs.Camera{Target: [3]float64{0, 0, 0.4}, Distance: 4.5, Azimuth: 110, Elevation: -25}, Follow: 1, Cell: 1},
})

func init() { envs.Register(Spec) }
