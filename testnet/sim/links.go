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
	s.step(a, coordinator.Linked{Peer: b.peer})
	s.step(b, coordinator.Linked{Peer: a.peer})
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
	}
}

// dialHubs links a node to hubs at random, until it has as many as it wants.
func (s *Swarm) dialHubs(n *node) {
	want := s.opts.Degree
	if !n.hub() {
		want = leafDegree
	} else if want == 0 {
		want = hubDegree
	}
	if want -= len(n.hubs); n.coord == nil || want <= 0 || s.now < n.busy {
		return
	}
	var known []*node
	for _, m := range s.nodes {
		if m.hub() && m != n && m.coord != nil && s.now >= m.busy && !s.linked(n, m) && s.reachable(n, m) && s.reachable(m, n) && !m.banned[n.peer] && !n.banned[m.peer] {
			known = append(known, m)
		}
	}
	for ; want > 0 && len(known) > 0; want-- {
		i := s.below(len(known))
		s.link(n, known[i])
		known = slices.Delete(known, i, i+1)
	}
}
