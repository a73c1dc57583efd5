package coordinator

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// pull is what was asked of a peer that says, or relays, that there is more than this one has. It continues question by
// question until the peer has no more. What a peer says of its weight and height decides nothing: all who name a head
// that is unknown here are asked in turn.
type pull struct {
	begun, since Tick   // the first question of the exchange, and the last one
	first        Tick   // the first question since its last answer
	had          uint64 // height of the chain here at the last question
	asked        bool
	late         bool         // not answered in time; a later answer is still used
	came         Tick         // when the answer came that is checked now; 0: none is
	fresh        bool         // whether the exchange brought an entry that was new
	tip          seedlog.Link // newest entry got from that peer on a branch that is not ours yet
	ended        bool         // whether that was the end of an exchange
	took         Tick         // how long its last answer with something new was on its way
	again        Tick         // not to be asked before
	failures     uint         // exchanges in a row that brought nothing
	proven       Tick         // when an entry that it gave was on our chain last; 0: never
	bulk         seedlog.Link // newest entry of an answer with more than lag new ones
	delivered    Tick         // when that became one of our chain; 0: never
}

const (
	// maxPulls bounds the exchanges under way.
	maxPulls = 3
	// promptPart is the part of the time for an answer after which another peer is asked the same at the soonest.
	promptPart = 8
	// lostParts is after how many of those parts a known peer may be asked again: the question or the answer was lost.
	lostParts = 2
	// provenPulls is for how many times that time nobody else is asked while a peer whose entries proved good delivers.
	provenPulls = 4
	// deliveringPulls is for how many times that time more is expected of a peer that gave many entries at once.
	deliveringPulls = 16
	// checkedPulls is for how many times that time an answer may be checked before it counts as lost.
	checkedPulls = 16
	// brokenPulls is after how many exchanges in a row that brought nothing no more is expected of such a peer.
	brokenPulls = 2
	// maxFailures bounds how rarely a peer that brings nothing is asked: the pause doubles so often.
	maxFailures = 6
	// emptyPause is the pause after an answer without entries: a hub passes gossip on before it trusts it.
	emptyPause = 2
)

// behind reports whether more than the newest entry of a heavier branch was fetched, and more of it is on its way.
func (c *Coordinator) behind() bool {
	for _, q := range c.members.pulls { //lint:sorted any one decides
		if n := c.chain.nodes[q.tip]; q.asked && n != nil && n.weight > c.chain.head.weight && n.height > c.chain.head.height+2 {
			return true
		}
	}
	return false
}

// delivering reports whether a peer that gave many entries at once, which are on our chain by now, says that it has
// more than the next few. Who has nothing that is new cannot: what is asked of others is mostly what one of them has.
// Where entries come unasked, a peer that has the newest of its leader needs no more.
func (c *Coordinator) delivering() bool {
	if c.spreads() && c.leaderAlive() && c.ahead.height > 0 && c.chain.head.height+lag >= c.ahead.height {
		return false
	}
	return c.promised() > c.chain.head.height+lag
}

// promised is the height that is to be reached with what such a peer says that it has; 0: there is none.
func (c *Coordinator) promised() (height uint64) {
	for p, q := range c.members.pulls { //lint:sorted the greatest
		if q.delivered == 0 || c.now-q.delivered > deliveringPulls*c.cfg.Timing.Pull {
			continue
		}
		// On a busy computer statuses are late, too: what it said is no older than what it delivered.
		if h := c.members.heard.of(p); h != nil && h.last >= q.delivered-min(q.delivered, c.unheard(h)) && h.Weight > c.chain.head.weight {
			height = max(height, h.Height)
		}
	}
	return height
}

