// Package hill draws the valley that the mountain cars drive in.
package hill

import (
	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/exact"
)

// Ends of the track [m].
const (
	left  = -1.2
	right = 0.6
)

// View shows the whole valley.
var View = envs.Bounds{MinX: left, MinY: 0, MaxX: right, MaxY: 1.2}

// segments is the number of straight pieces in the drawing of the curve.
const segments = 60

// Height returns the height [m] of the track at position x. It is for drawing only; the dynamics use the slope alone.
func Height(x float64) float64 { return float64(0.45*exact.Sin(3*x)) + 0.55 }

// Draw replaces s with a drawing of a car at position and a flag at goal.
func Draw(s *envs.Scene, position, goal float64) {
	s.Clear(View)
	var track [2 * (segments + 1)]float64
	for i := range segments + 1 {
		x := left + float64(float64(i)*(right-left))/segments
		track[2*i], track[2*i+1] = x, Height(x)
	}
	s.Line(envs.Ground, 0, track[:]...)

	top := Height(goal) + 0.15
	s.Line(envs.Ground, 0, goal, Height(goal), goal, top)
	s.Polygon(envs.Goal, goal, top, goal, top-0.03, goal+0.075, top-0.015)
	drawCar(s, position)
}

// drawCar adds the car and its wheels, turned along the track.
func drawCar(s *envs.Scene, position float64) {
	const long, high, clearance, wheel = 0.12, 0.06, 0.03, 0.024
	slope := float64(1.35 * exact.Cos(3*position))
	norm := exact.Sqrt(1 + float64(slope*slope))
	cos, sin := 1/norm, slope/norm
	height := Height(position)
	// at converts a point along and above the track to world units.
	at := func(along, above float64) (x, y float64) {
		return position + float64(along*cos) - float64(above*sin), height + float64(along*sin) + float64(above*cos)
	}
	x0, y0 := at(-long/2, clearance)
	x1, y1 := at(long/2, clearance)
	x2, y2 := at(long/2, clearance+high)
	x3, y3 := at(-long/2, clearance+high)
	s.Polygon(envs.Body, x0, y0, x1, y1, x2, y2, x3, y3)
	for _, along := range [...]float64{-long / 4, long / 4} {
		x, y := at(along, clearance)
		s.Circle(envs.Joint, x, y, wheel)
	}
}
