package mujocoenv

import (
	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/envs/mujoco"
)

// Camera looks at a world from the side, or from above, and follows one of its geoms along x.
type Camera struct {
	Above  bool
	Bounds envs.Bounds
	Follow int // a geom, 0 for none
}

// view is what the camera shows when what it follows is at x.
func (c *Camera) view(x float64) envs.Bounds {
	b := c.Bounds
	b.MinX += x
	b.MaxX += x
	return b
}

// Draw implements envs.Drawer: the geoms, projected.
func (e *Env[T, P]) Draw(s *envs.Scene) {
	c := &e.world.Camera
	geoms, center, axis := P(&e.S).Geoms()
	x := 0.0
	if c.Follow > 0 {
		x = center[c.Follow][0]
	}
	view := c.view(x)
	s.Clear(view)
	up := 2
	if c.Above {
		up = 1
	}
	for i, g := range geoms {
		x, y := center[i][0], center[i][up]
		role := envs.Body
		if i == c.Follow && i > 0 {
			role = envs.Accent
		}
		switch g.Type {
		case mujoco.Plane:
			if !c.Above {
				s.Polygon(envs.Terrain, view.MinX, y, view.MaxX, y, view.MaxX, view.MinY, view.MinX, view.MinY)
				marks(s, view, y)
			}
		case mujoco.Sphere:
			s.Circle(role, x, y, g.Size[0])
		case mujoco.Capsule, mujoco.Cylinder:
			dx, dy := float64(axis[i][0]*g.Size[1]), float64(axis[i][up]*g.Size[1])
			s.Circle(role, x-dx, y-dy, g.Size[0])
			s.Circle(role, x+dx, y+dy, g.Size[0])
			s.Bar(role, float64(2*g.Size[0]), x-dx, y-dy, x+dx, y+dy)
		}
	}
}

// marks draws a line on the floor for every meter, so that one sees who moves.
func marks(s *envs.Scene, view envs.Bounds, floor float64) {
	first := float64(int64(view.MinX))
	for x := first; x <= view.MaxX; x++ {
		s.Line(envs.Ground, 0, x, floor, x, floor-0.1)
	}
	s.Line(envs.Ground, 0, view.MinX, floor, view.MaxX, floor)
}
