package coordinator

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"slices"
	"testing"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// newTrustedField is a field whose natives are the keys that the run trusts, and strangers are not.
func newTrustedField(t testing.TB, stale uint64, natives, strangers int) *field {
	spec := nextFormat(t, newRules(t, true).Spec, stale)
	spec.Generation.Evaluations, spec.Generation.Quota = 16, 64
	spec.SpotChecks, spec.Nonce = nil, bytes.Repeat([]byte{1}, 16)
	for i := range natives {
		spec.Trust = append(spec.Trust, seedlog.PeerOf(keyOf(fmt.Sprintf("n%d", i+1))))
	}
	slices.SortFunc(spec.Trust, Peer.Compare)
	rules, err := seedlog.NewRules(spec)
	if err != nil {
		t.Fatal(err)
	}
	f := newFieldOf(t, rules, natives, strangers)
	f.capacity = 2
	return f
}

// TestTrustedRun: all follow closely and all work counts, with two messages a generation for each follower but signs of
// life, few for the same number of entries, and nothing is voted on, re-run or asked for.
func TestTrustedRun(t *testing.T) {
	for _, stale := range []uint64{0, 4} {
		for _, natives := range []int{1, 3, 12} {
			t.Run(fmt.Sprintf("%d natives, max_stale %d", natives, stale), func(t *testing.T) {
				f := newTrustedField(t, stale, natives, 0)
				f.pass(100)
				sent, given := make(map[byte]int), make(map[[2]seedlog.Link]int)
				f.spy = func(m *member, e Envelope) {
					sent[e.Message.kind()]++
					if s, ok := e.Message.(*Segment); ok {
						to := e.To
						given[[2]seedlog.Link{seedlog.LinkOf(s.Generations[0].Entry), seedlog.LinkOf(to[:])}]++
					}
				}
				before := f.low()
				f.pass(200)
				entries := int(f.low() - before)
				if entries < 20 {
					t.Errorf("%d entries in 200 ticks", entries)
				}
				for kind, n := range sent {
					switch newMessage(kind).(type) {
					case *Status:
						if most := 2*200 + natives*200/16 + natives*200/20; n > most {
							t.Errorf("%d signs of life, at most %d are needed", n, most)
						}
					case *Claims, *Segment: // at most three claims a generation
						if n > 3*(entries+3)*(natives-1) {
							t.Errorf("%d messages of type %d for %d entries of %d natives", n, kind, entries, natives)
						}
					default:
						t.Errorf("%d messages of type %d", n, kind)
					}
				}
				for _, n := range given {
					if n > 1 {
						t.Fatalf("a peer was given an entry %d times", n)
					}
				}
				for _, m := range f.peers {
					if head := f.leading().coord.chain.head.height; m.coord.chain.head.height+2 < head {
						t.Errorf("%s is at height %d of %d", m.name, m.coord.chain.head.height, head)
					}
					if f.peers[0].coord.chain.credits[m.peer].Evaluations == 0 {
						t.Errorf("nothing of %s counts", m.name)
					}
					for _, j := range m.coord.work.jobs {
						if j.kind != jobOwn {
							t.Errorf("%s re-runs something", m.name)
						}
					}
				}
			})
		}
	}
}

// TestFirstToMissLeads: who leads next is among the two that hear from the leader often, within 300 ms; the old leader
// follows when it is back.
func TestFirstToMissLeads(t *testing.T) {
	f := newTrustedField(t, 0, 6, 0)
	f.pass(100)
	for range 4 {
		dead := f.leader()
		heirs := dead.coord.heirs(dead.coord.chain.head, dead.peer)
		top := dead.coord.chain.head.height
		f.powerDown(dead)
		ticks := 0
		for ; f.low() <= top; ticks++ {
			if f.pass(1); ticks > 40 {
				t.Fatal("nobody leads")
			}
		}
		if at := slices.Index(heirs, f.leader().peer); at < 0 || at >= standbys || ticks > 7 {
			t.Errorf("number %d in order leads, and its first entry came after %d ticks", at, ticks)
		}
		f.start(dead)
		f.pass(60)
		if led := f.leader(); led == dead || dead.coord.election.leader != led.peer || dead.coord.chain.head.height+2 < led.coord.chain.head.height {
			t.Errorf("%s follows %s, %s leads", dead.name, dead.coord.election.leader.Short(), led.name)
		}
	}
}

// TestTwoTrustedLeaders: of two that lead one term all follow the one that is first in the fixed order, and a later
// term goes before that.
func TestTwoTrustedLeaders(t *testing.T) {
	f := newTrustedField(t, 0, 5, 0)
	f.pass(100)
	f.split = true
	old := f.leader()
	for i, m := range f.peers {
		m.side = i%2 == 0
	}
	for f.pass(1); ; f.pass(1) { // until the side without a leader has one
		if leads := f.leader(); leads != old {
			break
		}
		if f.now > 400 {
			t.Fatal("one side has no leader")
		}
	}
	a, b := old.coord, f.leader().coord
	a.election.mandate = &mandate{term: b.election.mandate.term, leader: a.self} // as if both had missed another
	a.hard.Term = b.hard.Term
	first := a.self
	if a.trust.places[b.self] < a.trust.places[a.self] {
		first = b.self
	}
	f.split = false
	f.pass(60)
	for _, m := range f.peers {
		if m.coord.election.leader != first {
			t.Errorf("%s follows %s", m.name, m.coord.election.leader.Short())
		}
	}
	before := f.low()
	f.pass(60)
	if f.low() < before+5 {
		t.Errorf("from height %d to %d in 60 ticks", before, f.low())
	}
}

