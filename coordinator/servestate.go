package coordinator

import (
	"slices"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

const (
	// maxServed bounds the states that are kept encoded for those who ask for parts of them.
	maxServed = 8
	// maxWaiting bounds those who wait for a state that is being encoded.
	maxWaiting = 64
)

// Pack asks for a state to be encoded for others; the answer is a Packed event.
type Pack struct {
	on    *node
	state *evolve.State
}

// Do encodes the state: the driver calls it outside the loop.
func (p *Pack) Do() Packed {
	data, err := p.state.MarshalBinary()
	if err != nil {
		return Packed{on: p.on} // no state of a run is refused
	}
	return Packed{p.on, data, partsOf(data)}
}

// servedStates are encoded states that others fetch in parts, in the order of use.
type servedStates struct {
	list    []*servedState // at most maxServed
	packing bool
	waiting []waiter // at most maxWaiting
}

// waiter is who waits for a state to be encoded.
type waiter struct {
	peer Peer
	on   *node
	ask  *Ask // nil: it seeks a base
}

type servedState struct {
	height      uint64
	link        seedlog.Link
	entry, seal []byte
	data        []byte
	parts       []byte // digests of its parts

	evaluations, steps uint64 // of the chain up to the entry
}

// find returns the state that is accepted, which becomes the one used last; nil: there is none.
func (s *servedStates) find(accepts func(*servedState) bool) *servedState {
	i := slices.IndexFunc(s.list, accepts)
	if i < 0 {
		return nil
	}
	found := s.list[i]
	s.list = append(slices.Delete(s.list, i, i+1), found)
	return found
}

// onAsk sends the next part of a state: of the one that was begun, as long as it is there, else of the newest.
func (c *Coordinator) onAsk(from Peer, m *Ask) {
	s, n := &c.serving.states, c.chain.newest()
	if c.joining() || n.height == 0 {
		return
	}
	if state := s.find(func(x *servedState) bool { return x.height == m.Height }); state != nil {
		c.sendPart(from, state, m)
		return
	}
	if at := c.baseAt(m.Height); at != nil {
		n = at
	}
	c.serveState(waiter{from, n, m})
}

// onSeek says what this peer has of an entry as a base.
func (c *Coordinator) onSeek(from Peer, m *Seek) {
	if n := c.baseAt(m.Height); n != nil && !c.joining() {
		c.serveState(waiter{from, n, nil})
	}
}

// baseAt is the canonical entry of a height, if it is deep enough for a base, and its state is here; else nil.
func (c *Coordinator) baseAt(height uint64) *node {
	if n := c.chain.canonAt(height); n != nil && n.state != nil && n.height > 0 && n.height+baseDepth <= c.chain.head.height {
		return n
	}
	return nil
}

// serveState answers who waits for a state, or has it encoded first.
func (c *Coordinator) serveState(w waiter) {
	s := &c.serving.states
	if state := s.find(func(x *servedState) bool { return x.link == w.on.link }); state != nil {
		c.answerWaiter(w, state)
		return
	}
	if len(s.waiting) < maxWaiting && !slices.ContainsFunc(s.waiting, func(x waiter) bool { return x.peer == w.peer && x.on == w.on }) {
		s.waiting = append(s.waiting, w)
	}
	c.packNext()
}

// packNext has the state encoded that has been waited for longest.
func (c *Coordinator) packNext() {
	s := &c.serving.states
	s.waiting = slices.DeleteFunc(s.waiting, func(w waiter) bool { return w.on.state == nil }) // it left memory
	i := slices.IndexFunc(s.waiting, func(w waiter) bool { return !s.has(w.on) })
	if !s.packing && i >= 0 {
		on := s.waiting[i].on
		s.packing, c.out.Pack = true, &Pack{on, on.state}
	}
}

// has reports whether the state after n is encoded.
func (s *servedStates) has(n *node) bool {
	return slices.ContainsFunc(s.list, func(x *servedState) bool { return x.link == n.link })
}

// answerWaiting answers those whose state is encoded, some at a time.
func (c *Coordinator) answerWaiting() {
	s := &c.serving.states
	for range stepAnswers {
		i := slices.IndexFunc(s.waiting, func(w waiter) bool { return s.has(w.on) })
		if i < 0 {
			return
		}
		w := s.waiting[i]
		s.waiting = slices.Delete(s.waiting, i, i+1)
		c.answerWaiter(w, s.find(func(x *servedState) bool { return x.link == w.on.link }))
	}
}

func (c *Coordinator) answerWaiter(w waiter, s *servedState) {
	if w.ask != nil {
		c.sendPart(w.peer, s, w.ask)
		return
	}
	c.serving.bytes.Charge(uint64(c.now), w.peer, uint64(len(s.entry)+len(s.parts)))
	c.out.send(Direct, w.peer, &Base{Entry: s.entry, Seal: s.seal, Evaluations: w.on.evaluations, Steps: w.on.steps, Weight: w.on.weight,
		Size: uint64(len(s.data)), Parts: s.parts})
}

func (c *Coordinator) sendPart(to Peer, s *servedState, m *Ask) {
	reply := &Part{Height: s.height, Size: uint64(len(s.data)), Entry: []byte{}, Seal: []byte{}, Own: []seedlog.Link{}}
	if s.height == m.Height {
		reply.Offset = min(m.Offset, uint64(len(s.data)))
	}
	if reply.Offset == 0 {
		reply.Entry, reply.Seal = s.entry, s.seal
		reply.Evaluations, reply.Steps, reply.Own = s.evaluations, s.steps, c.loggedOf(to, s.height)
	}
	reply.Data = s.data[reply.Offset:min(reply.Offset+aheadPart, uint64(len(s.data)))]
	c.serving.bytes.Charge(uint64(c.now), to, uint64(len(reply.Entry)+len(reply.Data)))
	c.out.send(Direct, to, reply)
}

// packed takes an encoded state, for those who wait for it.
func (c *Coordinator) packed(e Packed) {
	s := &c.serving.states
	s.packing = false
	entry, ok1 := c.blockOf(e.on, e.on.link)
	seal, ok2 := c.blockOf(e.on, e.on.sealLink)
	if ok1 && ok2 && e.data != nil {
		if len(s.list) == maxServed {
			s.list = s.list[1:]
		}
		s.list = append(s.list, &servedState{e.on.height, e.on.link, entry, seal, e.data, e.parts, e.on.evaluations, e.on.steps})
	} else {
		s.waiting = slices.DeleteFunc(s.waiting, func(w waiter) bool { return w.on == e.on }) // they ask again
	}
	c.packNext()
}

// blockOf is the entry or the seal of n.
func (c *Coordinator) blockOf(n *node, link seedlog.Link) ([]byte, bool) {
	switch {
	case n.body == nil:
		return c.cfg.Archive.Block(link)
	case link == n.link:
		return n.body.entry.Bytes(), true
	}
	return n.body.entry.Seal().Bytes(), true
}
