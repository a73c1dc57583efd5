// Package humanoid is Gymnasium's Humanoid-v5: a body with arms and legs that has to walk forward.
package humanoid

import (
	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/envs/mujoco"
	"github.com/evoswarm/evoswarm/envs/mujoco/mujocoenv"
)

const doc = `
A body with arms and legs, in space. It has to walk along x as fast as it can without falling over.

## Action space

Box(17), held to [-0.4, 0.4].

| Index | Action |
|---|---|
| 0 | torque of abdomen_y, 100 N m at 1 |
| 1 | torque of abdomen_z, 100 N m at 1 |
| 2 | torque of abdomen_x, 100 N m at 1 |
| 3 | torque of right_hip_x, 100 N m at 1 |
| 4 | torque of right_hip_z, 100 N m at 1 |
| 5 | torque of right_hip_y, 300 N m at 1 |
| 6 | torque of right_knee, 200 N m at 1 |
| 7 | torque of left_hip_x, 100 N m at 1 |
| 8 | torque of left_hip_z, 100 N m at 1 |
| 9 | torque of left_hip_y, 300 N m at 1 |
| 10 | torque of left_knee, 200 N m at 1 |
| 11 | torque of right_shoulder1, 25 N m at 1 |
| 12 | torque of right_shoulder2, 25 N m at 1 |
| 13 | torque of right_elbow, 25 N m at 1 |
| 14 | torque of left_shoulder1, 25 N m at 1 |
| 15 | torque of left_shoulder2, 25 N m at 1 |
| 16 | torque of left_elbow, 25 N m at 1 |

Motors clamp what they get to the bounds. The cost of controls is that of the value before that, as in Gymnasium.

## Observation space

Box(348), float32, unbounded.

| Index | Observation | Unit |
|---|---|---|
| 0 | height of the torso | m |
| 1-4 | orientation of the torso, a quaternion |  |
| 5-21 | angles of the joints: abdomen z, y, x, right hip x, z, y, right knee, the same of the left leg, right shoulder 1, 2, right elbow, the same of the left arm | rad |
| 22-24 | velocity of the torso | m/s |
| 25-27 | angular velocity of the torso | rad/s |
| 28-44 | angular velocities of the joints, as 5-21 | rad/s |
| 45-174 | mass and inertia of each of 13 bodies around the mass center (cinert) |  |
| 175-252 | angular and linear velocity of each body (cvel) | rad/s, m/s |
| 253-269 | torques of the joints' motors (qfrc_actuator) | N m |
| 270-347 | external torque and force on each body (cfrc_ext) | N m, N |

With exclude_current_positions_from_observation=false there are two more, the x and y coordinates, before all of these:
Box(350). What one of include_cinert_in_observation, include_cvel_in_observation, include_qfrc_actuator_in_observation and
include_cfrc_ext_in_observation leaves out is missing, and what follows moves up: without all four it is Box(45).

## Rewards

    forward_reward_weight * (x after - x before) / 0.015 s + healthy_reward
        - ctrl_cost_weight * |action|^2 - min(contact_cost_weight * |cfrc_ext|^2, 10)

where healthy_reward (5) is given for a step after which the torso is between 1 and 2 m high. x is that of the mass center
in the last evaluation of the engine, a moment before the end of a step; what is observed from index 45 on is of that
moment too.

## Starting state

Upright at rest, with noise: each coordinate, those of the quaternion too, and each velocity is moved by a number that is
drawn uniformly from [-0.01, 0.01).

## Episode end

Terminated when the torso is not between 1 and 2 m high. Truncated after 1000 steps. Gymnasium names no return from which the world counts as solved; ours is 6000.

An episode also ends, with a reward of 0, where the physics diverges: a coordinate that is not finite or beyond 1e10.
MuJoCo puts the robot back to its first pose there and continues.

## Version history

- Revision 1: Gymnasium 1.4, version 5 of the world, with the physics of MuJoCo 4.0.

## Source

Y. Tassa, T. Erez, E. Todorov, "Synthesis and Stabilization of Complex Behaviors through Online Trajectory Optimization"
(2012).
`

