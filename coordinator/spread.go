package coordinator

import (
	"encoding/binary"
	"slices"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// A leader that gave each new entry with its claims to all hubs would fill its uplink with one block of bytes per hub.
// It gives it to a few, and each of them to a few others: the hubs with a record form a tree, drawn for each term, so
// that nobody chooses his place. Whom its place gives nothing pulls.

const (
	// spreadTo is to how many hubs a hub gives a new entry.
	spreadTo = 2
	// maxComing bounds the entries that a hub waits for.
	maxComing = 16
)

// coming is an entry of the leader that was announced and is to come from another hub.
type coming struct {
	link  seedlog.Link
	until Tick // when it may be pulled
}

// spreads reports whether hubs give each other new entries unasked.
func (c *Coordinator) spreads() bool { return c.chain.maxStale > 0 && c.cfg.Hub && !c.trusting() }

// tree lists the hubs for entries on a node in the order of a term, without the leader: it gives to the first
// spreadTo, and number i of them to those from spreadTo*(i+1) on. Those without work below that node come last, where
// nobody depends on them.
func (c *Coordinator) tree(on *node, leader Peer, term uint64) []Peer {
	of := c.chain.accountsAt(on).of
	prefix := binary.LittleEndian.AppendUint64(append([]byte("evoswarm/spread/1\x00"), c.rules.Run.Bytes()...), term)
	var known, fresh []Peer
	for _, p := range c.present() {
		switch {
		case p.class != hubClass || p.peer == leader:
		case of[p.peer].entries > 0:
			known = append(known, p.peer)
		default:
			fresh = append(fresh, p.peer)
		}
	}
	return append(byLot(prefix, known), byLot(prefix, fresh)...)
}

// passOn pushes an entry that just came, if it is one of the newest of the leader that is followed.
func (c *Coordinator) passOn(n *node, g *generation) {
	if m := c.election.mandate; m != nil && n.leader == c.election.leader && n.term == m.term && n.height+c.chain.maxStale >= c.ahead.height {
		c.push(n, g)
	}
}

// push gives a new entry to those below this peer in the tree.
func (c *Coordinator) push(n *node, g *generation) {
	if !c.spreads() {
		return
	}
	peers := c.tree(n.parent, n.leader, n.term)
	first := 0
	if n.leader != c.self {
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
	if size > segmentBytes {
		return // pulled
	}
	segment := &Segment{Generations: []Generation{blocks}, Proofs: []FraudProof{}, Height: n.height}
	for _, p := range peers[first:min(first+spreadTo, len(peers))] {
		c.out.send(Direct, p, segment)
	}
}

// await notes that an announced entry comes by way of the tree; false: this peer has no place there.
func (c *Coordinator) await(link seedlog.Link, e *seedlog.Entry) bool {
	if !c.spreads() || c.joining() {
		return false
	}
	i := slices.Index(c.tree(c.chain.head, e.Leader, e.Term), c.self)
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
	c.coming = append(c.coming, coming{link, c.now + 2*t.Heartbeat + depth*t.Heartbeat/2})
	return true
}

func (c *Coordinator) isComing(link seedlog.Link) bool {
	return slices.ContainsFunc(c.coming, func(a coming) bool { return a.link == link })
}

// forgetComing drops what came, and what others were asked for since.
func (c *Coordinator) forgetComing() {
	c.coming = slices.DeleteFunc(c.coming, func(a coming) bool { return c.chain.nodes[a.link] != nil || c.now > a.until+c.cfg.Timing.Pull })
}

// onPushed takes an entry that is awaited, and that nobody was asked for.
func (c *Coordinator) onPushed(from Peer, at source, generations []generation) {
	if len(generations) == 1 && c.isComing(generations[0].entry.Link()) {
		c.placeNew(generations[0], from, at)
	}
}

// comesLater reports whether an entry should come by way of the tree, so that it is not pulled yet.
func (c *Coordinator) comesLater(link seedlog.Link) bool {
	return slices.ContainsFunc(c.coming, func(a coming) bool { return a.link == link && c.now < a.until })
}

// pushes reports whether a segment is an entry that is awaited, whichever peer sends it.
func (c *Coordinator) pushes(m *Segment) bool {
	return len(c.coming) > 0 && len(m.Generations) == 1 && len(m.Proofs) == 0 && c.isComing(seedlog.LinkOf(m.Generations[0].Entry))
}
