package coordinator

import (
	"crypto/ed25519"
	"math/rand/v2"
	"testing"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// ballot is what a peer may give one vote for.
type ballot struct {
	voter Peer
	term  uint64
}

// watchVotes collects the votes that leave members. It fails the test where one votes twice in a term, in whatever
// life, and where its disk does not know yet what it voted.
func (f *field) watchVotes() map[ballot]Peer {
	votes := make(map[ballot]Peer)
	f.spy = func(from *member, e Envelope) {
		var term uint64
		candidate := e.To
		switch m := e.Message.(type) {
		case *VoteReply:
			if m.Granted && !m.Pre {
				term = m.Term
			}
		case *VoteRequest:
			if !m.Pre {
				term, candidate = m.Term, from.peer
			}
		case *Handover:
			term = m.Term
		}
		if term == 0 {
			return
		}
		if before, ok := votes[ballot{from.peer, term}]; ok && before != candidate {
			f.t.Fatalf("%s votes for %s and for %s in term %d", from.name, f.nameOf(before), f.nameOf(candidate), term)
		}
		votes[ballot{from.peer, term}] = candidate
		var saved hardState
		if err := messageMode.Unmarshal(from.disk.state, &saved); err != nil || saved.Term < term || saved.Term == term && string(saved.Voted) != string(candidate[:]) {
			f.t.Fatalf("%s votes for %s in term %d, its disk says %s in term %d: %v", from.name, f.nameOf(candidate), term, f.nameOf(Peer(saved.Voted)), saved.Term, err)
		}
	}
	return votes
}

// TestOneVoteForOneTerm asks a peer for votes of terms in any order, among them some that it voted in, and takes its
// power now and then. Over all its lives it gives one vote in a term.
func TestOneVoteForOneTerm(t *testing.T) {
	f := newField(t, 4, 0)
	votes := f.watchVotes()
	f.pass(100)
	voter, others := f.peers[3], f.peers[:3]
	for _, m := range others {
		f.powerDown(m) // their keys speak below
	}
	rng := rand.New(rand.NewPCG(1, 2))
	restarts, before := 0, len(votes)
	for range 600 {
		f.now++
		f.step(voter, Passed{})
		f.work(voter, false)
		head := voter.coord.chain.head
		for _, m := range others {
			f.tell(m.key, voter, &Status{Hub: true, Term: head.term, Head: head.link, Height: head.height, Weight: head.weight})
		}
		if rng.IntN(30) == 0 {
			restarts++
			f.powerDown(voter)
			f.start(voter)
			continue
		}
		term := voter.coord.hard.Term + uint64(rng.IntN(5)) - 2
		f.tell(others[rng.IntN(3)].key, voter, &VoteRequest{Pre: rng.IntN(8) == 0, Term: term, Head: head.link, Handover: []byte{}})
	}
	if n := len(votes) - before; n < 20 || restarts < 10 {
		t.Errorf("%d votes and %d restarts: not what the test needs", n, restarts)
	}
}

// TestElectionsKeepVotes lets a swarm elect over and over: by hand-overs, and because leaders lose power and come back.
func TestElectionsKeepVotes(t *testing.T) {
	f := newField(t, 4, 0)
	for _, m := range f.peers {
		m.cfg.Mandate = 3
		f.powerDown(m)
	}
	for _, m := range f.peers {
		f.start(m)
	}
	votes := f.watchVotes()
	for range 12 {
		f.pass(40)
		m := f.leader()
		if m == nil {
			continue
		}
		f.powerDown(m)
		f.pass(20)
		f.start(m)
	}
	if len(votes) < 60 {
		t.Errorf("%d votes: not what the test needs", len(votes))
	}
	f.friendly()
}

// TestVotesAreSigned has electors answer a candidate with votes that they did not sign: no leader shows such a vote, to
// others or in an entry.
func TestVotesAreSigned(t *testing.T) {
	f := newField(t, 4, 0)
	f.pass(100)
	m := f.leader()
	others := f.peers[:0:0]
	for _, o := range f.peers {
		if o != m {
			others = append(others, o)
			f.powerDown(o)
		}
	}
	term := m.coord.hard.Term
	f.powerDown(m)
	f.start(m)
	var asked []*VoteRequest
	forged := 0
	f.spy = func(_ *member, e Envelope) {
		var votes []seedlog.Vote
		var of uint64
		switch v := e.Message.(type) {
		case *VoteRequest:
			asked = append(asked, v)
		case *Mandate:
			votes, of = v.Votes, v.Term
		case *Announce:
			seal, err := seedlog.DecodeSeal(v.Seal)
			entry, err2 := seedlog.DecodeEntry(v.Entry)
			if err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			votes, of = seal.Votes, entry.Term
		}
		for i := range votes {
			if err := votes[i].Check(f.rules.Run, of, m.peer); err != nil {
				t.Fatalf("the leader of term %d shows a vote of %s: %v", of, f.nameOf(votes[i].Voter), err)
			}
		}
	}
	f.each = func(int) {
		head := m.coord.chain.head
		requests := asked
		asked = nil
		for _, o := range others {
			f.tell(o.key, m, &Status{Hub: true, Term: head.term, Head: head.link, Height: head.height, Weight: head.weight})
			for _, r := range requests {
				reply := &VoteReply{Pre: r.Pre, Granted: true, Term: r.Term, Signature: []byte{}}
				if !r.Pre {
					forged++
					reply.Signature = make([]byte, ed25519.SignatureSize)
				}
				f.tell(o.key, m, reply)
			}
		}
	}
	f.pass(200)
	if forged == 0 || m.coord.hard.Term <= term {
		t.Errorf("%d forged votes, term %d after %d: not what the test needs", forged, m.coord.hard.Term, term)
	}
}
