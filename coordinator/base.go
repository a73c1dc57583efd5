package coordinator

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// A base is an entry some way below the head, with its state, that the chain of a newcomer begins at: what lies above
// it the newcomer fetches, folds, audits and weighs like any other peer, what lies below it verifies behind (begin.go).
// Several hubs are asked for the same base; most of them must say the same of it, and each gives parts of the state.

const (
	// baseDepth is how far below the head a base lies at least: deeper than a proof voids entries, and than votes are
	// weighed by.
	baseDepth = vouchDepth
	// baseHubs is how many hubs are asked for a base.
	baseHubs = 4
)

// baseLeast is how many entries a peer must lack below a base to begin there: fewer are folded in no time. Tests change
// it.
var baseLeast uint64 = 512

// Seek asks a hub what it has of the canonical entry of a height, as a base.
type Seek struct {
	_      struct{} `cbor:",toarray"`
	Height uint64
}

// Base answers Seek. The parts of the state come with Ask and Part.
type Base struct {
	_           struct{} `cbor:",toarray"`
	Entry       []byte
	Seal        []byte
	Evaluations uint64 // of the chain up to the entry
	Steps       uint64
	Weight      uint64
	Size        uint64 // of the state, in bytes
	Parts       []byte // SHA-256 of each part of the state, one after the other
}

// parts is into how many parts a state of so many bytes comes.
func parts(size uint64) uint64 { return size/aheadPart + min(size%aheadPart, 1) }

// digest is that of part i.
func (m *Base) digest(i int) [sha256.Size]byte {
	return [sha256.Size]byte(m.Parts[i*sha256.Size : (i+1)*sha256.Size])
}

// partsOf lists the digests of the parts of a state.
func partsOf(data []byte) (digests []byte) {
	for part := range slices.Chunk(data, aheadPart) {
		sum := sha256.Sum256(part)
		digests = append(digests, sum[:]...)
	}
	return digests
}

// seeking is the search for a base.
type seeking struct {
	height  uint64 // 0: none is sought
	since   Tick   // when the hubs were asked, or there was one to ask
	again   Tick   // not before
	offers  []*offer
	with    *offer // the base that is fetched, as one of the hubs described it; nil: not chosen yet
	parts   []basePart
	reading bool // all is here
}

// offer is what a hub says of a base.
type offer struct {
	peer  Peer
	entry seedlog.CheckedEntry
	*Base      // nil: it has not answered
	gone  bool // gave nothing, or something else
}

// same reports whether two hubs say the same. What a chain weighs depends on which peers one knows to be faulty.
func (o *offer) same(p *offer) bool {
	return o.Base != nil && p.Base != nil && o.entry.Link() == p.entry.Link() && o.Evaluations == p.Evaluations && o.Steps == p.Steps && o.Size == p.Size && bytes.Equal(o.Parts, p.Parts)
}

// basePart is one part of the state of a base.
type basePart struct {
	data  []byte // nil: not here
	from  Peer   // who was asked for it; zero: nobody
	since Tick
}

// offerOf is what a hub said; nil: it was not asked.
func (s *seeking) offerOf(p Peer) *offer {
	if i := slices.IndexFunc(s.offers, func(o *offer) bool { return o.peer == p }); i >= 0 {
		return s.offers[i]
	}
	return nil
}

// asked reports whether a hub was asked for a part.
func (s *seeking) asked(p Peer) bool {
	return slices.ContainsFunc(s.parts, func(part basePart) bool { return part.from == p })
}

// seekBase looks for a base as long as this peer lacks much.
func (c *Coordinator) seekBase() {
	s := &c.seeking
	switch {
	case !c.rules.Bases() || c.light.on || c.based != nil || c.now < s.again || s.reading:
	case !c.joining() && c.chain.head.height > 0 && !c.stranded(): // who has nothing yet may hear only peers that cannot give what lies below
		c.seeking = seeking{again: s.again}
	case s.with != nil:
		c.fetchBase()
	case len(s.offers) > 0:
		c.chooseBase()
	default:
		c.askHubs()
	}
}