// sync asks those who have more, one at a time: another is asked when that one takes long.
func (c *Coordinator) sync() {
	if c.light.on || c.undecided() {
		return
	}
	for p, q := range c.members.pulls { //lint:sorted each one on its own
		if q.came > 0 && c.now-q.came > checkedPulls*c.cfg.Timing.Pull {
			q.came = 0
		}
		switch trusted := q.proven > 0 || c.known(p); {
		case !q.asked || q.came > 0:
		case trusted && c.now-q.since > max(lostParts*c.cfg.Timing.Pull/promptPart, min(2*q.took, c.cfg.Timing.Pull), 2*c.members.answers.usual()):
			q.asked, q.late = false, true // messages get lost: it may be asked again soon
			c.failed(q, emptyPause)
		case c.now-q.since > max(c.cfg.Timing.Pull, 2*c.members.answers.usual()):
			q.asked, q.late = false, true
			c.failed(q, c.cfg.Timing.Pull)
		}
		if n := c.chain.nodes[q.tip]; n != nil && n != c.chain.root && c.chain.canonical(n) {
			q.proven = c.now
		}
		if n := c.chain.nodes[q.bulk]; n != nil && c.chain.canonical(n) {
			q.bulk, q.delivered = seedlog.Link{}, c.now
		}
		if !q.running() && c.now > q.again && c.members.heard.of(p) == nil {
			delete(c.members.pulls, p)
		}
	}
	if c.awaitsAnswer() {
		return
	}
	for _, h := range c.richer() {
		if c.pull(h.peer) {
			return
		}
	}
}

// running reports whether an answer is on its way, or is checked.
func (q *pull) running() bool { return q.asked || q.came > 0 }

// awaitsAnswer reports whether to wait for those who were asked before another peer is.
func (c *Coordinator) awaitsAnswer() bool {
	running := 0
	return c.asks(func(q *pull) bool {
		running++
		return running == maxPulls || c.prompt(q)
	})
}

// prompt reports whether to wait for a peer before another is asked: it was asked just now, or continues to give
// entries and earlier ones were good. What it gave is checked as long as that takes: others would give the same, and
// then that would be checked, too. Who gives more and more of what is not on our chain is not waited for.
func (c *Coordinator) prompt(q *pull) bool {
	wait := min(c.cfg.Timing.Pull/promptPart+c.members.answers.usual(), c.cfg.Timing.Pull)
	proven := q.proven > 0 && c.now-q.proven <= provenPulls*c.cfg.Timing.Pull
	return c.now-q.begun <= wait || proven && c.now-q.since <= wait || q.came > 0 && (proven || !q.tip.Defined())
}

// asks reports whether an answer is awaited that is so.
func (c *Coordinator) asks(so func(q *pull) bool) bool {
	for _, q := range c.members.pulls { //lint:sorted any one decides
		if q.running() && so(q) {
			return true
		}
	}
	return false
}

// knew reports whether an entry was on the chain here at the last question already: then no other answer brought it.
func (q *pull) knew(c *chain, n *node) bool { return n.height <= q.had && c.canonical(n) }

// verifies reports whether to wait for an answer that is verified before another peer is asked.
func (c *Coordinator) verifies() bool {
	return c.asks(func(q *pull) bool { return q.came > 0 && c.prompt(q) })
}

// Arrived notes that an answer which Expects let in waits for its verification outside the loop. It comes to Step after
// that, or to Done if it is dropped for want of room.
func (c *Coordinator) Arrived(from Peer, m Message) {
	if _, ok := m.(*Segment); ok {
		c.verifying(from, c.now)
	}
}

// Done notes that an answer which arrived waits no longer.
func (c *Coordinator) Done(from Peer, m Message) {
	if _, ok := m.(*Segment); ok {
		c.verifying(from, 0)
	}
}

// verifying notes since when an answer of a peer is verified; 0: none is. Whether it is for the past it says itself.
func (c *Coordinator) verifying(p Peer, since Tick) {
	if q := c.members.pulls[p]; q != nil && (q.asked || q.late || since == 0) {
		q.came = since
	}
	if b := c.based; b != nil && b.past != nil {
		b.past.verifying(p, since)
	}
}

// failed ends an exchange that brought nothing. The pause doubles from one to the next.
func (c *Coordinator) failed(q *pull, pause Tick) {
	q.again = c.now + pause<<q.failures
	q.failures = min(q.failures+1, maxFailures)
	q.tip, q.fresh, q.proven = seedlog.Link{}, false, 0
	if q.failures >= brokenPulls {
		q.delivered = 0 // it does not give what it says it has
	}
}

