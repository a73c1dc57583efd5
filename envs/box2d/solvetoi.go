package box2d

// impacts is what continuous collision knows about contacts and bodies. It exists during one step only.
type impacts struct {
	toi     [MaxContacts]float32 // time of impact, if known
	alpha0  [MaxContacts]float32 // up to which the contact's static body has been advanced, the same in all its contacts
	count   [MaxContacts]int32   // of impacts
	known   [MaxContacts]bool
	reaches [MaxBodies]reach
}

// solveTOI finds the bodies that hit the ground during the step, moves each back to its time of impact, and
// continues from there, earliest impact first.
func (w *World) solveTOI(s *island, ground []Fixture, hulls []Hull, materials []Material, contacts []Contact, dt float32, velocityIterations int32) {
	for i := int32(0); i < w.bodyCount; i++ {
		w.Bodies[i].alpha0 = 0
	}
	if w.contactCount == 0 {
		return // before the memory for impacts is cleared
	}
	var m impacts
	// Every event either increments the counter of a contact, at most maxSubSteps+1 times, or disables one.
	for events := 0; events < (maxSubSteps+2)*MaxContacts; events++ {
		first, alpha := w.firstImpact(&m, ground, hulls, contacts)
		if first == null || toiEnd < alpha {
			return
		}
		m.reaches[contacts[first].body].known = false
		if w.impact(s, &m, ground, hulls, contacts, first, alpha, dt, velocityIterations) {
			before := w.contactCount
			w.findNewContacts(ground, materials, contacts)
			w.adopt(&m, contacts, before)
		}
	}
}

// adopt takes up the contacts from number first on, which are new. A static body has the same time in all of them.
func (w *World) adopt(m *impacts, contacts []Contact, first int32) {
	for i := first; i < w.contactCount; i++ {
		for k := int32(0); k < i; k++ {
			if contacts[k].ground == contacts[i].ground {
				m.alpha0[i&(MaxContacts-1)] = m.alpha0[k&(MaxContacts-1)]
			}
		}
	}
}

// firstImpact returns the contact with the earliest time of impact below 1; null if there is none.
func (w *World) firstImpact(m *impacts, ground []Fixture, hulls []Hull, contacts []Contact) (first int32, alpha float32) {
	first, alpha = null, 1
	for i := w.contactCount - 1; i >= 0; i-- {
		c, k := &contacts[i], i&(MaxContacts-1)
		if !c.enabled || m.count[k] > maxSubSteps {
			continue
		}
		if !m.known[k] {
			if !w.Bodies[c.body].awake {
				continue
			}
			w.computeTOI(m, ground, hulls, contacts, i)
		}
		if m.toi[k] < alpha {
			first, alpha = i, m.toi[k]
		}
	}
	return first, alpha
}

// computeTOI advances both bodies of a contact to the same start and finds its time of impact.
func (w *World) computeTOI(m *impacts, ground []Fixture, hulls []Hull, contacts []Contact, index int32) {
	c, k := &contacts[index], index&(MaxContacts-1)
	g, b, r := &ground[c.fixture], &w.Bodies[c.body], &m.reaches[c.body]
	alpha0 := m.alpha0[k]
	if alpha0 < b.alpha0 {
		alpha0 = b.alpha0
		w.setGroundTime(m, contacts, c.ground, alpha0)
	} else if b.alpha0 < alpha0 {
		b.advanceSweep(alpha0)
		r.known = false
	}
	m.toi[k] = 1
	m.known[k] = true
	if !r.known {
		r.set(b)
	}
	if r.clears(g, hulls, b.shape.count) {
		return
	}
	h := g.copyHull(hulls)
	t, touching := timeOfImpact(&h, &b.shape, sweep{b.localCenter, b.c0, b.c, b.a0, b.a})
	if touching {
		m.toi[k] = least(alpha0+float32((1-alpha0)*t), 1)
	}
}

