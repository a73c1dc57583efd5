package coordinator

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// maxElectors bounds the electorate, so that the votes of a majority fit into a seal.
const maxElectors = seedlog.MaxVotes

// anchorDepth is how far below the head the entry lies that the ranking is drawn from: deeper than a leader's mandate,
// so that nobody who closes an entry chooses who comes next.
const anchorDepth = 32

// elector is a peer that may vote and lead.
type elector struct {
	peer   Peer
	weight uint64
}

// electorate is the present electors in the order of their keys.
type electorate struct {
	electors []elector
	total    uint64 // weight of all

	at   Tick // when it was counted
	head *node
}

// electorate lists the peers that may vote and lead, as far as this peer hears them: of those with work in the recent
// entries the best class, which is hubs, else other natives, else tabs. Peers that are not heard shrink the quorum.
// What a peer says of itself chooses its class, but only work in the log makes it an elector.
func (c *Coordinator) electorate() *electorate {
	e := &c.election.electorate
	if e.head != c.chain.head || e.at != c.now {
		*e = electorate{electors: c.capOutgoing(c.countElectors()), at: c.now, head: c.chain.head}
		for _, x := range e.electors {
			e.total += x.weight
		}
	}
	return e
}

// capOutgoing has a leader that did not hand over weigh no more than the heaviest of the others: one that logged mostly
// its own work for so long would else choose itself.
func (c *Coordinator) capOutgoing(list []elector) []elector {
	p, most := c.election.liveness.outgoing(c.now), uint64(0)
	for _, x := range list {
		if x.peer != p {
			most = max(most, x.weight)
		}
	}
	for i := range list {
		if x := &list[i]; x.peer == p && most > 0 {
			x.weight = min(x.weight, most)
		}
	}
	return list
}

func (c *Coordinator) countElectors() []elector {
	if c.trusting() {
		return c.leaders()
	}
	present := c.present()
	origin := slices.IndexFunc(present, func(p presentPeer) bool { return p.peer == c.rules.Origin })
	if c.chain.head.height == 0 && origin >= 0 {
		return []elector{{c.rules.Origin, 1}} // the origin leads while nobody has worked yet
	}
	weights := c.chain.weights()
	var classes [3][]elector
	var earned [3]bool // a class counts once one of its keys is off probation: to call itself a hub costs a key nothing
	for _, p := range present {
		if w := weights[p.peer]; w > 0 {
			classes[p.class] = append(classes[p.class], elector{p.peer, w})
			earned[p.class] = earned[p.class] || c.chain.headAccounts.earned(p.peer)
		}
	}
	switch {
	case earned[hubClass]:
		return c.seated(classes[hubClass])
	case earned[nativeClass]:
		return c.seated(classes[nativeClass])
	case origin >= 0 && present[origin].class != tabClass:
		return []elector{{c.rules.Origin, 1}} // it serves a run of tabs without working itself
	case earned[tabClass]:
		return c.seated(classes[tabClass])
	}
	for _, list := range classes {
		if len(list) > 0 {
			return c.seated(list)
		}
	}
	// Nobody who worked is left: the best class of those who came.
	best := tabClass
	for _, p := range present {
		best = min(best, p.class)
	}
	var list []elector
	for _, p := range present {
		if p.class == best {
			list = append(list, elector{p.peer, 1})
		}
	}
	return c.seated(list)
}

// seated keeps some of the electors if there are too many, in the order of their keys: first those with half of the
// usual work or more, by a lot that each key has for the run, then those with a quarter, and so on. The heaviest would
// be others with each entry where all do about as much, and no leader would keep its majority. Who draws keys until
// their lots are good needs half of the usual work for each, which is what the heaviest would have cost.
func (c *Coordinator) seated(list []elector) []elector {
	if len(list) <= maxElectors {
		return list
	}
	weights := make([]uint64, len(list))
	for i, x := range list {
		weights[i] = x.weight
	}
	of := usual(weights)
	class := func(x elector) int { return bits.Len64(of / x.weight / 2) }
	slices.SortFunc(list, func(a, b elector) int {
		return cmp.Or(cmp.Compare(class(a), class(b)), cmp.Compare(c.election.lot(c.rules.Run, a.peer), c.election.lot(c.rules.Run, b.peer)), a.peer.Compare(b.peer))
	})
	list = list[:maxElectors]
	slices.SortFunc(list, func(a, b elector) int { return a.peer.Compare(b.peer) })
	return list
}

