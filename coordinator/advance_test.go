package coordinator

import (
	"fmt"
	"slices"
	"testing"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// leading is the member that leads; while one hands over to another, the one that does.
func (f *field) leading() *member {
	f.t.Helper()
	i := slices.IndexFunc(f.peers, func(m *member) bool { return m.coord != nil && m.coord.election.role == Leader })
	if i < 0 {
		f.t.Fatal("nobody leads")
	}
	return f.peers[i]
}

// newLedField is a swarm with a leader that has just begun.
func newLedField(t *testing.T, natives int) (*field, *member) {
	t.Helper()
	f := newNextField(t, 4, natives, 0)
	f.pass(200)
	for leader := f.leading(); f.leading() == leader; {
		f.pass(1)
	}
	f.pass(10)
	return f, f.leading()
}

// keepBack drops the claims of entries on their way from or to peers.
func (f *field) keepBack(drop func(from, to *member) bool) {
	f.swap = func(from, to *member, m Message) Message {
		switch m.(type) {
		case *Segment, *Push:
			if drop(from, to) {
				return nil
			}
		}
		return m
	}
}

// TestNobodyWaitsForClaims: a follower to whom the claims of entries do not come for a while works on the newest
// states, and what it computes is logged. Its own chain is what it folded.
func TestNobodyWaitsForClaims(t *testing.T) {
	f, leader := newLedField(t, 5)
	late := f.peers[(slices.Index(f.peers, leader)+1)%5]
	other := f.peers[(slices.Index(f.peers, leader)+2)%5]
	inventories := 0
	f.keepBack(func(_, to *member) bool { return to == late })
	drop := f.swap
	f.swap = func(from, to *member, m Message) Message {
		if inventory, ok := m.(*Inventory); ok && from == late && to == leader {
			inventories++
			if n := leader.coord.chain.nodes[inventory.Parent]; n == nil || !leader.coord.inTime(n) {
				t.Errorf("announces what it holds for an entry that is none of the leader's last ones")
			}
		}
		return drop(from, to, m)
	}
	f.pass(5)
	c, low := late.coord, late.coord.chain.head.height
	logged := func(ticks int) (of, ofOther uint64) {
		credits := leader.coord.chain.credits
		before, beforeOther := credits[late.peer].Evaluations, credits[other.peer].Evaluations
		f.pass(ticks)
		credits = leader.coord.chain.credits
		return credits[late.peer].Evaluations - before, credits[other.peer].Evaluations - beforeOther
	}
	got, of := logged(30)
	high := leader.coord.chain.head.height
	if c.chain.head.height != low || high < low+5 || f.leading() != leader {
		t.Fatalf("the chain is at %d, was at %d, the leader's at %d: no test", c.chain.head.height, low, high)
	}
	if a := c.ahead; !a.led || a.on.height+1 < high {
		t.Errorf("works on %+v of %d", a.on, high)
	}
	if 4*got < 3*of {
		t.Errorf("%d evaluations of it were logged meanwhile, %d of another", got, of)
	}
	got, of = logged(40)
	if high := leader.coord.chain.head.height; c.chain.head.height != low || high < low+2*c.chain.maxStale || high > low+advanceMost || f.leading() != leader {
		t.Fatalf("the chain is at %d, was at %d, the leader's at %d: no test", c.chain.head.height, low, high)
	}
	if inventories == 0 {
		t.Error("announces nothing: no test")
	}
	if 4*got < 3*of {
		t.Errorf("%d evaluations of it were logged when it was further behind than results may be old, %d of another", got, of)
	}
	f.swap = nil
	f.pass(60)
	if a := c.ahead; c.chain.head.height+1 < leader.coord.chain.head.height || len(c.faults.peers)+len(c.faults.disqualified) > 0 || len(a.claims) > 16 {
		t.Errorf("the chain is at %d of %d, it blames %d peers, %d claims are left", c.chain.head.height, leader.coord.chain.head.height,
			len(c.faults.peers)+len(c.faults.disqualified), len(a.claims))
	}
}

// TestLeaderThatKeepsClaimsBack: a leader that sends states and no claims is given up, also where its followers
// compute little: their own chain does not grow, and what they claimed on it waits.
func TestLeaderThatKeepsClaimsBack(t *testing.T) {
	for _, every := range []Tick{1, 8} { // ticks in which followers evaluate a claim
		t.Run(fmt.Sprint(every), func(t *testing.T) {
			f, leader := newLedField(t, 3)
			height := leader.coord.chain.head.height
			f.swap = func(from, _ *member, m Message) Message {
				switch m.(type) {
				case *Segment, *Push, *Handover:
					if from == leader {
						return nil
					}
				}
				return m
			}
			f.held = func(m *member, j *job) bool { return m != leader && j.kind == jobOwn && f.now%every != 0 }
			f.pass(140)
			for _, m := range f.peers {
				if c := m.coord; m != leader && (c.election.leader == leader.peer || c.chain.head.height < height+2) {
					t.Errorf("%s follows %s at height %d, was at %d", m.name, f.nameOf(c.election.leader), c.chain.head.height, height)
				}
			}
		})
	}
}

// TestBadAdvances: what is not the state of the leader's newest entry is not worked on.
func TestBadAdvances(t *testing.T) {
	var old []byte
	for _, tt := range []struct {
		name string
		bad  func(m *Advance) Message
		bans bool // the leader, which signed it
	}{
		{"the state before", func(m *Advance) Message {
			if old == nil {
				old = m.State
				return nil
			}
			return &Advance{Entry: m.Entry, State: old}
		}, false},
		{"no entry", func(m *Advance) Message { return &Advance{Entry: seedlog.LinkOf([]byte("none")), State: m.State} }, false},
		{"no state", func(m *Advance) Message { return &Advance{Entry: m.Entry, State: []byte{}} }, true},
		{"half of it", func(m *Advance) Message { return &Advance{Entry: m.Entry, State: m.State[:len(m.State)/2]} }, true},
		{"nothing", func(*Advance) Message { return nil }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, leader := newLedField(t, 4)
			late := f.peers[(slices.Index(f.peers, leader)+1)%4]
			for late.coord.ahead.led {
				f.pass(1) // until its chain has come to what the leader sent before
			}
			old = nil
			f.swap = func(from, to *member, m Message) Message {
				switch m := m.(type) {
				case *Segment:
					if to == late {
						return nil
					}
				case *Advance:
					if to == late {
						return tt.bad(m)
					}
				}
				return m
			}
			banned := false
			f.each = func(int) {
				if late.coord.ahead.led && late.coord.ahead.on.height > late.coord.chain.head.height {
					t.Fatal("works on it")
				}
				banned = banned || late.coord.election.leader == (Peer{})
			}
			f.pass(16)
			if banned != tt.bans {
				t.Errorf("gave the leader up: %v", banned)
			}
		})
	}
	f := newNextField(t, 4, 4, 1)
	f.pass(200)
	data, err := f.peers[0].coord.chain.newest().state.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	stranger := &Advance{Entry: f.peers[0].coord.chain.head.link, State: data}
	for _, m := range f.peers {
		if m != f.leading() && (m.coord.Expects(seedlog.PeerOf(f.strangers[0]), stranger) || m.coord.Expects(m.peer, stranger)) {
			t.Errorf("%s reads the states of strangers", m.name)
		}
	}
}

