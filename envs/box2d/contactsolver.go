package box2d

// velocity is the part of a body that velocity iterations change.
type velocity struct {
	v Vec2
	w float32
}

// position is the part of a body that position iterations change. It caches the rotation of the last angle used.
type position struct {
	c  Vec2
	a  float32
	qa float32 // the angle of q
	q  rot
}

func (p *position) rotation() rot {
	if p.qa != p.a {
		p.qa = p.a
		p.q = makeRot(p.a)
	}
	return p.q
}

// constraintPoint is a point of contact during one step.
type constraintPoint struct {
	r              Vec2 // from the center of mass
	normalMass     float32
	tangentMass    float32
	velocityBias   float32
	normalImpulse  float32
	tangentImpulse float32
}

// contactConstraint is a touching contact during one step. The ground does not move, so only the body's side matters.
// It has what velocity iterations need, and is on the stack 32 times: the rest is read from the contact and the body.
type contactConstraint struct {
	contact, body       int32
	points              [maxManifoldPoints]constraintPoint
	normal              Vec2  // from the ground to the body
	count               int32 // points in the velocity iterations
	invMass, invI       float32
	friction            float32
	k11, k12, k22       float32
	inv11, inv12, inv22 float32
	tangent             Vec2
}

// prepare sets what does not depend on the position. warm scales the impulses of the previous step.
func (k *contactConstraint) prepare(w *World, contacts []Contact, index int32, warm float32) {
	c := &contacts[index]
	b := &w.Bodies[c.body]
	m := &c.manifold
	k.contact, k.body = index, c.body
	k.invMass, k.invI = b.invMass, b.invI
	k.friction = c.friction
	k.count = m.count
	for j := int32(0); j < m.count; j++ {
		p := &k.points[j]
		p.normalImpulse = float32(warm * m.points[j].normalImpulse)
		p.tangentImpulse = float32(warm * m.points[j].tangentImpulse)
	}
}

// worldPoints returns the normal from the ground to the body and the contact points, in world coordinates,
// for the body at xf.
func (m *manifold) worldPoints(xf transform) (normal, p0, p1 Vec2) {
	if m.face == faceA {
		normal = m.localNormal
		p0 = middle(mul(xf, m.points[0].local), m.localPoint, normal)
		p1 = middle(mul(xf, m.points[1].local), m.localPoint, normal)
		return normal, p0, p1
	}
	normal = turn(xf.q, m.localNormal)
	plane := mul(xf, m.localPoint)
	p0 = middle(m.points[0].local, plane, normal)
	p1 = middle(m.points[1].local, plane, normal)
	return neg(normal), p0, p1
}

// middle returns the point halfway between the two skins, that of the plane's shape and that around the
// clipped point. The sum does not depend on which of them is A.
func middle(clip, plane, normal Vec2) Vec2 {
	onPlane := add(clip, scale(polygonRadius-dot(sub(clip, plane), normal), normal))
	return scale(0.5, add(onPlane, sub(clip, scale(polygonRadius, normal))))
}

// setup computes masses and bias of the contact at the body's position.
func (k *contactConstraint) setup(contact *Contact, localCenter Vec2, p *position, v *velocity) {
	q := p.rotation()
	normal, p0, p1 := contact.manifold.worldPoints(transform{sub(p.c, turn(q, localCenter)), q})
	k.normal = normal
	k.tangent = right(normal)
	k.points[0].r = sub(p0, p.c)
	k.points[1].r = sub(p1, p.c)
	for j := int32(0); j < k.count; j++ {
		c := &k.points[j]
		rn, rt := cross(c.r, k.normal), cross(c.r, k.tangent)
		c.normalMass = inverse(k.invMass + float32(float32(k.invI*rn)*rn))
		c.tangentMass = inverse(k.invMass + float32(float32(k.invI*rt)*rt))
		c.velocityBias = 0
		approach := dot(k.normal, add(v.v, spin(v.w, c.r)))
		if approach < -velocityThreshold {
			c.velocityBias = float32(-contact.restitution * approach)
		}
	}
	if k.count == 2 {
		k.initBlock()
	}
}

