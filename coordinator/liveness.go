package coordinator

import (
	"fmt"
	"slices"
)

// A leader lives as long as it makes progress. Heartbeats alone keep nobody in office: whose evaluator hangs, who keeps
// the claims of its entries to itself or logs nobody's claims is given up once a full generation lies before everybody.

const (
	// stallElections is how many election times a leader may sit on a full generation, and stallPaces how many times as
	// long as recent generations took.
	stallElections, stallPaces = 3, 3
	// maxPatience bounds how often that time is doubled: once for each leader in a row that was given up.
	maxPatience = 8
	// rejectedFor is for how many election times a leader that was given up is not chosen again.
	rejectedFor = 100
	// lapseElections is after how many election times without any leader those that were given up may lead again: the
	// best branch may be that of one of them, and a peer that has it votes for nobody else.
	lapseElections = 8
	// forgiveEntries is after how many of its entries a leader that was given up may lead again.
	forgiveEntries = 8
	// overdueQuarters is after how many quarters of a mandate a leader that stays is given up: it may try twice to hand
	// over. Votes are weighed over 50 entries, so others have weight left then if it logged its own work alone.
	overdueQuarters = 6
)

// liveness is how the leader progresses, as a follower sees it.
type liveness struct {
	since    Tick        // when the leader was last seen to progress
	height   uint64      // of the highest entry of it that came
	full     Tick        // since when there is enough for an entry, and the time of the generation is over; 0: there is not
	pace     Tick        // how long entries take once there is enough, the longest of the recent ones
	usual    Tick        // pace when this leader began
	wasted   Tick        // by how much it was slower, over its recent entries
	barren   uint        // leaders in a row that were given up without an entry
	rejected []rejection // at most maxElectors
	term     uint64      // of the leader
	from     uint64      // height of the head when this peer could first have taken over in that term; 0: it could not
}

// rejection is a leader that was given up.
type rejection struct {
	peer    Peer
	until   Tick
	entries int  // of it that became canonical since
	overdue bool // it did not hand over: its entries are no excuse
}

// begin starts to watch another leader.
func (l *liveness) begin(now Tick) {
	l.since, l.height, l.full = now, 0, 0
	l.usual, l.wasted = l.pace, 0
}

// entry notes an entry of the leader that came with everything that it names.
func (l *liveness) entry(now Tick, height uint64) {
	if height > l.height {
		l.since, l.height = now, height
	}
}

// moved notes that the head moved.
func (l *liveness) moved(now Tick) {
	if l.full != 0 {
		l.wasted += l.waste(now)
		l.pace = max(now-l.full, l.pace-l.pace/8)
	}
	l.wasted -= l.wasted / 16
	l.since, l.full, l.barren = now, 0, 0
}

// waste is by how much the present entry takes longer than twice what entries did under earlier leaders.
func (l *liveness) waste(now Tick) Tick { return now - l.full - min(now-l.full, 2*l.usual+2) }

// forgive lets a leader that was given up lead again, after so many entries of it became canonical: the others stay
// with it.
func (l *liveness) forgive(leader Peer) {
	for i := range l.rejected {
		if r := &l.rejected[i]; r.peer == leader && !r.overdue {
			if r.entries++; r.entries >= forgiveEntries {
				l.rejected = slices.Delete(l.rejected, i, i+1)
			}
			return
		}
	}
}

// limit is how long a leader may sit on a full generation, and how much time it may waste bit by bit.
func (l *liveness) limit(t Timing) Tick {
	return (stallElections*t.Election + stallPaces*l.pace) << min(l.barren, maxPatience)
}

// watchLeader gives a leader up that makes no progress.
func (c *Coordinator) watchLeader() {
	e := &c.election
	l := &e.liveness
	if c.catchingUp() {
		l.from = 0 // the entries that it takes in now were none that it could have led
	}
	if e.role != Follower || e.leader == (Peer{}) || c.catchingUp() {
		return
	}
	if c.overdue() {
		c.giveUp("did not hand over", true)
		return
	}
	if l.full == 0 {
		if c.now-l.since > c.cfg.Timing.Heartbeat && c.now-c.lastEntry >= c.lasts() && c.enoughForEntry() {
			l.full = c.now
		}
		return
	}
	if limit := l.limit(c.timing()); c.now-max(l.full, l.since) > limit || l.wasted+l.waste(c.now) > limit {
		if c.outrun() {
			l.since, l.full, l.wasted = c.now, 0, 0 // the leader makes progress: its entries are late here
			return
		}
		c.giveUp(fmt.Sprintf("wasted %d ticks, though there was enough for an entry", l.wasted+l.waste(c.now)), false)
	}
}

