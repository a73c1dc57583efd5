package sim

import (
	"fmt"
	"slices"

	"github.com/evoswarm/evoswarm/coordinator"
)

// checks are the messages whose signatures a node verifies outside its loop, source by source in turn.
type checks struct {
	sources []checking
	waiting int
	next    int // source whose turn it is
	running bool
	spent   int // signatures checked in tick at, and what earlier ones left over
	at      coordinator.Tick
}

type checking struct {
	source int
	mails  []*parcel
}

// take receives a message: its signatures are checked in turn, then the coordinator sees it.
func (s *Swarm) take(n *node, p *parcel) {
	if n.banned[p.from] || n.banned[p.via] {
		return
	}
	s.Report.Messages++
	n.traffic.in[p.kind%32] += uint64(p.size)
	n.traffic.got[p.kind%32]++
	if !coordinator.Slow(p.message) {
		s.receive(n, p)
		return
	}
	if !n.coord.Expects(p.from, p.message) {
		return
	}
	n.traffic.signatures += uint64(signatures(p.message))
	if s.opts.Signatures == 0 {
		s.receive(n, p)
		return
	}
	c := &n.checks
	i := slices.IndexFunc(c.sources, func(q checking) bool { return q.source == p.source })
	if i < 0 {
		i = len(c.sources)
		c.sources = append(c.sources, checking{source: p.source})
	}
	if c.waiting >= maxChecks {
		most := slices.MaxFunc(c.sources, func(a, b checking) int { return len(a.mails) - len(b.mails) })
		if len(c.sources[i].mails) >= len(most.mails) {
			return
		}
	}
	if _, ok := p.message.(*coordinator.Segment); ok && c.segments(i, p.from) >= n.coord.Answers(p.from) {
		return
	}
	n.coord.Arrived(p.from, p.message)
	c.waiting++
	c.sources[i].mails = append(c.sources[i].mails, p)
	if !c.running {
		c.running = true
		s.checkNext(n)
	}
}

// segments is how many of a node wait, of a source.
func (c *checks) segments(source int, from coordinator.Peer) (n int) {
	for _, p := range c.sources[source].mails {
		if _, ok := p.message.(*coordinator.Segment); ok && p.from == from {
			n++
		}
	}
	return n
}

// checkNext verifies messages for as long as the tick has room, then continues in the next one.
func (s *Swarm) checkNext(n *node) {
	c := &n.checks
	if passed := int(min(s.now-c.at, 1<<20)); passed > 0 {
		c.at, c.spent = s.now, max(c.spent-passed*s.opts.Signatures, 0)
	}
	for life := n.lives; c.waiting > 0; {
		if c.spent >= s.opts.Signatures {
			s.push(s.now+1, event{node: n, life: n.lives, do: func() { s.checkNext(n) }})
			return
		}
		c.next %= len(c.sources)
		q := &c.sources[c.next]
		if len(q.mails) == 0 {
			c.sources = slices.Delete(c.sources, c.next, c.next+1)
			continue
		}
		p := q.mails[0]
		q.mails = q.mails[1:]
		c.next++
		c.waiting--
		c.spent += signatures(p.message)
		if s.receive(n, p); n.coord == nil || n.lives != life {
			return
		}
	}
	c.running = false
}

// signatures is how many signatures are in a message.
func signatures(m coordinator.Message) int {
	switch m := m.(type) {
	case *coordinator.Claims:
		return len(m.Blocks)
	case *coordinator.Segment:
		n := 2 * len(m.Proofs)
		for _, g := range m.Generations {
			n += 1 + len(g.Claims)
		}
		return n
	case *coordinator.Push:
		return 2 + len(m.Claims)
	}
	return 2
}

// receive gives a checked message to a node.
func (s *Swarm) receive(n *node, p *parcel) {
	if p.err != nil {
		s.step(n, coordinator.Invalid{From: p.from, Err: p.err})
		return
	}
	s.step(n, coordinator.Received{From: p.from, Via: p.via, Source: s.addressOf(p.via), Message: p.checked})
}

// addressOf is the block of addresses of a neighbor: an adversary has one for all its keys. Others have none here, so
// that they count by their keys.
func (s *Swarm) addressOf(p coordinator.Peer) string {
	for i, a := range s.actors {
		if _, ok := a.numbers[p]; ok {
			return fmt.Sprintf("203.0.%d.0/24", i)
		}
	}
	return ""
}
