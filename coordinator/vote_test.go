package coordinator

import (
	"crypto/ed25519"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// ballot is what a peer may give one vote for.
type ballot struct {
	voter Peer
	term  uint64
}

// watchVotes collects the votes that leave members. It fails the test where one votes twice in a term, in whatever
// life, and where its disk does not know yet what it voted, or which entry it signed.
func (f *field) watchVotes() map[ballot]Peer {
	votes := make(map[ballot]Peer)
	f.spy = func(from *member, e Envelope) {
		var saved hardState
		if err := messageMode.Unmarshal(from.disk.state, &saved); err != nil && len(from.disk.state) > 0 {
			f.t.Fatal(err)
		}
		var term uint64
		candidate := e.To
		switch m := e.Message.(type) {
		case *Announce:
			if entry, err := seedlog.DecodeEntry(m.Entry); err != nil || saved.SealedTerm != entry.Term || saved.SealedHeight != entry.Height {
				f.t.Fatalf("%s signs an entry that its disk does not know of: %+v, %v", from.name, entry, err)
			}
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
		if saved.Term < term || saved.Term == term && string(saved.Voted) != string(candidate[:]) {
			f.t.Fatalf("%s votes for %s in term %d, its disk says %x in term %d", from.name, f.nameOf(candidate), term, saved.Voted, saved.Term)
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
	f.setAll(func(c *Config) { c.Mandate = 3 })
	votes := f.watchVotes()
	f.pass(200)
	entries := make(map[uint64]int)
	for _, n := range f.peers[0].coord.chain.canon {
		if entries[n.term]++; entries[n.term] > 3 && n.term > 1 {
			t.Errorf("term %d has %d entries, the leader was to hand over after 3", n.term, entries[n.term])
		}
	}
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

// TestWhoGetsNoVote: no vote goes to a peer whose chain is worse than the voter's own, nor against a leader that is
// heard, unless that hands over itself.
func TestWhoGetsNoVote(t *testing.T) {
	for _, test := range []struct {
		name     string
		silent   bool // whether the leader is
		below    uint64
		handover func(run seedlog.Link, term uint64, leader, candidate *member) []byte
		wants    bool
	}{
		{name: "the leader is gone", silent: true, wants: true},
		{name: "the candidate lacks an entry", silent: true, below: 1},
		{name: "the leader is heard"},
		{name: "the leader hands over", wants: true, handover: func(run seedlog.Link, term uint64, leader, candidate *member) []byte {
			return seedlog.NewVote(run, term, candidate.peer, leader.key).Signature
		}},
		{name: "the candidate signs for the leader", handover: func(run seedlog.Link, term uint64, _, candidate *member) []byte {
			return seedlog.NewVote(run, term, candidate.peer, candidate.key).Signature
		}},
		{name: "the leader hands over to another", handover: func(run seedlog.Link, term uint64, leader, _ *member) []byte {
			return seedlog.NewVote(run, term, leader.peer, leader.key).Signature
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newField(t, 3, 0)
			f.pass(112) // past the first hand-over
			leader := f.leader()
			others := slices.DeleteFunc(slices.Clone(f.peers), func(m *member) bool { return m == leader })
			voter, candidate := others[0], others[1]
			if test.silent {
				f.powerDown(leader)
				f.powerDown(candidate)
				for range voter.cfg.Timing.Election {
					f.now++
					f.step(voter, Passed{})
				}
			}
			head := voter.coord.chain.head
			r := &VoteRequest{Term: voter.coord.hard.Term + 1, Head: voter.coord.chain.canonAt(head.height - test.below).link, Handover: []byte{}}
			if test.handover != nil {
				r.Handover = test.handover(f.rules.Run, r.Term, leader, candidate)
			}
			var reply *VoteReply
			f.spy = func(_ *member, e Envelope) {
				if m, ok := e.Message.(*VoteReply); ok && e.To == candidate.peer {
					reply = m
				}
			}
			f.tell(candidate.key, voter, r)
			if reply == nil || reply.Granted != test.wants {
				t.Errorf("got %+v, want granted %t", reply, test.wants)
			}
		})
	}
}

// TestLeadersHaveAMajority splits a swarm: on each side a peer that becomes leader has the votes of more than half of
// the weight of those that it heard lately, and one that loses them steps down within an election time.
func TestLeadersHaveAMajority(t *testing.T) {
	f := newField(t, 5, 0)
	f.pass(112)
	leaders := 0
	began := make(map[*member]uint64) // the newest term that it leads
	since := make(map[*member]Tick)
	f.spy = func(m *member, e Envelope) {
		shown, ok := e.Message.(*Mandate)
		if !ok || shown.Leader != m.peer || shown.Term <= began[m] {
			return
		}
		began[m], since[m] = shown.Term, f.now
		leaders++
		if votes, total := m.coord.support(shown.Votes); 2*votes <= total {
			t.Fatalf("%s leads with the votes of %d of %d", m.name, votes, total)
		}
	}
	f.each = func(int) {
		for _, m := range f.peers {
			c := m.coord
			if c.election.role != Leader {
				continue
			}
			if shown, total := c.support(c.election.mandate.votes); 2*shown > total {
				since[m] = f.now
			}
			if limit := c.timing().Election + 2; f.now-since[m] > limit {
				t.Fatalf("%s leads for %d ticks without a majority", m.name, f.now-since[m])
			}
		}
	}
	for _, minority := range []int{0b00011, 0b00110, 0b01100, 0b11000, 0b10001, 0b00001, 0b10000} {
		for i, m := range f.peers {
			m.side = minority>>i&1 == 1
		}
		f.split = true
		f.pass(40)
		f.split = false
		f.pass(40)
	}
	if leaders < 7 {
		t.Errorf("%d leaders: not what the test needs", leaders)
	}
}

// TestAskersGoFirst: a peer lets one who asks for pre-votes go ahead, and campaigns itself soon after where that one
// only asks.
func TestAskersGoFirst(t *testing.T) {
	for leaders := range 4 {
		f := newField(t, 3, 0)
		f.setAll(func(c *Config) { c.Timing.Rank = 1 }) // so that all would campaign at about the same time
		f.pass(100 + 20*leaders)
		dead := f.leader()
		others := slices.DeleteFunc(slices.Clone(f.peers), func(m *member) bool { return m == dead })
		f.powerDown(dead)
		asker, voter := others[0], others[1]
		f.powerDown(asker) // its key speaks below
		var granted, campaigned Tick
		f.spy = func(_ *member, e Envelope) {
			switch m := e.Message.(type) {
			case *VoteReply:
				if m.Pre && m.Granted && granted == 0 {
					granted = f.now
				}
			case *VoteRequest:
				if campaigned == 0 {
					campaigned = f.now
				}
			}
		}
		for range 60 {
			f.now++
			c := voter.coord
			head := c.chain.head
			f.tell(asker.key, voter, &Status{Hub: true, Term: head.term, Head: head.link, Height: head.height, Weight: head.weight})
			if campaigned == 0 {
				f.tell(asker.key, voter, &VoteRequest{Pre: true, Term: c.nextTerm(), Head: head.link, Handover: []byte{}})
			}
			f.step(voter, Passed{})
		}
		timing := LAN()
		if granted == 0 || campaigned < granted+timing.Election/2 || campaigned > granted+timing.Election {
			t.Errorf("granted a pre-vote at %d and campaigned at %d", granted, campaigned)
		}
	}
}
