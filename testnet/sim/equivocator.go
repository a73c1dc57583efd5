package sim

import (
	"bytes"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// equivocator signs two entries for every place when it leads and shows one to each half of the swarm, hands over to
// two peers in one term, and gives its vote to everybody who asks.
type equivocator struct {
	passive
	votesAlone bool                                    // whether it signs one entry for each place
	places     []uint64                                // heights at which it signed twice
	twins      map[seedlog.Link]coordinator.Generation // what the odd half is shown in place of an entry
}

// Send implements Insider.
func (q *equivocator) Send(a *Actor, n int, out []coordinator.Envelope) []coordinator.Envelope {
	var sent []coordinator.Envelope
	for _, e := range out {
		switch m := e.Message.(type) {
		case *coordinator.Announce:
			if q.votesAlone {
				break
			}
			twin, ok := q.twin(a, n, m)
			if !ok {
				break
			}
			for _, v := range a.Views() {
				shown := coordinator.Envelope{Scope: coordinator.Direct, To: v.Peer, Message: m}
				if v.Index%2 == 1 {
					shown.Message = &coordinator.Announce{Entry: twin.Entry, Seal: twin.Seal}
				}
				sent = append(sent, shown)
			}
			continue
		case *coordinator.Segment:
			if to := a.indexOf(e.To); to >= 0 && to%2 == 1 {
				e.Message = q.rewritten(m)
			}
		case *coordinator.Push:
			twin, ok := q.twins[m.Link]
			if to := a.indexOf(e.To); !ok || to < 0 || to%2 == 0 {
				break
			}
			if m.First > 0 {
				continue
			}
			e.Message = pushOf(twin)
		case *coordinator.Handover:
			for _, v := range a.targets() {
				if v.Peer != e.To {
					vote := a.Vote(m.Term, v.Peer, -1-n)
					sent = append(sent, coordinator.Envelope{Scope: coordinator.Direct, To: v.Peer, Message: &coordinator.Handover{Term: m.Term, Head: m.Head, Signature: vote.Signature}})
					q.deeds++
					q.places = append(q.places, a.View(n).Height)
					break
				}
			}
		case *coordinator.VoteReply:
			if to := a.indexOf(e.To); to >= 0 && !m.Granted {
				v := a.View(to)
				e.Message = &coordinator.VoteReply{Pre: m.Pre, Granted: true, Term: v.Term, Signature: a.Vote(v.Term, v.Peer, -1-n).Signature}
			}
		}
		sent = append(sent, e)
	}
	return sent
}

// twin makes another entry for the place of an entry that an owned peer announces, with its last claim left out, where
// enough are left.
func (q *equivocator) twin(a *Actor, n int, m *coordinator.Announce) (coordinator.Generation, bool) {
	e, err := seedlog.ReadEntry(m.Entry, a.Block)
	if err != nil {
		return coordinator.Generation{}, false
	}
	var claims []*seedlog.Claim
	for _, link := range e.Claims[:len(e.Claims)-1] {
		data, ok := a.Block(link)
		claim, err := seedlog.DecodeClaim(data)
		if !ok || err != nil {
			return coordinator.Generation{}, false
		}
		claims = append(claims, claim)
	}
	if a.swarm.library.find(e.Parent) == nil || !a.full(claims) {
		return coordinator.Generation{}, false
	}
	g, _ := a.Generation(e.Parent, e.Term, -1-n, claims, nil)
	if q.twins == nil {
		q.twins = make(map[seedlog.Link]coordinator.Generation)
	}
	q.twins[seedlog.LinkOf(m.Entry)] = g
	q.deeds++
	q.places = append(q.places, e.Height)
	return g, true
}

// pushOf gives an entry with all its claims at once.
func pushOf(g coordinator.Generation) *coordinator.Push {
	m := &coordinator.Push{Link: seedlog.LinkOf(g.Entry), Entry: g.Entry, Seal: g.Seal, Batches: [][]byte{}, Claims: g.Claims}
	if e, err := seedlog.DecodeEntry(g.Entry); err == nil {
		m.Batches, m.Claims = g.Claims[:len(e.Batches)], g.Claims[len(e.Batches):]
	}
	return m
}

// rewritten ends a segment with the twin of the first entry that has one.
func (q *equivocator) rewritten(m *coordinator.Segment) *coordinator.Segment {
	for i, g := range m.Generations {
		if twin, ok := q.twins[seedlog.LinkOf(g.Entry)]; ok && !bytes.Equal(twin.Entry, g.Entry) {
			short := *m
			short.Generations = append(m.Generations[:i:i], twin)
			return &short
		}
	}
	return m
}
