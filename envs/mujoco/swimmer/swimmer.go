// Package swimmer is Gymnasium's Swimmer-v5: three links that have to swim forward by bending.
package swimmer

import (
	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/envs/mujoco"
	"github.com/evoswarm/evoswarm/envs/mujoco/mujocoenv"
)

const doc = `
Three links in a row, in a viscous fluid, in a horizontal plane. It has to swim along x as fast as it can by bending
its two joints.

## Action space

Box(2), held to [-1, 1].

| Index | Action |
|---|---|
| 0 | torque of the first rotor, 150 N m at 1 |
| 1 | torque of the second rotor, the same |

Motors clamp what they get to the bounds. The cost of controls is that of the value before that, as in Gymnasium.

## Observation space

Box(8), float32, unbounded.

| Index | Observation | Unit |
|---|---|---|
| 0 | angle of the front tip | rad |
| 1 | angle of the first rotor | rad |
| 2 | angle of the second rotor | rad |
| 3 | velocity of x of the front tip | m/s |
| 4 | velocity of y of the front tip | m/s |
| 5 | velocity of the angle of the front tip | rad/s |
| 6 | velocity of the first rotor | rad/s |
| 7 | velocity of the second rotor | rad/s |

With exclude_current_positions_from_observation=false there are two more, the x and y coordinates, before all of these:
Box(10).

## Rewards

    forward_reward_weight * (x after - x before) / 0.04 s - ctrl_cost_weight * |action|^2

## Starting state

Straight at rest, with noise: each coordinate and each velocity is moved by a number that is drawn uniformly from
[-0.1, 0.1).

## Episode end

No state is terminal. Truncated after 1000 steps. Solved at a mean return of 360.

An episode also ends, with a reward of 0, where the physics diverges: a coordinate that is not finite or beyond 1e10.
MuJoCo puts the robot back to its first pose there and continues.

## Version history

- Revision 1: Gymnasium 1.4, version 5 of the world, with the physics of MuJoCo 4.0.

## Source

R. Coulom, "Reinforcement Learning Using Neural Networks, with Applications to Motor Control" (2002).
`

// joints are the robot's, in MuJoCo's order.
var joints = []string{"slider1", "slider2", "free_body_rot", "motor1_rot", "motor2_rot"}

// Spec describes Swimmer-v5.
var Spec = mujocoenv.Spec[State](mujocoenv.World{
	ID: "Swimmer-v5", Title: "Swimmer", Doc: doc, Obs: mostObs - 2, Actions: nu, Bound: bound,
	Parts: []mujocoenv.Part{{Param: excludeCurrentPositions, Values: -2}},
	Params: []envs.Param{
		{Name: "forward_reward_weight", Kind: envs.RealParam, Default: defaults[forwardRewardWeight], Low: -1e6, High: 1e6, Doc: "factor of the forward reward"},
		{Name: "ctrl_cost_weight", Kind: envs.RealParam, Default: defaults[ctrlCostWeight], Low: -1e6, High: 1e6, Doc: "factor of the cost of controls"},
		{Name: "reset_noise_scale", Kind: envs.RealParam, Default: defaults[resetNoiseScale], High: 1, Doc: "size of the noise of a reset"},
		{Name: "exclude_current_positions_from_observation", Kind: envs.BoolParam, Default: defaults[excludeCurrentPositions], High: 1, Doc: "whether observations lack the x and y coordinates, which are else the first two values"},
		{Name: "frame_skip", Kind: envs.IntegerParam, Default: defaults[frameSkip], Low: 1, High: 20, Doc: "steps of the engine in a step"},
		{Name: "mujoco_rules", Kind: envs.IntegerParam, Default: defaults[mujocoRules], Low: mujoco.Rules40, High: mujoco.Rules33, Doc: "whose physics: 0 MuJoCo 4.0, 1 that of 3.5, 2 that of 3.3"},
	},
	Qpos: joints, Qvel: joints,
	MaxSteps: 1000, SolvedReturn: 360, FPS: 25, StepNS: 3300,
	Camera: mujocoenv.Camera{Camera: envs.Camera{Target: [3]float64{0, 0, 0}, Distance: 5, Azimuth: 90, Elevation: -60}, Follow: 1, Cell: 1},
})

func init() { envs.Register(Spec) }
