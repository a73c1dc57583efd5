package sim

import (
	"strconv"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

const (
	// keepEvery is how often, in ticks, a node looks after its links.
	keepEvery = 20
	// exploreEvery is how often a hub visits one that it is not linked to (internal/mesh): 30 s.
	exploreEvery = 600
	// linkTimeout is how long nothing may pass over a link before it is given up.
	linkTimeout = 100
	// hubDegree and leafDegree are how many hubs natives and tabs keep linked (internal/mesh).
	hubDegree, leafDegree = 32, 3
	// fanOut is to how many hubs a hub passes gossip on at once.
	fanOut = 8
	// dialHops is how many hops it takes to send to a peer that has to be dialed first.
	dialHops = 3
	// visitFor is for how many ticks such a connection stays without a message, and maxVisits how many of them a node
	// keeps (internal/mesh).
	visitFor, maxVisits = 120 * 20, 64
	// maxUplink is how many ticks an uplink may lag before messages are dropped.
	maxUplink = 100
)

// network is what connects the nodes.
type network struct {
	links [][]bool             // by index: who is linked with whom
	dead  [][]coordinator.Tick // since when nothing passes over a link; 0: it works
	cut   [][]bool             // from whom nothing reaches whom
	split bool                 // whether groups are parted

	floods                 int
	times                  []coordinator.Tick // of flood, reused
	parents                []*node
	buckets                [64][]*node
	loss, duplicate        int
	delayLeast, delayRange int
}

// parcel is a message as it travels: checked, or found to be invalid.
type parcel struct {
	from, via, to coordinator.Peer
	message       coordinator.Message
	checked       coordinator.Checked
	err           error // it is well formed, but its blocks are not
	size          int
	kind          byte
	source        int // address that it comes from: a node's index, or -1 less an actor's
}

// traffic counts what a node sent and received, by the number of the message's type.
type traffic struct {
	out, in   [32]uint64 // bytes, gossip that was passed on included
	sent, got [32]uint64 // messages

	signatures uint64 // in messages that the node checks
}

func (t *traffic) send(p *parcel) {
	t.out[p.kind%32] += uint64(p.size)
	t.sent[p.kind%32]++
}

func (s *Swarm) newNetwork() {
	n := len(s.nodes)
	s.net = network{links: square[bool](n), dead: square[coordinator.Tick](n), cut: square[bool](n), times: make([]coordinator.Tick, n), parents: make([]*node, n),
		loss: s.opts.Loss, duplicate: s.opts.Duplicate, delayLeast: s.opts.DelayMin, delayRange: s.opts.DelayMax - s.opts.DelayMin + 1}
}

// hop is how long a message takes from one node to a neighbor; nil is an adversary.
func (s *Swarm) hop(a, b *node) coordinator.Tick {
	d := s.net.delayLeast + s.below(max(s.net.delayRange, 1))
	if a != nil && b != nil {
		if s.opts.WAN {
			x, y := a.place[0]-b.place[0], a.place[1]-b.place[1]
			d += (max(x, -x) + max(y, -y)) / 512 // up to 200 ms on the way
			if s.chance(10) {
				d *= 6
			}
		}
		if !a.hub() || !b.hub() {
			d += s.below(2)
		}
	}
	return coordinator.Tick(max(d, 1))
}

// upload is how much longer a message takes because the sender's uplink is busy; false: it is dropped.
func (s *Swarm) upload(from *node, p *parcel) (coordinator.Tick, bool) {
	if from == nil {
		return 0, true
	}
	if s.opts.Upload > 0 {
		now := int(s.now) << 10
		if from.up = max(from.up, now); from.up-now > maxUplink<<10 {
			return 0, false
		}
		from.up += p.size << 10 / s.opts.Upload
		from.traffic.send(p)
		return coordinator.Tick((from.up - now) >> 10), true
	}
	from.traffic.send(p)
	return 0, true
}

// post sends a message to those whom it is for.
func (s *Swarm) post(from *node, envelope coordinator.Envelope) {
	p, err := s.pack(from.index, envelope.Message)
	if err == nil {
		err = p.err
	}
	if err != nil && from.honest() {
		s.fail("node %d sent %T: %w", from.index, envelope.Message, err)
	}
	if p == nil {
		return
	}
	s.watchSend(from, &envelope)
	if s.err != nil {
		return
	}
	p.from, p.via = from.peer, from.peer
	switch envelope.Scope {
	case coordinator.Direct:
		s.direct(from, envelope.To, envelope.Over, p)
	case coordinator.Hubs:
		for _, to := range from.hubs {
			s.carry(from, to, p, 1)
		}
	case coordinator.Gossip:
		s.flood(from, nil, p)
	}
}

// pack encodes a message and checks it as its receivers do, but once for all of them. What has not the form of a
// message is an error; it never reaches a coordinator.
func (s *Swarm) pack(source int, m coordinator.Message) (*parcel, error) {
	data := coordinator.EncodeMessage(m)
	decoded, err := coordinator.DecodeMessage(data)
	if err != nil {
		return nil, err
	}
	checked, err := coordinator.Check(s.checker, decoded, nil)
	return &parcel{message: decoded, checked: checked, err: err, size: len(data), kind: data[0], source: source}, nil
}

// direct sends a message from a node to one peer: over a link if there is one, else it dials the peer, or where that
// cannot be dialed, over one of its hubs, and if one is named over that. The peer may be a key of an adversary that
// dialed the node.
func (s *Swarm) direct(from *node, peer, over coordinator.Peer, p *parcel) {
	to := s.byPeer[peer]
	if to == nil {
		for _, a := range s.actors {
			if key, ok := a.numbers[peer]; ok && a.links[link{key, from.index}] {
				s.mail(a, from, peer, p)
			}
		}
		return
	}
	switch {
	case to == from || to.coord == nil:
	case s.linked(from, to):
		s.carry(from, to, p, 1)
	case s.opts.LinkedOnly:
	case to.hub() && s.reachable(from, to) && s.reachable(to, from):
		s.carry(from, to, p, s.visit(from, to))
	default:
		for _, relay := range to.neighbors() {
			if (relay.hub() || len(relay.hubs) == 0) && (over == coordinator.Peer{} || over == relay.peer) && relay.coord != nil && s.linked(from, relay) && s.reachable(from, relay) {
				q := *p
				q.via = relay.peer
				relay.traffic.send(&q)
				s.carry(relay, to, &q, 2)
				return
			}
		}
	}
}

// visit is how many hops a message takes between two nodes that are not linked. The first one dials, and the connection
// stays for some time, unless either has too many of them.
func (s *Swarm) visit(a, b *node) (hops int) {
	hops = 1
	if _, both := b.visits[a]; !both || s.now > a.visits[b]+visitFor {
		hops = dialHops
	}
	a.visited(b, s.now)
	b.visited(a, s.now)
	return hops
}

// visited notes that a connection is used.
func (n *node) visited(other *node, now coordinator.Tick) {
	if n.visits == nil {
		n.visits = make(map[*node]coordinator.Tick)
	}
	n.visits[other] = now
	if len(n.visits) <= maxVisits {
		return
	}
	idlest := other
	for m, used := range n.visits { //lint:sorted the least
		if at := n.visits[idlest]; used < at || used == at && m.index < idlest.index {
			idlest = m
		}
	}
	delete(n.visits, idlest)
	delete(idlest.visits, n)
}

// carry has a message travel from a node to another, so many hops of time.
func (s *Swarm) carry(from, to *node, p *parcel, hops int) {
	if to.coord == nil || !s.reachable(from, to) {
		return
	}
	wait, ok := s.upload(from, p)
	if !ok {
		return
	}
	for range hops {
		wait += s.hop(from, to)
	}
	if from.streams == nil {
		from.streams = make(map[*node]coordinator.Tick)
	}
	wait = max(s.now+wait, from.streams[to]) - s.now
	from.streams[to] = s.now + wait
	s.arrive(to, p, wait)
}

// flood gossips a message that enters the mesh at a node, or where that is nil at the neighbors of an adversary's key.
// Each node passes it on once; it comes over the fastest way.
func (s *Swarm) flood(from *node, actor *Actor, p *parcel) {
	net := &s.net
	net.floods++
	const never = ^coordinator.Tick(0)
	for i := range net.times {
		net.times[i] = never
	}
	reach := func(at coordinator.Tick, by, to *node) {
		if by == nil || (to.coord != nil && s.reachable(by, to)) {
			if wait, ok := s.upload(by, p); ok {
				if at = min(at+wait+s.hop(by, to), coordinator.Tick(len(net.buckets)-1)); at < net.times[to.index] && !to.banned[p.from] {
					net.times[to.index], net.parents[to.index] = at, by
					net.buckets[at] = append(net.buckets[at], to)
				}
			}
		}
	}
	if from != nil {
		net.times[from.index], net.parents[from.index] = 0, nil
		net.buckets[0] = append(net.buckets[0], from)
	} else {
		for _, n := range s.nodes {
			if actor.links[link{actor.Relay, n.index}] && n.coord != nil {
				reach(0, nil, n)
			}
		}
	}
	for at := range net.buckets {
		for i := 0; i < len(net.buckets[at]); i++ {
			n := net.buckets[at][i]
			if net.times[n.index] != coordinator.Tick(at) || n.coord == nil {
				continue
			}
			if n != from {
				q := p
				if by := net.parents[n.index]; by != nil {
					copied := *p
					q, copied.via = &copied, by.peer
				}
				s.arrive(n, q, coordinator.Tick(at))
			}
			if n.hub() {
				for _, m := range s.fan(n) {
					if coordinator.Tick(at) < net.times[m.index] && m != net.parents[n.index] {
						reach(coordinator.Tick(at), n, m)
					}
				}
			}
			for _, m := range n.leaves { // of a tab: the tabs that it is linked to
				if coordinator.Tick(at) < net.times[m.index] && m.hears(p.kind) {
					reach(coordinator.Tick(at), n, m)
				}
			}
		}
		net.buckets[at] = net.buckets[at][:0]
	}
	for _, a := range s.actors {
		if a != actor {
			s.mail(a, nil, a.Peer(a.Relay), p)
		}
	}
}

// fan lists the hubs to which a hub passes gossip on: all of them if they are few, else some that it and they drew.
func (s *Swarm) fan(n *node) []*node {
	if n.fan != nil {
		return n.fan
	}
	if len(n.hubs) <= fanOut+fanOut/2 {
		n.fan = n.hubs
		return n.fan
	}
	drawn := func(a, b *node) bool { // by both alike, and the same until links change
		return len(b.hubs) <= fanOut+fanOut/2 || int(mix(uint64(a.index), uint64(b.index))%uint64(len(a.hubs))) < fanOut
	}
	n.fan = make([]*node, 0, 2*fanOut)
	for _, m := range n.hubs {
		if drawn(n, m) || drawn(m, n) {
			n.fan = append(n.fan, m)
		}
	}
	return n.fan
}

// mix hashes two small numbers.
func mix(a, b uint64) uint64 {
	x := (a<<32 | b) * 0x9e3779b97f4a7c15
	x ^= x >> 29
	x *= 0xbf58476d1ce4e5b9
	return x ^ x>>32
}

// arrive has a message arrive at a node, unless it is lost.
func (s *Swarm) arrive(to *node, p *parcel, wait coordinator.Tick) {
	times := 1
	if !s.calm {
		if s.chance(s.net.loss) {
			return
		}
		if s.chance(s.net.duplicate) {
			times = 2
		}
	}
	for range times {
		s.push(s.now+wait, event{node: to, life: to.lives, mail: p})
		wait += coordinator.Tick(s.below(4))
	}
}

// mail has a message arrive at an adversary.
func (s *Swarm) mail(a *Actor, from *node, to coordinator.Peer, p *parcel) {
	if from != nil {
		from.traffic.send(p)
	}
	m := *p
	m.to = to
	s.at(s.now+s.hop(nil, nil), func() { a.receive(m.from, m.to, m.message) })
}

// cutOff bans a peer from a node.
func (s *Swarm) cutOff(n *node, p coordinator.Peer) {
	s.trace("node %d cuts off %s", n.index, s.name(p))
	n.banned[p] = true
	if other := s.byPeer[p]; other != nil {
		s.unlink(n, other)
		return
	}
	for _, a := range s.actors {
		if key, ok := a.numbers[p]; ok {
			delete(a.links, link{key, n.index})
		}
	}
}

// maxChecks is how many messages may wait at a node; of the source with most of them more are dropped.
const maxChecks = 256

// name is what traces call a peer.
func (s *Swarm) name(p seedlog.Peer) string {
	if n := s.byPeer[p]; n != nil {
		return "node " + strconv.Itoa(n.index)
	}
	for _, a := range s.actors {
		if key, ok := a.numbers[p]; ok {
			return "key " + strconv.Itoa(key) + " of adversary " + strconv.Itoa(a.index)
		}
	}
	return p.Short()
}
