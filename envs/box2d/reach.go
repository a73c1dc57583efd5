package box2d

import "github.com/evoswarm/evoswarm/internal/exact"

// clearance is a distance at which shapes cannot collide: the distance that counts as an impact, toiTarget +
// toiTolerance, plus 2 mm for rounding, about twenty times the largest rounding error in a scene of 100 m.
const clearance = toiTarget + toiTolerance + 0.002

// reach holds the vertices of a body at both ends of its sweep. In between none is farther than bulge from
// the straight line: a point at radius r that turns by an angle w deviates from its chord by at most r w^2/8.
type reach struct {
	known  bool
	from   [MaxPolygonVertices]Vec2
	to     [MaxPolygonVertices]Vec2
	bulge  float32
	extent aabb
}

func (r *reach) set(b *Body) {
	w := sweep{b.localCenter, b.c0, b.c, b.a0, b.a}
	xf := w.at(0)
	r.known = true
	radius := float32(0)
	for i := int32(0); i < b.shape.count; i++ {
		v := b.shape.vertices[i]
		from, to := mul(xf, v), mul(b.xf, v)
		r.from[i], r.to[i] = from, to
		if i == 0 {
			r.extent = aabb{from, from}
		}
		r.extent.lower = leastVec(r.extent.lower, leastVec(from, to))
		r.extent.upper = mostVec(r.extent.upper, mostVec(from, to))
		d := sub(v, b.localCenter)
		radius = most(radius, dot(d, d))
	}
	angle := b.a - b.a0
	r.bulge = float32(float32(float32(angle*angle)*0.125) * exact.Sqrt32(radius))
}

// clears reports whether the body certainly stays clear of the fixture during its sweep: whether a coordinate
// axis or a normal of the fixture separates them enough at both ends. Then timeOfImpact would find no impact.
func (r *reach) clears(g *Fixture, hulls []Hull, count int32) bool {
	margin := clearance + r.bulge
	around := aabb{
		Vec2{r.extent.lower.X - margin, r.extent.lower.Y - margin},
		Vec2{r.extent.upper.X + margin, r.extent.upper.Y + margin},
	}
	if g.misses(&around) {
		return true
	}
	index := g.hull()
	if index < 0 {
		lowest, highest := r.along(g.normal, g.v1, count)
		return lowest > margin || -highest > margin
	}
	h := &hulls[index]
	for i := int32(0); i < h.count; i++ {
		lowest, _ := r.along(h.normals[i], h.vertices[i], count)
		if lowest > margin {
			return true
		}
	}
	return false
}

// along returns the least and the greatest distance of the vertices from the point in direction n.
func (r *reach) along(n, point Vec2, count int32) (lowest, highest float32) {
	offset := dot(n, point)
	lowest, highest = maxFloat, -maxFloat
	for i := int32(0); i < count; i++ {
		a, b := dot(n, r.from[i])-offset, dot(n, r.to[i])-offset
		lowest = least(lowest, least(a, b))
		highest = most(highest, most(a, b))
	}
	return lowest, highest
}
