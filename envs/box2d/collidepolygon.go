package box2d

// hullRef is a convex polygon of the ground or of a body, at its position. It is a copy of either, so that
// one function works in both directions.
type hullRef struct {
	vertices [MaxPolygonVertices]Vec2
	normals  [MaxPolygonVertices]Vec2
	centroid Vec2
	count    int32
	xf       transform
}

func (h *hullRef) next(i int32) int32 {
	if i+1 < h.count {
		return i + 1
	}
	return 0
}

func (h *hullRef) setGround(g *Hull) {
	for i := int32(0); i < g.count; i++ {
		h.vertices[i] = g.vertices[i]
		h.normals[i] = g.normals[i]
	}
	h.centroid = g.centroid
	h.count = g.count
	h.xf = transform{q: rot{0, 1}}
}

func (h *hullRef) setBody(b *Body) {
	for i := int32(0); i < b.shape.count; i++ {
		h.vertices[i] = b.shape.vertices[i]
		h.normals[i] = b.shape.normals[i]
	}
	h.centroid = b.shape.centroid
	h.count = b.shape.count
	h.xf = b.xf
}

// edgeSeparation returns the separation of h and o along the normal of face edge of h.
func (h *hullRef) edgeSeparation(edge int32, o *hullRef) float32 {
	normalWorld := turn(h.xf.q, h.normals[edge])
	normal := turnBack(o.xf.q, normalWorld)
	index := int32(0)
	minDot := maxFloat
	for i := int32(0); i < o.count; i++ {
		d := dot(o.vertices[i], normal)
		if d < minDot {
			minDot = d
			index = i
		}
	}
	return dot(sub(mul(o.xf, o.vertices[index]), mul(h.xf, h.vertices[edge])), normalWorld)
}

// maxSeparation returns the face of h with the greatest separation from o, and that separation. Like the
// reference it climbs from the face that points towards o, and may end in a local maximum.
func (h *hullRef) maxSeparation(o *hullRef) (int32, float32) {
	d := turnBack(h.xf.q, sub(mul(o.xf, o.centroid), mul(h.xf, h.centroid)))
	edge := int32(0)
	maxDot := -maxFloat
	for i := int32(0); i < h.count; i++ {
		v := dot(h.normals[i], d)
		if v > maxDot {
			maxDot = v
			edge = i
		}
	}
	s := h.edgeSeparation(edge, o)
	before, after := h.before(edge), h.next(edge)
	sBefore, sAfter := h.edgeSeparation(before, o), h.edgeSeparation(after, o)
	back := sBefore > s && sBefore > sAfter
	best, separation := after, sAfter
	if back {
		best, separation = before, sBefore
	} else if !(sAfter > s) {
		return edge, s
	}
	// The separations of the faces rise and fall once, so the climb ends within one turn.
	for i, climbing := int32(0), true; climbing && i < MaxPolygonVertices; i++ {
		if back {
			edge = h.before(best)
		} else {
			edge = h.next(best)
		}
		s = h.edgeSeparation(edge, o)
		climbing = s > separation
		if climbing {
			best = edge
			separation = s
		}
	}
	return best, separation
}

func (h *hullRef) before(i int32) int32 {
	if i > 0 {
		return i - 1
	}
	return h.count - 1
}

// incidentEdge finds the edge of o most opposed to face edge of h.
func (h *hullRef) incidentEdge(c *[2]clipVertex, edge int32, o *hullRef) {
	normal := turnBack(o.xf.q, turn(h.xf.q, h.normals[edge]))
	index := int32(0)
	minDot := maxFloat
	for i := int32(0); i < o.count; i++ {
		d := dot(normal, o.normals[i])
		if d < minDot {
			minDot = d
			index = i
		}
	}
	i2 := o.next(index)
	c[0] = clipVertex{mul(o.xf, o.vertices[index]), contactID(edge, index, featureFace, featureVertex)}
	c[1] = clipVertex{mul(o.xf, o.vertices[i2]), contactID(edge, i2, featureFace, featureVertex)}
}

// collidePolygon sets m to the manifold between the polygon g and the body b. It writes only the fields that
// the reference writes.
func collidePolygon(m *manifold, g *Hull, b *Body) {
	m.count = 0
	var hullA, hullB hullRef
	hullA.setGround(g)
	hullB.setBody(b)
	edgeA, separationA := hullA.maxSeparation(&hullB)
	if separationA > totalRadius {
		return
	}
	edgeB, separationB := hullB.maxSeparation(&hullA)
	if separationB > totalRadius {
		return
	}
	if separationB > float32(hysteresisRelative*separationA)+hysteresisAbsolute {
		m.face = faceB
		hullB.clip(m, edgeB, &hullA)
	} else {
		m.face = faceA
		hullA.clip(m, edgeA, &hullB)
	}
}

// clip takes face edge of h as the reference face and writes the points of o's edge that are close to it.
func (h *hullRef) clip(m *manifold, edge int32, o *hullRef) {
	var incident, first, clipped [2]clipVertex
	h.incidentEdge(&incident, edge, o)

	i2 := h.next(edge)
	v11, v12 := h.vertices[edge], h.vertices[i2]
	localTangent, _ := normalize(sub(v12, v11))
	planePoint := scale(0.5, add(v11, v12))
	tangent := turn(h.xf.q, localTangent)
	normal := right(tangent)
	v11, v12 = mul(h.xf, v11), mul(h.xf, v12)
	frontOffset := dot(normal, v11)

	if clipSegment(&first, &incident, neg(tangent), -dot(tangent, v11)+totalRadius, edge) < 2 {
		return
	}
	if clipSegment(&clipped, &first, tangent, dot(tangent, v12)+totalRadius, i2) < 2 {
		return
	}
	m.localNormal = right(localTangent)
	m.localPoint = planePoint
	for i := int32(0); i < maxManifoldPoints; i++ {
		if dot(normal, clipped[i].v)-frontOffset > totalRadius {
			continue
		}
		p := &m.points[m.count]
		p.local = mulBack(o.xf, clipped[i].v)
		p.id = clipped[i].id
		if m.face == faceB {
			p.id = swapID(p.id)
		}
		m.count++
	}
}
