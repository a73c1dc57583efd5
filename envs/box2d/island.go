package box2d

// maxTouching is the largest number of touching contacts in an island.
const maxTouching = 32

// bodySlots is MaxBodies, rounded up to a power of two so that a mask keeps an index in range.
const bodySlots = 8

// island is a group of bodies connected by joints, with the contacts of its bodies. It exists during one step
// only. positions and velocities are indexed by body.
type island struct {
	bodies       [MaxBodies]int32
	bodyCount    int32
	jointCount   int32
	contactCount int32
	positions    [bodySlots]position
	velocities   [bodySlots]velocity
	joints       [MaxJoints]jointConstraint
	contacts     [maxTouching]contactConstraint
	mark         mark
	order        schedule
}

// gather collects the island of the body seed by depth-first search, contacts and joints newest first.
func (s *island) gather(w *World, contacts []Contact, seed int32, inIsland *[MaxBodies]bool, jointTaken *[MaxJoints]bool) {
	s.bodyCount, s.jointCount, s.contactCount = 0, 0, 0
	var stack [MaxBodies]int32
	stack[0] = seed
	inIsland[seed] = true
	for n := int32(1); n > 0; {
		n--
		body := stack[n]
		s.bodies[s.bodyCount] = body
		s.bodyCount++
		w.Bodies[body].SetAwake(true)
		for i := w.contactCount - 1; i >= 0; i-- {
			c := &contacts[i]
			if c.body != body || !c.enabled || !c.touching {
				continue
			}
			if s.contactCount == maxTouching {
				w.overflow = true
				continue
			}
			s.contacts[s.contactCount].contact = i
			s.contactCount++
		}
		for j := w.jointCount - 1; j >= 0; j-- {
			d := &w.Joints[j].def
			if jointTaken[j] || d.BodyA != body && d.BodyB != body {
				continue
			}
			jointTaken[j] = true
			s.joints[s.jointCount].joint = j
			s.jointCount++
			other := d.BodyA + d.BodyB - body
			if !inIsland[other] {
				inIsland[other] = true
				stack[n] = other
				n++
			}
		}
	}
}

// solve advances the bodies of the island by one step.
func (s *island) solve(w *World, contacts []Contact, dt, dtRatio float32, velocityIterations, positionIterations int32) {
	for i := int32(0); i < s.bodyCount; i++ {
		s.load(w, s.bodies[i], dt)
	}
	for i := int32(0); i < s.contactCount; i++ {
		k := &s.contacts[i]
		k.prepare(w, contacts, k.contact, dtRatio)
		k.setup(&contacts[k.contact], w.Bodies[k.body].localCenter, &s.positions[k.body], &s.velocities[k.body])
	}
	for i := int32(0); i < s.contactCount; i++ {
		k := &s.contacts[i]
		k.warmStart(&s.velocities[k.body])
	}
	for i := int32(0); i < s.jointCount; i++ {
		k := &s.joints[i]
		k.setup(w, k.joint, &s.velocities, dt, dtRatio)
	}
	s.solveVelocities(velocityIterations)
	for i := int32(0); i < s.jointCount; i++ {
		s.joints[i].store(w)
	}
	for i := int32(0); i < s.contactCount; i++ {
		s.contacts[i].store(contacts)
	}
	for i := int32(0); i < s.bodyCount; i++ {
		s.integrate(s.bodies[i], dt)
	}
	solved := s.solvePositions(w, contacts, positionIterations)
	for i := int32(0); i < s.bodyCount; i++ {
		s.unload(w, s.bodies[i])
	}
	s.sleep(w, dt, solved)
}

// load adds a body to the island and applies its forces to its velocity.
func (s *island) load(w *World, body int32, dt float32) {
	b := &w.Bodies[body]
	b.c0, b.a0 = b.c, b.a
	s.positions[body] = position{b.c, b.a, b.a, b.xf.q}
	v := &s.velocities[body]
	v.v = add(b.LinearVelocity, scale(dt, add(w.gravity, scale(b.invMass, b.force))))
	v.w = b.AngularVelocity + float32(float32(dt*b.invI)*b.torque)
}

// integrate limits the velocity of a body and moves the body by it.
func (s *island) integrate(body int32, dt float32) {
	p, v := &s.positions[body], &s.velocities[body]
	step := scale(dt, v.v)
	if dot(step, step) > maxTranslationSquared {
		v.v = scale(maxTranslation/length(step), v.v)
	}
	turned := float32(dt * v.w)
	if float32(turned*turned) > maxRotationSquared {
		v.w = float32(v.w * (maxRotation / abs(turned)))
	}
	p.c = add(p.c, scale(dt, v.v))
	p.a += float32(dt * v.w)
}

// solvePositions corrects positions until the errors are small and reports whether they are.
func (s *island) solvePositions(w *World, contacts []Contact, iterations int32) bool {
	solved := false
	for i := int32(0); !solved && i < iterations; i++ {
		separation := float32(0)
		for j := int32(0); j < s.contactCount; j++ {
			k := &s.contacts[j]
			separation = k.solvePosition(&contacts[k.contact].manifold, w.Bodies[k.body].localCenter, &s.positions[k.body], baumgarte, separation)
		}
		solved = separation >= positionTolerance
		for j := int32(0); j < s.jointCount; j++ {
			k := &s.joints[j]
			ok := k.solvePosition(&w.Joints[k.joint].def, &s.positions)
			solved = solved && ok
		}
	}
	return solved
}

// unload writes the position and velocity back to a body.
func (s *island) unload(w *World, body int32) {
	b, p, v := &w.Bodies[body], &s.positions[body], &s.velocities[body]
	b.c, b.a = p.c, p.a
	b.LinearVelocity, b.AngularVelocity = Vec2{plus(v.v.X), plus(v.v.Y)}, plus(v.w)
	b.synchronizeTransform(p.rotation())
}

// sleep puts the island to sleep if all its bodies have been at rest for long enough.
func (s *island) sleep(w *World, dt float32, solved bool) {
	shortest := maxFloat
	for i := int32(0); i < s.bodyCount; i++ {
		b := &w.Bodies[s.bodies[i]]
		if float32(b.AngularVelocity*b.AngularVelocity) > angularSleepTolSqr ||
			dot(b.LinearVelocity, b.LinearVelocity) > linearSleepTolSqr {
			b.sleepTime = 0
			shortest = 0
		} else {
			b.sleepTime += dt
			shortest = least(shortest, b.sleepTime)
		}
	}
	if shortest >= timeToSleep && solved {
		for i := int32(0); i < s.bodyCount; i++ {
			w.Bodies[s.bodies[i]].SetAwake(false)
		}
	}
}
