// Package reacher is Gymnasium's Reacher-v5: an arm of two links that has to reach a point.
package reacher

import (
	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/envs/mujoco/mujocoenv"
)

const doc = `
An arm of two links turns about a fixed joint, in a horizontal plane. Its tip has to reach a target.

## Action space

Box(2), held to [-1, 1].

| Index | Action |
|---|---|
| 0 | torque of the first joint, 200 N m at 1 |
| 1 | torque of the second joint, the same |

Motors clamp what they get to the bounds. The cost of controls is that of the value before that, as in Gymnasium.

## Observation space

Box(10), float32, unbounded.

| Index | Observation | Unit |
|---|---|---|
| 0 | cosine of the first angle |  |
| 1 | cosine of the second angle |  |
| 2 | sine of the first angle |  |
| 3 | sine of the second angle |  |
| 4 | x of the target | m |
| 5 | y of the target | m |
| 6 | first angular velocity | rad/s |
| 7 | second angular velocity | rad/s |
| 8 | x of the tip minus x of the target | m |
| 9 | y of the tip minus y of the target | m |

## Rewards

    -reward_dist_weight * |tip - target| - reward_control_weight * |action|^2

The tip is where it was in the last evaluation of the engine, a moment before the end of the step.

## Starting state

The angles are drawn uniformly from [-0.1, 0.1), the angular velocities from [-0.005, 0.005), and the target from the
disk of 0.2 m around the joint.

## Episode end

No state is terminal. Truncated after 50 steps. Solved at a mean return of -3.75.

An episode also ends, with a reward of 0, where the physics diverges: a coordinate that is not finite or beyond 1e10.
MuJoCo puts the robot back to its first pose there and continues.

## Version history

- Revision 1: Gymnasium 1.4, version 5 of the world, with the physics of MuJoCo 4.0.

## Source

OpenAI Gym (2016).
`

// joints are the robot's, in MuJoCo's order.
var joints = []string{"joint0", "joint1", "target_x", "target_y"}

// Spec describes Reacher-v5.
var Spec = mujocoenv.Spec[State](mujocoenv.World{
	ID: "Reacher-v5", Title: "Reacher", Doc: doc, Obs: obsDim, Actions: nu, Bound: bound,
	Params: []envs.Param{
		{Name: "reward_dist_weight", Kind: envs.RealParam, Default: defaults[rewardDistWeight], Low: -1e6, High: 1e6, Doc: "factor of the distance"},
		{Name: "reward_control_weight", Kind: envs.RealParam, Default: defaults[rewardControlWeight], Low: -1e6, High: 1e6, Doc: "factor of the cost of controls"},
		{Name: "frame_skip", Kind: envs.IntegerParam, Default: defaults[frameSkip], Low: 1, High: 20, Doc: "steps of the engine in a step"},
	},
	Qpos: joints, Qvel: joints,
	Stale:    []string{"fingertip x", "fingertip y", "fingertip z", "target x", "target y", "target z"},
	MaxSteps: 50, SolvedReturn: -3.75, FPS: 50, StepNS: 830,
	Camera: mujocoenv.Camera{Camera: envs.Camera{Target: [3]float64{0, 0, 0}, Distance: 0.85, Azimuth: 90, Elevation: -75}, Cell: 0.1, Goal: 9},
})

func init() { envs.Register(Spec) }
