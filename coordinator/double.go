package coordinator

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// A key that signs two statements which exclude each other, entries for one place or votes of one term, neither votes
// nor leads for a while. Evidence is both statements with their signatures, so anybody can check it.

const (
	// maxDoubles bounds the evidence that is kept: room for both kinds against every elector. The lightest key's goes.
	maxDoubles = 2 * maxElectors
	// greetDoubles is how much of it a new neighbor is told.
	greetDoubles = 2
	// doubleLot is within how many ticks a peer that found evidence publishes it, unless it hears it before.
	doubleLot = 48
	// doubleTerms is how far above the head's term votes may be that are compared.
	doubleTerms = 64
	// maxBallots bounds the votes that are remembered; each voter has a fair share.
	maxBallots = 16 * maxElectors
)

// double is evidence that a key signed two entries for one height, or two votes of one term.
type double struct {
	peer    Peer
	votes   bool
	place   uint64  // the height, or the term
	message Message // nil: after a restart the entries are not known any more
	publish Tick    // when this peer gossips it; 0: it was
}

// disqualification is a leader that signed two entries, as it is remembered over a restart.
type disqualification struct {
	_     struct{} `cbor:",toarray"`
	Peer  Peer
	Until uint64
}

// inForce reports whether evidence still counts: up to disqualifiedFor above the height of the entries, or above the
// chain's first entry of the votes' term or a later one. It follows from the evidence and the chain alone, so all who
// have both agree.
func (c *Coordinator) inForce(d *double) bool {
	head := c.chain.head
	if !d.votes {
		return head.height < d.place || head.height-d.place < disqualifiedFor
	}
	n := head.below(disqualifiedFor)
	return n == nil || n.term < d.place
}

// signedTwice reports whether a key signed statements that exclude each other, of late.
func (c *Coordinator) signedTwice(p Peer) bool {
	return slices.ContainsFunc(c.faults.doubles, func(d *double) bool { return d.peer == p && c.inForce(d) })
}

// mayLead reports whether a peer broke no rule of late that keeps it from leading.
func (c *Coordinator) mayLead(p Peer) bool {
	return c.faults.mayLead(p, c.chain.head.height) && !c.signedTwice(p)
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
	if !ok1 || !ok2 {
		return
	}
	s, err := seedlog.DecodeSeal(seal)
	if err != nil {
		return
	}
	d := &double{peer: n.leader, place: n.height}
	if len(first)+len(second) <= MaxGossipBytes-1024 { // else it cannot be shown; those who have both act on it
		d.message = &Equivocation{First: first, FirstSignature: s.Signature, Second: second, SecondSignature: signature}
	}
	c.found(d)
}

// found acts on evidence that this peer came upon, and publishes it unless it hears it soon.
func (c *Coordinator) found(d *double) {
	if d.peer == c.self || c.doubleOf(d) != nil {
		return
	}
	if d.message != nil {
		d.publish = c.now + 1 + Tick(c.draw.Uint64()%doubleLot)
	}
	c.keepDouble(d)
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

// doubleOf is the evidence known here that counts for as long as d, or longer; nil if there is none.
func (c *Coordinator) doubleOf(d *double) *double {
	for _, o := range c.faults.doubles {
		if o.peer == d.peer && o.votes == d.votes && o.place >= d.place {
			return o
		}
	}
	return nil
}

// keepDouble remembers evidence, in place of older one of its kind against the key.
func (c *Coordinator) keepDouble(d *double) {
	f := &c.faults
	f.doubles = slices.DeleteFunc(f.doubles, func(o *double) bool { return o.peer == d.peer && o.votes == d.votes })
	f.doubles = append(f.doubles, d)
	if len(f.doubles) > maxDoubles {
		f.doubles = slices.DeleteFunc(f.doubles, func(o *double) bool { return !c.inForce(o) })
	}
	if len(f.doubles) > maxDoubles {
		weights := c.chain.weights()
		lightest := slices.MinFunc(f.doubles, func(a, b *double) int { return cmp.Compare(weights[a.peer], weights[b.peer]) })
		f.doubles = slices.DeleteFunc(f.doubles, func(o *double) bool { return o == lightest })
		if lightest == d {
			return
		}
	}
	c.saveDoubles()
	c.election.electorate.head = nil // to be counted again
	what := "entries for height"
	if d.votes {
		what = "votes of term"
	}
	c.out.note(NoteBad, d.peer, fmt.Sprintf("signed two %s %d", what, d.place))
	if c.election.leader == d.peer {
		c.loseLeader()
	}
}

// saveDoubles puts the evidence into the hard state: of entries, which are large, only who signed them.
func (c *Coordinator) saveDoubles() {
	c.hard.Barred, c.hard.DoubleVotes, c.hardChanged = nil, nil, true
	for _, d := range c.faults.doubles {
		if d.votes {
			c.hard.DoubleVotes = append(c.hard.DoubleVotes, *d.message.(*DoubleVote))
		} else {
			c.hard.Barred = append(c.hard.Barred, disqualification{Peer: d.peer, Until: d.place + disqualifiedFor})
		}
	}
}

func (c *Coordinator) restoreDoubles() {
	for _, b := range c.hard.Barred {
		c.faults.doubles = append(c.faults.doubles, &double{peer: b.Peer, place: b.Until - disqualifiedFor})
	}
	for i := range c.hard.DoubleVotes {
		c.faults.doubles = append(c.faults.doubles, doubleVote(&c.hard.DoubleVotes[i]))
	}
}

// expectsDouble reports whether evidence is worth checking: it changes something here. A key without work leads nobody,
// and no vote of it counts; a peer that just came takes any evidence, since it does not know yet who works.
func (c *Coordinator) expectsDouble(d *double) bool {
	place, most := c.chain.head.height, uint64(disqualifiedFor)
	if d.votes {
		place, most = c.chain.head.term, doubleTerms
	}
	listens := c.now < c.begun+c.cfg.Timing.Patience || c.joining()
	return d.peer != c.self && c.inForce(d) && (listens || c.known(d.peer) && d.place <= place+most)
}

// onDouble takes evidence that others found.
func (c *Coordinator) onDouble(d *double) {
	if !c.expectsDouble(d) {
		return
	}
	if o := c.doubleOf(d); o != nil {
		o.publish = 0
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

// showDoubles tells a new neighbor the newest evidence against keys that count.
func (c *Coordinator) showDoubles(p Peer) {
	shown := 0
	for _, d := range slices.Backward(c.faults.doubles) {
		if d.message != nil && c.inForce(d) && c.known(d.peer) && shown < greetDoubles {
			shown++
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
	return &double{peer: a.Leader, place: a.Height, message: m}, nil
}
