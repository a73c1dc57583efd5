// Package all registers every environment of this module. Programs import it for that effect:
//
//	import _ "github.com/evoswarm/evoswarm/envs/all"
package all

import (
	// Box2D.
	_ "github.com/evoswarm/evoswarm/envs/box2d/bipedalwalker"
	_ "github.com/evoswarm/evoswarm/envs/box2d/lunarlander"

	// Classic control.
	_ "github.com/evoswarm/evoswarm/envs/classic/acrobot"
	_ "github.com/evoswarm/evoswarm/envs/classic/cartpole"
	_ "github.com/evoswarm/evoswarm/envs/classic/mountaincar"
	_ "github.com/evoswarm/evoswarm/envs/classic/mountaincarcontinuous"
	_ "github.com/evoswarm/evoswarm/envs/classic/pendulum"

	// MuJoCo.
	_ "github.com/evoswarm/evoswarm/envs/mujoco/ant"
	_ "github.com/evoswarm/evoswarm/envs/mujoco/halfcheetah"
	_ "github.com/evoswarm/evoswarm/envs/mujoco/hopper"
	_ "github.com/evoswarm/evoswarm/envs/mujoco/humanoid"
	_ "github.com/evoswarm/evoswarm/envs/mujoco/inverteddoublependulum"
	_ "github.com/evoswarm/evoswarm/envs/mujoco/invertedpendulum"
	_ "github.com/evoswarm/evoswarm/envs/mujoco/reacher"
	_ "github.com/evoswarm/evoswarm/envs/mujoco/swimmer"
	_ "github.com/evoswarm/evoswarm/envs/mujoco/walker2d"
)
