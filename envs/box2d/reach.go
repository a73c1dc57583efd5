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
func (r *reach) clears(g *Fixture, count int32) bool {
	const skin = aabbExtension + polygonRadius // of the fixture's box
	margin := clearance + r.bulge
	if r.extent.lower.X-(g.fat.upper.X-skin) > margin || (g.fat.lower.X+skin)-r.extent.upper.X > margin ||
		r.extent.lower.Y-(g.fat.upper.Y-skin) > margin || (g.fat.lower.Y+skin)-r.extent.upper.Y > margin {
		return true
	}
	if g.count == 2 {
		lowest, highest := r.along(g.normals[0], g.vertices[0], count)
		return lowest > margin || -highest > margin
	}
	for i := int32(0); i < g.count; i++ {
		lowest, _ := r.along(g.normals[i], g.vertices[i], count)
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
