package box2d

// Types of a manifold: which shape has the reference face.
const (
	faceA int32 = 1 // the ground
	faceB int32 = 2 // the body
)

// Kinds of a feature in a contact's id.
const (
	featureVertex uint32 = 0
	featureFace   uint32 = 1
)

// manifoldPoint is a contact point. Its impulses carry over to the next step.
type manifoldPoint struct {
	local          Vec2 // faceA: in the body's frame; faceB: in the world
	normalImpulse  float32
	tangentImpulse float32
	id             uint32
}

// manifold describes how a ground fixture, shape A, touches a body, shape B. The frame of shape A is the world.
type manifold struct {
	points      [maxManifoldPoints]manifoldPoint
	localNormal Vec2 // in the frame of the shape that has the reference face
	localPoint  Vec2 // on the reference face, in the same frame
	face        int32
	count       int32
}

// clipVertex is a vertex of an edge that is being clipped.
type clipVertex struct {
	v  Vec2
	id uint32
}

// contactID packs the touching features as the reference's b2ContactID.
func contactID(indexA, indexB int32, typeA, typeB uint32) uint32 {
	return uint32(indexA) | uint32(indexB)<<8 | typeA<<16 | typeB<<24
}

// swapID exchanges the roles of A and B.
func swapID(id uint32) uint32 { return (id>>8)&0x00ff00ff | (id&0x00ff00ff)<<8 }

// clipSegment clips the segment in to the half-plane dot(normal, v) <= offset and returns the number of
// remaining points.
func clipSegment(out, in *[2]clipVertex, normal Vec2, offset float32, vertexA int32) int32 {
	n := int32(0)
	d0 := dot(normal, in[0].v) - offset
	d1 := dot(normal, in[1].v) - offset
	if d0 <= 0 {
		out[n] = in[0]
		n++
	}
	if d1 <= 0 {
		out[n] = in[1]
		n++
	}
	if float32(d0*d1) < 0 {
		t := d0 / (d0 - d1)
		out[n].v = add(in[0].v, scale(t, sub(in[1].v, in[0].v)))
		out[n].id = contactID(vertexA, int32(in[0].id>>8&0xff), featureVertex, featureFace)
		n++
	}
	return n
}

// referenceFace is the face against whose sides the other shape's edge is clipped.
type referenceFace struct {
	i1, i2 int32
	v1, v2 Vec2
	normal Vec2
}

// clip clips the incident edge to the sides of the face and reports whether two points remain.
func (f *referenceFace) clip(out, incident *[2]clipVertex) bool {
	side := right(f.normal)
	var first [2]clipVertex
	if clipSegment(&first, incident, side, dot(side, f.v1), f.i1) < 2 {
		return false
	}
	side = neg(side)
	return clipSegment(out, &first, side, dot(side, f.v2), f.i2) == 2
}
