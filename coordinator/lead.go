package coordinator

import (
	"slices"

	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// tenure is what a leader knows of its term.
type tenure struct {
	sealedTerm  bool   // whether the votes were already written into a seal
	mandateFrom uint64 // height of the head when it began to lead
	yieldUntil  Tick   // until when nothing is closed, because it handed over
	yieldMost   Tick   // until when that lasts if its successor campaigns
	heir        Peer   // to whom it handed over last, in vain if it still leads
	offer       *Handover
	offerAgain  Tick           // when that is repeated; messages get lost
	lastShown   Tick           // when its votes last were a majority of the electorate
	renewAgain  Tick           // when those who have not voted are asked again
	shown       Tick           // when the mandate was last sent
	shownAgain  Tick           // when it is sent again
	showings    uint           // how often it was sent
	unshown     []seedlog.Vote // that came since
	lateShown   Tick           // when votes were last shown without the others
	closing     *closing
	stragglers  stragglers
	newcomers   newcomers
	silent      map[Peer]int // how often others left questions about claims without an answer of late
	again       []poolKey    // claims that this leader re-runs itself, since others did not attest them truly
	window      int          // newcomers' claims that others may re-run at the same time
	spotted     Tick         // 1 + when it was last decided what of the pool is re-run; 0: never
	spots       int          // how often in that tick
	ended       bool         // whether a re-run has ended since
	overfull    bool         // whether claims of more peers than an entry has room for were ready then
	workers     map[seedlog.Link]*workers
}

// lead does the leader's work: it has claims re-run, tests what did well, closes generations, and hands over at the end
// of its mandate.
func (c *Coordinator) lead() {
	if c.election.role != Leader {
		return
	}
	if c.now < c.tenure.yieldUntil {
		if c.now >= c.tenure.offerAgain {
			c.offerAgain()
		}
		return
	}
	if c.chain.head.state == nil {
		return
	}
	c.recheckPool()
	c.seeksEnd()
	since := c.now - c.lastEntry
	if since < awaitElections*c.timing().Election && c.runsAhead() {
		return
	}
	if c.tenure.closing != nil || since < c.testWait() || since < c.leastTime() && !c.allIn() {
		return
	}
	claims := c.work.pool.closable(c.rules, c.chain.head)
	if claims == nil || c.chain.maxStale == 0 && !c.trusting() && c.holds() {
		return
	}
	term := c.election.mandate.term
	if c.hard.SealedTerm == term && c.chain.head.height < c.hard.SealedHeight {
		c.stepDown() // an entry of this term was signed here and lost since: only a new term may sign another
		return
	}
	c.tenure.closing = &closing{term: term, picked: claims}
}

// overfullPart is which part of the time of a generation a leader waits at least if it cannot log more after that: one
// in so many. What takes long still has a place.
const overfullPart = 4

// awaitElections is for how many election times a leader waits with each entry for those who are far behind, whatever
// they say.
const awaitElections = 2

// runsAhead reports whether most of those who work, by weight, say that they lack more than half as many of this
// leader's entries as results may be old: they could neither succeed it nor choose who does. This leader counts as one
// that lacks none, so one of two or three who is cut off holds up nobody.
func (c *Coordinator) runsAhead() bool {
	if c.chain.maxStale == 0 || c.trusting() {
		return false
	}
	head, behind, all := c.chain.head.height, uint64(0), uint64(0)
	for _, x := range c.electorate().electors {
		h := c.members.heard.of(x.peer)
		if h == nil && x.peer != c.self {
			continue
		}
		all += x.weight
		if h != nil && h.Height+c.chain.maxStale/2 < head && head < h.Height+votingEntries {
			behind += x.weight
		}
	}
	return 2*behind > all
}

// leastTime is how long this leader lets a generation last at least.
func (c *Coordinator) leastTime() Tick {
	if !c.tenure.overfull || c.chain.maxStale == 0 {
		return c.lasts()
	}
	return max(c.lasts()/overfullPart, c.lastsAfter(&node{}))
}

// closing is a generation whose claims are fixed; it becomes an entry when its fold is done.
type closing struct {
	term     uint64
	picked   []*pooled
	folded   *rollout.Folded   // what that gives; nil: not known yet
	carried  []byte            // the state after it, encoded; empty: it is too long to be sent along
	decisive []seedlog.Counter // results that decide it, where a leader has to re-run these
	unsure   int               // of them under re-run

	influence []float64 // how much each result moves the model; nil: not known
}

// holds reports whether a leader holds a generation that is full open, because what comes later would be lost.
func (c *Coordinator) holds() bool {
	// As long again as it takes at least, for pending re-runs, for hubs that lag and for held-out results.
	return c.now-c.lastEntry < 2*c.lasts() && (c.awaitsReruns() || c.outran() || c.lacksHeldOut()) || c.awaits()
}

// outran reports whether waiting for hubs that follow more than one entry behind would pay: at least as many of them as
// have claims in the newest entry, which takes twice as long then. What they compute comes too late for every
// generation, so a leader that did not slow down would soon hold all the voting weight, and its successor would lack
// the newest entries. Hubs on other branches, far behind or without any work in the recent entries do not count, nor do
// those whose head does not move: a hub that only claims to lag slows nobody down.
func (c *Coordinator) outran() bool {
	head := c.chain.head
	lagging := 0
	for _, h := range c.members.heard {
		n := c.chain.canonAt(h.Height)
		if n != nil && n.link == h.Head && n.height+1 < head.height && head.height < n.height+votingEntries && h.Hub && c.lately(h) &&
			c.now-h.moved <= c.timing().Unheard && h.logged+loggedLately > head.height && h.logged > 0 {
			lagging++
		}
	}
	return lagging > 0 && lagging >= len(head.credits)
}

// loggedLately is in how many of the newest entries a hub must have work for the leader to wait for it.
const loggedLately = 64

// closed appends the generation whose fold is done. That it was signed is durable before it leaves.
func (c *Coordinator) closed(s *rollout.Folded) {
	g := c.tenure.closing
	if g.folded == nil {
		g.folded = s
		if c.chain.maxStale == 0 && c.checkDecisive() > 0 {
			return
		}
	}
	c.tenure.closing = nil
	if c.election.role != Leader || c.election.mandate.term != g.term {
		return
	}
	claims := make([]seedlog.CheckedClaim, len(g.picked))
	for i, p := range g.picked {
		claims[i] = p.claim
	}
	c.tenure.newcomers.settle(c.chain.head.height, g.picked)
	c.tenure.stragglers.settle(c.chain.head.height, c.now-c.lastEntry, slices.ContainsFunc(claims, func(claim seedlog.CheckedClaim) bool { return c.idle(claim.Value().Peer) }))
	e := c.rules.EntryOf(c.chain.head.parentInfo(), g.term, c.self, claims, s.Theta, s.Digest)
	var votes []seedlog.Vote
	if !c.tenure.sealedTerm {
		votes, c.tenure.sealedTerm = c.shown(c.election.mandate.votes), true
	}
	e.Attestations, e.Solved = c.attestations(g.picked), c.solvedHeight()
	entry := c.rules.OwnEntry(e, c.cfg.Key, votes)
	c.hard.SealedTerm, c.hard.SealedHeight = e.Term, e.Height
	c.hardChanged = true
	n := c.chain.newNode(c.chain.head, entry, claims)
	whole := &generation{entry, claims}
	n.stage, n.body, n.decisive = trusted, whole, g.decisive
	c.hang(n)
	c.chain.states.keep(n, s.State, c.chain.head)
	c.moveHead(n)
	c.checkSealed(g)
	c.lastEntry = c.now
	if c.trusting() {
		c.give(n, whole)
		c.entryGiven()
		return
	}
	c.out.send(Gossip, Peer{}, &Announce{Entry: entry.Bytes(), Seal: entry.Seal().Bytes()})
	if len(g.carried) > 0 {
		c.out.send(Gossip, Peer{}, &Advance{Entry: n.link, State: g.carried})
	}
	c.push(whole, 0, c.below(e))
	if c.mandateOver() {
		c.handOver()
	}
}

// mandateOver reports whether this leader should hand over. It may finish a test first, for up to a quarter of a
// mandate: its successor would have to start over.
func (c *Coordinator) mandateOver() bool {
	closed := c.chain.head.height - c.tenure.mandateFrom
	return closed >= c.cfg.Mandate && (c.underTest() == nil || closed >= c.cfg.Mandate+c.cfg.Mandate/4)
}

// dropClosing gives up the generation that is being closed: the head moved, or this peer no longer leads.
func (c *Coordinator) dropClosing() {
	if c.tenure.closing == nil {
		return
	}
	c.tenure.closing = nil
	if c.folds.underway != nil && len(c.folds.underway.entries) == 0 {
		c.dropFold()
	}
	for _, id := range sortedJobs(c.work.jobs) {
		if c.work.jobs[id].kind == jobDecides {
			delete(c.work.jobs, id)
			c.out.Cancel = append(c.out.Cancel, id)
		}
	}
}

// handOver asks the next in rank to lead. No generation is closed until it does or time runs out.
func (c *Coordinator) handOver() {
	c.tenure.mandateFrom += max(3*c.cfg.Mandate/8, 1) // then it tries again, if nobody took over
	successor, ok := c.successor()
	if !ok {
		return
	}
	c.tenure.yieldUntil, c.tenure.heir = c.now+c.timing().Election, successor
	c.tenure.yieldMost = c.now + yieldElections*c.timing().Election
	term := c.nextTerm()
	c.vote(term, successor)
	c.tenure.offer = &Handover{Term: term, Head: c.chain.head.link, Signature: seedlog.NewVote(c.rules.Run, term, successor, c.cfg.Key).Signature}
	c.offerAgain()
	if head := c.chain.head; head.body != nil && c.spreads() {
		c.push(head.body, 0, []Peer{successor}) // which may be far down in the tree
	}
}

// offerAgain tells the successor of the hand-over.
func (c *Coordinator) offerAgain() {
	c.tenure.offerAgain = c.now + c.cfg.Timing.Heartbeat
	c.out.send(Direct, c.tenure.heir, c.tenure.offer)
}

// successor is the first in rank that may lead, other than this peer; of those who follow closely, if there are any but
// the one that did not take over.
func (c *Coordinator) successor() (next Peer, ok bool) {
	head := c.chain.head
	for _, p := range c.ranking(c.nextTerm()) {
		h := c.members.heard.of(p)
		if p == c.self || h == nil || !c.mayLead(p) || c.rejected(p) {
			continue
		}
		if n := c.chain.canonAt(h.Height); n != nil && n.link == h.Head && n.height+1 >= head.height && p != c.tenure.heir {
			return p, true
		}
		if !ok {
			next, ok = p, true
		}
	}
	return next, ok
}

// retire hands over, says goodbye and stops this peer's own work.
func (c *Coordinator) retire() {
	if c.retired {
		return
	}
	c.retired, c.work.paused = true, true
	if c.election.role == Leader {
		if !c.trusting() {
			c.handOver()
		}
		c.election.role = Follower
		c.dropClosing()
	}
	if c.actsAsHub() {
		c.out.send(Gossip, Peer{}, &Leave{})
	} else {
		c.out.send(Hubs, Peer{}, &Leave{})
	}
}
