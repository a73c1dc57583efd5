//go:build !mujoco

package main

// The worlds that this program plays are those of a module of internal/worlds, whose name is the tag that it is built
// with: without a tag, or with another one, those of the first.
import (
	_ "github.com/evoswarm/evoswarm/envs/box2d/all"
	_ "github.com/evoswarm/evoswarm/envs/classic/all"
)
