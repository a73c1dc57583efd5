//go:build mujoco

package main

import _ "github.com/evoswarm/evoswarm/envs/mujoco/all"
