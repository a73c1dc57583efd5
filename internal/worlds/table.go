package worlds

import "strings"

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

// Table lists the worlds that are translated, by id.
var Table = []World{
	{"Acrobot-v1", "classic/acrobot", 0},
	{"BipedalWalker-v3", "box2d/bipedalwalker", 0},
	{"BipedalWalkerHardcore-v3", "box2d/bipedalwalker", 1},
	{"CartPole-v1", "classic/cartpole", 0},
	{"LunarLander-v3", "box2d/lunarlander", 0},
	{"LunarLanderContinuous-v3", "box2d/lunarlander", 1},
	{"MountainCar-v0", "classic/mountaincar", 0},
	{"MountainCarContinuous-v0", "classic/mountaincarcontinuous", 0},
	{"Pendulum-v1", "classic/pendulum", 0},
}