// lacks reports whether a peer named an entry that this peer lacks, on a chain as heavy as its own.
func (c *Coordinator) lacks(h *presence) bool {
	return h.Height > 0 && h.Weight >= c.chain.head.weight && h.Head != c.chain.head.link && c.chain.nodes[h.Head] == nil
}

// rich lists those heard of whom that may be true.
func (c *Coordinator) rich() roll {
	r := &c.members.rich
	if head := c.chain.head; !r.holds(&c.chain) {
		r.list, r.head, r.weight, r.removed = r.list[:0], head, head.weight, c.chain.removed
		for _, h := range c.members.heard {
			if c.lacks(h) {
				r.list = append(r.list, h)
			}
		}
	}
	return r.list
}

// holds reports whether the chain has the same head, and nothing was taken from it, since r was made.
func (r *rich) holds(c *chain) bool {
	return r.head == c.head && r.weight == c.head.weight && r.removed == c.removed
}

// noteRich notes what a peer says of itself.
func (c *Coordinator) noteRich(h *presence) {
	r := &c.members.rich
	switch lacks, listed := c.lacks(h), r.list.of(h.peer) != nil; {
	case !r.holds(&c.chain):
		r.head = nil // all are looked through next, also if the head is then the one that it was
	case listed && !lacks:
		r.list.remove(h.peer)
	case lacks && !listed:
		r.list.add(h)
	}
}

// richer lists the peers whose head is unknown here and no lighter than ours: first those whose entries were good, then
// those with a record, then neighbors; of each those that failed least, then those that were asked longest ago.
func (c *Coordinator) richer() roll {
	type candidate struct {
		*presence
		class, failures int
		since           Tick
		lot             uint64
	}
	var list []candidate
	for _, h := range c.rich() {
		if !c.lacks(h) || !c.lately(h) || c.comesLater(h.Head) || h.Gone > c.chain.head.height {
			continue
		}
		if c.trusting() && c.trusts(c.self) && !c.trusts(h.peer) {
			continue // it has nothing that the others lack
		}
		x := candidate{presence: h, class: 3}
		q := c.members.pulls[h.peer]
		if q != nil {
			if q.running() || c.now < q.again {
				continue
			}
			x.failures, x.since = int(q.failures), q.since
		}
		switch {
		case q != nil && q.proven > 0:
			x.class = 0
		case c.known(h.peer):
			x.class = 1
		case c.members.links[h.peer]:
			x.class = 2
		}
		if c.spreads() {
			x.lot = c.askRank(h.peer)
			switch {
			case h.peer == c.election.leader:
				x.class = 1 // behind the others: all wait for what it sends else
			case x.class == 1:
				x.class = 0
			}
		}
		list = append(list, x)
	}
	slices.SortStableFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.failures, b.failures), cmp.Compare(a.lot, b.lot), cmp.Compare(a.since, b.since))
	})
	rich := make(roll, len(list))
	for i, x := range list {
		rich[i] = x.presence
	}
	return rich
}

// askRank draws for a peer where a hub asks others for entries: another one for each hub and each height, so that not
// all ask the same one, which they would do where it was the first to give anything.
func (c *Coordinator) askRank(p Peer) uint64 {
	const odd = 0x9e3779b97f4a7c15
	return (binary.BigEndian.Uint64(p[:]) ^ binary.BigEndian.Uint64(c.self[:]) ^ c.chain.head.height*odd) * odd
}

