package worlds

import (
	"slices"
	"strings"
)

// World is an environment of this module as the translation has it.
type World struct {
	// ID is the environment's id.
	ID string
	// Package is the folder of its State below envs; the last part of it ends the names of its functions.
	Package string
	// Variant is what its Choose takes.
	Variant int32
}

// Name is what the names of the world's functions in the translation end with, as episode_Play_cartpole.
func (w *World) Name() string { return w.Package[strings.LastIndexByte(w.Package, '/')+1:] }

// Family is the folder below envs that has the world and those of its kind.
func (w *World) Family() string { return w.Package[:strings.IndexByte(w.Package, '/')] }

// Module is the index in [Modules] of the one that plays the world.
func (w *World) Module() int {
	return slices.IndexFunc(Modules, func(m Module) bool { return slices.Contains(m.Families, w.Family()) })
}

// OnDevices reports whether devices play the world. MuJoCo's worlds draw normal numbers in a reset, for which the
// programs of devices have no table.
func (w *World) OnDevices() bool { return w.Family() != "mujoco" }

// Module is a part of the translation. A tab fetches it where its run needs it, with the program of wasm/worker that
// has the same worlds in Go.
type Module struct {
	// Name is that of its file, NAME.wasm.
	Name string
	// Families are the folders below envs whose worlds it plays.
	Families []string
}

// Modules lists the parts of the translation. This is the one place that says which worlds a tab fetches together:
// internal/worlds/_gen compiles a module for each, web/build.mjs a program of wasm/worker with its tag.
var Modules = []Module{
	{"worlds", []string{"classic", "box2d"}},
	{"mujoco", []string{"mujoco"}},
}

// Packages are the folders of a module's worlds, in the order of the numbers that its function play takes.
func Packages(module int) []string {
	var all []string
	for i := range Table {
		if w := &Table[i]; w.Module() == module && !slices.Contains(all, w.Package) {
			all = append(all, w.Package)
		}
	}
	return all
}

// Table lists the worlds that are translated, by id.
var Table = []World{
	{"Acrobot-v1", "classic/acrobot", 0},
	{"Ant-v5", "mujoco/ant", 0},
	{"BipedalWalker-v3", "box2d/bipedalwalker", 0},
	{"BipedalWalkerHardcore-v3", "box2d/bipedalwalker", 1},
	{"CartPole-v1", "classic/cartpole", 0},
	{"HalfCheetah-v5", "mujoco/halfcheetah", 0},
	{"Hopper-v5", "mujoco/hopper", 0},
	{"Humanoid-v5", "mujoco/humanoid", 0},
	{"InvertedDoublePendulum-v5", "mujoco/inverteddoublependulum", 0},
	{"InvertedPendulum-v5", "mujoco/invertedpendulum", 0},
	{"LunarLander-v3", "box2d/lunarlander", 0},
	{"LunarLanderContinuous-v3", "box2d/lunarlander", 1},
	{"MountainCar-v0", "classic/mountaincar", 0},
	{"MountainCarContinuous-v0", "classic/mountaincarcontinuous", 0},
	{"Pendulum-v1", "classic/pendulum", 0},
	{"Reacher-v5", "mujoco/reacher", 0},
	{"Swimmer-v5", "mujoco/swimmer", 0},
	{"Walker2d-v5", "mujoco/walker2d", 0},
}
