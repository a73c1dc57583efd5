package box2d

// edgeCollider finds where a ground edge without neighbors touches a polygon. It is b2EPCollider of the
// reference, in world coordinates, which are the edge's frame.
type edgeCollider struct {
	vertices [MaxPolygonVertices]Vec2 // of the polygon, in the world
	normals  [MaxPolygonVertices]Vec2
	v1, v2   Vec2
	normal1  Vec2
	normal   Vec2 // normal1, pointing to the side of the polygon
	limit    Vec2 // of both ends of the range of normals
	front    bool
	count    int32
}

// collideEdge sets m to the manifold between the edge g and the body b. It writes only the fields that the
// reference writes.
func collideEdge(m *manifold, g *Fixture, b *Body) {
	var e edgeCollider
	m.count = 0
	e.v1, e.v2 = g.v1, g.v2
	e.normal1 = g.normal
	e.front = dot(e.normal1, sub(mul(b.xf, b.shape.centroid), e.v1)) >= 0
	if e.front {
		e.normal = e.normal1
		e.limit = neg(e.normal1)
	} else {
		e.normal = neg(e.normal1)
		e.limit = e.normal1
	}
	e.count = b.shape.count
	edgeSeparation := maxFloat
	for i := int32(0); i < e.count; i++ {
		e.vertices[i] = mul(b.xf, b.shape.vertices[i])
		s := dot(e.normal, sub(e.vertices[i], e.v1))
		if s < edgeSeparation {
			edgeSeparation = s
		}
	}
	if edgeSeparation > totalRadius {
		return
	}
	face, separation, apart := e.polygonSeparation(b)
	if apart {
		return
	}
	var incident, clipped [2]clipVertex
	var ref referenceFace
	m.face = faceA
	if face != null && separation > float32(hysteresisRelative*edgeSeparation)+hysteresisAbsolute {
		m.face = faceB
		e.polygonFace(&ref, &incident, face)
	} else {
		e.edgeFace(&ref, &incident)
	}
	if !ref.clip(&clipped, &incident) {
		return
	}
	e.store(m, b, &ref, &clipped)
}

// polygonSeparation returns the polygon's face of greatest separation (null if no face qualifies), that
// separation, and whether the shapes are apart.
func (e *edgeCollider) polygonSeparation(b *Body) (face int32, separation float32, apart bool) {
	face = null
	separation = -maxFloat
	for i := int32(0); i < e.count; i++ {
		e.normals[i] = turn(b.xf.q, b.shape.normals[i])
		n := neg(e.normals[i])
		s := least(dot(n, sub(e.vertices[i], e.v1)), dot(n, sub(e.vertices[i], e.v2)))
		if s > totalRadius {
			return i, s, true
		}
		if dot(sub(n, e.limit), e.normal) < -angularSlop {
			continue
		}
		if s > separation {
			face = i
			separation = s
		}
	}
	return face, separation, false
}

// edgeFace takes the edge as the reference face and the polygon's most opposed face as the incident one.
func (e *edgeCollider) edgeFace(ref *referenceFace, incident *[2]clipVertex) {
	best := int32(0)
	value := dot(e.normal, e.normals[0])
	for i := int32(1); i < e.count; i++ {
		v := dot(e.normal, e.normals[i])
		if v < value {
			value = v
			best = i
		}
	}
	i2 := e.next(best)
	incident[0] = clipVertex{e.vertices[best], contactID(0, best, featureFace, featureVertex)}
	incident[1] = clipVertex{e.vertices[i2], contactID(0, i2, featureFace, featureVertex)}
	if e.front {
		*ref = referenceFace{0, 1, e.v1, e.v2, e.normal1}
	} else {
		*ref = referenceFace{1, 0, e.v2, e.v1, neg(e.normal1)}
	}
}

// polygonFace takes the polygon's face as the reference face and the edge as the incident one.
func (e *edgeCollider) polygonFace(ref *referenceFace, incident *[2]clipVertex, face int32) {
	incident[0] = clipVertex{e.v1, contactID(0, face, featureVertex, featureFace)}
	incident[1] = clipVertex{e.v2, contactID(0, face, featureVertex, featureFace)}
	i2 := e.next(face)
	*ref = referenceFace{face, i2, e.vertices[face], e.vertices[i2], e.normals[face]}
}

// store writes the points that are close enough to m.
func (e *edgeCollider) store(m *manifold, b *Body, ref *referenceFace, clipped *[2]clipVertex) {
	if m.face == faceA {
		m.localNormal = ref.normal
		m.localPoint = ref.v1
	} else {
		m.localNormal = b.shape.normals[ref.i1]
		m.localPoint = b.shape.vertices[ref.i1]
	}
	for i := int32(0); i < maxManifoldPoints; i++ {
		if dot(ref.normal, sub(clipped[i].v, ref.v1)) > totalRadius {
			continue
		}
		p := &m.points[m.count]
		if m.face == faceA {
			p.local = mulBack(b.xf, clipped[i].v)
			p.id = clipped[i].id
		} else {
			p.local = clipped[i].v
			p.id = swapID(clipped[i].id)
		}
		m.count++
	}
}

func (e *edgeCollider) next(i int32) int32 {
	if i+1 < e.count {
		return i + 1
	}
	return 0
}