// pull asks p for what follows the best branch that is here, or the one that was begun with p. It reports whether it
// did.
func (c *Coordinator) pull(p Peer) bool {
	if p == c.self || c.faults.peers[p] || (!c.actsAsHub() && !c.members.links[p] && !c.trusting()) {
		return false // a leaf reaches only the peers that it dialed
	}
	q := c.members.pulls[p]
	if q == nil {
		q = new(pull)
		c.members.pulls[p] = q
	}
	if q.running() || c.now < q.again {
		return false
	}
	if n := c.chain.nodes[q.tip]; q.ended && (n == nil || c.chain.canonical(n)) {
		q.tip = seedlog.Link{} // the head is above it by now
	}
	q.ended = false
	if !q.tip.Defined() {
		q.begun, q.fresh = c.now, false
	}
	if !q.late {
		q.first = c.now
	}
	q.asked, q.since, q.had = true, c.now, c.chain.head.height
	above := q.tip
	if goal := c.folds.goal; !above.Defined() && goal.height > c.chain.head.height {
		above = goal.link // what is here already, though it is not folded yet
	}
	c.out.send(Direct, p, &Pull{Locator: c.chain.locator(above)})
	return true
}

// onSegment takes entries in order. Only answers to our own questions are read.
func (c *Coordinator) onSegment(from Peer, at source, m *Segment, checked *Checked) {
	if c.light.on {
		if c.awaitsCheck(from) {
			c.onChecked(from, m, checked.generations)
		}
		return
	}
	if c.readAbove(from, checked.generations) {
		return
	}
	q := c.members.pulls[from]
	if c.trusting() && (q == nil || !q.asked && !q.late || c.gives(from, checked.generations)) {
		c.onGiven(from, at, checked.generations)
		return
	}
	if q == nil || !q.asked && !q.late {
		return
	}
	arrived := c.now
	if q.came > 0 {
		arrived = q.came
	}
	q.asked, q.late, q.came = false, false, 0
	fresh, newest := 0, uint64(0) // how many entries are new, and the height of the last one
	if n := len(checked.generations); n > 0 {
		newest = checked.generations[n-1].entry.Value().Height
	}
	var last *node
	var shared seedlog.Link // newest entry that left memory here
	for _, g := range checked.generations {
		known := c.chain.nodes[g.entry.Link()] != nil
		n, err := c.insert(g, at)
		if errors.Is(err, errGap) {
			if !c.gap(g.entry.Link(), g.entry.Value().Parent) {
				break
			}
			shared = g.entry.Link()
			continue
		}
		if errors.Is(err, errRefused) || errors.Is(err, errFull) {
			c.failed(q, c.cfg.Timing.Pull)
			return
		}
		if err != nil {
			c.ban(from, "sent an invalid entry: "+err.Error())
			return
		}
		last = n
		if !known {
			fresh, q.fresh = fresh+1, true
			if !c.trusting() {
				c.passOn(n, &g, newest)
			}
		}
	}
	c.placeComing()
	if fresh > 0 {
		q.took, q.failures, q.again = arrived-q.since, 0, c.now // also if that was after it had been given up
		c.members.answers.note(fresh, arrived-q.first, c.cfg.Timing.Pull)
	}
	if fresh > lag {
		q.bulk = last.link
	} else if len(checked.generations) <= lag {
		q.delivered = 0 // it has no more, whatever it says
	}
	for i := range checked.evidence {
		if !c.trusting() {
			c.onFraudProof(&checked.evidence[i])
		}
	}
	if last != nil {
		c.stays(last)
	}
	h := c.members.heard.of(from)
	switch {
	case last == nil && shared.Defined():
		q.tip, q.again = shared, c.now+emptyPause
		return
	case last != nil && last.height < m.Height && fresh == 0 && !q.knew(&c.chain, last) && c.asks((*pull).running):
		// Somebody else gives the same, and is before it.
		q.tip, q.again, q.ended = last.link, c.now+emptyPause, true
		return
	case last != nil && last.height < m.Height && last.link != q.tip:
		q.tip = last.link
		c.pull(from)
		return
	case q.fresh:
		q.failures, q.again = 0, c.now
	case h != nil && c.chain.nodes[h.Head] == nil:
		c.failed(q, emptyPause) // it has a head that is unknown here, and does not show it
		return
	default:
		q.again = c.now + emptyPause // it relayed what it does not have yet
	}
	q.tip, q.fresh, q.ended = seedlog.Link{}, false, true
	if last != nil {
		q.tip = last.link
	}
}
