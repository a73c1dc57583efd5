package coordinator

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/evoswarm/evoswarm/internal/noise"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// mandateOfAll is the mandate of a candidate with the votes of all voters given.
func (s *swarm) mandateOfAll(term uint64, candidate Peer, voters []*member) *Mandate {
	m := &Mandate{Term: term, Leader: candidate}
	for _, v := range voters {
		m.Votes = append(m.Votes, seedlog.NewVote(s.rules.Run, term, candidate, v.key))
	}
	slices.SortFunc(m.Votes, func(a, b seedlog.Vote) int { return a.Voter.Compare(b.Voter) })
	return m
}

// rivals splits the electors in two parts, each of which has a majority together with their common first one alone.
func (f *field) rivals() (a, b []*member) {
	f.t.Helper()
	e := f.peers[0].coord.electorate()
	for _, voter := range f.peers {
		for mask := range 1 << len(f.peers) {
			a, b = []*member{voter}, []*member{voter}
			sums := [2]uint64{e.weightOf(voter.peer), e.weightOf(voter.peer)}
			for i, m := range f.peers {
				switch {
				case m == voter:
				case mask>>i&1 == 1:
					a, sums[0] = append(a, m), sums[0]+e.weightOf(m.peer)
				default:
					b, sums[1] = append(b, m), sums[1]+e.weightOf(m.peer)
				}
			}
			if 2*sums[0] > e.total && 2*sums[1] > e.total && len(a) > 2 && len(b) > 2 {
				return a, b
			}
		}
	}
	f.t.Fatal("no voter decides between two halves")
	return nil, nil
}

// doubleVoteOf is true evidence against a key.
func doubleVoteOf(rules *seedlog.Rules, key ed25519.PrivateKey, term uint64, a, b Peer) *DoubleVote {
	of := func(p Peer) seenVote { return seenVote{p, seedlog.NewVote(rules.Run, term, p, key).Signature} }
	return newDoubleVote(ballotKey{term, seedlog.PeerOf(key)}, of(a), of(b))
}

// TestDoubleVoteIsFound shows one peer two leaders of one term, each with votes of more than half. It finds who voted
// for both and tells all; all disqualify that voter and nobody else, up to the same height, also those that come or
// start again meanwhile.
func TestDoubleVoteIsFound(t *testing.T) {
	f := newField(t, 7, 0)
	f.pass(100)
	a, b := f.rivals()
	voter, witness := a[0], a[1]
	term := witness.coord.chain.head.term + 1
	told := 0
	f.spy = func(_ *member, e Envelope) {
		if _, ok := e.Message.(*DoubleVote); ok && e.Scope == Gossip {
			told++
		}
	}
	for i, voters := range [][]*member{a, b} {
		candidate := [...]Peer{b[1].peer, a[2].peer}[i]
		for _, m := range voters {
			m.coord.vote(term, candidate)
		}
		f.tell(voter.key, witness, f.mandateOfAll(term, candidate, voters))
	}
	f.pass(2 * doubleLot)
	late := f.add("late", production())
	f.start(late)
	f.powerDown(witness)
	f.start(witness)
	f.pass(60)
	if told != 1 {
		t.Errorf("one peer found it, %d messages are gossiped", told)
	}
	ends := make(map[Peer]uint64)
	begins := uint64(0)
	for range 2500 {
		f.pass(1)
		for _, m := range f.peers {
			if m == voter || ends[m.peer] != 0 {
				continue
			}
			c := m.coord
			for _, other := range f.peers {
				if other != voter && c.signedTwice(other.peer) {
					t.Fatalf("%s disqualifies %s, which voted once", m.name, other.name)
				}
			}
			i := slices.IndexFunc(c.chain.canon, func(n *node) bool { return n.term >= term })
			begins = c.chain.canon[i].height
			out := c.electorate().weightOf(voter.peer) == 0
			if want := c.chain.head.height < begins+disqualifiedFor; c.signedTwice(voter.peer) != want || want && (!out || c.mayLead(voter.peer)) {
				t.Fatalf("%s at height %d: disqualified %t, no elector %t; the term began at height %d", m.name, c.chain.head.height, !want, out, begins)
			} else if !want {
				ends[m.peer] = c.chain.head.height
			}
		}
		if len(ends) == len(f.peers)-1 {
			break
		}
	}
	if len(ends) != len(f.peers)-1 {
		t.Errorf("%d of %d peers let the voter back, at height %d", len(ends), len(f.peers)-1, f.low())
	}
	for p, height := range ends { //lint:sorted each one on its own
		if height != begins+disqualifiedFor {
			t.Errorf("%s lets the voter back at height %d, the term began at %d", f.nameOf(p), height, begins)
		}
	}
}

