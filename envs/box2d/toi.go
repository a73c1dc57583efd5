package box2d

import "github.com/evoswarm/evoswarm/internal/exact"

// Kinds of a separating axis.
const (
	axisPoints int32 = 0
	axisFaceA  int32 = 1
	axisFaceB  int32 = 2
)

// sweep is the motion of a body's frame during a step.
type sweep struct {
	localCenter, c0, c Vec2
	a0, a              float32
}

// at returns the frame at the time beta in [0, 1].
func (s *sweep) at(beta float32) transform {
	q := makeRot(float32((1-beta)*s.a0) + float32(beta*s.a))
	p := add(scale(1-beta, s.c0), scale(beta, s.c))
	return transform{sub(p, turn(q, s.localCenter)), q}
}

// normalize reduces a0 to [0, 2 pi), since the root finder fails for large angles.
func (s *sweep) normalize() {
	d := float32(twoPi * float32(exact.Floor(float64(s.a0/twoPi))))
	s.a0 -= d
	s.a -= d
}

// separator measures the separation of a fixture and a moving shape along one axis.
type separator struct {
	kind       int32
	axis       Vec2 // in the frame of the shape that has the face
	localPoint Vec2
}

// setup takes the axis from the features that were nearest at xf. It requires a distance above 0, so these
// are a point or a segment.
func (f *separator) setup(cache *simplexCache, g *Hull, s *PolygonShape, xf transform) {
	a0, b0 := g.vertices[cache.indexA[0]], s.vertices[cache.indexB[0]]
	if cache.count == 1 {
		f.kind = axisPoints
		f.axis, _ = normalize(sub(mul(xf, b0), a0))
		return
	}
	if cache.indexA[0] == cache.indexA[1] {
		f.kind = axisFaceB
		b1 := s.vertices[cache.indexB[1]]
		f.axis, _ = normalize(right(sub(b1, b0)))
		f.localPoint = scale(0.5, add(b0, b1))
		if dot(sub(a0, mul(xf, f.localPoint)), turn(xf.q, f.axis)) < 0 {
			f.axis = neg(f.axis)
		}
		return
	}
	f.kind = axisFaceA
	a1 := g.vertices[cache.indexA[1]]
	f.axis, _ = normalize(right(sub(a1, a0)))
	f.localPoint = scale(0.5, add(a0, a1))
	if dot(sub(mul(xf, b0), f.localPoint), f.axis) < 0 {
		f.axis = neg(f.axis)
	}
}

// deepest returns the vertices that are closest along the axis when the shape is at xf.
func (f *separator) deepest(g *Hull, s *PolygonShape, xf transform) (indexA, indexB int32) {
	if f.kind != axisFaceB {
		indexB = s.support(turnBack(xf.q, neg(f.axis)))
	}
	if f.kind == axisPoints {
		indexA = g.support(f.axis)
	}
	if f.kind == axisFaceB {
		indexA = g.support(neg(turn(xf.q, f.axis)))
	}
	return indexA, indexB
}

// evaluate returns the separation of these vertices along the axis when the shape is at xf.
func (f *separator) evaluate(indexA, indexB int32, g *Hull, s *PolygonShape, xf transform) float32 {
	switch f.kind {
	case axisPoints:
		return dot(sub(mul(xf, s.vertices[indexB]), g.vertices[indexA]), f.axis)
	case axisFaceA:
		return dot(sub(mul(xf, s.vertices[indexB]), f.localPoint), f.axis)
	}
	return dot(sub(g.vertices[indexA], mul(xf, f.localPoint)), turn(xf.q, f.axis))
}

// timeOfImpact returns the first time in [0, 1] at which the shape s, moving along w, comes as close to the
// fixture g as shapes in resting contact are, and whether there is one. There is none if they overlap at the
// beginning.
func timeOfImpact(g *Hull, s *PolygonShape, w sweep) (t float32, touching bool) {
	w.normalize()
	var cache simplexCache
	t1 := float32(0)
	for i := 0; i < maxTOIIterations; i++ {
		xf := w.at(t1)
		d := distance(&cache, g, s, xf)
		if d <= 0 {
			return 0, false
		}
		if d < toiTarget+toiTolerance {
			return t1, true
		}
		var f separator
		f.setup(&cache, g, s, xf)
		next, state := f.pushBack(g, s, &w, t1)
		if state != pushOn {
			return t1, state == pushTouching
		}
		t1 = next
	}
	return t1, false
}

// Outcomes of pushBack.
const (
	pushOn       int32 = 0 // continue from the new time with a new axis
	pushTouching int32 = 1 // they touch at t1
	pushNever    int32 = 2 // they stay apart, or the root finder failed
)

// pushBack moves the end of the interval [t1, 1] back, resolving one deepest point at a time, until the axis
// separates the shapes by the target distance there, and returns that end.
func (f *separator) pushBack(g *Hull, s *PolygonShape, w *sweep, t1 float32) (float32, int32) {
	t2 := float32(1)
	for i := 0; i < referenceMaxVertices; i++ {
		xf := w.at(t2)
		indexA, indexB := f.deepest(g, s, xf)
		s2 := f.evaluate(indexA, indexB, g, s, xf)
		if s2 > toiTarget+toiTolerance {
			return t1, pushNever
		}
		if s2 > toiTarget-toiTolerance {
			return t2, pushOn
		}
		s1 := f.evaluate(indexA, indexB, g, s, w.at(t1))
		if s1 < toiTarget-toiTolerance {
			return t1, pushNever
		}
		if s1 <= toiTarget+toiTolerance {
			return t1, pushTouching
		}
		a1, a2 := t1, t2
		for j, open := 0, true; open && j < maxTOIRootIterations; j++ {
			t := float32(0.5 * (a1 + a2))
			if j&1 == 1 {
				t = a1 + float32((toiTarget-s1)*(a2-a1))/(s2-s1)
			}
			v := f.evaluate(indexA, indexB, g, s, w.at(t))
			if abs(v-toiTarget) < toiTolerance {
				t2 = t
				open = false
			} else if v > toiTarget {
				a1, s1 = t, v
			} else {
				a2, s2 = t, v
			}
		}
	}
	return t1, pushOn
}
