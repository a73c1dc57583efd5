package box2d

// solveTOI finds the bodies that hit the ground during the step, moves each back to its time of impact, and
// continues from there, earliest impact first.
func (w *World) solveTOI(s *island, ground []Fixture, dt float32, velocityIterations int32) {
	for i := int32(0); i < w.bodyCount; i++ {
		w.Bodies[i].alpha0 = 0
	}
	for i := int32(0); i < w.contactCount; i++ {
		c := &w.contacts[i]
		c.toiValid = false
		c.toiCount = 0
		c.toi = 1
		c.alpha0 = 0
	}
	var reaches [MaxBodies]reach
	// Every event either increments the counter of a contact, at most maxSubSteps+1 times, or disables one.
	for events := 0; events < (maxSubSteps+2)*MaxContacts; events++ {
		first, alpha := w.firstImpact(ground, &reaches)
		if first == null || toiEnd < alpha {
			return
		}
		reaches[w.contacts[first].body].known = false
		w.impact(s, ground, first, alpha, dt, velocityIterations)
	}
}

// firstImpact returns the contact with the earliest time of impact below 1; null if there is none.
func (w *World) firstImpact(ground []Fixture, reaches *[MaxBodies]reach) (first int32, alpha float32) {
	first, alpha = null, 1
	for i := w.contactCount - 1; i >= 0; i-- {
		c := &w.contacts[i]
		if !c.enabled || c.toiCount > maxSubSteps {
			continue
		}
		if !c.toiValid {
			if !w.Bodies[c.body].awake {
				continue
			}
			w.computeTOI(c, &ground[c.fixture], &reaches[c.body])
		}
		if c.toi < alpha {
			first, alpha = i, c.toi
		}
	}
	return first, alpha
}

// computeTOI advances both bodies of a contact to the same start and finds its time of impact.
func (w *World) computeTOI(c *contact, g *Fixture, r *reach) {
	b := &w.Bodies[c.body]
	alpha0 := c.alpha0
	if alpha0 < b.alpha0 {
		alpha0 = b.alpha0
		w.setGroundTime(c.ground, alpha0)
	} else if b.alpha0 < alpha0 {
		b.advanceSweep(alpha0)
		r.known = false
	}
	c.toi = 1
	c.toiValid = true
	if !r.known {
		r.set(b)
	}
	if r.clears(g, b.shape.count) {
		return
	}
	t, touching := timeOfImpact(g, &b.shape, sweep{b.localCenter, b.c0, b.c, b.a0, b.a})
	if touching {
		c.toi = least(alpha0+float32((1-alpha0)*t), 1)
	}
}

// setGroundTime sets the time up to which a static body has been advanced, in each of its contacts.
func (w *World) setGroundTime(ground int32, alpha0 float32) {
	for i := int32(0); i < w.contactCount; i++ {
		if w.contacts[i].ground == ground {
			w.contacts[i].alpha0 = alpha0
		}
	}
}

// impact moves the body of the contact to the time alpha and solves its contacts there for the rest of the step.
func (w *World) impact(s *island, ground []Fixture, first int32, alpha, dt float32, velocityIterations int32) {
	c := &w.contacts[first]
	b := &w.Bodies[c.body]
	groundTime := c.alpha0
	before := sweep{b.localCenter, b.c0, b.c, b.a0, b.a}
	time := b.alpha0
	w.setGroundTime(c.ground, alpha)
	b.advance(alpha)
	c.update(&ground[c.fixture], b)
	c.toiValid = false
	c.toiCount++
	if !c.touching {
		c.enabled = false
		w.setGroundTime(c.ground, groundTime)
		b.c0, b.c, b.a0, b.a, b.alpha0 = before.c0, before.c, before.a0, before.a, time
		b.synchronizeTransform(makeRot(b.a))
		return
	}
	b.SetAwake(true)
	s.gatherTOI(w, ground, first, alpha)
	s.solveTOI(w, c.body, float32((1-alpha)*dt), velocityIterations)
	b.synchronizeFixture(makeRot(b.a0))
	for i := int32(0); i < w.contactCount; i++ {
		if w.contacts[i].body == c.body {
			w.contacts[i].toiValid = false
		}
	}
	w.findNewContacts(ground)
}

// gatherTOI collects the contact first, then every other contact that touches its body at the time alpha.
func (s *island) gatherTOI(w *World, ground []Fixture, first int32, alpha float32) {
	body := w.contacts[first].body
	b := &w.Bodies[body]
	s.contacts[0].contact = first
	s.contactCount = 1
	for i := w.contactCount - 1; i >= 0 && s.contactCount < maxTOIContacts; i-- {
		c := &w.contacts[i]
		if c.body != body || i == first {
			continue
		}
		c.update(&ground[c.fixture], b)
		if !c.touching {
			continue
		}
		w.setGroundTime(c.ground, alpha)
		s.contacts[s.contactCount].contact = i
		s.contactCount++
	}
}

// solveTOI corrects the position of the body at its time of impact and moves it through the rest h of the
// step, without joints, forces and earlier impulses.
func (s *island) solveTOI(w *World, body int32, h float32, velocityIterations int32) {
	b := &w.Bodies[body]
	p, v := &s.positions[body], &s.velocities[body]
	*p = position{b.c, b.a, b.a, b.xf.q}
	*v = velocity{b.LinearVelocity, b.AngularVelocity}
	for i := int32(0); i < s.contactCount; i++ {
		s.contacts[i].prepare(w, s.contacts[i].contact, 0)
	}
	for i, solved := 0, false; !solved && i < toiPositionIterations; i++ {
		separation := float32(0)
		for j := int32(0); j < s.contactCount; j++ {
			separation = s.contacts[j].solvePosition(p, toiBaumgarte, separation)
		}
		solved = separation >= toiPositionTolerance
	}
	b.c0, b.a0 = p.c, p.a
	for i := int32(0); i < s.contactCount; i++ {
		s.contacts[i].setup(p, v)
	}
	s.jointCount = 0
	s.bodyCount = 1
	s.bodies[0] = body
	s.solveVelocities(velocityIterations)
	s.integrate(body, h)
	s.unload(w, body)
}