// TestReRunsOnStatesOfTheLeader: a native whose own chain lags re-runs newcomers' claims on states that the leader
// sent.
func TestReRunsOnStatesOfTheLeader(t *testing.T) {
	f, leader := newLedField(t, 5)
	late := f.peers[(slices.Index(f.peers, leader)+1)%5]
	f.keepBack(func(_, to *member) bool { return to == late })
	f.pass(8)
	answers := make(map[bool]int) // by whether it says that the results are the same
	f.spy = func(from *member, e Envelope) {
		if m, ok := e.Message.(*Rechecked); ok && from == late {
			answers[m.Same]++
		}
	}
	c := leader.coord
	asked := 0
	for range 7 {
		f.pass(1)
		for _, n := range late.coord.ahead.recent {
			if n.height+4 < c.chain.head.height || late.coord.chain.nodes[n.link] != nil || late.coord.work.credit < 4 {
				continue
			}
			key := keyOf(fmt.Sprint("newcomer ", asked))
			claim := f.rules.Claim(n.link, key, 0, f.evaluate(f.rules.Task(n.state, n.link, seedlog.PeerOf(key), 0), false))
			data, _ := claim.Encode()
			f.tell(leader.key, late, &Recheck{Results: f.rules.Spec.Generation.Chunk, Claim: data})
			f.pass(3)
			asked++
			break
		}
	}
	if f.leading() != leader || asked < 3 || answers[true] < asked-1 || len(late.coord.ahead.recent) > int(f.rules.Spec.Generation.MaxStale)+1 {
		t.Errorf("asked for %d claims, it re-ran %d, could not tell of %d; it keeps %d states", asked, answers[true], answers[false], len(late.coord.ahead.recent))
	}
}
