// Package all registers every environment of classic control, for programs that need no other.
package all

import (
	_ "github.com/evoswarm/evoswarm/envs/classic/acrobot"
	_ "github.com/evoswarm/evoswarm/envs/classic/cartpole"
	_ "github.com/evoswarm/evoswarm/envs/classic/mountaincar"
	_ "github.com/evoswarm/evoswarm/envs/classic/mountaincarcontinuous"
	_ "github.com/evoswarm/evoswarm/envs/classic/pendulum"
)
