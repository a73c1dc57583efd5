package bipedalwalker

import (
	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/envs/box2d"
)

const (
	viewWidth = 20
	beyond    = 1 // how far the ground is drawn to the left and the right of the view [m]
)

// Draw implements envs.Env: ground and obstacles around the walker, its rays, its legs and hull, and the flag
// at the start.
func (e *env) Draw(s *envs.Scene) {
	at := e.s.World.Bodies[hull].Position()
	left := max(0, float64(at.X)-viewWidth/5.0)
	s.Clear(envs.Bounds{MinX: left, MinY: 0, MaxX: left + viewWidth, MaxY: viewHeight})
	e.ground(s, left)
	s.Line(envs.Goal, 0, 3*stride, level, 3*stride, level+50.0/scale)
	s.Polygon(envs.Goal, 3*stride, level+50.0/scale, 3*stride, level+40.0/scale, 3*stride+25.0/scale, level+45.0/scale)
	for i, f := range e.s.Fraction {
		x, y := float64(at.X), float64(at.Y)
		s.Line(envs.Ray, 0, x, y, x+float64(float64(f)*rayX[i]), y-float64(float64(f)*rayY[i]))
	}
	for _, body := range [5]int{leg1, lower1, leg2, lower2, hull} {
		role := envs.Joint
		switch body {
		case hull:
			role = envs.Body
		case leg2, lower2:
			role = envs.Accent
		}
		outline(s, role, &e.s.World.Bodies[body])
	}
}

// ground draws what is in view of it.
func (e *env) ground(s *envs.Scene, left float64) {
	first := bound((left - beyond) / stride)
	last := bound((left+viewWidth+beyond)/stride + 1)
	points := make([]float64, 0, 2*points+4)
	points = append(points, float64(float64(first)*stride), 0)
	for i := first; i <= last; i++ {
		points = append(points, float64(float64(i)*stride), float64(e.s.height(i)))
	}
	points = append(points, float64(float64(last)*stride), 0)
	s.Polygon(envs.Terrain, points...)
	low, high := e.s.boxesBetween(float32(left-beyond), float32(left+viewWidth+beyond))
	for i := low; i < high; i++ {
		// Down to the bottom of the picture: between a stair and the slopes below it there would be a gap.
		b := &e.s.Box[i]
		left, right, top := float64(b.Left), float64(b.Right), float64(max(b.Y0, b.Y1))
		s.Polygon(envs.Terrain, left, 0, right, 0, right, top, left, top)
	}
}

// outline draws the outline of a body.
func outline(s *envs.Scene, role envs.Role, body *box2d.Body) {
	points := make([]float64, 0, 16)
	for i := range body.VertexCount() {
		v := body.Vertex(i)
		points = append(points, float64(v.X), float64(v.Y))
	}
	s.Polygon(role, points...)
}
