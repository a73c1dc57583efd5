package box2d

// States of a joint's limit.
const (
	limitInactive int32 = 0
	limitLower    int32 = 1
	limitUpper    int32 = 2
)

// RevoluteJointDef describes a hinge between two bodies. Its limit and motor are always on; a motor without
// torque has no effect.
type RevoluteJointDef struct {
	BodyA, BodyB               int32
	LocalAnchorA, LocalAnchorB Vec2    // the hinge in the frames of the bodies [m]
	ReferenceAngle             float32 // angle of B minus angle of A where the joint angle is 0 [rad]
	LowerAngle, UpperAngle     float32 // [rad]; upper - lower at least 0.07 (two angular slops)
	MotorSpeed                 float32 // [rad/s]
	MaxMotorTorque             float32 // [N m]
}

// RevoluteJoint is a hinge.
type RevoluteJoint struct {
	def          RevoluteJointDef
	impulseX     float32
	impulseY     float32
	impulseZ     float32 // of the limit
	motorImpulse float32
	limit        int32
}

// CreateRevoluteJoint adds a hinge and returns its index, counted from 0. The bodies must exist. If there are
// MaxJoints joints already, nothing is added, and Overflow reports true.
func (w *World) CreateRevoluteJoint(def *RevoluteJointDef) int32 {
	if w.jointCount == MaxJoints {
		w.overflow = true
		return w.jointCount - 1
	}
	j := &w.Joints[w.jointCount]
	*j = RevoluteJoint{}
	j.def = *def
	w.jointCount++
	return w.jointCount - 1
}

// JointAngle returns the angle of joint j [rad].
func (w *World) JointAngle(j int32) float32 {
	d := &w.Joints[j].def
	return w.Bodies[d.BodyB].a - w.Bodies[d.BodyA].a - d.ReferenceAngle
}

// JointSpeed returns the angular velocity of joint j [rad/s].
func (w *World) JointSpeed(j int32) float32 {
	d := &w.Joints[j].def
	return w.Bodies[d.BodyB].AngularVelocity - w.Bodies[d.BodyA].AngularVelocity
}

// SetMotorSpeed sets the target speed of the motor of joint j [rad/s] and wakes both bodies.
func (w *World) SetMotorSpeed(j int32, speed float32) {
	w.wakeJoint(j)
	w.Joints[j].def.MotorSpeed = speed
}

// SetMaxMotorTorque sets the maximum torque of the motor of joint j [N m] and wakes both bodies.
func (w *World) SetMaxMotorTorque(j int32, torque float32) {
	w.wakeJoint(j)
	w.Joints[j].def.MaxMotorTorque = torque
}

func (w *World) wakeJoint(j int32) {
	d := &w.Joints[j].def
	w.Bodies[d.BodyA].SetAwake(true)
	w.Bodies[d.BodyB].SetAwake(true)
}

// jointConstraint is a joint during one step.
type jointConstraint struct {
	joint, a, b            int32
	limit                  int32
	rA, rB                 Vec2
	offsetA, offsetB       Vec2 // of the anchors from the centers of mass, in the bodies' frames
	mA, mB, iA, iB         float32
	exX, exY, exZ          float32 // columns of the symmetric mass matrix
	eyY, eyZ, ezZ          float32
	cX, cY, cZ             float32 // ey x ez
	negInv33, inv22        float32 // of the determinants
	motorMass, motorSpeed  float32
	negMotorMass           float32
	minImpulse, maxImpulse float32
	impX, impY, impZ, impM float32 // accumulated impulses
	x, y                   float32 // what the last iteration added to impX and impY
}

