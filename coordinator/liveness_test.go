package coordinator

import "testing"

// TestGivenUpLeadAgain takes the leader from five peers, each of which gave all others but it up: none is elected at
// first, but soon one is. A peer with the best branch votes for nobody else, so a swarm could wait minutes until
// rejections end.
func TestGivenUpLeadAgain(t *testing.T) {
	f := newField(t, 5, 0)
	f.pass(300)
	f.powerDown(f.leader())
	var left []*member
	for _, m := range f.peers {
		if m.coord != nil {
			left = append(left, m)
		}
	}
	election := left[0].coord.cfg.Timing.Election
	for _, m := range left {
		if c := m.coord; 2*c.electorate().weightOf(m.peer) >= c.electorate().total {
			t.Fatalf("%s elects itself", m.name)
		}
		for _, other := range left {
			if l := &m.coord.election.liveness; other != m {
				l.rejected = append(l.rejected, rejection{peer: other.peer, until: m.coord.now + 1000*election})
			}
		}
	}
	for range lapseElections * election {
		f.pass(1)
		if f.leader() != nil {
			t.Fatal("a peer is elected by those that gave it up")
		}
	}
	before := f.low()
	f.pass(int(lapseElections * election))
	if f.low() <= before+1 {
		t.Fatalf("height %d, and %d when rejections lapsed", f.low(), before)
	}
}