// Spec describes Humanoid-v5.
var Spec = mujocoenv.Spec[State](mujocoenv.World{
	ID: "Humanoid-v5", Title: "Humanoid", Doc: doc, Obs: mostObs - 2, Actions: nu, Bound: bound,
	Parts: []mujocoenv.Part{
		{Param: excludeCurrentPositions, Values: -2},
		{Param: includeCinert, Values: 10 * (nbody - 1)},
		{Param: includeCvel, Values: 6 * (nbody - 1)},
		{Param: includeQfrcActuator, Values: nv - 6},
		{Param: includeCfrcExt, Values: 6 * (nbody - 1)},
	},
	Params: []envs.Param{
		{Name: "forward_reward_weight", Kind: envs.RealParam, Default: defaults[forwardRewardWeight], Low: -1e6, High: 1e6, Doc: "factor of the forward reward"},
		{Name: "ctrl_cost_weight", Kind: envs.RealParam, Default: defaults[ctrlCostWeight], Low: -1e6, High: 1e6, Doc: "factor of the cost of controls"},
		{Name: "contact_cost_weight", Kind: envs.RealParam, Default: defaults[contactCostWeight], Low: -1e6, High: 1e6, Doc: "factor of the cost of contact forces"},
		{Name: "contact_cost_low", Kind: envs.RealParam, Default: defaults[contactCostLow], Low: -envs.Unbounded, Doc: "the cost of contact forces is at least this"},
		{Name: "contact_cost_high", Kind: envs.RealParam, Default: defaults[contactCostHigh], High: envs.Unbounded, Doc: "and at most this"},
		{Name: "healthy_reward", Kind: envs.RealParam, Default: defaults[healthyReward], Low: -1e6, High: 1e6, Doc: "reward of a step after which the robot is healthy"},
		{Name: "terminate_when_unhealthy", Kind: envs.BoolParam, Default: defaults[terminateWhenUnhealthy], High: 1, Doc: "whether an episode ends when the robot is not healthy"},
		{Name: "healthy_z_low", Kind: envs.RealParam, Default: defaults[healthyZLow], Low: -envs.Unbounded, High: envs.Unbounded, Unit: "m", Doc: "the robot is healthy only if the height is above this"},
		{Name: "healthy_z_high", Kind: envs.RealParam, Default: defaults[healthyZHigh], Low: -envs.Unbounded, High: envs.Unbounded, Unit: "m", Doc: "and below this"},
		{Name: "reset_noise_scale", Kind: envs.RealParam, Default: defaults[resetNoiseScale], High: 1, Doc: "size of the noise of a reset"},
		{Name: "exclude_current_positions_from_observation", Kind: envs.BoolParam, Default: defaults[excludeCurrentPositions], High: 1, Doc: "whether observations lack the x and y coordinates, which are else the first two values"},
		{Name: "include_cinert_in_observation", Kind: envs.BoolParam, Default: defaults[includeCinert], High: 1, Doc: "whether observations have masses and inertias (cinert), 130 values"},
		{Name: "include_cvel_in_observation", Kind: envs.BoolParam, Default: defaults[includeCvel], High: 1, Doc: "whether observations have velocities of bodies (cvel), 78 values"},
		{Name: "include_qfrc_actuator_in_observation", Kind: envs.BoolParam, Default: defaults[includeQfrcActuator], High: 1, Doc: "whether observations have torques of motors (qfrc_actuator), 17 values"},
		{Name: "include_cfrc_ext_in_observation", Kind: envs.BoolParam, Default: defaults[includeCfrcExt], High: 1, Doc: "whether observations have contact forces (cfrc_ext), 78 values"},
		{Name: "frame_skip", Kind: envs.IntegerParam, Default: defaults[frameSkip], Low: 1, High: 20, Doc: "steps of the engine in a step"},
		{Name: "mujoco_rules", Kind: envs.IntegerParam, Default: defaults[mujocoRules], Low: mujoco.Rules40, High: mujoco.Rules33, Doc: "whose physics: 0 MuJoCo 4.0, 1 that of 3.5, 2 that of 3.3"},
	},
	Qpos:     []string{"x", "y", "z", "qw", "qx", "qy", "qz", "abdomen_z", "abdomen_y", "abdomen_x", "right_hip_x", "right_hip_z", "right_hip_y", "right_knee", "left_hip_x", "left_hip_z", "left_hip_y", "left_knee", "right_shoulder1", "right_shoulder2", "right_elbow", "left_shoulder1", "left_shoulder2", "left_elbow"},
	Qvel:     []string{"x", "y", "z", "turn x", "turn y", "turn z", "abdomen_z", "abdomen_y", "abdomen_x", "right_hip_x", "right_hip_z", "right_hip_y", "right_knee", "left_hip_x", "left_hip_z", "left_hip_y", "left_knee", "right_shoulder1", "right_shoulder2", "right_elbow", "left_shoulder1", "left_shoulder2", "left_elbow"},
	Stale:    staleNames(),
	Free:     true,
	MaxSteps: 1000, SolvedReturn: 6000, SolvedOurs: true, FPS: 67, StepNS: 94000,
	Camera: mujocoenv.Camera{Camera: envs.Camera{Target: [3]float64{0, 0, 0.9}, Distance: 4, Azimuth: 110, Elevation: -15}, Follow: 1, Cell: 1},
})

func init() { envs.Register(Spec) }
