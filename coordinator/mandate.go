package coordinator

import (
	"fmt"
	"slices"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// mandate is a term and the votes that made a peer its leader. Anybody can check the votes, and weighs them himself.
type mandate struct {
	term   uint64
	leader Peer
	votes  []seedlog.Vote // verified, in the order of the voters' keys
}

const (
	// maxOffered bounds the mandates that are remembered of leaders who are not followed.
	maxOffered = 8
	// mandateEvery is after how many heartbeats a leader shows its mandate again, or where its leaves make statuses
	// rare, after how many of these: who comes is shown it by its hub.
	mandateEvery = 5
)

// support is the weight of the present electors that voted for a mandate, and of all.
func (c *Coordinator) support(votes []seedlog.Vote) (shown, total uint64) {
	e := c.electorate()
	for i := range votes {
		shown += e.weightOf(votes[i].Voter)
	}
	return shown, e.total
}

// shows reports whether a mandate has the votes of more than half of the present electorate.
func (c *Coordinator) shows(m *mandate) bool {
	shown, total := c.support(m.votes)
	return 2*shown > total
}

// mandated reports whether an entry was closed by a leader whom the present electorate chose.
func (c *Coordinator) mandated(n *node) bool {
	if c.trusting() {
		return true
	}
	if n.mandate != nil && c.shows(n.mandate) {
		return true
	}
	m := c.knownMandate(n.leader, n.term) // it may have got votes since its first entry
	return m != nil && c.shows(m)
}

// message is the mandate as it is sent.
func (m *mandate) message() *Mandate {
	votes := m.votes
	if votes == nil {
		votes = []seedlog.Vote{} // of trusted keys nobody votes
	}
	return &Mandate{Term: m.term, Leader: m.leader, Votes: votes}
}

// sendMandate shows to everybody why this peer leads.
func (c *Coordinator) sendMandate() {
	c.tenure.shown = c.now
	c.tenure.shownAgain = c.now + mandateEvery*c.statusEveryWith(Tick(c.leaves(nil)), c.cfg.Timing.Heartbeat)
	c.out.send(Gossip, Peer{}, c.election.mandate.message())
}

// answerRival shows the mandate of this leader soon to one that leads an earlier term: it was away.
func (c *Coordinator) answerRival(term uint64) {
	if t := &c.tenure; c.election.role == Leader && term < c.election.mandate.term {
		t.shownAgain = min(t.shownAgain, t.shown+c.cfg.Timing.Heartbeat)
	}
}

// expectsMandate reports whether the votes of a mandate are worth verifying: it is new, and if they are real it has a
// majority.
func (c *Coordinator) expectsMandate(m *Mandate) bool {
	if m.Leader == c.self || m.Term < c.chain.head.term || m.Term > c.chain.head.term+seedlog.MaxTermStep {
		return false
	}
	if known := c.knownMandate(m.Leader, m.Term); known != nil && len(m.Votes) <= len(known.votes) {
		return false
	}
	shown, total := c.support(m.Votes)
	return 2*shown > total
}

// onMandate remembers a mandate. Its leader's own is a sign of life, too.
func (c *Coordinator) onMandate(from Peer, m *Mandate) {
	if c.trusting() {
		c.onTrustedMandate(from, m)
		return
	}
	if c.expectsMandate(m) {
		c.noteVotes(m.Term, m.Leader, m.Votes)
		c.remember(&mandate{m.Term, m.Leader, m.Votes})
	}
	if from == m.Leader {
		c.onHeartbeat(from, m.Term)
	}
}

// remember keeps a mandate that was verified, in place of one with fewer votes or of the oldest.
func (c *Coordinator) remember(m *mandate) {
	e := &c.election
	if m == nil || m.leader == c.self {
		return
	}
	if e.mandate != nil && e.leader == m.leader && e.mandate.term == m.term {
		if len(m.votes) > len(e.mandate.votes) {
			e.mandate = m
		}
		return
	}
	// An entry names the votes that it was closed with; the leader may have shown more.
	if slices.ContainsFunc(e.offered, func(o *mandate) bool {
		return o.leader == m.leader && o.term == m.term && len(o.votes) >= len(m.votes)
	}) {
		return
	}
	e.offered = slices.DeleteFunc(e.offered, func(o *mandate) bool { return o.leader == m.leader && o.term <= m.term })
	if len(e.offered) == maxOffered {
		e.offered = e.offered[1:]
	}
	e.offered = append(e.offered, m)
}

// knownMandate is the mandate of a leader for a term with the most votes that was ever shown here; nil if none was.
func (c *Coordinator) knownMandate(leader Peer, term uint64) (known *mandate) {
	e := &c.election
	for _, m := range append([]*mandate{e.mandate, c.chain.head.mandate}, e.offered...) {
		if m != nil && m.leader == leader && m.term == term && (known == nil || len(m.votes) > len(known.votes)) {
			known = m
		}
	}
	return known
}

// onHeartbeat hears a peer that says it leads a term. It is followed if its votes were shown and weigh more than half
// of the present electorate; a living leader gives way to a later term only.
func (c *Coordinator) onHeartbeat(from Peer, term uint64) {
	if c.trusting() {
		c.onTrusted(from, term)
		return
	}
	e := &c.election
	m := c.knownMandate(from, term)
	if m == nil || !c.shows(m) {
		return
	}
	if e.leader == from && e.mandate.term == term {
		e.leaderHeard = c.now
		return
	}
	head := c.chain.head
	if term < head.term || term > head.term+seedlog.MaxTermStep || !c.mayLead(from) || c.rejected(from) {
		return
	}
	if c.leaderAlive() && term <= e.mandate.term {
		return
	}
	c.followLeader(m)
}

// followLeader accepts a leader whose mandate was shown.
func (c *Coordinator) followLeader(m *mandate) {
	e := &c.election
	before := e.mandate
	c.stepDown()
	e.offered = slices.DeleteFunc(e.offered, func(o *mandate) bool { return o == m })
	e.leader, e.mandate, e.leaderHeard, e.handover = m.leader, m, c.now, nil
	c.remember(before) // its last entry may come later
	e.liveness.begin(c.now)
	c.drawJitter()
	c.work.pool.reannounce()
	if c.actsAsHub() || c.trusting() {
		c.out.send(Direct, m.leader, c.status())
	}
	c.out.note(NoteLeader, m.leader, fmt.Sprintf("%s leads term %d", m.leader.Short(), m.term))
}

// keepMandate has a leader watch over its votes. As peers come, go and work, the electorate changes: the leader asks
// those who have not voted in its term for their vote, and steps down if it is no longer the choice of more than half.
func (c *Coordinator) keepMandate() {
	e, t := &c.election, &c.tenure
	switch all := c.electorate(); {
	case c.chain.head.term > e.mandate.term:
		c.stepDown() // the chain continues under a later leader
		return
	case c.cfg.Kind == Tab && len(all.electors) > 0 && all.weightOf(c.self) == 0:
		c.stepDown() // a tab that led while alone hears natives that work
		return
	}
	shown, total := c.support(e.mandate.votes)
	if 2*shown > total {
		t.lastShown = c.now
	} else if c.now-t.lastShown > c.cfg.Timing.Election {
		c.out.note(NoteLeader, c.self, fmt.Sprintf("this peer no longer has a majority for term %d", e.mandate.term))
		c.stepDown()
		return
	}
	if 3*shown <= 2*total && c.now >= t.renewAgain {
		t.renewAgain = c.now + c.cfg.Timing.Heartbeat
		c.out.send(Gossip, Peer{}, c.voteRequest(&campaign{term: e.mandate.term}))
	}
	if c.now >= t.shownAgain {
		c.sendMandate()
	}
}

// addVote adds a vote to the mandate of this leader, whose electorate grew. The mandate is a new one, since others may
// hold the old.
func (c *Coordinator) addVote(v seedlog.Vote) {
	m := c.election.mandate
	i, voted := slices.BinarySearchFunc(m.votes, v.Voter, func(v seedlog.Vote, p Peer) int { return v.Voter.Compare(p) })
	if voted || c.electorate().weightOf(v.Voter) == 0 {
		return
	}
	votes := slices.Insert(slices.Clone(m.votes), i, v)
	if len(votes) > seedlog.MaxVotes {
		least := slices.IndexFunc(votes, func(v seedlog.Vote) bool { return v.Voter != c.self && c.electorate().weightOf(v.Voter) == 0 })
		if least < 0 {
			return
		}
		votes = slices.Delete(votes, least, least+1)
	}
	c.election.mandate = &mandate{m.term, m.leader, votes}
	c.tenure.shownAgain = min(c.tenure.shownAgain, c.now+1) // with those that come in this tick
}
