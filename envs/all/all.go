// Package all registers every world. Programs import it for that effect:
//
//	import _ "github.com/evoswarm/evoswarm/envs/all"
package all

import (
	_ "github.com/evoswarm/evoswarm/envs/classic/cartpole" // registers CartPole-v1
)