// setGroundTime sets the time up to which a static body has been advanced, in each of its contacts.
func (w *World) setGroundTime(m *impacts, contacts []Contact, ground int32, alpha0 float32) {
	for i := int32(0); i < w.contactCount; i++ {
		if contacts[i].ground == ground {
			m.alpha0[i&(MaxContacts-1)] = alpha0
		}
	}
}

// impact moves the body of the contact to the time alpha and solves its contacts there for the rest of the step. It
// reports false if the body does not touch the ground there, and undoes the move.
func (w *World) impact(s *island, m *impacts, ground []Fixture, hulls []Hull, contacts []Contact, first int32, alpha, dt float32, velocityIterations int32) bool {
	c, k := &contacts[first], first&(MaxContacts-1)
	b := &w.Bodies[c.body]
	groundTime := m.alpha0[k]
	before := sweep{b.localCenter, b.c0, b.c, b.a0, b.a}
	time := b.alpha0
	w.setGroundTime(m, contacts, c.ground, alpha)
	b.advance(alpha)
	c.update(&ground[c.fixture], hulls, b)
	m.known[k] = false
	m.count[k]++
	if !c.touching {
		c.enabled = false
		w.setGroundTime(m, contacts, c.ground, groundTime)
		b.c0, b.c, b.a0, b.a, b.alpha0 = before.c0, before.c, before.a0, before.a, time
		b.synchronizeTransform(makeRot(b.a))
		return false
	}
	b.SetAwake(true)
	s.gatherTOI(w, m, ground, hulls, contacts, first, alpha)
	s.solveTOI(w, contacts, c.body, float32((1-alpha)*dt), velocityIterations)
	b.synchronizeFixture(makeRot(b.a0))
	for i := int32(0); i < w.contactCount; i++ {
		if contacts[i].body == c.body {
			m.known[i&(MaxContacts-1)] = false
		}
	}
	return true
}

// gatherTOI collects the contact first, then every other contact that touches its body at the time alpha.
func (s *island) gatherTOI(w *World, m *impacts, ground []Fixture, hulls []Hull, contacts []Contact, first int32, alpha float32) {
	body := contacts[first].body
	b := &w.Bodies[body]
	s.contacts[0].contact = first
	s.contactCount = 1
	for i := w.contactCount - 1; i >= 0 && s.contactCount < maxTOIContacts; i-- {
		c := &contacts[i]
		if c.body != body || i == first {
			continue
		}
		c.update(&ground[c.fixture], hulls, b)
		if !c.touching {
			continue
		}
		w.setGroundTime(m, contacts, c.ground, alpha)
		s.contacts[s.contactCount].contact = i
		s.contactCount++
	}
}

// solveTOI corrects the position of the body at its time of impact and moves it through the rest h of the
// step, without joints, forces and earlier impulses.
func (s *island) solveTOI(w *World, contacts []Contact, body int32, h float32, velocityIterations int32) {
	b := &w.Bodies[body]
	p, v := &s.positions[body], &s.velocities[body]
	*p = position{b.c, b.a, b.a, b.xf.q}
	*v = velocity{b.LinearVelocity, b.AngularVelocity}
	for i := int32(0); i < s.contactCount; i++ {
		s.contacts[i].prepare(w, contacts, s.contacts[i].contact, 0)
	}
	for i, solved := 0, false; !solved && i < toiPositionIterations; i++ {
		separation := float32(0)
		for j := int32(0); j < s.contactCount; j++ {
			k := &s.contacts[j]
			separation = k.solvePosition(&contacts[k.contact].manifold, b.localCenter, p, toiBaumgarte, separation)
		}
		solved = separation >= toiPositionTolerance
	}
	b.c0, b.a0 = p.c, p.a
	for i := int32(0); i < s.contactCount; i++ {
		k := &s.contacts[i]
		k.setup(&contacts[k.contact], b.localCenter, p, v)
	}
	s.jointCount = 0
	s.bodyCount = 1
	s.bodies[0] = body
	s.solveVelocities(velocityIterations)
	s.integrate(body, h)
	s.unload(w, body)
}
