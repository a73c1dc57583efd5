package film

import (
	"image"
	"math"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/exact"
)

// field is how many half sides of a picture lie between the eye and the picture: 1/tan(22.5 degrees), since
// its shorter side shows 45 degrees. web/src/lens.ts has the same number.
const field = 1 + math.Sqrt2

// lens is a camera in front of a picture.
type lens struct {
	eye                vector
	forth, right, over vector  // where it looks, and what is right and up in the picture; of length 1
	focal              float64 // from the eye to the picture [pixels]
	cx, cy             float64 // the middle of the picture
	size               image.Point
}

// newLens returns the lens of a picture of that size.
func newLens(c *envs.Camera, size image.Point) lens {
	turn, tilt := c.Azimuth*math.Pi/180, c.Elevation*math.Pi/180
	ca, sa, ce, se := exact.Cos(turn), exact.Sin(turn), exact.Cos(tilt), exact.Sin(tilt)
	l := lens{
		forth: vector{float64(ce * ca), float64(ce * sa), se},
		right: vector{sa, -ca, 0},
		over:  vector{float64(-se * ca), float64(-se * sa), ce},
		focal: field * float64(min(size.X, size.Y)) / 2,
		cx:    float64(size.X) / 2, cy: float64(size.Y) / 2,
		size: size,
	}
	l.eye = at(c.Target[:]).minus(l.forth.times(c.Distance))
	return l
}

// ray returns the direction from the eye through a point of the picture; its length is not 1.
func (l *lens) ray(px, py float64) vector {
	return l.forth.times(l.focal).plus(l.right.times(px - l.cx)).plus(l.over.times(l.cy - py))
}

// light is where the light comes from: above, from the viewer's left, so that what one sees is lit.
func (l *lens) light() vector {
	return vector{-l.right.y, l.right.x, 0}.times(-0.45).minus(l.right.times(0.35)).plus(vector{0, 0, 1}).unit()
}

// hull returns the pixels on which two balls may be, and what lies between them; all if they reach the eye's plane.
func (l *lens) hull(a, b vector, radius float64) image.Rectangle {
	nearA, nearB := a.minus(l.eye).dot(l.forth), b.minus(l.eye).dot(l.forth)
	if max(nearA, nearB)+radius <= 0 {
		return image.Rectangle{}
	}
	if low := min(nearA, nearB); low-radius <= 1e-6*math.Abs(low) {
		return image.Rectangle{Max: l.size}
	}
	return l.extent(a, radius).Union(l.extent(b, radius)).Intersect(image.Rectangle{Max: l.size})
}

// extent returns the pixels on which a ball may be that is in front of the eye's plane.
func (l *lens) extent(center vector, radius float64) image.Rectangle {
	v := center.minus(l.eye)
	depth := v.dot(l.forth)
	left, right := tangents(v.dot(l.right), depth, radius)
	low, high := tangents(v.dot(l.over), depth, radius)
	in := func(x float64) int { return int(min(max(x, -MaxSide), 2*MaxSide)) }
	return image.Rect(
		in(math.Floor(l.cx+float64(left*l.focal))), in(math.Floor(l.cy-float64(high*l.focal))),
		in(math.Ceil(l.cx+float64(right*l.focal)))+1, in(math.Ceil(l.cy-float64(low*l.focal)))+1,
	)
}

// tangents returns the slopes of the two lines through the origin that touch a circle at (side, depth).
func tangents(side, depth, radius float64) (low, high float64) {
	square := float64(depth*depth) - float64(radius*radius)
	root := float64(radius * math.Sqrt(max(square+float64(side*side), 0)))
	middle := float64(side * depth)
	return (middle - root) / square, (middle + root) / square
}
