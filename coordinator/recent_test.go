package coordinator

import (
	"testing"

	"github.com/evoswarm/evoswarm/internal/fair"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// TestRecentEntriesAreServedFromMemory: a hub gives the newest entries to many leaves without reading their claims from
// its archive again.
func TestRecentEntriesAreServedFromMemory(t *testing.T) {
	f := newNextField(t, 4, 2, 1)
	f.pass(200)
	m := f.peers[0]
	head := m.coord.chain.head
	recent := head.height - 5
	for n := head; n.height > recent; n = n.parent {
		for _, link := range n.claims {
			delete(m.disk.blocks, link)
		}
	}
	got := uint64(0)
	f.spy = func(from *member, e Envelope) {
		if s, ok := e.Message.(*Segment); ok && from == m && e.To == seedlog.PeerOf(f.strangers[0]) {
			got += uint64(len(s.Generations))
			for _, g := range s.Generations {
				if len(g.Claims) == 0 {
					t.Error("an entry without its claims")
				}
			}
		}
	}
	after, _ := m.coord.placeAt(recent)
	f.tell(f.strangers[0], m, &Pull{Locator: []seedlog.Link{after, f.rules.Run}})
	f.pass(2)
	if got < head.height-recent {
		t.Errorf("%d entries came, %d are above", got, head.height-recent)
	}
}

// TestRecentEntriesAreBounded: what a hub keeps in memory for others does not grow with the chain, nor with what
// entries hold.
func TestRecentEntriesAreBounded(t *testing.T) {
	f := newNextField(t, 4, 1, 0)
	f.pass(100)
	c := f.peers[0].coord
	kept := c.serving.recent.list
	if n := uint64(len(kept)); n == 0 || n > mostRecent || n < min(c.chain.head.height, mostRecent) {
		t.Fatalf("%d generations are kept at height %d", n, c.chain.head.height)
	}
	var r recentGenerations
	g := kept[len(kept)-1]
	for range 2 * mostRecent {
		r.add(recentGeneration{g.Generation, g.link, mostRecentBytes / 8})
	}
	if len(r.list) != 8 || r.bytes != mostRecentBytes {
		t.Errorf("%d generations of an eighth of the bound are kept, in all %d bytes", len(r.list), r.bytes)
	}
}

// TestLeaderIsAnsweredFirst: what a hub gives to its leaves keeps no claim from the leader: those who wait for entries
// are many, and all of them wait for what it logs.
func TestLeaderIsAnsweredFirst(t *testing.T) {
	f, leader := newLedField(t, 3)
	for _, m := range f.peers {
		if m == leader {
			continue
		}
		c := m.coord
		c.serving.total.Charge(uint64(c.now), struct{}{}, readsBurst) // leaves had it all
		claim := f.junkClaim(m.key, c.chain.head.link, 60)
		c.offer(source{key: c.self}, claim)
		answered := false
		f.spy = func(from *member, e Envelope) {
			if s, ok := e.Message.(*Claims); ok && from == m && e.To == leader.peer {
				answered = answered || seedlog.LinkOf(s.Blocks[0]) == claim.Link()
			}
		}
		f.tell(leader.key, m, &Want{Claims: []seedlog.Link{claim.Link()}})
		if !answered {
			t.Errorf("%s lets its leader wait for a claim", m.name)
		}
		answered = false
		f.tell(f.strangerKey(1), m, &Want{Claims: []seedlog.Link{claim.Link()}})
		if answered {
			t.Errorf("%s answers a stranger though it may read nothing", m.name)
		}
	}
}

// TestAnswersFitIntoMessages: however much others logged, what a hub answers is a message that can be sent, and it
// gives all that is below an entry that no message holds.
func TestAnswersFitIntoMessages(t *testing.T) {
	for _, tt := range []struct {
		name   string
		huge   uint64 // how many entries below the head no message holds the claims of one
		memory bool
	}{{"from memory", 0, true}, {"from disk", 0, false}, {"one is too large", 4, true}, {"one is too large, from disk", 4, false}} {
		t.Run(tt.name, func(t *testing.T) {
			f := newNextField(t, 4, 2, 1)
			f.pass(200)
			m := f.peers[0]
			head := m.coord.chain.head
			from := head.height - 20
			serving := &m.coord.serving
			serving.newest = fair.NewBudget[struct{}](1<<40, 1<<40, 1) // of a faster uplink
			for n := head; n.height > from; n = n.parent {
				n.body = nil
				size := 60 << 10
				if head.height-n.height == tt.huge && tt.huge > 0 {
					size = 2 << 20 / len(n.claims)
				}
				for _, link := range n.claims {
					m.disk.blocks[link] = make([]byte, size)
				}
				for i := range serving.recent.list {
					if r := &serving.recent.list[i]; r.link == n.link {
						for k := range r.Claims {
							r.Claims[k] = make([]byte, size)
						}
					}
				}
			}
			if !tt.memory {
				serving.recent = recentGenerations{}
			}
			got := from
			f.spy = func(by *member, e Envelope) {
				s, ok := e.Message.(*Segment)
				if !ok || by != m || e.To != seedlog.PeerOf(f.strangers[0]) {
					return
				}
				got += uint64(len(s.Generations))
				if size := len(EncodeMessage(s)); size > MaxDirectBytes {
					t.Errorf("%d entries in %d bytes, at most %d", len(s.Generations), size, MaxDirectBytes)
				}
			}
			want := head.height
			if tt.huge > 0 {
				want = head.height - tt.huge - 1
			}
			for range 60 {
				after, _ := m.coord.placeAt(got)
				f.tell(f.strangers[0], m, &Pull{Locator: []seedlog.Link{after, f.rules.Run}})
				f.pass(2)
				if got >= want {
					break
				}
			}
			if got < want || tt.huge > 0 && got > want {
				t.Errorf("entries up to %d came, those up to %d can be sent", got, want)
			}
		})
	}
}
