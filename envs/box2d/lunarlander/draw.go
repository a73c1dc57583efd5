package lunarlander

import (
	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/envs/box2d"
)

// beyond is how far the ground is drawn to the left and the right of the view [m].
const beyond = 1

// Draw implements envs.Env: ground, flags, flames, legs, lander.
func (e *env) Draw(s *envs.Scene) {
	s.Clear(e.spec.View)
	points := make([]float64, 0, 2*chunks+8)
	points = append(points, -beyond, 0, -beyond, e.s.Height[0])
	for i, h := range e.s.Height {
		points = append(points, float64(2*i), h)
	}
	s.Polygon(envs.Terrain, append(points, width+beyond, e.s.Height[chunks-1], width+beyond, 0)...)
	for _, x := range [2]float64{8, 12} {
		top := padHeight + 50.0/scale
		s.Line(envs.Goal, 0, x, padHeight, x, top)
		s.Polygon(envs.Goal, x, top, x, top-10.0/scale, x+25.0/scale, top-5.0/scale)
	}
	e.flames(s)
	for _, body := range [3]int{leftLeg, rightLeg, lander} {
		role := envs.Joint
		if body == lander {
			role = envs.Body
		}
		outline(s, role, &e.s.World.Bodies[body])
	}
}

// flames draws what the engines did in the last step.
func (e *env) flames(s *envs.Scene) {
	body := &e.s.World.Bodies[lander]
	if e.s.Main > 0 {
		flame(s, body, 0, -0.3, 0, -0.4-float64(0.9*e.s.Main))
	}
	if e.s.Side != 0 {
		// What Gymnasium calls the right engine blows to the left.
		x := -0.5
		if e.s.Side < 0 {
			x = 0.5
		}
		flame(s, body, x, 0.3, x-float64(0.6*e.s.Side), 0.3)
	}
}

// flame draws a triangle from (x, y) to a tip, both as seen from the lander.
func flame(s *envs.Scene, body *box2d.Body, x, y, tipX, tipY float64) {
	dx, dy := float64((tipY-y)*0.25), float64((x-tipX)*0.25)
	a := body.WorldPoint(vec(x+dx, y+dy))
	b := body.WorldPoint(vec(x-dx, y-dy))
	c := body.WorldPoint(vec(tipX, tipY))
	s.Polygon(envs.Flame, float64(a.X), float64(a.Y), float64(b.X), float64(b.Y), float64(c.X), float64(c.Y))
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