// lot is a key's place among those with about as much work.
func (e *election) lot(run seedlog.Link, p Peer) uint64 {
	lot, ok := e.lots[p]
	if !ok {
		if len(e.lots) >= maxHeard || e.lots == nil {
			e.lots = make(map[Peer]uint64)
		}
		sum := sha256.Sum256(append(append([]byte("evoswarm/electors/1\x00"), run.Bytes()...), p[:]...))
		lot = binary.LittleEndian.Uint64(sum[:])
		e.lots[p] = lot
	}
	return lot
}

// class is what a peer says it is.
type class uint8

const (
	hubClass class = iota
	nativeClass
	tabClass
)

func classOf(kind Kind, hub bool) class {
	switch {
	case kind == Tab:
		return tabClass
	case hub:
		return hubClass
	}
	return nativeClass
}

// presentPeer is a peer that is heard.
type presentPeer struct {
	peer  Peer
	class class
}

// tooLow reports whether a peer says that its chain ends below the entries that votes are weighed by: it works on a
// state that it took over, and can neither vote nor lead before it has folded the rest.
func (c *Coordinator) tooLow(h *presence) bool {
	return h.Height+votingEntries < c.chain.head.height
}

// present lists this peer and those that it hears, in the order of their keys, without those known to be faulty, those
// that signed twice of late, and those that cannot vote yet.
func (c *Coordinator) present() []presentPeer {
	list := make([]presentPeer, 0, len(c.members.heard)+1)
	for _, h := range c.members.heard {
		if !c.missing(h) && !c.faults.peers[h.peer] && !c.signedTwice(h.peer) && !c.tooLow(h) {
			list = append(list, presentPeer{h.peer, classOf(h.Kind, h.Hub)})
		}
	}
	if !c.retired {
		self := presentPeer{c.self, classOf(c.cfg.Kind, c.cfg.Hub)}
		i, _ := slices.BinarySearchFunc(list, self, func(a, b presentPeer) int { return a.peer.Compare(b.peer) })
		list = slices.Insert(list, i, self)
	}
	return list
}

// weightOf is an elector's weight; 0: p is none.
func (e *electorate) weightOf(p Peer) uint64 {
	if i, ok := slices.BinarySearchFunc(e.electors, p, func(x elector, p Peer) int { return x.peer.Compare(p) }); ok {
		return e.electors[i].weight
	}
	return 0
}

// ranking orders the electorate by H(entry, term, peer), where the entry lies so deep that it was closed long before
// the term: a lottery that nobody can steer and everybody can compute.
func (c *Coordinator) ranking(term uint64) []Peer {
	head := c.chain.head
	anchor := c.chain.canonAt(max(head.height-min(head.height, anchorDepth), c.chain.root.height))
	prefix := binary.LittleEndian.AppendUint64(append([]byte("evoswarm/rank/2\x00"), anchor.link.Bytes()...), term)
	var peers []Peer
	for _, e := range c.electorate().electors {
		peers = append(peers, e.peer)
	}
	return byLot(prefix, peers)
}

// byLot orders peers by H(prefix, peer).
func byLot(prefix []byte, peers []Peer) []Peer {
	draws := make(map[Peer][sha256.Size]byte, len(peers))
	for _, p := range peers {
		draws[p] = sha256.Sum256(append(slices.Clone(prefix), p[:]...))
	}
	slices.SortFunc(peers, func(p, q Peer) int {
		a, b := draws[p], draws[q]
		return bytes.Compare(a[:], b[:])
	})
	return peers
}

// rankOf is the rank of p in an election of the term, or -1 if it may not lead.
func (c *Coordinator) rankOf(p Peer, term uint64) int { return slices.Index(c.ranking(term), p) }