// TestDoubleVoteSeenByCandidate has a voter grant its vote to a candidate and show it for another leader as well.
func TestDoubleVoteSeenByCandidate(t *testing.T) {
	f := newField(t, 5, 0)
	f.pass(100)
	candidate, voter := f.peers[1], f.peers[4]
	c := candidate.coord
	term := c.nextTerm()
	c.stand(&campaign{term: term})
	f.tell(voter.key, candidate, &VoteReply{Granted: true, Term: term, Signature: seedlog.NewVote(f.rules.Run, term, candidate.peer, voter.key).Signature})
	all := slices.DeleteFunc(slices.Clone(f.peers), func(m *member) bool { return m == candidate })
	f.tell(voter.key, candidate, f.mandateOfAll(term, f.peers[2].peer, all))
	if !c.signedTwice(voter.peer) {
		t.Error("two votes of one voter were seen, and nothing came of it")
	}
	if len(c.faults.doubles) != 1 {
		t.Errorf("%d keys are disqualified, one voted twice", len(c.faults.doubles))
	}
}

// TestHonestVotersAreNeverCaught crashes, starts and parts honest peers at random, on a network
// that loses an eighth of all messages.
func TestHonestVotersAreNeverCaught(t *testing.T) {
	terms := uint64(0)
	for seed := range uint64(6) {
		f := newField(t, 5, 0)
		draw := noise.NewStream(seed, 0x766f7465)
		f.watchVotes()
		watch := f.spy
		var crash []*member // those that may have voted just now
		f.spy = func(from *member, e Envelope) {
			watch(from, e)
			switch m := e.Message.(type) {
			case *VoteReply, *VoteRequest, *Handover:
				crash = append(crash, from)
			case *DoubleVote:
				t.Fatalf("seed %d: %s shows that %s voted twice in term %d", seed, from.name, f.nameOf(m.Voter), m.Term)
			}
		}
		f.each = func(int) {
			for _, m := range crash {
				if m.coord != nil && draw.Uint64()%2 == 0 {
					f.powerDown(m)
					f.start(m)
				}
			}
			crash = crash[:0]
			f.queue = slices.DeleteFunc(f.queue, func(parcel) bool { return draw.Uint64()%8 == 0 })
			switch m := f.peers[draw.Uint64()%5]; {
			case draw.Uint64()%40 > 0:
			case m.coord == nil:
				f.start(m)
			case draw.Uint64()%4 == 0:
				f.step(m, Retire{})
			case draw.Uint64()%3 == 0:
				f.split = !f.split
				m.side = !m.side
			default:
				f.powerDown(m)
			}
		}
		f.pass(1500)
		terms += f.term()
		for _, m := range f.peers {
			if m.coord != nil && len(m.coord.faults.doubles) > 0 {
				t.Errorf("seed %d: %s has evidence against an honest peer", seed, m.name)
			}
		}
	}
	if terms < 60 {
		t.Errorf("%d terms in all: too few to learn from", terms)
	}
	t.Logf("%d terms", terms)
}

// TestDoubleVoteIsChecked bans who sends evidence that shows nothing, and ignores what changes nothing.
func TestDoubleVoteIsChecked(t *testing.T) {
	f := newField(t, 4, 1)
	f.pass(100)
	voter, to := f.peers[3], f.peers[0]
	term, stranger := to.coord.chain.head.term, f.strangers[0]
	good := doubleVoteOf(f.rules, voter.key, term, f.peers[0].peer, f.peers[1].peer)
	if _, err := Check(seedlog.NewChecker(f.rules), good, nil); err != nil {
		t.Fatalf("true evidence: %v", err)
	}
	if m := doubleVoteOf(f.rules, stranger, term, f.peers[0].peer, f.peers[1].peer); to.coord.Expects(voter.peer, m) {
		t.Error("evidence against a key without work is read")
	}
	if m := doubleVoteOf(f.rules, voter.key, term+doubleTerms+1, f.peers[0].peer, f.peers[1].peer); to.coord.Expects(voter.peer, m) {
		t.Error("evidence of a term far ahead is read")
	}
	for name, change := range map[string]func(m *DoubleVote){
		"another term":   func(m *DoubleVote) { m.Term++ },
		"another voter":  func(m *DoubleVote) { m.Voter = f.peers[2].peer },
		"one vote twice": func(m *DoubleVote) { m.SecondSignature = m.FirstSignature },
		"votes swapped":  func(m *DoubleVote) { m.FirstSignature, m.SecondSignature = m.SecondSignature, m.FirstSignature },
		"no signature":   func(m *DoubleVote) { m.FirstSignature = []byte{} },
	} {
		m := *good
		change(&m)
		_, err := Check(seedlog.NewChecker(f.rules), &m, nil)
		if !errors.Is(err, seedlog.ErrSignature) {
			t.Errorf("%s: %v", name, err)
		}
		bans := 0
		for _, n := range to.coord.Step(f.now, Invalid{From: seedlog.PeerOf(stranger), Err: err}).Notes {
			if n.Kind == NoteBan {
				bans++
			}
		}
		if bans != 1 {
			t.Errorf("%s: its sender is cut off %d times", name, bans)
		}
	}
	same := *good
	same.Second, same.SecondSignature = same.First, same.FirstSignature
	if _, err := DecodeMessage(EncodeMessage(&same)); !errors.Is(err, ErrMessage) {
		t.Errorf("one vote twice: %v", err)
	}
	if to.coord.signedTwice(voter.peer) {
		t.Error("evidence that shows nothing counts")
	}
}

