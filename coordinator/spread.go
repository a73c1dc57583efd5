package coordinator

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// A leader that gave each new entry with its claims to all hubs would fill its uplink with one block of bytes per hub.
// It gives it to a few, and each of them to a few others: the hubs with a record form a tree, drawn for each term, so
// that nobody chooses his place. Whom its place gives nothing pulls.

const (
	// spreadTo is to how many hubs a hub gives a new entry.
	spreadTo = 2
	// hubUplink is how many bytes a second a hub is taken to send at least: 10 Mbit/s, less what else it says.
	hubUplink = 1 << 20
	// spreadPulls is for how many times the time for an answer an entry is awaited at most, however large it is.
	spreadPulls = 2
	// placesEvery is for how many entries places in the tree are the same, and how far below they are counted: who is
	// some entries behind draws the same tree as others, also in a young run, where each entry changes who did how
	// much.
	placesEvery = 8
	// maxComing bounds the entries that a hub waits for.
	maxComing = 16
)

// coming is an entry of the leader that was announced and is to come from another hub.
type coming struct {
	link  seedlog.Link
	until Tick    // when it may be pulled
	held  *pushed // it came, but what it follows did not; nil: it did not come
	given bool    // to those below this peer in the tree
}

// pushed is an entry that came unasked.
type pushed struct {
	generation
	from Peer
	at   source
}

// spreads reports whether hubs give each other new entries unasked.
func (c *Coordinator) spreads() bool { return c.chain.maxStale > 0 && c.cfg.Hub && !c.trusting() }

// places are the classes of keys in the tree by their work up to an entry: first a quarter of the usual work or more,
// then a sixteenth or more, and so on. So a key that has done little blocks nobody.
type places struct {
	at      *node
	classes map[Peer]int // below noPlace
}

// noPlace is the class of keys without work.
const noPlace = 33

// placesAt counts the work up to an entry.
func placesAt(n *node) places {
	var of accounts
	of.recount(n)
	usual := of.usual()
	classes := make(map[Peer]int, len(of.of))
	for p, account := range of.of { //lint:sorted each key on its own
		if account.steps > 0 {
			classes[p] = (bits.Len64(usual/account.steps/4) + 1) / 2
		}
	}
	return places{n, classes}
}

// placesFor is the entry whose places count for entries of a height.
func (c *chain) placesFor(height uint64) *node {
	at := uint64(0)
	if height > placesEvery {
		at = (height - 1 - placesEvery) / placesEvery * placesEvery
	}
	if n := c.canonAt(min(at, c.head.height)); n != nil {
		return n
	}
	return c.root
}

// tree lists the hubs for entries of a height in the order of a term, without the leader: it gives to the first
// spreadTo, and number i of them to those from spreadTo*(i+1) on.
func (c *Coordinator) tree(height uint64, leader Peer, term uint64) []Peer {
	if at := c.chain.placesFor(height); c.places.at != at {
		c.places = placesAt(at)
	}
	prefix := binary.LittleEndian.AppendUint64(append([]byte("evoswarm/spread/1\x00"), c.rules.Run.Bytes()...), term)
	var classes [noPlace + 1][]Peer
	for _, p := range c.present() {
		if p.class != hubClass || p.peer == leader {
			continue
		}
		class, ok := c.places.classes[p.peer]
		if !ok {
			class = noPlace
		}
		classes[class] = append(classes[class], p.peer)
	}
	var order []Peer
	for _, class := range classes {
		order = append(order, byLot(prefix, class)...)
	}
	return order
}

// usual is what a key's work is such that keys with that or more did half of all.
func (a *accounts) usual() uint64 {
	var all []uint64
	var total, sum uint64
	for _, account := range a.of { //lint:sorted below
		all, total = append(all, account.steps), total+account.steps
	}
	slices.Sort(all)
	for _, steps := range slices.Backward(all) {
		if sum += steps; 2*sum >= total {
			return steps
		}
	}
	return 0
}

// passOn pushes an entry that just came, if it is one of the newest of the leader that is followed.
func (c *Coordinator) passOn(n *node, g *generation) {
	if a := c.awaited(n.link); a != nil && a.given {
		return
	}
	if m := c.election.mandate; m != nil && n.leader == c.election.leader && n.term == m.term && (c.isComing(n.link) || n.height+c.chain.maxStale >= c.ahead.height) {
		c.push(g)
	}
}

