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

// campaign is the one that a mandate came from.
func (m *mandate) campaign() *campaign {
	g := &campaign{term: m.term, votes: make(map[Peer]seedlog.Vote)}
	for _, v := range m.votes {
		g.votes[v.Voter] = v
	}
	return g
}

const (
	// maxOffered bounds the mandates that are remembered of leaders who are not followed.
	maxOffered = 8
	// mandateEvery is after how many heartbeats a leader shows its mandate again, or where its leaves make statuses
	// rare, after how many of these: who comes is shown it by its hub.
	mandateEvery = 5
	// maxVotes bounds the votes of a mandate that are known: those of all who have worked of late in a swarm of
	// a thousand. Those that are dropped are asked for, and shown, again and again.
	maxVotes = 16 * seedlog.MaxVotes
	// manyVotes makes that rarer: so many votes are shown half as often, twice as many a third as often. At first they
	// are shown soon again, since they are a majority for some before they are one for others.
	manyVotes = 16
	// lateEvery is how many ticks lie between messages with the votes that came since: neighbors hand on 10 a second.
	lateEvery = 3
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
func (c *Coordinator) message(m *mandate) *Mandate {
	votes := c.shown(m.votes)
	if votes == nil {
		votes = []seedlog.Vote{} // of trusted keys nobody votes
	}
	return &Mandate{Term: m.term, Leader: m.leader, Votes: votes}
}

// shown are the votes that an entry or a message names: of too many those of the present electors.
func (c *Coordinator) shown(votes []seedlog.Vote) []seedlog.Vote {
	if len(votes) <= seedlog.MaxVotes {
		return votes
	}
	return slices.DeleteFunc(slices.Clone(votes), func(v seedlog.Vote) bool { return c.electorate().weightOf(v.Voter) == 0 })
}

// sendMandate shows to everybody why this peer leads.
func (c *Coordinator) sendMandate() {
	t, m := &c.tenure, c.election.mandate
	if t.showings == 0 {
		t.unshown = slices.Clone(m.votes)
	}
	message := c.message(m)
	t.unshown = slices.DeleteFunc(t.unshown, func(v seedlog.Vote) bool {
		_, shown := slices.BinarySearchFunc(message.Votes, v.Voter, byVoter)
		return shown
	})
	t.shown = c.now
	every := mandateEvery * c.statusEveryWith(Tick(c.leaves(nil)), c.cfg.Timing.Heartbeat) * Tick(1+min(len(m.votes), seedlog.MaxVotes)/manyVotes)
	t.shownAgain = c.now + min(every, 2*c.cfg.Timing.Heartbeat<<t.showings)
	t.showings = min(t.showings+1, 8)
	c.out.send(Gossip, Peer{}, message)
}

// sendLateVotes shows the votes that came since the mandate was shown last.
func (c *Coordinator) sendLateVotes() {
	m, t := c.election.mandate, &c.tenure
	for votes := range slices.Chunk(c.joined(nil, t.unshown), seedlog.MaxVotes) {
		c.out.send(Gossip, Peer{}, &Mandate{Term: m.term, Leader: m.leader, Votes: votes})
	}
	t.unshown, t.lateShown = nil, c.now
}

// joined are votes that are known and others, of too many those of who did most. Who may come to be an elector counts,
// too, or the majority would be lost with each change of the electorate.
func (c *Coordinator) joined(known, others []seedlog.Vote) []seedlog.Vote {
	votes := slices.Clone(known)
	for _, v := range others {
		if i, voted := slices.BinarySearchFunc(votes, v.Voter, byVoter); !voted {
			votes = slices.Insert(votes, i, v)
		}
	}
	for weights := c.chain.weights(); len(votes) > maxVotes; {
		least := 0
		for i := range votes {
			if weights[votes[i].Voter] < weights[votes[least].Voter] {
				least = i
			}
		}
		votes = slices.Delete(votes, least, least+1)
	}
	return votes
}

func byVoter(v seedlog.Vote, p Peer) int { return v.Voter.Compare(p) }

// answerRival shows the mandate of this leader soon to one that leads an earlier term: it was away.
func (c *Coordinator) answerRival(term uint64) {
	if t := &c.tenure; c.election.role == Leader && term < c.election.mandate.term {
		t.shownAgain = min(t.shownAgain, t.shown+c.cfg.Timing.Heartbeat)
	}
}

// expectsMandate reports whether the votes of a mandate are worth verifying: there is one of an elector that is not
// known, and if they are real those known and they are a majority. Whose mandate is known may show more votes, of those
// who will be electors with entries that are on their way.
func (c *Coordinator) expectsMandate(from Peer, m *Mandate) bool {
	if m.Leader == c.self || m.Term < c.chain.head.term || m.Term > c.chain.head.term+seedlog.MaxTermStep {
		return false
	}
	votes := m.Votes
	if known := c.knownMandate(m.Leader, m.Term); known != nil {
		if from == m.Leader {
			return c.adds(known.votes, m.Votes, true)
		}
		if !c.adds(known.votes, m.Votes, false) {
			return false
		}
		votes = c.joined(known.votes, m.Votes)
	}
	shown, total := c.support(votes)
	return 2*shown > total
}

// adds reports whether one of the other votes is not known, and that of an elector or anybody's.
func (c *Coordinator) adds(known, others []seedlog.Vote, anybody bool) bool {
	return slices.ContainsFunc(others, func(v seedlog.Vote) bool {
		_, voted := slices.BinarySearchFunc(known, v.Voter, byVoter)
		return !voted && (anybody || c.electorate().weightOf(v.Voter) > 0)
	})
}

// onMandate remembers a mandate. Its leader's own is a sign of life, too.
func (c *Coordinator) onMandate(from Peer, m *Mandate) {
	if c.trusting() {
		c.onTrustedMandate(from, m)
		return
	}
	if c.expectsMandate(from, m) {
		c.noteVotes(m.Term, m.Leader, m.Votes)
		c.remember(&mandate{m.Term, m.Leader, m.Votes})
	}
	if from == m.Leader {
		c.onHeartbeat(from, m.Term)
	}
}

// remember keeps the votes of a mandate that were verified, besides those that were known; of too many leaders, in
// place of those of the oldest. An entry names the votes that it was closed with; the leader may have shown more.
func (c *Coordinator) remember(m *mandate) {
	e := &c.election
	if m == nil || m.leader == c.self {
		return
	}
	if e.mandate != nil && e.leader == m.leader && e.mandate.term == m.term {
		if c.adds(e.mandate.votes, m.votes, true) {
			e.mandate = &mandate{m.term, m.leader, c.joined(e.mandate.votes, m.votes)}
		}
		return
	}
	if known := c.knownMandate(m.leader, m.term); known != nil {
		m = &mandate{m.term, m.leader, c.joined(known.votes, m.votes)}
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
	if s := c.slowness.silent; s != nil && s.leader == from && s.term == term {
		c.slowness.silent = nil
		c.waitLonger()
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
	c.goesOut(before)
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
	} else if c.now-t.lastShown > c.timing().Election {
		c.slowness.missed = e.mandate.campaign()
		c.out.note(NoteLeader, c.self, fmt.Sprintf("this peer no longer has a majority for term %d", e.mandate.term))
		c.stepDown()
		return
	}
	if 3*shown <= 2*total && c.now >= t.renewAgain {
		t.renewAgain = c.now + c.cfg.Timing.Heartbeat
		c.out.send(Gossip, Peer{}, c.voteRequest(&campaign{term: e.mandate.term}))
	}
	switch {
	case c.now >= t.shownAgain:
		c.sendMandate()
	case len(t.unshown) > 0 && c.now >= t.lateShown+lateEvery:
		c.sendLateVotes()
	}
}

// addVote adds a vote to the mandate of this leader, whose electorate grew. The mandate is a new one, since others may
// hold the old.
func (c *Coordinator) addVote(v seedlog.Vote) {
	m := c.election.mandate
	if _, voted := slices.BinarySearchFunc(m.votes, v.Voter, byVoter); voted {
		return
	}
	c.election.mandate = &mandate{m.term, m.leader, c.joined(m.votes, []seedlog.Vote{v})}
	c.tenure.unshown = append(c.tenure.unshown, v)
}
