// Package all registers every environment of MuJoCo's, for programs that need no other.
package all

import (
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
