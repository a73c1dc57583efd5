package coordinator

import (
	"testing"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// newAgedField is newNextField for claims up to twelve entries old. Each peer may do ten chunks on a state, and has as
// many under evaluation as its states allow.
func newAgedField(t testing.TB, natives, strangers int) *field {
	spec := *newNextField(t, 12, 1, 0).rules.Spec
	spec.Generation.Quota = 10
	rules, err := seedlog.NewRules(&spec)
	if err != nil {
		t.Fatal(err)
	}
	f := newFieldOf(t, rules, natives, strangers)
	for _, m := range f.peers {
		m.coord.work.slots = 128
	}
	return f
}

// aged has a peer's own work, or a part of it, done when its state is so many entries old, however long an entry takes.
func aged(f *field, entries uint64, which func(m *member, j *job) bool) {
	f.held = func(m *member, j *job) bool {
		return j.kind == jobOwn && which(m, j) && m.coord.chain.head.height < j.parent.height+entries
	}
}

// lasts is what the swarm's newest entry says of the time of the next generation, in milliseconds.
func (f *field) lasts() uint64 {
	m := f.peers[0]
	for _, p := range f.peers[1:] {
		if p.coord != nil && (m.coord == nil || p.coord.chain.head.height > m.coord.chain.head.height) {
			m = p
		}
	}
	return f.rules.Duration(m.coord.chain.head.parentInfo())
}

// TestGenerationsFollowResults: where most results come late, generations become longer, up to a bound, and leaders
// keep to that; nobody gives a leader up for it, and the next one does as the last one did. Once results come early
// they become shorter again.
func TestGenerationsFollowResults(t *testing.T) {
	f := newAgedField(t, 4, 0)
	least := f.rules.Spec.Generation.Duration
	aged(f, 9, func(_ *member, j *job) bool { return j.chunk >= 4 })
	last, since := f.peers[0].coord.chain.root, Tick(0)
	pass := func(ticks int, done func() bool) {
		t.Helper()
		for range ticks {
			f.pass(1)
			for _, m := range f.peers {
				if m.coord != nil && len(m.coord.election.liveness.rejected) > 0 {
					t.Fatalf("height %d, generations of %d ms: %s gave a leader up", last.height, f.lasts(), m.name)
				}
			}
			m := f.leader()
			if m == nil || m.coord.chain.head == last {
				continue
			}
			head := m.coord.chain.head
			if took, least := f.now-since, m.coord.lastsAfter(head.parent); head.parent.link == last.link && head.leader == last.leader && took < least {
				t.Fatalf("height %d came after %d ticks, want %d at least", head.height, took, least)
			}
			if last, since = head, f.now; done() {
				return
			}
		}
	}
	pass(4000, func() bool { return f.lasts() == seedlog.MaxLonger*least })
	if got := f.lasts(); got != seedlog.MaxLonger*least {
		t.Fatalf("generations last %d ms where results are nine entries old, want %d", got, seedlog.MaxLonger*least)
	}
	pass(400, func() bool { return false })
	if got := f.lasts(); got != seedlog.MaxLonger*least {
		t.Fatalf("generations last %d ms, want %d at most", got, seedlog.MaxLonger*least)
	}
	f.powerDown(f.leader())
	height := last.height
	pass(1000, func() bool { return last.height >= height+2 })
	if got := f.lasts(); got < seedlog.MaxLonger*least*3/4 {
		t.Errorf("generations last %d ms under the next leader", got)
	}
	f.held = nil
	pass(4000, func() bool { return f.lasts() == least })
	if got := f.lasts(); got != least {
		t.Errorf("generations last %d ms where results come at once, want %d", got, least)
	}
}

// TestFewSlowNobody: one of five peers whose claims are always as old as they may be, and a flood of new keys with true
// claims of that kind, do not make generations longer.
func TestFewSlowNobody(t *testing.T) {
	f := newAgedField(t, 5, 40)
	slow := f.peers[4]
	aged(f, 11, func(m *member, _ *job) bool { return m == slow })
	given := 0
	f.each = func(int) {
		head := f.peers[0].coord.chain.head
		if head.height < 20 {
			return
		}
		on := head.below(8)
		if on.state == nil {
			return
		}
		key := f.strangers[given%len(f.strangers)]
		given++
		peer := seedlog.PeerOf(key)
		results := f.evaluate(f.rules.Range(on.state, on.link, peer, 0, f.rules.Spec.Generation.Chunk), false)
		f.say(key, &Claims{Blocks: [][]byte{f.rules.OwnClaim(f.rules.Claim(on.link, key, 0, results)).Bytes()}})
	}
	longer, least := 0, f.rules.Spec.Generation.Duration
	for range 500 {
		f.pass(1)
		switch got := f.lasts(); {
		case got > least+least/8:
			t.Fatalf("generations last %d ms", got)
		case got > least:
			longer++ // an entry may hold little but what is slow
		}
	}
	if longer > 50 {
		t.Errorf("generations were longer in %d of 500 ticks", longer)
	}
	logged, edge, fresh := 0, 0, 0
	for _, n := range f.peers[0].coord.chain.canon {
		for _, credit := range n.credits {
			switch logged++; {
			case len(credit.chunks) > 10 && credit.peer == slow.peer:
				edge++
			case len(credit.chunks) > 8 && credit.peer != slow.peer:
				fresh++
			}
		}
	}
	if edge < 20 || fresh < 20 {
		t.Errorf("of %d peers' work in entries that of the slow peer is old %d times, that of new keys %d; want 20", logged, edge, fresh)
	}
}

// TestLeaderCannotStretch: an entry whose time of the next generation is not what its claims say is refused, and its
// leader with it.
func TestLeaderCannotStretch(t *testing.T) {
	f := newNextField(t, 12, 4, 0)
	f.pass(60)
	by := f.leader()
	f.swap = func(from, to *member, m Message) Message {
		if a, ok := m.(*Announce); ok && from == by {
			e, err := seedlog.DecodeEntry(a.Entry)
			if err != nil {
				t.Fatal(err)
			}
			e.Duration = 4000
			forged := f.rules.OwnEntry(e, by.key, nil)
			return &Announce{Entry: forged.Bytes(), Seal: forged.Seal().Bytes()}
		}
		return m
	}
	f.pass(60)
	for _, m := range f.peers {
		if got := m.coord.chain.head.duration; m != by && got != 0 {
			t.Errorf("%s follows an entry that says that the next generation lasts %d ms", m.name, got)
		}
	}
}

// TestFullEntriesComeSooner: where claims of more peers wait than an entry has room for, a leader closes generations
// that have become long after a quarter of their time, and no sooner. As many bytes of a few peers shorten nothing.
func TestFullEntriesComeSooner(t *testing.T) {
	for name, test := range map[string]struct {
		peers, each int
		part        Tick // of the time that a generation lasts
	}{
		"many peers":       {300, 1, 4},
		"few with as much": {30, 10, 1},
		"nobody":           {0, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			f := newAgedField(t, 4, 0)
			if claims := uint64(test.peers * test.each); claims > 0 && claims <= f.rules.MostClaims() {
				t.Fatalf("%d claims do not fill an entry of %d", claims, f.rules.MostClaims())
			}
			aged(f, 9, func(_ *member, j *job) bool { return j.chunk >= 4 })
			most := seedlog.MaxLonger * f.rules.Spec.Generation.Duration
			for range 4000 {
				if f.pass(1); f.lasts() == most {
					break
				}
			}
			head := f.leader().coord.chain.head
			for f.leader() == nil || f.leader().coord.chain.head == head {
				f.pass(1)
			}
			m := f.leader()
			c, begun := m.coord, f.now
			head = c.chain.head
			if c.lasts() != Tick(most/tickMS) {
				t.Fatalf("the generation lasts %d ticks", c.lasts())
			}
			for i := range test.peers {
				key := f.strangerKey(i)
				for chunk := range test.each {
					claim := f.rules.OwnClaim(seedlog.NewClaim(f.rules.Run, head.link, key, uint64(chunk), make([]int64, 4), []uint64{9, 9, 9, 9}))
					p := &pooled{claim: claim, on: head, spared: true, drawn: true}
					c.work.pool.known.Put(p.key(), source{key: seedlog.PeerOf(key)}, 1, p)
					c.work.pool.links[claim.Link()] = p
				}
			}
			for m.coord.chain.head == head {
				f.pass(1)
			}
			if took := f.now - begun; took < c.lastsAfter(head)/test.part || took > c.lastsAfter(head)/test.part+5 {
				t.Errorf("the entry came after %d ticks, its generation lasts %d, want a part of %d", took, c.lastsAfter(head), test.part)
			}
		})
	}
}
