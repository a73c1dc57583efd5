package coordinator

import (
	"slices"
	"testing"
)

// leaderFaults are leaders that were elected and then keep the swarm from its work. They heartbeat as they should.
var leaderFaults = []struct {
	name string
	lost func(f *field, m *member, p parcel) bool // messages from or to m that the fault swallows
	hung bool                                     // whether m's evaluations never come back
	need uint64                                   // percent of the entries that must hold work of others
}{
	{name: "evaluations never come back", hung: true},
	{name: "bodies are withheld", lost: func(_ *field, m *member, p parcel) bool {
		switch p.message.(type) {
		case *Segment, *Claims:
			return p.from == m
		}
		return false
	}},
	{name: "others' claims are left out", need: 60, lost: func(_ *field, m *member, p parcel) bool {
		_, ok := p.message.(*Claims)
		return ok && p.to == m
	}},
	{name: "entries are sent to nobody", lost: func(_ *field, m *member, p parcel) bool {
		switch p.message.(type) {
		case *Announce, *Segment:
			return p.from == m
		}
		return false
	}},
}

// TestAttackByLeader has one of four natives break its duties whenever it leads: the others log their share.
func TestAttackByLeader(t *testing.T) {
	calm := newField(t, 4, 0)
	calm.pass(130)
	before := calm.low()
	calm.pass(2400)
	want := calm.low() - before
	for _, a := range leaderFaults {
		t.Run(a.name, func(t *testing.T) {
			f := newField(t, 4, 0)
			f.pass(130)
			m := f.leader()
			others := slices.DeleteFunc(slices.Clone(f.peers), func(o *member) bool { return o == m })
			low := func() uint64 {
				h := ^uint64(0)
				for _, o := range others {
					h = min(h, o.coord.chain.head.height)
				}
				return h
			}
			before, top, since, longest := low(), low(), f.now, Tick(0)
			f.each = func(int) {
				if a.lost != nil {
					f.queue = slices.DeleteFunc(f.queue, func(p parcel) bool { return a.lost(f, m, p) })
				}
				if a.hung {
					m.tasks = nil
				}
				if h := low(); h > top {
					top, since = h, f.now
				}
				longest = max(longest, f.now-since)
			}
			f.pass(2400)
			c := others[0].coord
			foreign := uint64(0)
			for _, n := range c.chain.canon[before+1:] {
				if slices.ContainsFunc(n.credits, func(credit peerCredit) bool { return credit.peer != m.peer }) {
					foreign++
				}
			}
			t.Logf("longest standstill %d ticks; %d of %d entries hold work of others", longest, foreign, c.chain.head.height-before)
			if 100*foreign < a.need*want {
				t.Errorf("%d of %d entries hold work of others, at least %d %% are promised", foreign, want, a.need)
			}
			f.holds(low()-before, want)
		})
	}
}

// TestAttackByVoter has a native with weight name later terms all the time, as a voter and as a candidate: that deposes
// nobody, and does not keep it in office.
func TestAttackByVoter(t *testing.T) {
	calm := newField(t, 5, 0)
	calm.pass(100)
	before := calm.low()
	calm.pass(1200)
	want := calm.low() - before

	f := newField(t, 5, 0)
	f.pass(100)
	before = f.low()
	m := f.peers[4]
	others := f.peers[:4]
	f.each = func(tick int) {
		if tick%4 != 0 {
			return
		}
		head := others[0].coord.chain.head
		for _, to := range others {
			later := to.coord.hard.Term + 1
			f.tell(m.key, to, &Status{Hub: true, Term: later + 7, Head: head.link, Height: head.height, Weight: head.weight})
			f.tell(m.key, to, &VoteRequest{Term: later + uint64(tick%3), Head: head.link, Handover: []byte{}})
			f.tell(m.key, to, &VoteReply{Term: later + 100, Signature: []byte{}})
			f.tell(m.key, to, &VoteReply{Pre: true, Term: later + 100, Signature: []byte{}})
		}
	}
	f.pass(1200)
	terms, led := uint64(0), uint64(0) // in which somebody led: numbers are free
	for _, n := range others[0].coord.chain.canon[before+1:] {
		if n.term != n.parent.term {
			terms++
		}
		if n.leader == m.peer {
			led++
		}
	}
	t.Logf("%d terms in %d ticks", terms, 1200)
	if limit := 2 * want / defaultMandate; terms > limit {
		t.Errorf("%d terms, at most %d are promised", terms, limit)
	}
	if limit := uint64(2*defaultMandate) + want/5; led > limit {
		t.Errorf("it led %d entries, at most %d are promised: others voted in so late terms that it could not hand over", led, limit)
	}
	f.holds(f.low()-before, want)
}
