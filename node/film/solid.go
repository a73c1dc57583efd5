package film

import (
	"image"
	"math"

	"github.com/evoswarm/evoswarm/envs"
)

// solid is a shape in space, made ready for rays.
type solid struct {
	kind   envs.Kind
	color  rgb
	a, b   vector  // the ends of the axis; of a sphere and a box both are the center
	axis   vector  // from a to b
	square float64 // of the axis' length
	radius float64
	sides  [3]vector // of a box: divided by the square of its half length each
	within image.Rectangle
	// Where its shadow may fall on the floor.
	minX, minY, maxX, maxY float64
}

// newSolid makes a shape that Check accepts ready.
func newSolid(sh *envs.Shape, c rgb) solid {
	s := solid{kind: sh.Kind, color: c, a: at(sh.Points), b: at(sh.Points), radius: sh.Radius}
	switch sh.Kind {
	case envs.Capsule, envs.Cylinder:
		s.b = at(sh.Points[3:])
		s.axis = s.b.minus(s.a)
		if s.square = s.axis.dot(s.axis); s.square == 0 {
			s.kind = envs.Sphere // of no length; a cylinder of none is as thin as a ball is small
		}
	case envs.Box:
		for i := range s.sides {
			side := at(sh.Points[3+3*i:])
			s.radius += side.length() // of a ball around it, and more
			s.sides[i] = side.times(1 / side.dot(side))
		}
	}
	return s
}

// place finds the pixels and the part of the floor in which the solid may be seen.
func (s *solid) place(l *lens, light vector, floor float64) {
	around := s.radius
	if s.kind == envs.Cylinder {
		around = float64(s.radius * math.Sqrt2) // a ball around each end holds its rim
	}
	s.within = l.hull(s.a, s.b, around)
	s.minX, s.minY = math.Inf(1), math.Inf(1)
	s.maxX, s.maxY = math.Inf(-1), math.Inf(-1)
	wide := around / light.z
	for _, p := range [2]vector{s.a, s.b} {
		p = p.minus(light.times((p.z - floor) / light.z))
		s.minX, s.maxX = min(s.minX, p.x-wide), max(s.maxX, p.x+wide)
		s.minY, s.maxY = min(s.minY, p.y-wide), max(s.maxY, p.y+wide)
	}
}

// shades reports whether a point of the floor is in the solid's shadow.
func (s *solid) shades(p, light vector) bool {
	return p.x > s.minX && p.x < s.maxX && p.y > s.minY && p.y < s.maxY && !math.IsInf(s.hit(p, light), 1)
}

// hit returns how many times d the ray from o goes before it enters the solid: infinity if it does not.
func (s *solid) hit(o, d vector) float64 {
	switch s.kind {
	case envs.Sphere:
		return ball(o.minus(s.a), d, s.radius)
	case envs.Box:
		return s.slabs(o, d)
	}
	oa := o.minus(s.a)
	along, at := s.axis.dot(d), s.axis.dot(oa)
	a := float64(s.square*d.dot(d)) - float64(along*along)
	b := float64(s.square*d.dot(oa)) - float64(at*along)
	c := float64(s.square*oa.dot(oa)) - float64(at*at) - float64(float64(s.radius*s.radius)*s.square)
	if a < float64(1e-12*float64(s.square*d.dot(d))) { // along the axis
		if c >= 0 && s.kind == envs.Cylinder {
			return math.Inf(1)
		}
		return s.end(o, d, along, at, along < 0)
	}
	h := float64(b*b) - float64(a*c)
	if h < 0 {
		return math.Inf(1)
	}
	root := math.Sqrt(h)
	t := (-b - root) / a
	y := at + float64(t*along)
	if y > 0 && y < s.square {
		return positive(t)
	}
	far := y >= s.square
	if s.kind == envs.Capsule {
		return s.end(o, d, along, at, far)
	}
	if t = s.end(o, d, along, at, far); math.Abs(b+float64(a*t)) >= root {
		return math.Inf(1)
	}
	return t
}

// end is where the ray enters at one end of the axis.
func (s *solid) end(o, d vector, along, at float64, far bool) float64 {
	end, height := s.a, 0.0
	if far {
		end, height = s.b, s.square
	}
	if s.kind == envs.Capsule {
		return ball(o.minus(end), d, s.radius)
	}
	return positive((height - at) / along)
}

// ball is where the ray from o enters a ball around the origin.
func ball(o, d vector, radius float64) float64 {
	a, b := d.dot(d), d.dot(o)
	h := float64(b*b) - float64(a*(o.dot(o)-float64(radius*radius)))
	if h < 0 {
		return math.Inf(1)
	}
	return positive((-b - math.Sqrt(h)) / a)
}

// slabs is where the ray enters a box.
func (s *solid) slabs(o, d vector) float64 {
	o = o.minus(s.a)
	enter, leave := math.Inf(-1), math.Inf(1)
	for _, side := range s.sides {
		p, v := side.dot(o), side.dot(d)
		if v == 0 {
			if math.Abs(p) > 1 {
				return math.Inf(1)
			}
			continue
		}
		near, far := (-1-p)/v, (1-p)/v
		enter, leave = max(enter, min(near, far)), min(leave, max(near, far))
	}
	if enter > leave {
		return math.Inf(1)
	}
	return positive(enter)
}

// positive is t, or infinity for what is behind.
func positive(t float64) float64 {
	if t > 0 {
		return t
	}
	return math.Inf(1)
}

// normal returns the direction, of length 1, that is upright on the surface at p.
func (s *solid) normal(p vector) vector {
	v := p.minus(s.a)
	switch s.kind {
	case envs.Sphere:
		return v.times(1 / s.radius)
	case envs.Box:
		most, n := 0.0, vector{}
		for _, side := range s.sides {
			if k := side.dot(v); math.Abs(k) > most {
				most, n = math.Abs(k), side.times(math.Copysign(1, k))
			}
		}
		return n.unit()
	}
	y := s.axis.dot(v) / s.square
	if s.kind == envs.Capsule {
		return v.minus(s.axis.times(min(max(y, 0), 1))).times(1 / s.radius)
	}
	n := v.minus(s.axis.times(y))
	if n.dot(n) < float64(float64(s.radius*s.radius)*(1-1e-6)) { // on an end
		return s.axis.times(math.Copysign(1/math.Sqrt(s.square), y-0.5))
	}
	return n.times(1 / s.radius)
}