// TestDoublesAreBounded fills the tables: they stay within their limits, and the evidence against those that weigh most
// stays.
func TestDoublesAreBounded(t *testing.T) {
	f := newField(t, 4, 0)
	f.pass(100)
	voter, c := f.peers[3], f.peers[0].coord
	c.onDouble(doubleVote(doubleVoteOf(f.rules, voter.key, c.chain.head.term, f.peers[0].peer, f.peers[1].peer)))
	c.begun = c.now // as if it came just now: any evidence is taken
	for i := range 3 * maxDoubles {
		c.onDouble(doubleVote(doubleVoteOf(f.rules, keyOf(fmt.Sprint("junk ", i)), 1<<40, f.peers[0].peer, f.peers[1].peer)))
	}
	if !c.signedTwice(voter.peer) || len(c.faults.doubles) != maxDoubles || len(c.hard.DoubleVotes) != maxDoubles {
		t.Errorf("known %t, %d kept, %d saved; at most %d", c.signedTwice(voter.peer), len(c.faults.doubles), len(c.hard.DoubleVotes), maxDoubles)
	}
	if sent := c.Step(f.now, Linked{Peer: Peer{7}}).Send; slices.ContainsFunc(sent, func(e Envelope) bool {
		m, ok := e.Message.(*DoubleVote)
		return ok && m.Voter != voter.peer
	}) {
		t.Error("a new neighbor is told of keys without work")
	}
	head := c.chain.head.term
	c.faults.ballots = newFaults().ballots
	for i := range uint64(doubleTerms) {
		for p := range byte(40) {
			c.noteVotes(head+i, Peer{p}, []seedlog.Vote{{Voter: f.peers[1].peer}, {Voter: f.peers[2].peer}, {Voter: Peer{p}}})
		}
	}
	if n := c.faults.ballots.Len(); n != 2*doubleTerms {
		t.Errorf("%d votes are remembered, %d were given by keys with work in terms that count", n, 2*doubleTerms)
	}
}

// TestDoublesSurviveARestart compares what is known of both kinds before and after.
func TestDoublesSurviveARestart(t *testing.T) {
	f := newField(t, 4, 0)
	f.pass(100)
	by, m := f.leader(), f.peers[0]
	if m == by {
		m = f.peers[1]
	}
	second := f.twin(t, by)
	f.tell(by.key, m, &Announce{Entry: second.Entry, Seal: second.Seal})
	f.tell(by.key, m, doubleVoteOf(f.rules, by.key, m.coord.chain.head.term, f.peers[0].peer, f.peers[1].peer))
	want := m.coord.faults.doubles
	f.powerDown(m)
	f.start(m)
	got := m.coord.faults.doubles
	if len(want) != 2 || len(got) != 2 {
		t.Fatalf("%d before, %d after the restart", len(want), len(got))
	}
	for i := range want {
		if got[i].peer != want[i].peer || got[i].votes != want[i].votes || got[i].place != want[i].place {
			t.Errorf("got %+v, want %+v", got[i], want[i])
		}
	}
	if v, ok := got[1].message.(*DoubleVote); !ok || !bytes.Equal(EncodeMessage(v), EncodeMessage(want[1].message)) {
		t.Error("the votes themselves are lost")
	}
}

// TestOlderHardStates reads hard states that have fewer fields.
func TestOlderHardStates(t *testing.T) {
	type first struct {
		_            struct{} `cbor:",toarray"`
		Term         uint64
		Voted        []byte
		SealedTerm   uint64
		SealedHeight uint64
		Proofs       [][2]seedlog.Link
		Faulty       []Peer
	}
	old := seedlog.Encode(&first{Term: 7, Voted: []byte{1}, SealedTerm: 6, SealedHeight: 5, Faulty: []Peer{{3}}})
	h, err := decodeHard(old)
	if err != nil || h.Term != 7 || !bytes.Equal(h.Voted, []byte{1}) || h.SealedTerm != 6 || h.SealedHeight != 5 || !slices.Equal(h.Faulty, []Peer{{3}}) || h.Vouched != 0 || h.Final != nil {
		t.Errorf("got %+v and error %v", h, err)
	}
	again, err := decodeHard(seedlog.Encode(&h))
	if err != nil || again.Term != 7 {
		t.Errorf("got %+v and error %v", again, err)
	}
	for _, data := range [][]byte{{0x81, 0x01}, seedlog.Encode(make([]uint64, hardFields+1)), {0xf6}, {}} {
		if _, err := decodeHard(data); err == nil {
			t.Errorf("% x is read", data)
		}
	}
}
