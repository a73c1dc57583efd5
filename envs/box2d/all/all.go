// Package all registers every environment on Box2D, for programs that need no other.
package all

import (
	_ "github.com/evoswarm/evoswarm/envs/box2d/bipedalwalker"
	_ "github.com/evoswarm/evoswarm/envs/box2d/lunarlander"
)
