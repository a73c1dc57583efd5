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
		data = nil // no state of a run is refused
	}
	return Packed{p.on, data}
}

// servedStates are encoded states that others fetch in parts, in the order of use.
type servedStates struct {
	list    []*servedState // at most maxServed
	packing bool
	waiting []Peer // for the one that is being encoded; at most maxWaiting
}

type servedState struct {
	height      uint64
	link        seedlog.Link
	entry, seal []byte
	data        []byte
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
	state := s.find(func(x *servedState) bool { return x.height == m.Height })
	if state == nil {
		state = s.find(func(x *servedState) bool { return x.link == n.link })
	}
	if state != nil {
		c.sendPart(from, state, m)
		return
	}
	if len(s.waiting) < maxWaiting && !slices.Contains(s.waiting, from) {
		s.waiting = append(s.waiting, from)
	}
	if !s.packing {
		s.packing, c.out.Pack = true, &Pack{n, n.state}
	}
}

func (c *Coordinator) sendPart(to Peer, s *servedState, m *Ask) {
	reply := &Part{Height: s.height, Size: uint64(len(s.data)), Entry: []byte{}, Seal: []byte{}}
	if s.height == m.Height {
		reply.Offset = min(m.Offset, uint64(len(s.data)))
	}
	if reply.Offset == 0 {
		reply.Entry, reply.Seal = s.entry, s.seal
	}
	reply.Data = s.data[reply.Offset:min(reply.Offset+aheadPart, uint64(len(s.data)))]
	c.serving.bytes.Charge(uint64(c.now), to, uint64(len(reply.Entry)+len(reply.Data)))
	c.out.send(Direct, to, reply)
}

// packed takes an encoded state, and sends its first part to those who wait.
func (c *Coordinator) packed(e Packed) {
	s := &c.serving.states
	waiting := s.waiting
	s.packing, s.waiting = false, nil
	entry, ok1 := c.blockOf(e.on, e.on.link)
	seal, ok2 := c.blockOf(e.on, e.on.sealLink)
	if !ok1 || !ok2 || e.data == nil {
		return // they ask again
	}
	if len(s.list) == maxServed {
		s.list = s.list[1:]
	}
	state := &servedState{e.on.height, e.on.link, entry, seal, e.data}
	s.list = append(s.list, state)
	for _, p := range waiting {
		c.sendPart(p, state, &Ask{})
	}
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
