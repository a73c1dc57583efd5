package coordinator

import (
	"slices"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// presence is what was last heard of a peer.
type presence struct {
	Status
	peer  Peer
	last  Tick
	back  Tick           // when it was heard again after it had been absent; 0: it never was
	moved Tick           // when its head last changed
	via   Peer           // that relayed the last status
	heads []seedlog.Link // its last ones, newest last, where this peer follows by the states of hubs; at most mostHeads

	late      uint64 // 1 + height of the newest entry that a claim came for when it was no longer the head; 0: none
	logged    uint64 // height of the newest entry seen to hold a claim of the peer
	announced announced
}

// announced is the newest parent that a hub said it holds claims on.
type announced struct {
	parent seedlog.Link
	at     Tick // the first time
}

// members are the peers that are heard.
type members struct {
	heard      roll
	near       roll // of heard: those with a direct connection
	rich       rich
	links      map[Peer]bool  // direct connections
	tabs       map[Peer]bool  // of these, the ones with which browsers connect this tab
	pulls      map[Peer]*pull // requests for what follows on a chain
	answers    answers
	lastStatus Tick // when the last status was sent
	nextStatus Tick // when the next status is due
	statusNow  bool // a status is due at once
	every      Tick // between two statuses of a hub without leaves that does not lead
	leafEvery  Tick // between two statuses of a leaf
}

// hear returns the presence of p, made if need be; of too many the one silent for longest is dropped.
func (m *members) hear(p Peer) *presence {
	if h := m.heard.of(p); h != nil {
		return h
	}
	if len(m.heard) >= maxHeard {
		m.forget(slices.MinFunc(m.heard, func(a, b *presence) int { return int(a.last) - int(b.last) }).peer)
	}
	h := &presence{peer: p}
	if m.heard.add(h); m.links[p] {
		m.near.add(h)
	}
	return h
}

// forget drops what was heard of p.
func (m *members) forget(p Peer) {
	m.heard.remove(p)
	m.near.remove(p)
	m.rich.list.remove(p)
}

// link notes a direct connection.
func (m *members) link(p Peer, tab bool) {
	if h := m.heard.of(p); h != nil && !m.links[p] {
		m.near.add(h)
	}
	if m.links[p] = true; tab {
		m.tabs[p] = true
	}
}

// unlink notes that a direct connection ended.
func (m *members) unlink(p Peer) {
	m.near.remove(p)
	delete(m.links, p)
	delete(m.tabs, p)
}

// rich are those heard that named an entry which this peer lacked, on a chain as heavy as its own, so that not all have
// to be looked through whenever something happens. What it lacks follows from its chain.
type rich struct {
	list    roll
	head    *node
	weight  uint64 // of the head, which evidence changes
	removed uint64 // entries taken out of the tree before
}

// logged notes that an entry holds claims of its peers.
func (m *members) logged(n *node) {
	for _, credit := range n.credits {
		if h := m.heard.of(credit.peer); h != nil {
			h.logged = n.height
		}
	}
}

// roll lists those heard, in the order of their keys, so that walks are the same everywhere and cost no sorting.
type roll []*presence

func (r roll) search(p Peer) (int, bool) {
	return slices.BinarySearchFunc(r, p, func(h *presence, p Peer) int { return h.peer.Compare(p) })
}

// of returns what is known of p, or nil.
func (r roll) of(p Peer) *presence {
	if i, ok := r.search(p); ok {
		return r[i]
	}
	return nil
}

// tabsAlone reports whether this is a tab that is connected to others, and to nobody else.
func (c *Coordinator) tabsAlone() bool {
	return len(c.members.tabs) > 0 && len(c.members.tabs) == len(c.members.links)
}

// actsAsHub reports whether this peer does what hubs do: tell everybody that it is here, and the leader which claims
// there are. Where there is no hub, tabs do it for themselves.
func (c *Coordinator) actsAsHub() bool { return c.cfg.Hub || c.tabsAlone() }

func (r *roll) add(h *presence) {
	i, _ := r.search(h.peer)
	*r = slices.Insert(*r, i, h)
}

func (r *roll) remove(p Peer) {
	if i, ok := r.search(p); ok {
		*r = slices.Delete(*r, i, i+1)
	}
}

const (
	// statusesAtOnce is how many statuses of hubs that do not lead a peer reads in a tick, at most: each of them goes
	// to all hubs, so where there are many, each says less often that it is here.
	statusesAtOnce = 2
	// newcomersAtOnce is how many statuses of hubs without a record it reads in a tick, where these are honest.
	newcomersAtOnce = 8
	// leafStatusesAtOnce is how many statuses of its leaves a hub reads in a tick, at most.
	leafStatusesAtOnce = 32
	// toLeavesAtOnce is to how many of its leaves a hub passes each hub's status on in a tick, on average, at most.
	toLeavesAtOnce = 64
	// statusRarely is how many heartbeats lie between two statuses of a peer at most.
	statusRarely = 16
)

// statusEvery is the time between two statuses of a hub without leaves that does not lead. Hubs without a record count
// for those alone that have none either: keys are free, and what many of them say makes nobody slower who has worked.
func (c *Coordinator) statusEvery() Tick {
	weights, hubs, known, alone := c.chain.weights(), Tick(0), Tick(0), c.tabsAlone()
	for _, h := range c.members.heard {
		if h.Hub || alone {
			hubs++
			if weights[h.peer] > 0 {
				known++
			}
		}
	}
	every := max(c.cfg.Timing.Heartbeat, known/statusesAtOnce)
	if weights[c.self] == 0 {
		every = max(every, hubs/newcomersAtOnce)
	}
	return min(every, statusRarely*c.cfg.Timing.Heartbeat)
}

// statusEveryWith is statusEvery for a hub that has so many leaves. What a hub says goes to all leaves of all hubs, and
// each of these has about as many as this one, which counts none but its own, so that nobody's boast makes it slower.
func (c *Coordinator) statusEveryWith(leaves, every Tick) Tick {
	return min(max(every, leaves/toLeavesAtOnce), statusRarely*c.cfg.Timing.Heartbeat)
}

// leafStatusEvery is the time between two statuses of a leaf: the more leaves its hubs have, the longer. The hub with
// the fewest decides, so that one that boasts of many does not have the others miss it.
func (c *Coordinator) leafStatusEvery() Tick {
	leaves := uint64(0)
	if c.cfg.Hub {
		leaves = c.leaves(nil)
	} else {
		leaves = c.leavesOfHubs()
	}
	return min(max(c.cfg.Timing.Heartbeat, Tick(leaves/leafStatusesAtOnce)), statusRarely*c.cfg.Timing.Heartbeat)
}

// leaves is how many leaves this hub hears itself, of those that count.
func (c *Coordinator) leaves(counts func(h *presence) bool) (n uint64) {
	for _, h := range c.members.heard {
		if c.lately(h) && !h.Hub && h.via == h.peer && (counts == nil || counts(h)) {
			n++
		}
	}
	return n
}

// unheard is after which silence a peer no longer counts: several of its statuses long. A leader says every heartbeat
// that it is here; a dead one with much of the weight must not be missed in the next election.
func (c *Coordinator) unheard(h *presence) Tick {
	t := c.cfg.Timing
	if c.trusting() {
		return statusRarely * t.Unheard // its leader, too, tells few that it is here
	}
	if h.Leads {
		return t.Unheard
	}
	every := c.statusEveryWith(Tick(min(h.Leaves, maxHeard)), c.members.every)
	if !h.Hub && !c.tabsAlone() {
		every = c.members.leafEvery
	}
	return max(t.Unheard, every*t.Unheard/t.Heartbeat)
}

// lately reports whether a peer still counts as present.
func (c *Coordinator) lately(h *presence) bool { return c.now-h.last <= c.unheard(h) }

// missing reports whether the electorate is to do without a peer. One that came back a moment before it fell silent is
// waited for twice as long: its connections come and go, and each change of the electorate may cost an election.
func (c *Coordinator) missing(h *presence) bool {
	unheard := c.unheard(h)
	if h.back > 0 && h.last-h.back <= 2*unheard {
		unheard *= 2
	}
	return c.now-h.last > unheard
}

// leafHubs is with how many hubs a tab keeps connected, where there are as many (internal/mesh).
const leafHubs = 3

// countPeers counts the others: hubs, which are all heard, and leaves. Only the hubs of a leaf hear it and each of them
// counts it, so how many leaves there are is estimated; where all leaves keep leafHubs hubs, or all that there are, it
// is right.
func (c *Coordinator) countPeers() int {
	if c.trusting() {
		return c.countTrusted()
	}
	hubs, leaves, counted := 0, 0, 0
	for _, h := range c.members.heard {
		switch {
		case !c.lately(h):
		case h.Hub:
			hubs++
			counted += int(min(h.Leaves, maxHeard))
		default:
			leaves++
		}
	}
	if !c.cfg.Hub {
		return hubs + max(leaves, perHub(counted, hubs)-1) // its hubs count this leaf, too
	}
	return hubs + max(leaves, perHub(counted+leaves, hubs+1))
}

// perHub turns what so many hubs counted in all into leaves.
func perHub(counted, hubs int) int {
	n := max(1, min(hubs, leafHubs))
	return (counted + n - 1) / n
}

// onStatus takes a sign of life; the leader's is the heartbeat.
func (c *Coordinator) onStatus(from, via Peer, m *Status) {
	h := c.members.hear(from)
	if h.Head != m.Head {
		h.moved = c.now
		c.seeHead(h, m.Head)
	}
	if h.last > 0 && c.now-h.last > c.unheard(h) {
		h.back = c.now
	}
	h.Status, h.last, h.via = *m, c.now, via
	c.noteRich(h)
	if m.Leads {
		c.onHeartbeat(from, m.Term)
		if !c.trusting() {
			c.answerRival(m.Term)
		}
	}
}

// sendStatus sends this peer's status when it is due.
func (c *Coordinator) sendStatus() {
	if c.retired || (c.now < c.members.nextStatus && !c.members.statusNow) {
		return
	}
	c.members.every, c.members.leafEvery = c.statusEvery(), c.leafStatusEvery()
	every := c.cfg.Timing.Heartbeat
	switch {
	case !c.actsAsHub():
		every = c.members.leafEvery
	case c.election.role != Leader:
		every = c.statusEveryWith(Tick(c.leaves(nil)), c.members.every)
	}
	c.members.lastStatus, c.members.nextStatus, c.members.statusNow = c.now, c.now+every, false
	if !c.actsAsHub() {
		c.out.send(Hubs, Peer{}, c.status())
		return
	}
	c.out.send(Gossip, Peer{}, c.status())
}

// tellHead has a hub whose statuses are rare because of its leaves say soon that its head moved: they are why leaves
// know which states there are.
func (c *Coordinator) tellHead() {
	m := &c.members
	m.nextStatus = min(m.nextStatus, m.lastStatus+max(m.every, c.cfg.Timing.Heartbeat))
}

// status is what this peer says of itself. It decides nothing elsewhere but whom to ask first.
func (c *Coordinator) status() *Status {
	s := &Status{Kind: c.cfg.Kind, Hub: c.cfg.Hub, Leads: c.election.role == Leader, Term: c.term(),
		Head: c.chain.head.link, Height: c.chain.head.height, Weight: c.chain.head.weight, Gone: c.gone()}
	if !c.actsAsHub() {
		return s
	}
	s.Claims = c.work.pool.ofCandidates()
	if !c.cfg.Hub {
		return s
	}
	s.Leaves, s.Idle = c.leaves(nil), c.leaves(c.straggles)
	return s
}

// greet tells a new neighbor who this peer is, and who leads.
func (c *Coordinator) greet(p Peer) {
	if c.retired {
		return
	}
	c.out.send(Direct, p, c.status())
	if m := c.election.mandate; m != nil {
		c.out.send(Direct, p, c.message(m))
	}
	c.showDoubles(p)
}
