package box2d

import "github.com/evoswarm/evoswarm/internal/exact"

// contact is a pair of a fixture of the ground and a body whose boxes in the broad phase overlap.
type contact struct {
	manifold    manifold
	fixture     int32 // index into the ground
	ground      int32 // the static body of the fixture
	body        int32
	friction    float32
	restitution float32
	toi         float32 // time of impact, if toiValid
	alpha0      float32 // the static body's, the same in all its contacts
	toiCount    int32
	touching    bool
	enabled     bool
	toiValid    bool
}

func (w *World) addContact(ground []Fixture, fixture, body int32) {
	g, b := &ground[fixture], &w.Bodies[body]
	if g.filter.MaskBits&b.filter.CategoryBits == 0 || g.filter.CategoryBits&b.filter.MaskBits == 0 {
		return
	}
	alpha0 := float32(0)
	for i := int32(0); i < w.contactCount; i++ {
		c := &w.contacts[i]
		if c.ground != g.body {
			continue
		}
		if c.fixture == fixture && c.body == body {
			return
		}
		alpha0 = c.alpha0
	}
	if w.contactCount == MaxContacts {
		w.overflow = true
		return
	}
	c := &w.contacts[w.contactCount]
	w.contactCount++
	*c = contact{}
	c.fixture = fixture
	c.ground = g.body
	c.body = body
	c.enabled = true
	c.alpha0 = alpha0
	c.friction = exact.Sqrt32(float32(g.friction * b.friction))
	c.restitution = most(g.restitution, b.restitution)
	b.SetAwake(true)
}

// update recomputes the manifold, keeps the impulses of points that persist, and updates the body's flags if
// touching begins or ends.
func (c *contact) update(g *Fixture, b *Body) {
	old := c.manifold
	c.enabled = true
	if g.count == 2 {
		collideEdge(&c.manifold, g, b)
	} else {
		collidePolygon(&c.manifold, g, b)
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
func (w *World) collide(ground []Fixture) {
	removed := false
	for i := w.contactCount - 1; i >= 0; i-- {
		c := &w.contacts[i]
		b := &w.Bodies[c.body]
		if !b.awake {
			continue
		}
		g := &ground[c.fixture]
		if b.fat.overlaps(&g.fat) {
			c.update(g, b)
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
		w.sweepContacts()
	}
}

// sweepContacts closes the gaps left by removed contacts.
func (w *World) sweepContacts() {
	n := int32(0)
	for i := int32(0); i < w.contactCount; i++ {
		if w.contacts[i].body == null {
			continue
		}
		if n != i {
			w.contacts[n] = w.contacts[i]
		}
		n++
	}
	w.contactCount = n
}

// findNewContacts creates a contact for each moved body and fixture whose boxes overlap, in the order of the
// proxies: by fixture, then by body.
func (w *World) findNewContacts(ground []Fixture) {
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
	for f := range ground {
		for k := int32(0); k < n; k++ {
			if ground[f].fat.overlaps(&w.Bodies[moved[k]].fat) {
				w.addContact(ground, int32(f), moved[k])
			}
		}
	}
}