// askHubs asks several hubs for the same base, which ones is drawn in secret. It waits a moment for more than one.
func (c *Coordinator) askHubs() {
	var hubs []*presence
	for _, h := range c.members.near {
		if c.mayGuide(h) {
			hubs = append(hubs, h)
		}
	}
	s := &c.seeking
	switch {
	case len(hubs) == 0 || c.election.role != Follower:
		return
	case s.since == 0:
		s.since = c.now
	}
	if len(hubs) < baseHubs && c.now-s.since < c.cfg.Timing.Heartbeat {
		return
	}
	heights := make([]uint64, len(hubs))
	for i, h := range hubs {
		j := i + int(c.draw.Uint64()%uint64(len(hubs)-i))
		hubs[i], hubs[j] = hubs[j], hubs[i]
		heights[i] = h.Height
	}
	slices.Sort(heights)
	height := heights[(len(heights)-1)/2] // what a few say of their height decides nothing
	height = (height - min(baseDepth, height)) / c.chain.states.first * c.chain.states.first
	if height < c.chain.head.height+baseLeast {
		s.again = c.now + c.cfg.Timing.Pull
		return
	}
	s.height, s.since = height, c.now
	for _, h := range hubs[:min(len(hubs), baseHubs)] {
		s.offers = append(s.offers, &offer{peer: h.peer})
		c.out.send(Direct, h.peer, &Seek{Height: height})
	}
}

// onBase takes what a hub says.
func (c *Coordinator) onBase(from Peer, m *Base, checked *Checked) {
	s := &c.seeking
	o := s.offerOf(from)
	if o == nil || o.Base != nil {
		return
	}
	o.entry = checked.generations[0].entry
	e := o.entry.Value()
	if own := c.chain.newest().state.EncodedLen(); m.Size != uint64(own) || e.Height != s.height ||
		c.rules.Ended(seedlog.Parent{Height: e.Height, Evaluations: m.Evaluations, Steps: m.Steps, Solved: e.Solved}) != seedlog.Open {
		o.gone = true
		c.pauseGuide(from, aheadPause*c.cfg.Timing.Pull)
		return
	}
	o.Base = m
}

// chooseBase takes the base that more than half of those who answered name, once all have or time is over.
func (c *Coordinator) chooseBase() {
	s := &c.seeking
	answered, waiting := 0, 0
	var best *offer
	most := 0
	for _, o := range s.offers {
		switch {
		case o.Base != nil:
			answered++
		case !o.gone:
			waiting++
		}
		agree := 0
		for _, p := range s.offers {
			if o.same(p) {
				agree++
			}
		}
		if agree > most {
			best, most = o, agree
		}
	}
	if waiting > 0 && c.now-s.since <= c.cfg.Timing.Pull {
		return
	}
	switch {
	case answered == 0:
		c.giveUpBase(nil)
	case 2*most <= answered:
		c.giveUpBase(errors.New("hubs do not agree on it"))
	default:
		s.with = best
		s.parts = make([]basePart, parts(best.Size))
		c.fetchBase()
	}
}

// giveUpBase looks for another one later.
func (c *Coordinator) giveUpBase(why error) {
	pause := Tick(2)
	if why != nil {
		c.out.note(NoteSync, c.self, fmt.Sprintf("no base at height %d to begin at: %v", c.seeking.height, why))
		pause = aheadPause
	}
	c.seeking = seeking{again: c.now + pause*c.cfg.Timing.Pull}
}

