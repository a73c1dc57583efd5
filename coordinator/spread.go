package coordinator

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// A leader that gave each new entry with its claims to all hubs would fill its uplink with one block of bytes per hub.
// It gives it to a few, and each of them to a few others: the hubs with a record form a tree, drawn for each term, so
// that nobody chooses his place. They give on each part of an entry as it comes, so that the way down takes as long as
// one part takes for each step, and the whole entry once. Whom its place gives nothing pulls.

const (
	// spreadTo is to how many hubs a hub gives a new entry.
	spreadTo = 2
	// pushBytes is how long a part of an entry is that is given on while the next one is on its way.
	pushBytes = 32 << 10
	// placesEvery is for how many entries places in the tree are the same, and how far below they are counted: who is
	// some entries behind draws the same tree as others, also in a young run, where each entry changes who did how
	// much.
	placesEvery = 8
)

// Push gives a hub some of the claims of a new entry, as its place in the tree has it.
type Push struct {
	_       struct{}     `cbor:",toarray"`
	Link    seedlog.Link // of the entry
	First   uint64       // which of the claims that it names comes first here
	Entry   []byte       // with the first of them, else empty
	Seal    []byte       // likewise
	Batches [][]byte     // likewise
	Claims  [][]byte
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
	for _, account := range a.of { //lint:sorted by usual
		all = append(all, account.steps)
	}
	return usual(all)
}

// usual is the greatest work such that those with that or more did half of all. It sorts the list.
func usual(all []uint64) uint64 {
	var total, sum uint64
	for _, work := range all {
		total += work
	}
	slices.Sort(all)
	for _, work := range slices.Backward(all) {
		if sum += work; 2*sum >= total {
			return work
		}
	}
	return 0
}

// below lists those to whom this peer gives the claims of an entry.
func (c *Coordinator) below(e *seedlog.Entry) []Peer {
	if !c.spreads() {
		return nil
	}
	tree := c.tree(e.Height, e.Leader, e.Term)
	i := slices.Index(tree, c.self)
	if i < 0 && e.Leader != c.self {
		return nil
	}
	first := spreadTo * (i + 1) // of the leader, which has no number, 0
	return tree[min(first, len(tree)):min(first+spreadTo, len(tree))]
}

// push gives the claims of a new entry, from one of them on, to those below this peer in the tree.
func (c *Coordinator) push(g *generation, first int, below []Peer) {
	for len(below) > 0 && first < len(g.claims) {
		m := &Push{Link: g.entry.Link(), First: uint64(first), Entry: []byte{}, Seal: []byte{}, Batches: [][]byte{}}
		if first == 0 {
			m.Entry, m.Seal = g.entry.Bytes(), g.entry.Seal().Bytes()
			for _, batch := range g.entry.Batches() {
				m.Batches = append(m.Batches, batch.Bytes())
			}
		}
		for size := 0; first < len(g.claims) && size < pushBytes && len(m.Claims) < maxWant; first++ {
			data := g.claims[first].Bytes()
			m.Claims, size = append(m.Claims, data), size+len(data)
		}
		for _, p := range below {
			c.out.send(Direct, p, m)
		}
	}
}
