package coordinator

import (
	"fmt"
	"slices"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

const (
	// maxDoubles bounds the evidence of equivocation that is kept; the oldest goes.
	maxDoubles = 64
	// greetDoubles is how much of it a new neighbor is told.
	greetDoubles = 2
	// doubleLot is within how many ticks a peer that found evidence publishes it, unless it hears it before.
	doubleLot = 48
)

// double is evidence that a leader signed two entries for one place.
type double struct {
	leader  Peer
	height  uint64
	message *Equivocation
	publish Tick // when this peer gossips it; 0: it was
}

// until is the height up to which the leader is disqualified. It follows from the evidence alone, so all who have it
// agree.
func (d *double) until() uint64 { return d.height + disqualifiedFor }

// disqualification is a leader that is disqualified up to a height, as it is remembered over a restart.
type disqualification struct {
	_     struct{} `cbor:",toarray"`
	Peer  Peer
	Until uint64
}

// compare looks for evidence in an announced entry: another one by the same leader in the same place and term.
func (c *Coordinator) compare(entry seedlog.CheckedEntry) {
	e := entry.Value()
	n := c.chain.canonAt(e.Height)
	if n == nil || n.parent == nil || n.link == entry.Link() || n.leader != e.Leader || n.term != e.Term {
		return
	}
	c.caught(n, entry.Bytes(), entry.Seal().Value().Signature)
}

// caught acts on a second entry for the place of n.
func (c *Coordinator) caught(n *node, second, signature []byte) {
	first, ok1 := c.entryOf(n)
	seal, ok2 := c.sealOf(n)
	if !ok1 || !ok2 || c.doubleOf(n.leader, n.height) {
		return
	}
	s, err := seedlog.DecodeSeal(seal)
	if err != nil {
		return
	}
	m := &Equivocation{First: first, FirstSignature: s.Signature, Second: second, SecondSignature: signature}
	if len(first)+len(second) > MaxGossipBytes-1024 {
		c.bar(n.leader, n.height) // too large to be shown; those who have both act on it
		return
	}
	c.keepDouble(&double{leader: n.leader, height: n.height, message: m, publish: c.now + 1 + Tick(c.draw.Uint64()%doubleLot)})
}

// entryOf and sealOf read the blocks of an entry, from memory or from the archive.
func (c *Coordinator) entryOf(n *node) ([]byte, bool) {
	if n.body != nil {
		return n.body.entry.Bytes(), true
	}
	return c.cfg.Archive.Block(n.link)
}

func (c *Coordinator) sealOf(n *node) ([]byte, bool) {
	if n.body != nil {
		return n.body.entry.Seal().Bytes(), true
	}
	return c.cfg.Archive.Block(n.sealLink)
}

// doubleOf reports whether evidence against a leader is known that bars it for as long as one at a height does.
func (c *Coordinator) doubleOf(leader Peer, height uint64) bool {
	return slices.ContainsFunc(c.faults.doubles, func(d *double) bool { return d.leader == leader && d.height >= height })
}

// keepDouble remembers evidence and bars the leader.
func (c *Coordinator) keepDouble(d *double) {
	c.faults.doubles = slices.DeleteFunc(c.faults.doubles, func(o *double) bool { return o.leader == d.leader })
	if len(c.faults.doubles) == maxDoubles {
		c.faults.doubles = c.faults.doubles[1:]
	}
	c.faults.doubles = append(c.faults.doubles, d)
	c.bar(d.leader, d.height)
}

// bar refuses the leadership of one that signed two entries for a place of that height.
func (c *Coordinator) bar(p Peer, height uint64) {
	c.disqualify(p, fmt.Sprintf("signed two entries for height %d", height))
	if c.faults.disqualified[p] != 0 {
		c.faults.disqualified[p] = height + disqualifiedFor
	}
	c.hard.Barred = slices.DeleteFunc(c.hard.Barred, func(b disqualification) bool { return b.Peer == p })
	if len(c.hard.Barred) == maxDoubles {
		c.hard.Barred = c.hard.Barred[1:]
	}
	c.hard.Barred = append(c.hard.Barred, disqualification{Peer: p, Until: height + disqualifiedFor})
	c.hardChanged = true
}

// onEquivocation takes evidence that others found. That of a key without work changes nothing: it leads nobody.
func (c *Coordinator) onEquivocation(d *double) {
	if d.leader == c.self || !c.known(d.leader) || d.until() <= c.chain.head.height || d.height > c.chain.head.height+disqualifiedFor {
		return
	}
	if c.doubleOf(d.leader, d.height) {
		for _, o := range c.faults.doubles {
			if o.leader == d.leader {
				o.publish = 0
			}
		}
		return
	}
	c.keepDouble(d)
}

// publishDoubles gossips the evidence whose turn has come.
func (c *Coordinator) publishDoubles() {
	for _, d := range c.faults.doubles {
		if d.publish != 0 && c.now >= d.publish {
			d.publish = 0
			c.out.send(Gossip, Peer{}, d.message)
		}
	}
}

// showDoubles tells a new neighbor the newest evidence.
func (c *Coordinator) showDoubles(p Peer) {
	n := len(c.faults.doubles)
	for _, d := range c.faults.doubles[max(0, n-greetDoubles):] {
		if d.until() > c.chain.head.height {
			c.out.send(Direct, p, d.message)
		}
	}
}

// checkEquivocation verifies that one leader signed both entries, for one place.
func checkEquivocation(checker *seedlog.Checker, m *Equivocation) (*double, error) {
	var entries [2]seedlog.CheckedEntry
	for i, block := range [2][2][]byte{{m.First, m.FirstSignature}, {m.Second, m.SecondSignature}} {
		seal := &seedlog.Seal{Entry: seedlog.LinkOf(block[0]), Signature: block[1], Votes: []seedlog.Vote{}}
		data, _ := seal.Encode()
		var err error
		if entries[i], err = checker.Entry(block[0], data); err != nil {
			return nil, fmt.Errorf("invalid evidence: %w", err)
		}
	}
	a, b := entries[0].Value(), entries[1].Value()
	if a.Leader != b.Leader || a.Term != b.Term || a.Height != b.Height || entries[0].Link() == entries[1].Link() {
		return nil, fmt.Errorf("%w: two entries that one leader may sign", ErrMessage)
	}
	return &double{leader: a.Leader, height: a.Height, message: m}, nil
}