func inverse(x float32) float32 {
	if x > 0 {
		return 1 / x
	}
	return 0
}

// initBlock prepares to solve both points together. If they are redundant, only the first is solved.
func (k *contactConstraint) initBlock() {
	rn1, rn2 := cross(k.points[0].r, k.normal), cross(k.points[1].r, k.normal)
	k11 := k.invMass + float32(float32(k.invI*rn1)*rn1)
	k22 := k.invMass + float32(float32(k.invI*rn2)*rn2)
	k12 := k.invMass + float32(float32(k.invI*rn1)*rn2)
	det := float32(k11*k22) - float32(k12*k12)
	if !(float32(k11*k11) < float32(maxConditionNumber*det)) {
		k.count = 1
		return
	}
	k.k11, k.k12, k.k22 = k11, k12, k22
	if det != 0 {
		det = 1 / det
	}
	k.inv11, k.inv12, k.inv22 = float32(det*k22), float32(-det*k12), float32(det*k11)
}

func (k *contactConstraint) warmStart(v *velocity) {
	for j := int32(0); j < k.count; j++ {
		c := &k.points[j]
		p := add(scale(c.normalImpulse, k.normal), scale(c.tangentImpulse, k.tangent))
		v.w += float32(k.invI * cross(c.r, p))
		v.v = add(v.v, scale(k.invMass, p))
	}
}

// solveVelocity is one iteration over the contact: friction first, then the normal impulses. It skips
// impulses that do not change, which shortens the chain of dependent operations.
func (k *contactConstraint) solveVelocity(body *velocity) {
	v := k.solveTangent(&k.points[0], *body)
	if k.count == 2 {
		*body = k.solveBlock(k.solveTangent(&k.points[1], v))
		return
	}
	c := &k.points[0]
	vn := float32((v.v.X-float32(v.w*c.r.Y))*k.normal.X) + float32((v.v.Y+float32(v.w*c.r.X))*k.normal.Y)
	impulse := most(c.normalImpulse-float32(c.normalMass*(vn-c.velocityBias)), 0)
	if impulse != c.normalImpulse {
		lambda := impulse - c.normalImpulse
		c.normalImpulse = impulse
		v = k.push(c, v, float32(lambda*k.normal.X), float32(lambda*k.normal.Y))
	}
	*body = v
}

// solveTangent solves the friction at one point.
func (k *contactConstraint) solveTangent(c *constraintPoint, v velocity) velocity {
	vt := float32((v.v.X-float32(v.w*c.r.Y))*k.tangent.X) + float32((v.v.Y+float32(v.w*c.r.X))*k.tangent.Y)
	limit := float32(k.friction * c.normalImpulse)
	impulse := c.tangentImpulse - float32(c.tangentMass*vt)
	if !(impulse < limit) {
		impulse = limit
	}
	if -limit > impulse {
		impulse = -limit
	}
	if impulse == c.tangentImpulse {
		return v
	}
	lambda := impulse - c.tangentImpulse
	c.tangentImpulse = impulse
	return k.push(c, v, float32(lambda*k.tangent.X), float32(lambda*k.tangent.Y))
}

// push applies the impulse (x, y) at a contact point.
func (k *contactConstraint) push(c *constraintPoint, v velocity, x, y float32) velocity {
	v.v.X += float32(k.invMass * x)
	v.v.Y += float32(k.invMass * y)
	v.w += float32(k.invI * (float32(c.r.X*y) - float32(c.r.Y*x)))
	return v
}