// TestStrangersInATrustedRun: whatever keys send that the run does not trust, the others continue as if they were not
// there, and nobody answers more than questions.
func TestStrangersInATrustedRun(t *testing.T) {
	calm := newTrustedField(t, 0, 4, 0)
	calm.pass(300)
	f := newTrustedField(t, 0, 4, 8)
	f.pass(50)
	own := make(map[Peer]bool)
	for _, m := range f.peers {
		own[m.peer] = true
	}
	f.spy = func(m *member, e Envelope) {
		if _, answer := e.Message.(*Segment); e.Scope == Direct && !own[e.To] && !answer {
			t.Errorf("%s sends a stranger a %T", m.name, e.Message)
		}
	}
	f.each = func(tick int) {
		f.turn(tick, 2, func(i int, key ed25519.PrivateKey) {
			p, m := seedlog.PeerOf(key), f.peers[i%len(f.peers)]
			head, term := m.coord.chain.head, m.coord.term()+uint64(1+i)
			claim := f.junkClaim(key, head.link, 0)
			votes := []seedlog.Vote{seedlog.NewVote(f.rules.Run, term, p, key)}
			twin := f.generation(f.rules.EntryOf(head.parentInfo(), term, p, []seedlog.CheckedClaim{claim}, [32]byte{}, [32]byte{}), key, []*seedlog.Claim{claim.Value()})
			proof := f.rules.OwnProof(claim, 0, []int64{1}, 10, key)
			for _, x := range []Message{
				&Status{Hub: true, Leads: true, Term: term, Head: claim.Link(), Height: 1 << 40, Weight: 1 << 60},
				&Mandate{Term: term, Leader: p, Votes: []seedlog.Vote{}}, &Mandate{Term: term, Leader: p, Votes: votes},
				&Mandate{Term: term, Leader: m.peer, Votes: []seedlog.Vote{}},
				&VoteRequest{Term: term, Head: head.link, Handover: []byte{}}, &VoteReply{Granted: true, Term: term, Signature: []byte{}},
				&Handover{Term: term, Head: head.link, Signature: []byte{}}, &Claims{Blocks: [][]byte{claim.Bytes()}},
				&Inventory{Parent: head.link, Items: []InventoryItem{{Claim: claim.Link()}}}, &Want{Claims: head.claims},
				&Announce{Entry: twin.Entry, Seal: twin.Seal}, &Segment{Generations: []Generation{twin}, Proofs: []FraudProof{}, Height: 1 << 40},
				&FraudProof{Claim: claim.Bytes(), Proof: proof.Bytes()}, &Recheck{Results: 1, Claim: claim.Bytes()},
				&Rechecked{Claim: claim.Link(), Same: true, Peer: p, Signature: []byte{}}, &Advance{Entry: head.link, State: []byte{1}},
				&Vouch{Peer: p, Height: 32, Entry: head.link, Signature: seedlog.NewVouch(f.rules.Run, 32, head.link, key)}, &Leave{},
			} {
				f.say(key, x)
			}
		})
	}
	f.pass(250)
	if got, want := f.low(), calm.low(); 10*got < 9*want {
		t.Errorf("height %d, %d without strangers", got, want)
	}
	for _, m := range f.peers {
		if term := m.coord.hard.Term; term > 1 || !own[m.coord.election.leader] {
			t.Errorf("%s is in term %d, under %s", m.name, term, m.coord.election.leader.Short())
		}
		for p := range m.coord.chain.credits {
			if !own[p] {
				t.Errorf("work of %s counts", p.Short())
			}
		}
	}
}

// TestUntrustedFollows: a node that the run does not trust sees all of it, computes nothing and never leads.
func TestUntrustedFollows(t *testing.T) {
	f := newTrustedField(t, 0, 3, 0)
	guest := f.add("guest", production())
	f.start(guest)
	f.pass(150)
	s := guest.coord.Snapshot()
	if head := f.leading().coord.chain.head.height; !s.Untrusted || s.Height+25 < head || head < 20 {
		t.Errorf("at height %d of %d, untrusted: %t", s.Height, head, s.Untrusted)
	}
	if len(guest.tasks) > 0 || s.Leader == (Peer{}) {
		t.Errorf("%d tasks, led by %s", len(guest.tasks), s.Leader.Short())
	}
	for _, m := range f.peers[:3] {
		f.powerDown(m)
	}
	f.pass(300)
	if guest.coord.election.role != Follower {
		t.Error("it leads")
	}
}

// TestNoBasesAmongTrustedKeys: in a run of trusted keys nobody asks for a base, which nobody there would give.
func TestNoBasesAmongTrustedKeys(t *testing.T) {
	interval, least := markEvery, baseLeast
	t.Cleanup(func() { markEvery, baseLeast = interval, least })
	markEvery, baseLeast = testInterval, 64
	f := newTrustedField(t, 4, 3, 0)
	f.until(4 * testInterval)
	guest := f.add("guest", production())
	f.spy = func(from *member, e Envelope) {
		if _, ok := e.Message.(*Seek); ok {
			t.Errorf("%s asks for a base", from.name)
		}
	}
	f.start(guest)
	f.pass(100)
	if guest.coord.chain.head.height < testInterval {
		t.Errorf("the guest is at height %d", guest.coord.chain.head.height)
	}
}