// fetchBase asks each hub that describes the base in the same way for a part at a time. What is here stays when a hub
// goes; where all are gone, others are sought for the same one.
func (c *Coordinator) fetchBase() {
	s := &c.seeking
	var idle []Peer
	for _, o := range s.offers {
		if !o.gone && o.same(s.with) && !c.faults.peers[o.peer] && c.members.links[o.peer] && !s.asked(o.peer) {
			idle = append(idle, o.peer)
		}
	}
	left, asked := 0, 0
	for i := range s.parts {
		p := &s.parts[i]
		if p.data != nil {
			continue
		}
		left++
		if p.from != (Peer{}) && (c.now-p.since > c.cfg.Timing.Pull || !c.members.links[p.from]) {
			s.offerOf(p.from).gone = true
			p.from = Peer{}
		}
		if p.from == (Peer{}) && len(idle) > 0 {
			p.from, p.since, idle = idle[0], c.now, idle[1:]
			c.out.send(Direct, p.from, &Ask{Height: s.height, Offset: uint64(i) * aheadPart})
		}
		if p.from != (Peer{}) {
			asked++
		}
	}
	switch {
	case left == 0:
		s.reading = true
		data := make([]byte, 0, s.with.Size)
		for _, p := range s.parts {
			data = append(data, p.data...)
		}
		c.out.Unpack = &Unpack{s.height, data, s.with.entry, true}
	case asked == 0:
		c.resumeBase()
	}
}

// resumeBase asks other hubs, and those that were silent, for what is still missing.
func (c *Coordinator) resumeBase() {
	s := &c.seeking
	s.again = c.now + c.cfg.Timing.Pull
	s.offers = slices.DeleteFunc(s.offers, func(o *offer) bool { return o != s.with })
	for _, h := range c.members.near {
		if c.mayGuide(h) && len(s.offers) <= baseHubs {
			if h.peer == s.with.peer {
				s.with.gone = false
				continue
			}
			s.offers = append(s.offers, &offer{peer: h.peer})
			c.out.send(Direct, h.peer, &Seek{Height: s.height})
		}
	}
	if s.since+deliveringPulls*c.cfg.Timing.Pull < c.now {
		c.giveUpBase(errors.New("nobody gives the rest of its state"))
	}
}

// takesPart takes a part of the state of the base that is fetched. It reports whether it is one.
func (c *Coordinator) takesPart(from Peer, m *Part, checked *Checked) bool {
	s := &c.seeking
	if s.with == nil || m.Height != s.height {
		return false
	}
	i := slices.IndexFunc(s.parts, func(p basePart) bool { return p.from == from })
	if i < 0 || m.Offset != uint64(i)*aheadPart {
		return true // late, or twice
	}
	p := &s.parts[i]
	p.from = Peer{}
	if checked.sum != s.with.digest(i) {
		s.offerOf(from).gone = true
		c.out.note(NoteSync, from, fmt.Sprintf("%s gave another part of a state than it said", from.Short()))
		c.pauseGuide(from, aheadPause*c.cfg.Timing.Pull)
		return true
	}
	p.data, s.since = m.Data, c.now
	return true
}

// unpackedBase takes the state of a base that was read. It reports whether it is one.
func (c *Coordinator) unpackedBase(e Unpacked) bool {
	s := &c.seeking
	if !s.reading || e.Height != s.height {
		return false
	}
	var from []Peer
	weight := s.with.Weight
	for _, o := range s.offers {
		if o.same(s.with) {
			from, weight = append(from, o.peer), min(weight, o.Weight)
		}
	}
	if e.State == nil {
		for _, p := range from {
			c.pauseGuide(p, aheadPause*c.cfg.Timing.Pull)
		}
		c.giveUpBase(e.Err)
		return true
	}
	r := &baseRecord{Entry: s.with.entry.Link(), Seal: s.with.entry.Seal().Link(), Evaluations: s.with.Evaluations, Steps: s.with.Steps, Weight: weight, From: from}
	entry := s.with.entry
	c.seeking = seeking{}
	c.begin(r, entry, e.State, e.blocks)
	return true
}