// setup prepares the constraint and applies the impulses of the previous step.
func (k *jointConstraint) setup(w *World, joint int32, velocities *[bodySlots]velocity, dt, dtRatio float32) {
	j := &w.Joints[joint]
	bA, bB := &w.Bodies[j.def.BodyA], &w.Bodies[j.def.BodyB]
	k.joint, k.a, k.b = joint, j.def.BodyA, j.def.BodyB
	k.mA, k.mB, k.iA, k.iB = bA.invMass, bB.invMass, bA.invI, bB.invI
	k.offsetA = sub(j.def.LocalAnchorA, bA.localCenter)
	k.offsetB = sub(j.def.LocalAnchorB, bB.localCenter)
	k.rA = turn(bA.xf.q, k.offsetA)
	k.rB = turn(bB.xf.q, k.offsetB)
	k.setMass()
	k.motorSpeed = j.def.MotorSpeed
	k.negMotorMass = -k.motorMass
	k.maxImpulse = float32(dt * j.def.MaxMotorTorque)
	k.minImpulse = -k.maxImpulse
	k.setLimit(j, bB.a-bA.a-j.def.ReferenceAngle)
	k.impX = float32(j.impulseX * dtRatio)
	k.impY = float32(j.impulseY * dtRatio)
	k.impZ = float32(j.impulseZ * dtRatio)
	k.impM = float32(j.motorImpulse * dtRatio)

	p := Vec2{k.impX, k.impY}
	vA, vB := &velocities[k.a], &velocities[k.b]
	vA.v = sub(vA.v, scale(k.mA, p))
	vA.w -= float32(k.iA * (cross(k.rA, p) + k.impM + k.impZ))
	vB.v = add(vB.v, scale(k.mB, p))
	vB.w += float32(k.iB * (cross(k.rB, p) + k.impM + k.impZ))
}

// setMass computes the mass matrix, and once per step what the reference recomputes in every iteration.
func (k *jointConstraint) setMass() {
	rA, rB, iA, iB := k.rA, k.rB, k.iA, k.iB
	k.exX = k.mA + k.mB + float32(float32(rA.Y*rA.Y)*iA) + float32(float32(rB.Y*rB.Y)*iB)
	k.exY = float32(float32(-rA.Y*rA.X)*iA) - float32(float32(rB.Y*rB.X)*iB)
	k.exZ = float32(-rA.Y*iA) - float32(rB.Y*iB)
	k.eyY = k.mA + k.mB + float32(float32(rA.X*rA.X)*iA) + float32(float32(rB.X*rB.X)*iB)
	k.eyZ = float32(rA.X*iA) + float32(rB.X*iB)
	k.ezZ = iA + iB
	k.motorMass = k.ezZ
	if k.motorMass > 0 {
		k.motorMass = 1 / k.motorMass
	}
	k.cX = float32(k.eyY*k.ezZ) - float32(k.eyZ*k.eyZ)
	k.cY = float32(k.eyZ*k.exZ) - float32(k.exY*k.ezZ)
	k.cZ = float32(k.exY*k.eyZ) - float32(k.eyY*k.exZ)
	det := float32(k.exX*k.cX) + float32(k.exY*k.cY) + float32(k.exZ*k.cZ)
	if det != 0 {
		det = 1 / det
	}
	k.negInv33 = -det
	k.inv22 = float32(k.exX*k.eyY) - float32(k.exY*k.exY)
	if k.inv22 != 0 {
		k.inv22 = 1 / k.inv22
	}
}

// setLimit determines whether the joint is at a limit. If the limit changes, its impulse is reset.
func (k *jointConstraint) setLimit(j *RevoluteJoint, angle float32) {
	limit := limitInactive
	if angle <= j.def.LowerAngle {
		limit = limitLower
	} else if angle >= j.def.UpperAngle {
		limit = limitUpper
	}
	if limit == limitInactive || limit != j.limit {
		j.impulseZ = 0
	}
	j.limit = limit
	k.limit = limit
}

// store saves the impulses for the next step.
func (k *jointConstraint) store(w *World) {
	j := &w.Joints[k.joint]
	j.impulseX, j.impulseY, j.impulseZ, j.motorImpulse = plus(k.impX), plus(k.impY), plus(k.impZ), plus(k.impM)
}

