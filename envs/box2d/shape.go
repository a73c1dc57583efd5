package box2d

// PolygonShape is a convex polygon with counter-clockwise vertices. Its skin, of thickness b2_polygonRadius,
// lies outside of the vertices.
type PolygonShape struct {
	vertices [MaxPolygonVertices]Vec2
	normals  [MaxPolygonVertices]Vec2
	centroid Vec2
	count    int32
}

// Box returns the rectangle with half-width hx and half-height hy about the origin [m].
func Box(hx, hy float32) PolygonShape {
	var s PolygonShape
	s.count = 4
	s.vertices[0] = Vec2{-hx, -hy}
	s.vertices[1] = Vec2{hx, -hy}
	s.vertices[2] = Vec2{hx, hy}
	s.vertices[3] = Vec2{-hx, hy}
	s.normals[0] = Vec2{0, -1}
	s.normals[1] = Vec2{1, 0}
	s.normals[2] = Vec2{0, 1}
	s.normals[3] = Vec2{-1, 0}
	return s
}

// Polygon returns the convex hull of 3 to MaxPolygonVertices points [m]. Its vertices are in the order in
// which the gift wrapping of the reference finds them, not in the order of points. Fewer than 3 points, or
// points on one line, have no hull; as in the reference the result is then meaningless. Points beyond the
// capacity are ignored.
func Polygon(points []Vec2) PolygonShape {
	var s PolygonShape
	n := int32(len(points))
	if n > MaxPolygonVertices {
		n = MaxPolygonVertices
	}
	if n < 3 {
		return Box(1, 1)
	}
	i0 := int32(0)
	for i := int32(1); i < n; i++ {
		x, x0 := points[i].X, points[i0].X
		if x > x0 || x == x0 && points[i].Y < points[i0].Y {
			i0 = i
		}
	}
	at := i0
	m := int32(0)
	for open := true; open && m < n; m++ {
		s.vertices[m] = points[at]
		at = wrap(points[:n], at)
		open = at != i0
	}
	s.count = m
	for i := int32(0); i < m; i++ {
		edge := sub(s.vertices[s.next(i)], s.vertices[i])
		s.normals[i], _ = normalize(right(edge))
	}
	s.centroid = s.areaCenter()
	return s
}

// wrap returns the point after points[at] on the hull.
func wrap(points []Vec2, at int32) int32 {
	end := int32(0)
	for j := int32(1); j < int32(len(points)); j++ {
		if end == at {
			end = j
			continue
		}
		r := sub(points[end], points[at])
		v := sub(points[j], points[at])
		c := cross(r, v)
		if c < 0 || c == 0 && dot(v, v) > dot(r, r) {
			end = j
		}
	}
	return end
}

func (s *PolygonShape) next(i int32) int32 {
	if i+1 < s.count {
		return i + 1
	}
	return 0
}

// areaCenter is the reference's ComputeCentroid.
func (s *PolygonShape) areaCenter() Vec2 {
	var c Vec2
	area := float32(0)
	for i := int32(0); i < s.count; i++ {
		e1, e2 := s.vertices[i], s.vertices[s.next(i)]
		triangle := float32(0.5 * cross(e1, e2))
		area += triangle
		c = add(c, scale(float32(triangle*third), add(e1, e2)))
	}
	return scale(1/area, c)
}

// massData returns the mass, the center of mass, and the rotational inertia about the origin of the shape's frame.
func (s *PolygonShape) massData(density float32) (mass float32, center Vec2, inertia float32) {
	var ref Vec2
	for i := int32(0); i < s.count; i++ {
		ref = add(ref, s.vertices[i])
	}
	ref = scale(1/float32(s.count), ref)

	area := float32(0)
	for i := int32(0); i < s.count; i++ {
		e1, e2 := sub(s.vertices[i], ref), sub(s.vertices[s.next(i)], ref)
		d := cross(e1, e2)
		triangle := float32(0.5 * d)
		area += triangle
		center = add(center, scale(float32(triangle*third), add(e1, e2)))
		x2 := float32(e1.X*e1.X) + float32(e2.X*e1.X) + float32(e2.X*e2.X)
		y2 := float32(e1.Y*e1.Y) + float32(e2.Y*e1.Y) + float32(e2.Y*e2.Y)
		inertia += float32(float32(twelfth*d) * (x2 + y2))
	}
	mass = float32(density * area)
	center = scale(1/area, center)
	shifted := add(center, ref)
	inertia = float32(density * inertia)
	inertia += float32(mass * (dot(shifted, shifted) - dot(center, center)))
	return mass, shifted, inertia
}

// box returns the bounding box of the shape, skin included, in the frame t.
func (s *PolygonShape) box(t transform) aabb {
	lower := mul(t, s.vertices[0])
	upper := lower
	for i := int32(1); i < s.count; i++ {
		v := mul(t, s.vertices[i])
		lower = leastVec(lower, v)
		upper = mostVec(upper, v)
	}
	return aabb{
		Vec2{lower.X - polygonRadius, lower.Y - polygonRadius},
		Vec2{upper.X + polygonRadius, upper.Y + polygonRadius},
	}
}
