package coordinator

import (
	"testing"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// leaderless is a field of five whose leader is dead, and one of the others.
func leaderless(t *testing.T) (f *field, m *member, others []*member) {
	f = newField(t, 5, 0)
	f.pass(300)
	f.powerDown(f.leader())
	for _, p := range f.peers {
		if p.coord != nil {
			others = append(others, p)
		}
	}
	m, others = others[0], others[1:]
	c := m.coord
	c.loseLeader()
	if 2*c.electorate().weightOf(m.peer) >= c.electorate().total {
		t.Fatal("it elects itself")
	}
	return f, m, others
}

// later lets time pass for one coordinator, which hears all others.
func later(c *Coordinator, ticks Tick) {
	c.now += ticks
	for _, h := range c.members.heard {
		h.last = c.now
	}
	c.election.electorate.head = nil // to be counted again
}

// TestLateVotes: votes that come after their campaign has ended have their peer wait twice as long if they are a
// majority. What a minority says late changes nothing.
func TestLateVotes(t *testing.T) {
	_, m, others := leaderless(t)
	c := m.coord
	late := func(pre bool) {
		t.Helper()
		before := c.slowness
		c.stand(&campaign{pre: pre, term: c.nextTerm()})
		g := c.election.campaign
		later(c, g.latest+1-c.now)
		c.elect()
		if c.election.campaign == g {
			t.Fatal("the campaign has not ended")
		}
		c.election.campaign = nil
		for i, p := range others {
			reply := &VoteReply{Pre: pre, Granted: true, Term: g.term, Signature: []byte{}}
			if !pre {
				reply.Signature = seedlog.NewVote(c.rules.Run, g.term, m.peer, p.key).Signature
			}
			granted, _, total := c.counted(g)
			if 2*granted <= total && c.slowness.reasons != before.reasons {
				t.Fatalf("waits longer after %d of %d votes", i, len(others))
			}
			c.onVoteReply(p.peer, reply)
		}
		if s := c.slowness; s.reasons+enoughReasons*int(s.doubled) != before.reasons+enoughReasons*int(before.doubled)+1 {
			t.Fatalf("%d reasons to wait longer, times doubled %d times", s.reasons, s.doubled)
		}
	}
	late(true)
	if c.timing() != c.cfg.Timing {
		t.Fatal("times double after one late majority, which may be luck")
	}
	late(false)
	if c.timing().Election != 2*c.cfg.Timing.Election {
		t.Fatalf("an election takes %d ticks after two late majorities", c.timing().Election)
	}
	if c.election.role == Leader {
		t.Fatal("votes that came late made it the leader")
	}
}

// TestLateRenewal: a leader that stepped down for want of votes counts those that come late as a reason to wait longer.
func TestLateRenewal(t *testing.T) {
	f := newField(t, 5, 0)
	f.pass(300)
	leader := f.leader()
	c := leader.coord
	m := c.election.mandate
	c.election.mandate = &mandate{m.term, m.leader, []seedlog.Vote{seedlog.NewVote(c.rules.Run, m.term, leader.peer, leader.key)}}
	if shown, total := c.support(c.election.mandate.votes); 2*shown > total {
		t.Fatal("its own vote is a majority")
	}
	later(c, c.timing().Election+1)
	if c.keepMandate(); c.election.role == Leader {
		t.Fatal("leads without a majority")
	}
	for _, p := range f.peers {
		if p != leader {
			c.onVoteReply(p.peer, &VoteReply{Granted: true, Term: m.term, Signature: seedlog.NewVote(c.rules.Run, m.term, leader.peer, p.key).Signature})
		}
	}
	if c.slowness.reasons != 1 || c.election.role == Leader {
		t.Fatalf("%d reasons to wait longer, want one; it is %v", c.slowness.reasons, c.election.role)
	}
}

// TestSilentLeaderHeardAgain: who took a living leader for silent waits longer, up to a bound.
func TestSilentLeaderHeardAgain(t *testing.T) {
	f := newField(t, 5, 0)
	f.pass(300)
	leader := f.leader()
	for _, m := range f.peers {
		c := m.coord
		if m == leader {
			continue
		}
		for seen := 1; seen <= 4*enoughReasons; seen++ {
			doubled := uint(seen / enoughReasons)
			mandate := c.election.mandate
			later(c, c.timing().Unheard+1)
			c.elect()
			if c.election.leader != (Peer{}) {
				t.Fatal("follows a silent leader")
			}
			c.election.campaign = nil
			c.onHeartbeat(leader.peer, mandate.term)
			if c.slowness.doubled != doubled || c.election.leader != leader.peer {
				t.Fatalf("doubled its times %d times, want %d; follows %s", c.slowness.doubled, doubled, c.election.leader.Short())
			}
			later(c, c.timing().Election)
			c.onHeartbeat(leader.peer, mandate.term)
		}
		if c.waitLonger(); c.timing().Election > longestElection {
			t.Fatalf("an election takes %d ticks", c.timing().Election)
		}
	}
}

// TestLateSuccessor: a leader whose successor asks for votes when it waits no more waits longer the next time.
func TestLateSuccessor(t *testing.T) {
	f := newField(t, 3, 0)
	f.pass(300)
	leader := f.leader()
	c := leader.coord
	c.handOver()
	heir := c.tenure.heir
	ask := &VoteRequest{Term: c.hard.Term, Head: c.chain.head.link, Handover: c.tenure.offer.Signature}
	if c.onVoteRequest(heir, ask); c.slowness.reasons != 0 {
		t.Fatal("waits longer for one who asks in time")
	}
	later(c, c.tenure.yieldMost+1-c.now)
	for _, m := range f.peers {
		if m.peer == heir {
			continue
		}
		if c.onVoteRequest(m.peer, ask); c.slowness.reasons != 0 {
			t.Fatal("waits longer for another than its successor")
		}
	}
	if c.onVoteRequest(heir, ask); c.slowness.reasons != 1 {
		t.Fatal("does not wait longer")
	}
}

// TestSlownessEnds: times are halved after enough entries without a reason to wait.
func TestSlownessEnds(t *testing.T) {
	f := newField(t, 3, 0)
	f.pass(100)
	m := f.peers[2]
	c := m.coord
	for range 2 * enoughReasons {
		c.now += c.timing().Election
		c.waitLonger()
	}
	from := c.slowness.height
	for want := uint(2); ; {
		f.pass(1)
		if height := c.chain.head.height; height >= from+calmEntries && want > 0 {
			want, from = want-1, height
		}
		if c.slowness.doubled != want {
			t.Fatalf("at height %d times are doubled %d times, want %d", c.chain.head.height, c.slowness.doubled, want)
		}
		if want == 0 {
			return
		}
	}
}
