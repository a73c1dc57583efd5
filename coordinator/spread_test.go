package coordinator

import (
	"crypto/ed25519"
	"fmt"
	"slices"
	"testing"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// TestEntriesSpread: what a leader sends of an entry does not grow with the hubs, and all follow closely.
func TestEntriesSpread(t *testing.T) {
	for _, natives := range []int{4, 8, 16} {
		t.Run(fmt.Sprint(natives), func(t *testing.T) {
			f := newNextField(t, 4, natives, 0)
			f.pass(240)
			sent, entries := make(map[Peer]int), 0
			f.spy = func(m *member, e Envelope) {
				switch x := e.Message.(type) {
				case *Segment:
					sent[m.peer] += len(x.Generations)
				case *Push:
					if x.First == 0 {
						sent[m.peer]++
					}
				case *Announce:
					entries++
				}
			}
			f.pass(100)
			most := 0
			for _, m := range f.peers {
				most = max(most, sent[m.peer])
				if head := f.leading().coord.chain.head.height; m.coord.chain.head.height+3 < head {
					t.Errorf("%s is at height %d of %d", m.name, m.coord.chain.head.height, head)
				}
			}
			if entries == 0 || most > (spreadTo+1)*entries {
				t.Errorf("one hub sent %d entries with their claims of %d", most, entries)
			}
			t.Logf("%d entries, at most %d sent with their claims by one hub", entries, most)
		})
	}
}

// TestSilentHubs: hubs that give nothing to those below them in the tree hold nobody up for long.
func TestSilentHubs(t *testing.T) {
	f := newNextField(t, 4, 16, 0)
	f.pass(240)
	silent := make(map[*member]bool)
	for i, m := range f.peers {
		silent[m] = i%4 == 0
	}
	f.keepBack(func(from, _ *member) bool { return silent[from] && from.coord.election.role != Leader })
	f.pass(200)
	for _, m := range f.peers {
		if head := f.leading().coord.chain.head.height; m.coord.chain.head.height+8 < head || head < 40 {
			t.Errorf("%s is at height %d of %d", m.name, m.coord.chain.head.height, head)
		}
	}
}

// TestTreeBeginsWithTheKnown: all hubs have a place in the tree of a term, those without a record behind all others.
func TestTreeBeginsWithTheKnown(t *testing.T) {
	f := newNextField(t, 4, 8, 0)
	fresh := f.peers[5:]
	f.held = func(m *member, j *job) bool { return slices.Contains(fresh, m) && j.kind == jobOwn }
	f.pass(200)
	for term := range uint64(20) {
		leader := f.peers[int(term)%5]
		tree := f.peers[0].coord.tree(f.peers[0].coord.chain.head.height, leader.peer, term)
		if len(tree) != 7 || slices.Contains(tree, leader.peer) {
			t.Fatalf("term %d: %d hubs in the tree, the leader among them: %t", term, len(tree), slices.Contains(tree, leader.peer))
		}
		for _, m := range fresh {
			if slices.Index(tree, m.peer) < 4 {
				t.Errorf("term %d: %s, which has no record, is number %d", term, m.name, slices.Index(tree, m.peer))
			}
		}
	}
}

// TestVotesWhileEntriesAreOnTheirWay: a leader that asks for more votes of its term names its newest entry, which hubs
// below others in the tree do not have yet. They give theirs all the same, and pull nothing for it.
func TestVotesWhileEntriesAreOnTheirWay(t *testing.T) {
	f, leader := newLedField(t, 4)
	late := f.peers[(slices.Index(f.peers, leader)+1)%4]
	f.keepBack(func(_, to *member) bool { return to == late })
	c := late.coord
	for range 20 {
		if head := leader.coord.chain.head.link; c.comesLater(head) && c.chain.nodes[head] == nil {
			break
		}
		f.pass(1)
	}
	head, term := leader.coord.chain.head.link, leader.coord.election.mandate.term
	if c.chain.nodes[head] != nil || !c.comesLater(head) {
		t.Fatal("the newest entry is there, or nobody waits for it: no test")
	}
	pulls := 0
	f.spy = func(from *member, e Envelope) {
		if _, ok := e.Message.(*Pull); ok && from == late {
			pulls++
		}
	}
	if !c.grants(leader.peer, &VoteRequest{Term: term, Head: head}) || pulls > 0 {
		t.Errorf("the vote is refused, or %d questions were asked for it", pulls)
	}
	other := f.peers[(slices.Index(f.peers, leader)+2)%4].peer
	if c.grants(other, &VoteRequest{Term: term, Head: head}) || c.grants(leader.peer, &VoteRequest{Term: term, Head: seedlog.LinkOf([]byte("none"))}) {
		t.Error("another candidate, or an entry that nobody announced, gets the vote")
	}
}

// TestLeadersAnswerForEntries: hubs forward what their leader announced before they can check its place. If it is
// invalid, the leader that sealed it is cut off, not the hub. The hub is cut off if it sent other claims than the entry
// names, or an entry that was not announced: an attacker would otherwise pay with keys, which are free.
func TestLeadersAnswerForEntries(t *testing.T) {
	f, leader := newLedField(t, 4)
	rest := slices.DeleteFunc(slices.Clone(f.peers), func(m *member) bool { return m == leader })
	hub, to := rest[0], rest[1]
	head := to.coord.chain.head
	claims := f.trueClaims(head.link, head.state, []ed25519.PrivateKey{leader.key, hub.key})
	e, _ := f.rules.NewEntry(head.state, seedlog.Parent{Link: head.link, Height: head.height, Term: head.term}, head.term, leader.peer, claims)
	e.Height += 7
	g := f.generation(e, leader.key, claims)
	for _, test := range []struct {
		announced bool
		claims    [][]byte
		wants     *member
	}{{true, g.Claims, leader}, {true, g.Claims[:len(e.Blocks())], hub}, {false, g.Claims, hub}} {
		g.Claims = test.claims
		checked, err := Check(seedlog.NewChecker(f.rules), &Segment{Generations: []Generation{g}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		to.coord.out, to.coord.coming = Actions{}, nil
		if test.announced && !to.coord.await(checked.generations[0].entry.Link(), e) {
			t.Fatal("the entry is not awaited")
		}
		to.coord.placeNew(checked.generations[0], hub.peer, source{})
		if got := to.coord.out.Ban; !slices.Equal(got, []Peer{test.wants.peer}) {
			t.Errorf("announced %t, with %d claims: %d peers are cut off, want %s alone", test.announced, len(test.claims), len(got), test.wants.name)
		}
	}
}

// TestLargeEntriesAreAwaitedLonger: a hub waits for an entry as long as it needs to come down the tree, and for none
// longer than for two answers.
func TestLargeEntriesAreAwaitedLonger(t *testing.T) {
	f, leader := newLedField(t, 16)
	timing := leader.coord.cfg.Timing
	longer := 0
	for _, m := range f.peers {
		if m == leader {
			continue
		}
		c := m.coord
		wait := func(evaluations uint64) Tick {
			e := &seedlog.Entry{Height: c.chain.head.height + 1, Term: leader.coord.election.mandate.term, Leader: leader.peer, Evaluations: evaluations}
			if c.coming = nil; !c.await(seedlog.LinkOf([]byte("large")), e) {
				t.Fatalf("%s has no place in the tree", m.name)
			}
			return c.coming[0].until - c.now
		}
		small, large, huge := wait(1), wait(10_000), wait(1<<63)
		if large > small {
			longer++
		}
		if small < 2*timing.Heartbeat || huge < large || huge > 2*timing.Heartbeat+spreadPulls*timing.Pull {
			t.Errorf("%s waits %d ticks for a small entry, %d for a large one, %d for one without end", m.name, small, large, huge)
		}
	}
	if longer < 10 {
		t.Errorf("%d of 15 hubs wait longer for a large entry", longer)
	}
}

// TestOldEntriesAreNotPassedOn: who lost its disk, and is given all entries of a term at once, gives those below it no
// more than the newest.
func TestOldEntriesAreNotPassedOn(t *testing.T) {
	f := newNextField(t, 4, 6, 0)
	f.pass(300)
	m := f.peers[(slices.Index(f.peers, f.leading())+1)%6]
	f.powerDown(m)
	m.disk = &memory{blocks: make(map[seedlog.Link][]byte)}
	pushed := make(map[seedlog.Link]bool)
	f.spy = func(from *member, e Envelope) {
		if push, ok := e.Message.(*Push); ok && from == m {
			pushed[push.Link] = true
		}
	}
	f.swap = func(_, to *member, message Message) Message {
		if _, ok := message.(*Announce); ok && to == m {
			return nil // it knows of no entry that is newer
		}
		return message
	}
	most := 0
	f.start(m)
	for m.coord.chain.head.height+2 < f.low() || most == 0 {
		clear(pushed)
		f.pass(1)
		most = max(most, len(pushed))
	}
	if stale := int(m.coord.chain.maxStale); most > stale+1 {
		t.Errorf("passed %d entries on at once", most)
	}
}
