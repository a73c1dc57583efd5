package coordinator

import (
	"fmt"
	"maps"
	"sort"

	"github.com/evoswarm/evoswarm/internal/noise"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// The past of a peer whose chain begins at a base is a coordinator of its own: it fetches, folds and audits the run
// from the genesis on, by all the rules of fork choice, and does nothing else. It says nothing to others but what it
// asks them for. Where it comes to hold the base, the base was true, and its figures replace what hubs said; where it
// holds another entry there, the base goes.

// pastBacklog is from how many entries that wait to be folded on the past fetches no more: it must not fill the memory,
// nor keep what is new from being checked.
const pastBacklog = 64

// newPast moves what this peer has of the run, and the work on that, into a past. What it computes on states that it
// took over stays.
func (c *Coordinator) newPast() *Coordinator {
	p := new(Coordinator)
	*p = *c
	p.quiet = true
	p.draw = noise.NewStream(c.draw.Uint64(), drawDomain)
	p.election, p.tenure, p.ahead, p.seeking, p.serving = election{}, tenure{}, ahead{}, seeking{}, newServing()
	p.coming, p.tests, p.out = nil, nil, Actions{}
	p.work = work{pool: newPool(c.rules), pace: newPace(c.rules), jobs: make(map[uint64]*job), lastJob: c.work.lastJob, slots: c.work.slots, paused: true, audits: c.work.audits}

	own := work{pool: newPool(c.rules), pace: c.work.pace, jobs: make(map[uint64]*job), lastJob: c.work.lastJob + 1<<32, slots: c.work.slots, paused: c.work.paused,
		ledger: c.work.ledger, spots: c.work.spots, credit: c.work.credit}
	for _, id := range sortedJobs(c.work.jobs) {
		switch j := c.work.jobs[id]; {
		case j.parent.afloat:
			own.jobs[id] = j
		case j.kind == jobDecisive || j.kind == jobAudit || j.kind == jobTest:
			p.work.jobs[id] = j
		default:
			c.out.Cancel = append(c.out.Cancel, id)
		}
	}
	for _, id := range c.work.waiting {
		if p.work.jobs[id] != nil {
			p.work.waiting = append(p.work.waiting, id)
		}
	}
	p.work.drawn = c.work.drawn
	c.work = own
	c.members.pulls = make(map[Peer]*pull)
	return p
}

// takes reports whether an event is for the past alone.
func (b *based) takes(e Event) bool {
	if b == nil || b.past == nil {
		return false
	}
	switch e := e.(type) {
	case Evaluated:
		return b.past.work.jobs[e.ID] != nil
	case Folded:
		f := b.past.folds.underway
		return f != nil && f.id == e.ID
	case Recalled:
		return true
	case Received:
		m, ok := e.Message.message.(*Segment)
		return ok && len(m.Generations) > 0 && e.Message.generations[0].entry.Value().Height <= b.height
	}
	return false
}

// expects reports whether the past waits for entries from a peer.
func (b *based) expects(p Peer) bool {
	if b == nil || b.past == nil {
		return false
	}
	q := b.past.members.pulls[p]
	return q != nil && (q.asked || q.late) || b.traced.from == p
}

// stepPast tells the past what happened, and does what it asks for.
func (c *Coordinator) stepPast(e Event) {
	b := c.based
	if b == nil || b.past == nil || c.retired {
		return
	}
	p := b.past
	p.now, p.alive, p.begun, p.out = c.now, true, c.begun, Actions{}
	p.work.pace = c.work.pace
	p.members.heard, p.members.near, p.members.links, p.faults = c.members.heard, c.members.near, c.members.links, c.faults
	p.members.rich = rich{} // it heard nothing itself
	p.forget()
	switch e := e.(type) {
	case Received:
		m, ok := e.Message.message.(*Segment)
		if q := p.members.pulls[e.From]; ok && !c.faults.peers[e.From] && (b.takes(e) || len(m.Generations) == 0 && q != nil && q.asked) && !b.trace(e.From, e.Message.generations) {
			p.onSegment(e.From, p.sourceOf(&e), m, &e.Message)
		}
	case Evaluated:
		if p.work.jobs[e.ID] != nil {
			p.evaluated(e)
			p.stays(p.folds.far)
		}
	case Folded:
		if f := p.folds.underway; f != nil && f.id == e.ID {
			b.rest = c.now + min(c.now-f.since, slowFold)
			p.folded(e)
			p.stays(p.folds.far)
		}
	case Unlinked:
		delete(p.members.pulls, e.Peer)
	case Recalled:
		p.recalled(e.Summary)
	}
	p.readBack()
	p.follow()
	first := c.catchingUp() && c.now-b.since < deliveringPulls*c.cfg.Timing.Pull // what lies above the base goes first
	if p.folds.left < pastBacklog && !first && !c.light.on {
		p.sync()
	}
	p.issueAudits()
	if c.out.Fold == nil && c.now >= b.rest && !first { // folds go before evaluations: half of the time is for those
		p.foldNext()
	}
	if !c.light.on && len(c.work.drawn) == 0 { // first what lies above the base
		p.beginDrawn()
	}
	c.takeOut(p.finish())
	if len(p.members.heard) < len(c.members.heard) {
		c.members.rich.head = nil // the past banned somebody
	}
	c.members.heard, c.members.near, c.faults = p.members.heard, p.members.near, p.faults
	if !c.light.on {
		c.missPast()
		c.judge()
	}
}

// takeOut does what the past asks for: it keeps what it folded, but it says nothing to others.
func (c *Coordinator) takeOut(a Actions) {
	c.out.Blocks = append(c.out.Blocks, a.Blocks...)
	if a.Head != nil {
		a.Head.Past = true
		c.out.Head = a.Head
	}
	for _, e := range a.Send {
		if _, ok := e.Message.(*Pull); ok {
			c.out.Send = append(c.out.Send, e)
		}
	}
	if a.Fold != nil {
		c.out.Fold = a.Fold
	}
	c.out.Work = append(c.out.Work, a.Work...)
	c.out.Cancel = append(c.out.Cancel, a.Cancel...)
	c.out.Ban = append(c.out.Ban, a.Ban...)
	c.out.Notes = append(c.out.Notes, a.Notes...)
	c.out.Summary, c.out.Recall = a.Summary, a.Recall
}

// judge compares the past with the base.
func (c *Coordinator) judge() {
	b := c.based
	p := b.past
	link, ok := p.chain.linkAt(b.height)
	switch {
	case c.young() && c.folds.left == 0 && c.folds.far == nil && c.now-c.lastEntry > deliveringPulls*c.cfg.Timing.Pull:
		c.revert("nobody gives the entries above")
	case !ok:
		c.followTrace()
	case link == b.Entry:
		enough := p.chain.head.height >= min(b.height+votingEntries, c.chain.head.height)
		if enough || c.now-p.lastEntry > deliveringPulls*c.cfg.Timing.Pull { // nobody gives more, and more changes figures alone
			c.unite()
		}
	case !p.catchingUp() && p.folds.far == nil && p.chain.head.weight >= c.checkedWeight():
		c.revert("another branch is heavier than what this peer could check of it")
	}
}

// checkedWeight is what the chain weighs above its base, which this peer checked by itself.
func (c *Coordinator) checkedWeight() uint64 {
	return c.chain.head.weight - min(c.based.Weight, c.based.Steps)
}

// unite ends the past: it holds the base.
func (c *Coordinator) unite() {
	b := c.based
	p := b.past
	// Up to their last common entry both chains are the same.
	low, high := b.height, min(p.chain.head.height, c.chain.head.height)
	common := low + uint64(sort.Search(int(high-low), func(i int) bool {
		x, ok1 := p.chain.linkAt(low + uint64(i) + 1)
		y, ok2 := c.chain.linkAt(low + uint64(i) + 1)
		return !ok1 || !ok2 || x != y
	}))
	c.correct(common)
	c.raiseBest(b.past.chain.bestAt(common))
	for p, credit := range p.chain.creditsAt(b.height) { //lint:sorted each key on its own
		sum := c.chain.credits[p]
		c.chain.credits[p] = Credit{sum.Evaluations + credit.Evaluations, sum.Steps + credit.Steps}
	}
	c.cancelPast()
	c.checkpoints.final = p.checkpoints.final
	b.past, b.kept = nil, common
	c.out.note(NoteSync, c.self, fmt.Sprintf("has folded the run from its beginning: the entry of height %d that its chain began at is true", b.height))
}

// correct puts the sums of the past in place of what hubs said of the base.
func (c *Coordinator) correct(common uint64) {
	b := c.based
	x, y := b.past.chain.canonAt(common), c.chain.canonAt(common)
	var evaluations, steps, weight uint64
	switch firm := b.past.chain.canonAt(b.height + votingEntries); {
	case x != nil && y != nil:
		evaluations, steps, weight = x.evaluations-y.evaluations, x.steps-y.steps, x.weight-y.weight
	case firm != nil && b.firm > 0: // this peer's own is no longer in memory
		base := b.past.chain.canonAt(b.height)
		if base == nil {
			return
		}
		evaluations, steps, weight = base.evaluations-b.Evaluations, base.steps-b.Steps, firm.weight-b.firm
	}
	add := func(n *node) {
		n.evaluations += evaluations
		n.steps += steps
		n.weight += weight
	}
	spread(c.chain.root, add)
	for n := c.chain.root.parent; n != nil; n = n.parent {
		add(n)
	}
}

// creditsAt are the credits of the chain up to a height, if the entries above are in memory; else of the whole.
func (c *chain) creditsAt(height uint64) map[Peer]Credit {
	below := chain{credits: maps.Clone(c.credits)}
	if c.canonAt(height) != nil {
		for _, n := range c.above(height) {
			below.credit(n, false)
		}
	}
	return below.credits
}

// cancelPast drops the work of the past.
func (c *Coordinator) cancelPast() {
	p := c.based.past
	c.out.Cancel = append(c.out.Cancel, sortedJobs(p.work.jobs)...)
	if f := p.folds.underway; f != nil {
		c.out.Cancel = append(c.out.Cancel, f.id)
	}
}

// revert gives up the base: this peer has the chain that its past has come to.
func (c *Coordinator) revert(why string) {
	b := c.based
	p := b.past
	c.stepDown()
	c.out.Cancel = append(c.out.Cancel, sortedJobs(c.work.jobs)...)
	if f := c.folds.underway; f != nil {
		c.out.Cancel = append(c.out.Cancel, f.id)
	}
	c.based, c.hard.Base, c.hardChanged = nil, nil, true
	c.cfg.Archive = p.cfg.Archive
	c.chain, c.settled, c.folds, c.recall, c.checkpoints = p.chain, p.settled, p.folds, p.recall, p.checkpoints
	c.members.rich.head = nil // the head may be the same, the entries are not
	p.work.ledger, p.work.pace, p.work.slots, p.work.paused = c.work.ledger, c.work.pace, c.work.slots, c.work.paused
	p.work.lastJob = c.work.lastJob // so that no answer is mistaken for another
	c.work = p.work
	c.members.pulls = p.members.pulls
	c.ahead = ahead{shun: c.ahead.shun}
	c.tests, c.coming = nil, nil
	c.election.electorate = electorate{}
	c.tenure = tenure{mandateFrom: c.chain.head.height}
	c.lastEntry = c.now
	c.seeking = seeking{again: c.now + aheadPause*c.cfg.Timing.Pull}
	names := ""
	for _, from := range b.From {
		names += " " + from.Short()
		c.pauseGuide(from, aheadPause*c.cfg.Timing.Pull)
	}
	c.out.Front = &HeadMove{Fork: c.chain.head.height, State: c.chain.head.state}
	c.out.note(NoteSync, c.self, fmt.Sprintf("gives up the chain that began at height %d, which was described by%s: %s", b.height, names, why))
}

// traced is the way up from an entry that the past refused: if it leads to the base, that is false.
type traced struct {
	link   seedlog.Link // the newest entry on the way
	height uint64
	from   Peer // who was asked for what is above it; zero: nobody
	again  Tick
	next   int
}

// followTrace asks those who described the base for what lies between an entry that was refused and the base.
func (c *Coordinator) followTrace() {
	b := c.based
	t := &b.traced
	if len(b.From) == 0 || c.now < t.again {
		return
	}
	if !t.link.Defined() {
		n := b.past.refusedTip(t.next)
		if n == nil || n.height > b.height {
			return
		}
		t.link, t.height = n.link, n.height
	}
	if t.link == b.Entry {
		c.revert("it is built on an entry that is false")
		return
	}
	if t.height >= b.height { // it leads elsewhere
		t.link, t.again = seedlog.Link{}, c.now+aheadPause*c.cfg.Timing.Pull
		return
	}
	t.from, t.again = b.From[t.next%len(b.From)], c.now+c.cfg.Timing.Pull
	t.next++
	c.out.send(Direct, t.from, &Pull{Locator: []seedlog.Link{t.link, c.rules.Run}})
}

// trace follows the way up by what a peer that was asked for it gives. It reports whether that was it.
func (b *based) trace(from Peer, generations []generation) bool {
	t := &b.traced
	if from != t.from || len(generations) == 0 || generations[0].entry.Value().Parent != t.link {
		return false
	}
	t.from = Peer{}
	for _, g := range generations {
		if e := g.entry.Value(); e.Parent == t.link && e.Height == t.height+1 && e.Height <= b.height {
			t.link, t.height, t.again = g.entry.Link(), e.Height, 0
		}
	}
	return true
}

// refusedTip is one of the refused entries that end a branch, another one for another i; nil: there is none.
func (c *Coordinator) refusedTip(i int) *node {
	var refusedTips []*node
	for _, n := range c.chain.tips {
		if n.stage == refused {
			refusedTips = append(refusedTips, n)
		}
	}
	if len(refusedTips) == 0 {
		return nil
	}
	return refusedTips[i%len(refusedTips)]
}