// push gives a new entry to those below this peer in the tree.
func (c *Coordinator) push(g *generation) {
	if !c.spreads() {
		return
	}
	e := g.entry.Value()
	peers := c.tree(e.Height, e.Leader, e.Term)
	first := 0
	if e.Leader != c.self {
		i := slices.Index(peers, c.self)
		if i < 0 {
			return
		}
		first = spreadTo * (i + 1)
	}
	if first >= len(peers) {
		return
	}
	blocks, size := g.blocks()
	if size > MaxDirectBytes-segmentRoom {
		return // it does not fit into a message
	}
	segment := &Segment{Generations: []Generation{blocks}, Proofs: []FraudProof{}, Height: unasked}
	for _, p := range peers[first:min(first+spreadTo, len(peers))] {
		c.out.send(Direct, p, segment)
	}
}

// await notes that an announced entry comes by way of the tree; false: this peer has no place there.
func (c *Coordinator) await(link seedlog.Link, e *seedlog.Entry) bool {
	if !c.spreads() || c.joining() {
		return false
	}
	i := slices.Index(c.tree(e.Height, e.Leader, e.Term), c.self)
	if i < 0 {
		return false
	}
	if c.isComing(link) {
		return true
	}
	depth := Tick(0)
	for ; i >= spreadTo; i = i/spreadTo - 1 {
		depth++
	}
	t := c.cfg.Timing
	if len(c.coming) == maxComing {
		c.coming = c.coming[1:]
	}
	c.coming = append(c.coming, coming{link: link, until: c.now + 2*t.Heartbeat + min(depth*(t.Heartbeat/2+passing(e)), max(depth*t.Heartbeat/2, spreadPulls*t.Pull))})
	return true
}

// passing is how long a hub needs for giving an entry to those below it.
func passing(e *seedlog.Entry) Tick {
	return Tick(spreadTo * min(claimsSize(e), MaxDirectBytes) * (1000 / tickMS) / hubUplink)
}

func (c *Coordinator) isComing(link seedlog.Link) bool {
	return c.awaited(link) != nil
}

// awaited is the entry that is to come; nil: it is not.
func (c *Coordinator) awaited(link seedlog.Link) *coming {
	if i := slices.IndexFunc(c.coming, func(a coming) bool { return a.link == link }); i >= 0 {
		return &c.coming[i]
	}
	return nil
}

// forgetComing drops what came, and what others were asked for since.
func (c *Coordinator) forgetComing() {
	c.coming = slices.DeleteFunc(c.coming, func(a coming) bool { return c.chain.nodes[a.link] != nil || c.now > a.until+c.cfg.Timing.Pull })
}

// onPushed takes an entry that nobody was asked for: one that is awaited, or that the leader gives before it was
// announced here. If what it follows is still on its way, it waits for that here, and others get it at once: the leader
// sealed it, and what one hub missed is no reason for all below it to wait.
func (c *Coordinator) onPushed(from Peer, at source, generations []generation) {
	if len(generations) != 1 {
		return
	}
	g := generations[0]
	e := g.entry.Value()
	if from == e.Leader && from == c.election.leader && !c.isComing(g.entry.Link()) && c.chain.nodes[g.entry.Link()] == nil {
		c.await(g.entry.Link(), e)
	}
	a := c.awaited(g.entry.Link())
	switch {
	case a == nil || a.held != nil:
	case c.chain.nodes[e.Parent] != nil:
		c.placeNew(g, from, at)
		c.placeHeld()
	case !g.whole():
		c.ban(from, "sent other claims than the entry names")
	default:
		a.held, a.given = &pushed{g, from, at}, true
		c.push(&g)
	}
}

// placeHeld puts entries into the tree that waited for what they follow.
func (c *Coordinator) placeHeld() {
	for placed := true; placed; {
		placed = false
		for i := range c.coming {
			if h := c.coming[i].held; h != nil && c.chain.nodes[h.entry.Value().Parent] != nil {
				c.coming[i].held, placed = nil, true
				c.placeNew(h.generation, h.from, h.at)
				break // which may have changed the list
			}
		}
	}
}

// comesLater reports whether an entry should come by way of the tree, so that it is not pulled yet.
func (c *Coordinator) comesLater(link seedlog.Link) bool {
	return slices.ContainsFunc(c.coming, func(a coming) bool { return a.link == link && c.now < a.until })
}

// unasked is the height of a segment that nobody asked for: an answer has that of its sender's head.
const unasked = 0

// pushes reports whether a segment is an entry that is awaited, whichever peer sends it, or one that the leader gives.
func (c *Coordinator) pushes(from Peer, m *Segment) bool {
	if m.Height != unasked || !c.spreads() || len(m.Generations) != 1 || len(m.Proofs) > 0 {
		return false
	}
	return from == c.election.leader || len(c.coming) > 0 && c.isComing(seedlog.LinkOf(m.Generations[0].Entry))
}
