package sim

import (
	"slices"

	"github.com/evoswarm/evoswarm/coordinator"
)

func square[T any](n int) [][]T {
	m := make([][]T, n)
	for i := range m {
		m[i] = make([]T, n)
	}
	return m
}

func (n *node) hub() bool { return n.kind == coordinator.Native }

// hears reports whether a leaf is in the topic of a type of message: one that follows without claims, or has not
// decided whether it will, needs no entries.
func (n *node) hears(kind byte) bool {
	return n.coord == nil || kind != announceKind && kind != advanceKind || n.coord.HearsEntries()
}

// announceKind and advanceKind are the numbers of the types of message that are about entries (internal/mesh).
const announceKind, advanceKind = 5, 21

func (n *node) neighbors() []*node { return append(slices.Clone(n.hubs), n.leaves...) }

func (s *Swarm) linked(a, b *node) bool { return s.net.links[a.index][b.index] }

// reachable reports whether the network of the moment lets a message from a to b through.
func (s *Swarm) reachable(a, b *node) bool {
	if s.now < a.offline || s.now < b.offline || s.net.cut[a.index][b.index] {
		return false
	}
	return (!s.net.split || a.group == b.group) && a.flap.passes(s.now) && b.flap.passes(s.now)
}

func (f *flap) passes(now coordinator.Tick) bool {
	return now >= f.until || (now-f.from)%(f.on+f.off) < f.on
}

// link connects two nodes.
func (s *Swarm) link(a, b *node) {
	if a == b || s.linked(a, b) || a.banned[b.peer] || b.banned[a.peer] {
		return
	}
	s.net.links[a.index][b.index], s.net.links[b.index][a.index] = true, true
	s.net.dead[a.index][b.index], s.net.dead[b.index][a.index] = 0, 0
	a.connect(b)
	b.connect(a)
	tabs := !a.hub() && !b.hub()
	s.step(a, coordinator.Linked{Peer: b.peer, Tab: tabs})
	s.step(b, coordinator.Linked{Peer: a.peer, Tab: tabs})
}

func (s *Swarm) unlink(a, b *node) {
	if !s.linked(a, b) {
		return
	}
	s.net.links[a.index][b.index], s.net.links[b.index][a.index] = false, false
	a.disconnect(b)
	b.disconnect(a)
	s.step(a, coordinator.Unlinked{Peer: b.peer})
	s.step(b, coordinator.Unlinked{Peer: a.peer})
}

func (n *node) connect(other *node) {
	list := &n.leaves
	if other.hub() {
		list = &n.hubs
	}
	i, _ := slices.BinarySearchFunc(*list, other, byIndex)
	*list = slices.Insert(*list, i, other)
	n.fan = nil
}

func (n *node) disconnect(other *node) {
	is := func(m *node) bool { return m == other }
	n.hubs, n.leaves, n.fan = slices.DeleteFunc(n.hubs, is), slices.DeleteFunc(n.leaves, is), nil
	for _, m := range n.hubs {
		m.fan = nil
	}
}

func byIndex(a, b *node) int { return a.index - b.index }

// keepLinks gives up links over which nothing passes, and dials in their place.
func (s *Swarm) keepLinks() {
	for _, n := range s.nodes {
		for _, other := range n.neighbors() {
			dead := &s.net.dead[n.index][other.index]
			switch {
			case s.reachable(n, other) && s.reachable(other, n):
				*dead = 0
			case *dead == 0:
				*dead = s.now + 1
			case s.now > *dead+linkTimeout:
				s.unlink(n, other)
			}
		}
	}
	for _, n := range s.nodes {
		s.dialHubs(n)
		s.dialTabs(n)
		if (s.now+coordinator.Tick(n.index)*keepEvery)%exploreEvery == 0 {
			s.explore(n)
		}
	}
}

// explore has a hub visit another one that it is not linked to, and end its last visit.
func (s *Swarm) explore(n *node) {
	if !n.hub() || n.coord == nil || s.now < n.busy {
		return
	}
	if v := n.visiting; v != nil && len(n.hubs) > s.wanted(n) && len(v.hubs) > s.wanted(v) {
		s.unlink(n, v)
	}
	n.visiting = nil
	if known := s.dialable(n); len(known) > 0 {
		n.visiting = known[s.below(len(known))]
		s.link(n, n.visiting)
	}
}

// wanted is how many hubs a node keeps linked.
func (s *Swarm) wanted(n *node) int {
	switch {
	case !n.hub():
		return leafDegree
	case s.opts.Degree > 0:
		return s.opts.Degree
	}
	return hubDegree
}

// dialable lists the hubs that a node is not linked to and that would answer.
func (s *Swarm) dialable(n *node) (list []*node) {
	for _, m := range s.nodes {
		if m.hub() && m != n && m.coord != nil && s.now >= m.busy && !s.linked(n, m) && s.reachable(n, m) && s.reachable(m, n) && !m.banned[n.peer] && !n.banned[m.peer] {
			list = append(list, m)
		}
	}
	return list
}

// dialHubs links a node to hubs at random, until it has as many as it wants.
func (s *Swarm) dialHubs(n *node) {
	want := s.wanted(n)
	if want -= len(n.hubs); n.coord == nil || want <= 0 || s.now < n.busy {
		return
	}
	known := s.dialable(n)
	for ; want > 0 && len(known) > 0; want-- {
		i := s.below(len(known))
		s.link(n, known[i])
		known = slices.Delete(known, i, i+1)
	}
}

// dialTabs links a tab to others at random, until it has begun as many links as the scenario says.
func (s *Swarm) dialTabs(n *node) {
	if s.opts.TabLinks == 0 || n.hub() || n.coord == nil || s.now < n.busy {
		return
	}
	var known []*node
	for _, m := range s.nodes {
		if !m.hub() && m != n && m.coord != nil && s.now >= m.busy && !s.linked(n, m) && s.reachable(n, m) && s.reachable(m, n) {
			known = append(known, m)
		}
	}
	n.begun = slices.DeleteFunc(n.begun, func(m *node) bool { return !s.linked(n, m) })
	for want := s.opts.TabLinks - len(n.begun); want > 0 && len(known) > 0; want-- {
		i := s.below(len(known))
		s.link(n, known[i])
		n.begun = append(n.begun, known[i])
		known = slices.Delete(known, i, i+1)
	}
}
