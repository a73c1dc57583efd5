package box2d

// Filter decides which fixtures can touch: two can if the mask of each shares a bit with the category of the other.
type Filter struct{ CategoryBits, MaskBits uint32 }

// DefaultMask has all 16 bits of the reference set. The reference's default filter is {1, DefaultMask}.
const DefaultMask = 0xFFFF

// Fixture is an edge or a convex polygon of the ground, in world coordinates. It never changes.
type Fixture struct {
	vertices    [MaxGroundVertices]Vec2
	normals     [MaxGroundVertices]Vec2 // normals[0] of an edge points to the right, seen from vertex 0 to 1
	centroid    Vec2                    // not used by edges
	fat         aabb                    // fattened box in the broad phase
	count       int32                   // of vertices; 2 for an edge
	body        int32
	friction    float32
	restitution float32
	filter      Filter
}

// EdgeFixture returns a ground edge without neighbors from v1 to v2 [m]. body identifies the static body that
// it belongs to by an arbitrary number, equal for all fixtures of one body. It matters only in continuous
// collision, where the fixtures of one body share a time.
func EdgeFixture(body int32, v1, v2 Vec2, friction, restitution float32, f Filter) Fixture {
	var g Fixture
	g.count = 2
	g.vertices[0], g.vertices[1] = v1, v2
	edge, _ := normalize(sub(v2, v1))
	g.normals[0] = right(edge)
	g.finish(body, friction, restitution, f)
	return g
}

// PolygonFixture returns a ground polygon. It ignores vertices beyond MaxGroundVertices. body is as in EdgeFixture.
func PolygonFixture(body int32, s *PolygonShape, friction, restitution float32, f Filter) Fixture {
	var g Fixture
	g.count = s.count
	if g.count > MaxGroundVertices {
		g.count = MaxGroundVertices
	}
	for i := int32(0); i < g.count; i++ {
		g.vertices[i] = s.vertices[i]
		g.normals[i] = s.normals[i]
	}
	g.centroid = s.centroid
	g.finish(body, friction, restitution, f)
	return g
}

func (g *Fixture) finish(body int32, friction, restitution float32, f Filter) {
	g.body = body
	g.friction = friction
	g.restitution = restitution
	g.filter = f
	lower, upper := g.vertices[0], g.vertices[0]
	for i := int32(1); i < g.count; i++ {
		lower = leastVec(lower, g.vertices[i])
		upper = mostVec(upper, g.vertices[i])
	}
	g.fat = fatten(aabb{
		Vec2{lower.X - polygonRadius, lower.Y - polygonRadius},
		Vec2{upper.X + polygonRadius, upper.Y + polygonRadius},
	})
}

// VertexCount returns the number of vertices: 2 for an edge.
func (g *Fixture) VertexCount() int32 { return g.count }

// Vertex returns vertex i [m], 0 <= i < VertexCount.
func (g *Fixture) Vertex(i int32) Vec2 { return g.vertices[i] }

func fatten(b aabb) aabb {
	return aabb{
		Vec2{b.lower.X - aabbExtension, b.lower.Y - aabbExtension},
		Vec2{b.upper.X + aabbExtension, b.upper.Y + aabbExtension},
	}
}

// RayCast returns the fraction of the ray from p1 to p2 at which it hits the nearest fixture with a category
// bit in mask, or 1 and false if it hits none. A ray that starts inside a polygon does not hit it. The order
// of the fixtures does not matter, so callers may pass only those that can lie under the ray. Bit exact.
func RayCast(ground []Fixture, p1, p2 Vec2, mask uint32) (fraction float32, hit bool) {
	d := sub(p2, p1)
	fraction = 1
	lower, upper := leastVec(p1, p2), mostVec(p1, p2)
	box := aabb{lower, upper}
	for i := range ground {
		g := &ground[i]
		if g.filter.CategoryBits&mask == 0 || !box.overlaps(&g.fat) {
			continue
		}
		t, ok := float32(0), false
		if g.count == 2 {
			t, ok = g.castEdge(p1, d, fraction)
		} else {
			t, ok = g.castPolygon(p1, d, fraction)
		}
		if ok {
			fraction, hit = t, true
		}
	}
	return fraction, hit
}

func (g *Fixture) castEdge(p1, d Vec2, maxFraction float32) (float32, bool) {
	v1 := g.vertices[0]
	n := g.normals[0]
	denominator := dot(n, d)
	if denominator == 0 {
		return 0, false
	}
	t := dot(n, sub(v1, p1)) / denominator
	if t < 0 || maxFraction < t {
		return 0, false
	}
	r := sub(g.vertices[1], v1)
	rr := dot(r, r)
	if rr == 0 {
		return 0, false
	}
	s := dot(sub(add(p1, scale(t, d)), v1), r) / rr
	return t, !(s < 0 || 1 < s)
}

func (g *Fixture) castPolygon(p1, d Vec2, maxFraction float32) (float32, bool) {
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