// solveVelocity is one iteration over the joint: the motor, then hinge and limit together. A motor at full
// torque adds nothing; skipping it shortens the chain of dependent operations, which dominates the cost of an
// iteration.
func (k *jointConstraint) solveVelocity(velocities *[bodySlots]velocity) {
	a, b := &velocities[k.a&(bodySlots-1)], &velocities[k.b&(bodySlots-1)]
	wA, wB := a.w, b.w

	motor := k.impM + float32(k.negMotorMass*(wB-wA-k.motorSpeed))
	if !(motor < k.maxImpulse) {
		motor = k.maxImpulse
	}
	if k.minImpulse > motor {
		motor = k.minImpulse
	}
	if motor != k.impM {
		impulse := motor - k.impM
		k.impM = motor
		wA -= float32(k.iA * impulse)
		wB += float32(k.iB * impulse)
	}

	cX := b.v.X - float32(wB*k.rB.Y) - a.v.X + float32(wA*k.rA.Y)
	cY := b.v.Y + float32(wB*k.rB.X) - a.v.Y - float32(wA*k.rA.X)
	x, y, z := float32(0), float32(0), float32(0)
	hinge := k.limit == limitInactive
	if !hinge {
		cZ := wB - wA
		z = float32(k.negInv33 * (float32(k.exX*(float32(k.eyY*cZ)-float32(k.eyZ*cY))) +
			float32(k.exY*(float32(k.eyZ*cX)-float32(k.exY*cZ))) +
			float32(k.exZ*(float32(k.exY*cY)-float32(k.eyY*cX)))))
		sum := k.impZ + z
		if k.limit == limitLower && sum < 0 || k.limit == limitUpper && sum > 0 {
			// The limit becomes inactive: solve the hinge alone, against the limit's impulse.
			z = -k.impZ
			cX -= float32(k.impZ * k.exZ)
			cY -= float32(k.impZ * k.eyZ)
			k.impZ = 0
			hinge = true
		} else {
			x = float32(k.negInv33 * (float32(cX*k.cX) + float32(cY*k.cY) + float32(cZ*k.cZ)))
			y = float32(k.negInv33 * (float32(k.exX*(float32(cY*k.ezZ)-float32(cZ*k.eyZ))) +
				float32(k.exY*(float32(cZ*k.exZ)-float32(cX*k.ezZ))) +
				float32(k.exZ*(float32(cX*k.eyZ)-float32(cY*k.exZ)))))
			k.impZ = sum
		}
	}
	if hinge {
		x = float32(k.inv22 * (float32(k.exY*cY) - float32(k.eyY*cX)))
		y = float32(k.inv22 * (float32(k.exY*cX) - float32(k.exX*cY)))
	}
	k.x = x
	k.y = y
	k.impX += x
	k.impY += y
	turnA := float32(k.rA.X*y) - float32(k.rA.Y*x)
	turnB := float32(k.rB.X*y) - float32(k.rB.Y*x)
	if z != 0 {
		turnA += z
		turnB += z
	}
	a.v.X -= float32(k.mA * x)
	a.v.Y -= float32(k.mA * y)
	a.w = wA - float32(k.iA*turnA)
	b.v.X += float32(k.mB * x)
	b.v.Y += float32(k.mB * y)
	b.w = wB + float32(k.iB*turnB)
}

// solvePosition corrects angle and hinge once. It reports whether the errors were small before.
func (k *jointConstraint) solvePosition(def *RevoluteJointDef, positions *[bodySlots]position) bool {
	a, b := &positions[k.a&(bodySlots-1)], &positions[k.b&(bodySlots-1)]
	angularError := float32(0)
	if k.limit != limitInactive {
		angle := b.a - a.a - def.ReferenceAngle
		c := float32(0)
		if k.limit == limitLower {
			c = angle - def.LowerAngle
			angularError = -c
			c = clamp(c+angularSlop, -maxAngularCorrection, 0)
		} else {
			c = angle - def.UpperAngle
			angularError = c
			c = clamp(c-angularSlop, 0, maxAngularCorrection)
		}
		impulse := float32(-k.motorMass * c)
		a.a -= float32(k.iA * impulse)
		b.a += float32(k.iB * impulse)
	}

	qA := a.rotation()
	qB := b.rotation()
	rA, rB := turn(qA, k.offsetA), turn(qB, k.offsetB)
	c := sub(sub(add(b.c, rB), a.c), rA)
	positionError := length(c)

	mA, mB, iA, iB := k.mA, k.mB, k.iA, k.iB
	exX := mA + mB + float32(float32(iA*rA.Y)*rA.Y) + float32(float32(iB*rB.Y)*rB.Y)
	exY := float32(float32(-iA*rA.X)*rA.Y) - float32(float32(iB*rB.X)*rB.Y)
	eyY := mA + mB + float32(float32(iA*rA.X)*rA.X) + float32(float32(iB*rB.X)*rB.X)
	det := float32(exX*eyY) - float32(exY*exY)
	if det != 0 {
		det = 1 / det
	}
	p := Vec2{
		-float32(det * (float32(eyY*c.X) - float32(exY*c.Y))),
		-float32(det * (float32(exX*c.Y) - float32(exY*c.X))),
	}
	a.c = sub(a.c, scale(mA, p))
	a.a -= float32(iA * cross(rA, p))
	b.c = add(b.c, scale(mB, p))
	b.a += float32(iB * cross(rB, p))
	return positionError <= linearSlop && angularError <= angularSlop
}
