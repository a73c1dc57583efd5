package coordinator

import "github.com/evoswarm/evoswarm/internal/seedlog"

// A network, or a computer that other programs keep busy, may be slower than Timing has it. Then votes come when
// nobody counts them any more, and a swarm that does not wait longer elects forever and logs nothing. A peer takes its
// times for too short once it sees what it did not wait for: votes that come to a majority after their campaign, or
// that a leader lacked when it stepped down; a leader, taken for silent, that is heard in the same term; a successor
// that asks for votes when the leader waits for it no more. Its times double with the second of these, and are halved
// again while all is well. What a minority says late changes nothing.

const (
	// longestElection bounds the time to an election, in ticks: ten seconds.
	longestElection = 200
	// calmEntries is after how many entries without a reason to wait longer times are halved.
	calmEntries = 64
	// enoughReasons is how many reasons double them: one is luck, and a leader may die just then.
	enoughReasons = 2
)

// slowness is how much longer than Timing says this peer waits for others.
type slowness struct {
	doubled uint      // how often
	reasons int       // to wait longer since it last changed
	since   Tick      // when the last one was seen, or when it was halved
	height  uint64    // of the head then
	missed  *campaign // this peer's last one that ended for want of votes, or by which it led until it lacked votes
	silent  *mandate  // of the leader that was taken for silent last
}

// timing is Timing with the times that depend on how long messages are on their way.
func (c *Coordinator) timing() Timing {
	t := c.cfg.Timing
	n := c.slowness.doubled
	t.Election, t.Rank, t.Unheard = t.Election<<n, t.Rank<<n, t.Unheard<<n
	return t
}

// waitLonger notes a reason to wait longer, and doubles the times of this peer with every second one.
func (c *Coordinator) waitLonger() {
	s, election := &c.slowness, c.timing().Election
	if c.trusting() || 2*election > longestElection || s.since > 0 && c.now-s.since < election {
		return
	}
	s.reasons, s.since, s.height = s.reasons+1, c.now, c.chain.head.height
	if s.reasons == enoughReasons {
		s.reasons, s.doubled = 0, s.doubled+1
	}
}

// calm forgets a reason, and halves the times, after enough entries without another.
func (s *slowness) calm(now Tick, height uint64) {
	if height < s.height+calmEntries {
		return
	}
	s.reasons = 0
	if s.doubled > 0 {
		s.doubled, s.since, s.height = s.doubled-1, now, height
	}
}

// lateVote counts a vote that its campaign did not wait for. It elects nobody: what voters knew then may be long ago.
func (c *Coordinator) lateVote(pre bool, term uint64, v seedlog.Vote) {
	g := c.slowness.missed
	if g == nil || g.pre != pre || g.term != term {
		return
	}
	g.votes[v.Voter] = v
	if granted, _, total := c.counted(g); 2*granted > total {
		c.slowness.missed = nil
		c.waitLonger()
	}
}