// solveBlock finds the normal impulses of both points together, from the first valid case of the four of the
// linear complementarity problem. If no case is valid, nothing changes.
func (k *contactConstraint) solveBlock(v velocity) velocity {
	c1, c2 := &k.points[0], &k.points[1]
	vX, vY, w := v.v.X, v.v.Y, v.w
	a1, a2 := c1.normalImpulse, c2.normalImpulse
	vn1 := float32((vX-float32(w*c1.r.Y))*k.normal.X) + float32((vY+float32(w*c1.r.X))*k.normal.Y)
	vn2 := float32((vX-float32(w*c2.r.Y))*k.normal.X) + float32((vY+float32(w*c2.r.X))*k.normal.Y)
	b1 := vn1 - c1.velocityBias - (float32(k.k11*a1) + float32(k.k12*a2))
	b2 := vn2 - c2.velocityBias - (float32(k.k12*a1) + float32(k.k22*a2))

	x1 := -(float32(k.inv11*b1) + float32(k.inv12*b2))
	x2 := -(float32(k.inv12*b1) + float32(k.inv22*b2))
	if !(x1 >= 0 && x2 >= 0) {
		x1 = float32(-c1.normalMass * b1)
		x2 = 0
		if !(x1 >= 0 && float32(k.k12*x1)+b2 >= 0) {
			x1 = 0
			x2 = float32(-c2.normalMass * b2)
			if !(x2 >= 0 && float32(k.k12*x2)+b1 >= 0) {
				x2 = 0
				if !(b1 >= 0 && b2 >= 0) {
					return v
				}
			}
		}
	}
	if x1 == a1 && x2 == a2 {
		return v
	}
	d1, d2 := x1-a1, x2-a2
	p1X, p1Y := float32(d1*k.normal.X), float32(d1*k.normal.Y)
	p2X, p2Y := float32(d2*k.normal.X), float32(d2*k.normal.Y)
	c1.normalImpulse, c2.normalImpulse = x1, x2
	v.v.X = vX + float32(k.invMass*(p1X+p2X))
	v.v.Y = vY + float32(k.invMass*(p1Y+p2Y))
	v.w = w + float32(k.invI*((float32(c1.r.X*p1Y)-float32(c1.r.Y*p1X))+(float32(c2.r.X*p2Y)-float32(c2.r.Y*p2X))))
	return v
}

// store saves the impulses for the next step.
func (k *contactConstraint) store(contacts []Contact) {
	m := &contacts[k.contact].manifold
	for j := int32(0); j < k.count; j++ {
		m.points[j].normalImpulse = plus(k.points[j].normalImpulse)
		m.points[j].tangentImpulse = plus(k.points[j].tangentImpulse)
	}
}

// solvePosition pushes the body out of the ground by a fraction of its depth and returns the minimum of least
// and the separations seen. m is the contact's manifold.
func (k *contactConstraint) solvePosition(m *manifold, localCenter Vec2, p *position, share, minSeparation float32) float32 {
	for j := int32(0); j < m.count; j++ {
		q := p.rotation()
		xf := transform{sub(p.c, turn(q, localCenter)), q}
		normal, plane, point := m.localNormal, m.localPoint, m.points[j].local
		if m.face == faceA {
			point = mul(xf, point)
		} else {
			normal = turn(q, normal)
			plane = mul(xf, plane)
		}
		separation := dot(sub(point, plane), normal) - polygonRadius - polygonRadius
		if m.face == faceB {
			normal = neg(normal)
		}
		minSeparation = least(minSeparation, separation)
		c := clamp(float32(share*(separation+linearSlop)), -maxLinearCorrection, 0)
		r := sub(point, p.c)
		rn := cross(r, normal)
		mass := k.invMass + float32(float32(k.invI*rn)*rn)
		impulse := float32(0)
		if mass > 0 {
			impulse = -c / mass
		}
		push := scale(impulse, normal)
		p.c = add(p.c, scale(k.invMass, push))
		p.a += float32(k.invI * cross(r, push))
	}
	return minSeparation
}
