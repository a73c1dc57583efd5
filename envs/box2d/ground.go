package box2d

// Filter decides which fixtures can touch: two can if the mask of each shares a bit with the category of the other.
type Filter struct{ CategoryBits, MaskBits uint32 }

// meets reports whether fixtures with these filters can touch.
func (f Filter) meets(other Filter) bool {
	return f.MaskBits&other.CategoryBits != 0 && f.CategoryBits&other.MaskBits != 0
}

// DefaultMask has all 16 bits of the reference set. The reference's default filter is {1, DefaultMask}.
const DefaultMask = 0xFFFF

// Material is what fixtures of the ground have in common.
type Material struct {
	Friction    float32
	Restitution float32
	Filter      Filter

	// Body identifies the static body that the fixtures belong to, by an arbitrary number of at least 0. It
	// matters only in continuous collision, where the fixtures of one body share a time.
	Body int32
	// Apart makes each fixture a body of its own, whose number is the fixture's index. Body is not used then.
	Apart bool
}

// Fixture is an edge or a convex polygon of the ground, in world coordinates. It never changes. It holds only what
// cannot be computed quickly, since there are many: a polygon has its vertices in a Hull.
type Fixture struct {
	v1, v2 Vec2   // the ends of an edge, or the lower and the upper corner of a polygon's box
	normal Vec2   // of an edge, to the right, seen from v1 to v2
	tag    uint32 // low 16 bits: index of the material; high 16 bits: that of the hull plus 1, 0 of an edge
}

// Hull is a polygon of the ground.
type Hull struct {
	vertices [MaxGroundVertices]Vec2
	normals  [MaxGroundVertices]Vec2
	centroid Vec2
	count    int32
}

// EdgeFixture returns a ground edge without neighbors from v1 to v2 [m]. material is an index below 2^16.
func EdgeFixture(v1, v2 Vec2, material int32) Fixture {
	edge, _ := normalize(sub(v2, v1))
	return Fixture{v1, v2, right(edge), uint32(material)}
}

// Ends returns the ends of an edge [m].
func (g *Fixture) Ends() (v1, v2 Vec2) { return g.v1, g.v2 }

// PolygonFixture returns a ground polygon and writes its vertices to h, which is the Hull with the given index,
// below 2^16 - 1. It ignores vertices beyond MaxGroundVertices. material is as in EdgeFixture.
func PolygonFixture(h *Hull, index int32, s *PolygonShape, material int32) Fixture {
	h.count = min(s.count, MaxGroundVertices)
	for i := int32(0); i < h.count; i++ {
		h.vertices[i] = s.vertices[i]
		h.normals[i] = s.normals[i]
	}
	h.centroid = s.centroid
	lower, upper := h.vertices[0], h.vertices[0]
	for i := int32(1); i < h.count; i++ {
		lower = leastVec(lower, h.vertices[i])
		upper = mostVec(upper, h.vertices[i])
	}
	return Fixture{lower, upper, Vec2{}, uint32(index+1)<<16 | uint32(material)}
}

// hull returns the index of a polygon's Hull, and null for an edge.
func (g *Fixture) hull() int32 { return int32(g.tag>>16) - 1 }

func (g *Fixture) material() int32 { return int32(g.tag & 0xffff) }

// box returns the fattened box of the fixture in the broad phase.
func (g *Fixture) box() aabb {
	lower, upper := leastVec(g.v1, g.v2), mostVec(g.v1, g.v2)
	return fatten(aabb{
		Vec2{lower.X - polygonRadius, lower.Y - polygonRadius},
		Vec2{upper.X + polygonRadius, upper.Y + polygonRadius},
	})
}

// misses reports whether the fixture, without its skin, certainly lies on one side of b. It is
// faster than comparing boxes.
func (g *Fixture) misses(b *aabb) bool {
	return g.v1.X > b.upper.X && g.v2.X > b.upper.X || g.v1.X < b.lower.X && g.v2.X < b.lower.X ||
		g.v1.Y > b.upper.Y && g.v2.Y > b.upper.Y || g.v1.Y < b.lower.Y && g.v2.Y < b.lower.Y
}

// copyHull returns the vertices of the fixture, of an edge too.
func (g *Fixture) copyHull(hulls []Hull) Hull {
	if i := g.hull(); i >= 0 {
		return hulls[i]
	}
	var h Hull
	h.vertices[0], h.vertices[1] = g.v1, g.v2
	h.normals[0] = g.normal
	h.count = 2
	return h
}

func fatten(b aabb) aabb {
	return aabb{
		Vec2{b.lower.X - aabbExtension, b.lower.Y - aabbExtension},
		Vec2{b.upper.X + aabbExtension, b.upper.Y + aabbExtension},
	}
}

// RayCast returns the fraction of the ray from p1 to p2 at which it hits the nearest fixture, or 1 and false if
// it hits none. A ray that starts inside a polygon does not hit it. The order of the fixtures does not matter, so
// callers may pass only those that can lie under the ray. Bit exact.
func RayCast(ground []Fixture, hulls []Hull, p1, p2 Vec2) (fraction float32, hit bool) {
	d := sub(p2, p1)
	fraction = 1
	box := fatten(aabb{leastVec(p1, p2), mostVec(p1, p2)})
	for i := range ground {
		g := &ground[i]
		if g.misses(&box) {
			continue
		}
		t, ok := float32(0), false
		if h := g.hull(); h >= 0 {
			t, ok = hulls[h].cast(p1, d, fraction)
		} else {
			t, ok = g.castEdge(p1, d, fraction)
		}
		if ok {
			fraction, hit = t, true
		}
	}
	return fraction, hit
}

func (g *Fixture) castEdge(p1, d Vec2, maxFraction float32) (float32, bool) {
	v1, n := g.v1, g.normal
	denominator := dot(n, d)
	if denominator == 0 {
		return 0, false
	}
	t := dot(n, sub(v1, p1)) / denominator
	if t < 0 || maxFraction < t {
		return 0, false
	}
	r := sub(g.v2, v1)
	rr := dot(r, r)
	if rr == 0 {
		return 0, false
	}
	s := dot(sub(add(p1, scale(t, d)), v1), r) / rr
	return t, !(s < 0 || 1 < s)
}

func (g *Hull) cast(p1, d Vec2, maxFraction float32) (float32, bool) {
	lower, upper := float32(0), maxFraction
	enters := false
	for i := int32(0); i < g.count; i++ {
		numerator := dot(g.normals[i], sub(g.vertices[i], p1))
		denominator := dot(g.normals[i], d)
		if denominator == 0 {
			if numerator < 0 {
				return 0, false
			}
		} else if denominator < 0 && numerator < float32(lower*denominator) {
			lower = numerator / denominator
			enters = true
		} else if denominator > 0 && numerator < float32(upper*denominator) {
			upper = numerator / denominator
		}
		if upper < lower {
			return 0, false
		}
	}
	return lower, enters
}
