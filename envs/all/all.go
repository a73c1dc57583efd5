// Package all registers every environment of this module. Programs import it for that effect:
//
//	import _ "github.com/evoswarm/evoswarm/envs/all"
package all

import (
	_ "github.com/evoswarm/evoswarm/envs/box2d/all"
	_ "github.com/evoswarm/evoswarm/envs/classic/all"
	_ "github.com/evoswarm/evoswarm/envs/mujoco/all"
)