// outrun reports whether most of those who work, by weight, say that they have entries above this peer's head in the
// term of its leader. Those who lie so are the majority that a leader needs anyway.
func (c *Coordinator) outrun() bool {
	ahead, all := uint64(0), c.electorate()
	for _, x := range all.electors {
		h := c.members.heard.of(x.peer)
		if h != nil && x.peer != c.election.leader && h.Term == c.election.mandate.term && h.Height > c.chain.head.height {
			ahead += x.weight
		}
	}
	return 2*ahead > all.total
}

// overdue reports whether the leader closed so many entries in its term, since this peer could have taken over, that it
// should have handed over.
func (c *Coordinator) overdue() bool {
	l, term := &c.election.liveness, c.election.mandate.term
	if l.term != term {
		l.term, l.from = term, 0
	}
	if l.from == 0 {
		if c.chain.weights()[c.self] > 0 {
			l.from = c.chain.head.height
		}
		return false
	}
	return c.chain.head.height >= l.from+max(overdueQuarters*c.cfg.Mandate/4, c.cfg.Mandate+3) && c.electorate().weightOf(c.self) > 0
}

// giveUp ends the following of a leader.
func (c *Coordinator) giveUp(why string, overdue bool) {
	e := &c.election
	l := &e.liveness
	leader := e.leader
	l.barren++
	l.rejected = slices.DeleteFunc(l.rejected, func(r rejection) bool { return r.peer == leader || r.until <= c.now })
	if len(l.rejected) == maxElectors {
		l.rejected = l.rejected[1:]
	}
	l.rejected = append(l.rejected, rejection{peer: leader, until: c.now + rejectedFor*c.cfg.Timing.Election, overdue: overdue})
	e.electorate.head = nil // to be counted again
	c.out.note(NoteBad, leader, fmt.Sprintf("gave up the leader %s: it %s", leader.Short(), why))
	c.loseLeader()
}

// outgoing is the leader that was given up last because it did not hand over; zero: none was of late.
func (l *liveness) outgoing(now Tick) Peer {
	for _, r := range slices.Backward(l.rejected) {
		if r.overdue && now < r.until {
			return r.peer
		}
	}
	return Peer{}
}

// rejected reports whether p was given up as a leader. Where all others were, or nobody could be elected for long,
// nobody is.
func (c *Coordinator) rejected(p Peer) bool {
	if e := &c.election; e.leader == (Peer{}) && c.now > e.leaderless+lapseElections*c.timing().Election {
		return false
	}
	gaveUp := func(p Peer) bool {
		return slices.ContainsFunc(c.election.liveness.rejected, func(r rejection) bool { return r.peer == p && c.now < r.until })
	}
	return gaveUp(p) && slices.ContainsFunc(c.electorate().electors, func(x elector) bool { return !gaveUp(x.peer) })
}

// enoughForEntry reports whether claims for an entry are known to exist without any of the leader: those in the pool
// of peers with a record, and those that other electors say they hold.
func (c *Coordinator) enoughForEntry() bool {
	head := c.chain.head
	claims := c.work.pool.ofCandidates()
	for _, x := range c.electorate().electors {
		if h := c.members.heard.of(x.peer); h != nil && x.peer != c.election.leader && h.Head == head.link {
			claims += min(h.Claims, maxInventory)
		}
	}
	g := c.rules.Spec.Generation
	evaluations := claims * c.rules.EvaluationsPerChunk()
	if evaluations < g.Evaluations {
		return false
	}
	if g.Steps == 0 || head.parent == nil {
		return g.Steps == 0
	}
	each := float64(head.steps-head.parent.steps) / float64(max(head.evaluations-head.parent.evaluations, 1))
	return float64(evaluations)*each >= float64(g.Steps)
}
