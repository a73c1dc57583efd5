package mujocoenv

import (
	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/envs/mujoco"
)

// Camera says how a world is seen: as envs.Camera, but its Target is moved along with a body.
type Camera struct {
	envs.Camera
	// Follow is the geom that it follows along x and y, 0 for none. The camera stays level, so that one sees who jumps.
	Follow int
	// Goal is the geom of what has to be reached, 0 for none.
	Goal int
	// Cell is from one line of the floor's grid to the next [m]; 0 draws no floor.
	Cell float64
	// Level is the height of the floor, where the model has no plane of its own [m].
	Level float64
}

// form is the form of a picture: three wide, two high.
var form = envs.Bounds{MaxX: 3, MaxY: 2}

// Draw implements envs.Drawer: the geoms, on a floor.
func (e *Env[T, P]) Draw(s *envs.Scene) {
	c := e.world.Camera
	geoms, center, axis := P(&e.S).Geoms()
	if c.Follow > 0 {
		c.Target[0] += center[c.Follow][0]
		c.Target[1] += center[c.Follow][1]
	}
	s.Look(form, c.Camera)
	if c.Cell > 0 {
		level := c.Level
		for i, g := range geoms {
			if g.Type == mujoco.Plane {
				level = center[i][2]
			}
		}
		s.Floor(envs.Terrain, envs.Ground, c.Cell, 0, 0, level)
	}
	for i, g := range geoms {
		draw(s, c.role(i, g), g, center[i], axis[i])
	}
}

// role returns the color of a geom. The body that the camera follows has its own; geoms of no body have that of joints.
func (c *Camera) role(i int, g mujoco.Geom) envs.Role {
	switch {
	case g.Body == 0:
		return envs.Joint
	case i == c.Goal:
		return envs.Goal
	case i == c.Follow:
		return envs.Accent
	}
	return envs.Body
}

// draw adds a geom, whose axis of symmetry is axis.
func draw(s *envs.Scene, role envs.Role, g mujoco.Geom, at, axis [3]float64) {
	var from, to [3]float64
	for k := range at {
		h := float64(axis[k] * g.Size[1])
		from[k], to[k] = at[k]-h, at[k]+h
	}
	switch g.Type {
	case mujoco.Sphere:
		s.Sphere(role, g.Size[0], at)
	case mujoco.Capsule:
		s.Capsule(role, g.Size[0], from, to)
	case mujoco.Cylinder:
		s.Cylinder(role, g.Size[0], from, to)
	}
}
