package box2d

import "github.com/evoswarm/evoswarm/internal/exact"

// Contact is a pair of a fixture of the ground and a body whose boxes in the broad phase overlap. A World has
// room for as many as it is given.
type Contact struct {
	manifold    manifold
	fixture     int32 // index into the ground
	ground      int32 // the static body of the fixture
	body        int32
	friction    float32
	restitution float32
	touching    bool
	enabled     bool
}

func (w *World) addContact(ground []Fixture, materials []Material, contacts []Contact, fixture, body int32) {
	m, b := &materials[ground[fixture].material()], &w.Bodies[body]
	if !m.Filter.meets(b.filter) {
		return
	}
	for i := int32(0); i < w.contactCount; i++ {
		if contacts[i].fixture == fixture && contacts[i].body == body {
			return
		}
	}
	if int(w.contactCount) >= min(len(contacts), MaxContacts) {
		w.overflow = true
		return
	}
	c := &contacts[w.contactCount]
	w.contactCount++
	*c = Contact{}
	c.fixture = fixture
	c.ground = m.Body
	if m.Apart {
		c.ground = fixture
	}
	c.body = body
	c.enabled = true
	c.friction = exact.Sqrt32(float32(m.Friction * b.friction))
	c.restitution = most(m.Restitution, b.restitution)
	b.SetAwake(true)
}

// update recomputes the manifold, keeps the impulses of points that persist, and updates the body's flags if
// touching begins or ends.
func (c *Contact) update(g *Fixture, hulls []Hull, b *Body) {
	old := c.manifold
	c.enabled = true
	if h := g.hull(); h >= 0 {
		collidePolygon(&c.manifold, &hulls[h], b)
	} else {
		collideEdge(&c.manifold, g, b)
	}
	for i := int32(0); i < c.manifold.count; i++ {
		p := &c.manifold.points[i]
		p.normalImpulse = 0
		p.tangentImpulse = 0
		for j, found := int32(0), false; !found && j < old.count; j++ {
			q := &old.points[j]
			found = q.id == p.id
			if found {
				p.normalImpulse = q.normalImpulse
				p.tangentImpulse = q.tangentImpulse
			}
		}
	}
	touching := c.manifold.count > 0
	if touching == c.touching {
		return
	}
	c.touching = touching
	b.SetAwake(true)
	b.InContact = touching
	if touching {
		b.Began = true
	}
}

// collide updates the contacts of awake bodies and removes those whose boxes no longer overlap, newest first.
func (w *World) collide(ground []Fixture, hulls []Hull, contacts []Contact) {
	removed := false
	for i := w.contactCount - 1; i >= 0; i-- {
		c := &contacts[i]
		b := &w.Bodies[c.body]
		if !b.awake {
			continue
		}
		g := &ground[c.fixture]
		fat := g.box()
		if b.fat.overlaps(&fat) {
			c.update(g, hulls, b)
			continue
		}
		if c.touching {
			b.InContact = false
		}
		if c.manifold.count > 0 {
			b.SetAwake(true)
		}
		c.body = null
		removed = true
	}
	if removed {
		w.sweepContacts(contacts)
	}
}

// sweepContacts closes the gaps left by removed contacts.
func (w *World) sweepContacts(contacts []Contact) {
	n := int32(0)
	for i := int32(0); i < w.contactCount; i++ {
		if contacts[i].body == null {
			continue
		}
		if n != i {
			contacts[n] = contacts[i]
		}
		n++
	}
	w.contactCount = n
}

// findNewContacts creates a contact for each moved body and fixture whose boxes overlap, in the order of the
// proxies: by fixture, then by body.
func (w *World) findNewContacts(ground []Fixture, materials []Material, contacts []Contact) {
	var moved [MaxBodies]int32
	n := int32(0)
	for i := int32(0); i < w.bodyCount; i++ {
		if w.Bodies[i].moved {
			w.Bodies[i].moved = false
			moved[n] = i
			n++
		}
	}
	if n == 0 {
		return
	}
	all := w.Bodies[moved[0]].fat
	for k := int32(1); k < n; k++ {
		b := &w.Bodies[moved[k]].fat
		all = aabb{leastVec(all.lower, b.lower), mostVec(all.upper, b.upper)}
	}
	all = fatten(fatten(all)) // by more than the fixtures' boxes are
	for f := range ground {
		if ground[f].misses(&all) {
			continue
		}
		fat := ground[f].box()
		for k := int32(0); k < n; k++ {
			if fat.overlaps(&w.Bodies[moved[k]].fat) {
				w.addContact(ground, materials, contacts, int32(f), moved[k])
			}
		}
	}
}
