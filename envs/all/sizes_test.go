package all

import (
	"reflect"
	"testing"

	"github.com/evoswarm/evoswarm/envs/box2d/bipedalwalker"
	"github.com/evoswarm/evoswarm/envs/box2d/lunarlander"
	"github.com/evoswarm/evoswarm/envs/classic/acrobot"
	"github.com/evoswarm/evoswarm/envs/classic/cartpole"
	"github.com/evoswarm/evoswarm/envs/classic/mountaincar"
	"github.com/evoswarm/evoswarm/envs/classic/mountaincarcontinuous"
	"github.com/evoswarm/evoswarm/envs/classic/pendulum"
	"github.com/evoswarm/evoswarm/envs/mujoco/ant"
	"github.com/evoswarm/evoswarm/envs/mujoco/halfcheetah"
	"github.com/evoswarm/evoswarm/envs/mujoco/hopper"
	"github.com/evoswarm/evoswarm/envs/mujoco/humanoid"
	"github.com/evoswarm/evoswarm/envs/mujoco/inverteddoublependulum"
	"github.com/evoswarm/evoswarm/envs/mujoco/invertedpendulum"
	"github.com/evoswarm/evoswarm/envs/mujoco/reacher"
	"github.com/evoswarm/evoswarm/envs/mujoco/swimmer"
	"github.com/evoswarm/evoswarm/envs/mujoco/walker2d"
)

// TestStateSizes holds the memory that a world takes. A GPU keeps one State for each of its threads and a tab one for
// each lane, so a State that grows makes both slower before anybody sees why.
func TestStateSizes(t *testing.T) {
	for _, c := range []struct {
		state reflect.Type
		bytes uintptr
	}{
		{reflect.TypeFor[acrobot.State](), 32},
		{reflect.TypeFor[cartpole.State](), 40},
		{reflect.TypeFor[mountaincar.State](), 24},
		{reflect.TypeFor[mountaincarcontinuous.State](), 32},
		{reflect.TypeFor[pendulum.State](), 24},
		{reflect.TypeFor[lunarlander.State](), 4976},
		{reflect.TypeFor[bipedalwalker.State](), 17792},
		{reflect.TypeFor[ant.State](), 37488},
		{reflect.TypeFor[halfcheetah.State](), 14032},
		{reflect.TypeFor[hopper.State](), 7472},
		{reflect.TypeFor[humanoid.State](), 222064},
		{reflect.TypeFor[inverteddoublependulum.State](), 1280},
		{reflect.TypeFor[invertedpendulum.State](), 936},
		{reflect.TypeFor[reacher.State](), 2096},
		{reflect.TypeFor[swimmer.State](), 2064},
		{reflect.TypeFor[walker2d.State](), 12984},
	} {
		if got := c.state.Size(); got != c.bytes {
			t.Errorf("%s: got %d bytes, want %d", c.state, got, c.bytes)
		}
	}
}
