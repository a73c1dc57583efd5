package coordinator

import (
	"fmt"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

const (
	// lag is how many entries a peer may still have to fold, or fetch, without counting as catching up.
	lag = 2
	// quickFold and slowFold bound how long a fold should take, in ticks: of a long chain one fold takes twice as many
	// entries after a quick one and half as many after a slow one, so that folds stay few and progress is seen.
	quickFold = 5
	slowFold  = 20
)

// Fold asks for generations to be folded; the answer is a Folded event with the same ID. It may take minutes,
// so nothing waits for it but what needs its states. One fold at a time is under way.
type Fold struct {
	ID      uint64
	State   *evolve.State // that the first entry's claims are applied to; read-only
	Entries []FoldEntry
	carry   bool // whether the answer has the last state encoded, if that is short
}

// FoldEntry is one generation of a Fold.
type FoldEntry struct {
	parent   seedlog.Link
	links    []seedlog.Link         // of the claims, in the entry's order
	claims   []seedlog.CheckedClaim // nil: the archive has them
	decisive int                    // how many decisive results the answer names
	weighed  bool                   // whether it says how much each result moves the model
}

// Task is the fold as an evaluator takes it. It reads claims from the archive and hashes for every result:
// call it outside the loop that calls Step. It calls pause, which may be nil, after each entry.
func (f *Fold) Task(rules *seedlog.Rules, archive Archive, pause func()) (rollout.Fold, error) {
	task := rollout.Fold{State: f.State, Steps: make([]rollout.FoldStep, len(f.Entries))}
	for i, e := range f.Entries {
		claims := e.claims
		if claims == nil {
			var err error
			if claims, err = rules.KeptClaims(e.links, archive.Block); err != nil {
				return rollout.Fold{}, err
			}
		}
		task.Steps[i] = rollout.FoldStep{Results: rules.Results(e.parent, values(claims)), Observe: rules.ObserveSeeds(e.parent)}
		if pause != nil {
			pause()
		}
	}
	return task, nil
}

func values(claims []seedlog.CheckedClaim) []*seedlog.Claim {
	list := make([]*seedlog.Claim, len(claims))
	for i, c := range claims {
		list[i] = c.Value()
	}
	return list
}

// Answer turns what an evaluator gave for Task into an event. It takes about as long as Task.
func (f *Fold) Answer(rules *seedlog.Rules, folded []rollout.Folded) Folded {
	e := Folded{ID: f.ID, Steps: folded, Decisive: make([][]seedlog.Counter, len(f.Entries)), influence: make([][]float64, len(f.Entries))}
	for i, entry := range f.Entries {
		if entry.decisive > 0 {
			e.Decisive[i] = rules.Decisive(entry.parent, values(entry.claims), entry.decisive)
		}
		if entry.weighed {
			e.influence[i] = rules.Influence(entry.parent, values(entry.claims))
		}
	}
	e.carried = f.carried(folded[len(folded)-1].State)
	return e
}

// folds is the state of folding: the goal, and how far it is.
type folds struct {
	goal     *node    // best tip known that may be followed as soon as it is checked
	far      *node    // better tip that must be audited; nil: none
	left     uint64   // entries up to goal without a state
	from     uint64   // height of the newest state when this peer fell behind
	caughtUp Tick     // when this peer was last catching up
	underway *folding // nil: none
	size     int      // entries in the next fold
	again    Tick     // not to be asked before
}

// folding is the fold under way.
type folding struct {
	id      uint64
	entries []*node // oldest first; none: the generation that the leader closes
	since   Tick
	check   bool // it is what a light peer checks
}

// unfolded lists the entries between the newest state at or below n and n, oldest first; none if that state has left
// memory.
func unfolded(n *node) []*node {
	size := 0
	for m := n; m.state == nil; m = m.parent {
		if m.forgotten {
			return nil
		}
		size++
	}
	path := make([]*node, size)
	for ; size > 0; n = n.parent {
		size--
		path[size] = n
	}
	return path
}

// catchingUp reports whether this peer has entries to fold before it knows what others know. Meanwhile it neither
// campaigns nor trains. A branch that must be audited is checked without that: it may be forged.
func (c *Coordinator) catchingUp() bool {
	return c.light.on || c.chain.head.state == nil || c.young() || c.folds.left > lag || c.folds.goal.height > c.chain.head.height+lag || c.delivering() || c.returning()
}

// joining reports whether this peer looks for the swarm's chain: it catches up, or nobody leads here and an answer with
// more is on its way.
func (c *Coordinator) joining() bool { return c.catchingUp() || !c.leaderAlive() && c.behind() }

// measure counts what is left to fold, and begins a count of the whole when there was nothing.
func (c *Coordinator) measure() {
	c.folds.left = 0
	n := c.folds.goal
	for ; n.state == nil; n = n.parent {
		c.folds.left++
	}
	if !c.catchingUp() {
		c.folds.from = n.height
		return
	}
	c.folds.from = min(c.folds.from, n.height)
	c.folds.caughtUp = c.now
}

// progress is how many entries are left to fold and how many there were when this peer fell behind, those that are
// known but not fetched included.
func (c *Coordinator) progress() (left, total uint64) {
	tip := max(c.folds.goal.height, c.promised())
	if on := c.ahead.on; on != nil {
		tip = max(tip, on.height)
	}
	for p, q := range c.members.pulls { //lint:sorted the greatest
		if h := c.members.heard.of(p); q.proven > 0 && h != nil && c.lately(h) && h.Weight > c.chain.head.weight {
			tip = max(tip, h.Height)
		}
	}
	return tip - (c.folds.goal.height - c.folds.left), tip - min(tip, c.folds.from)
}

// foldNext starts the next fold if none is under way: the generation that is closed, the way to the best tip,
// the head's state, and states that jobs wait for.
func (c *Coordinator) foldNext() {
	if f := c.folds.underway; f != nil && len(f.entries) > 0 && f.entries[0].stage == refused {
		c.dropFold()
	}
	if c.folds.underway != nil || c.now < c.folds.again || c.retired {
		return
	}
	if g := c.tenure.closing; g != nil && g.folded == nil {
		claims := make([]seedlog.CheckedClaim, len(g.picked))
		for i, p := range g.picked {
			claims[i] = p.claim
		}
		e := FoldEntry{parent: c.chain.head.link, claims: claims}
		if c.rules.Spec.SpotChecks != nil {
			e.decisive, e.weighed = decisiveResults, c.chain.maxStale > 0
		}
		c.startFold(c.chain.head.state, nil, []FoldEntry{e})
		return
	}
	if c.foldCheck() {
		return
	}
	for _, target := range c.foldTargets() {
		if path := unfolded(target); len(path) > 0 {
			c.foldPath(path)
			return
		}
	}
}

// foldTargets lists entries whose state is wanted, the most wanted first.
func (c *Coordinator) foldTargets() []*node {
	targets := []*node{c.chain.head}
	if !checkingAhead(c.folds.goal) {
		targets = []*node{c.folds.goal, c.chain.head}
	}
	for _, id := range c.work.waiting {
		if j := c.work.jobs[id]; j != nil {
			return append(targets, j.parent)
		}
	}
	if c.folds.far != nil && !checkingAhead(c.folds.far) {
		targets = append(targets, c.folds.far)
	}
	if n := c.bestWanted(); n != nil {
		targets = append(targets, n)
	}
	return targets
}

// checkingAhead reports whether enough entries on the way to a tip wait for their re-runs.
func checkingAhead(n *node) bool {
	waiting := 0
	for ; n.stage != trusted; n = n.parent {
		if n.stage == folded {
			waiting++
		}
	}
	return waiting >= pipeline
}

// foldPath folds the first entries of a path.
func (c *Coordinator) foldPath(path []*node) {
	path = path[:min(len(path), c.folds.size)]
	var entries []FoldEntry
	results := uint64(0)
	for i, n := range path {
		if results += n.evaluations - n.parent.evaluations; results > rollout.MaxFoldResults && i > 0 {
			path = path[:i]
			break
		}
		e := FoldEntry{parent: n.parent.link, links: n.claims}
		if n.body != nil {
			e.claims = n.body.claims
		}
		switch {
		case c.rules.Spec.SpotChecks != nil && n.body != nil:
			e.decisive, e.weighed = decisiveResults, c.chain.maxStale > 0 && c.cfg.Audit > 0
		case n.stage == linked:
			e.decisive = c.cfg.Decisive
		}
		entries = append(entries, e)
		if c.chain.maxStale > 0 && c.chain.states.marked(n) {
			path = path[:i+1] // a fold gives the state of its last entry, and others may seek this one
			break
		}
	}
	c.startFold(path[0].parent.state, path, entries)
}

func (c *Coordinator) startFold(state *evolve.State, path []*node, entries []FoldEntry) {
	c.work.lastJob++
	c.folds.underway = &folding{id: c.work.lastJob, entries: path, since: c.now}
	c.out.Fold = &Fold{ID: c.work.lastJob, State: state, Entries: entries, carry: path == nil && c.chain.maxStale > 0 && !c.trusting()}
}

// dropFold gives up the fold under way.
func (c *Coordinator) dropFold() {
	if c.out.Fold != nil && c.out.Fold.ID == c.folds.underway.id {
		c.out.Fold = nil
	} else {
		c.out.Cancel = append(c.out.Cancel, c.folds.underway.id)
	}
	c.folds.underway = nil
}

// folded takes the answer to a Fold.
func (c *Coordinator) folded(e Folded) {
	f := c.folds.underway
	if f == nil || f.id != e.ID {
		return
	}
	c.folds.underway = nil
	n := max(len(f.entries), 1)
	if e.Failed || len(e.Steps) != n || len(e.Decisive) != n || len(e.influence) != n || e.Steps[n-1].State == nil {
		c.out.note(NoteFold, c.self, "folding a generation failed on this computer; trying again")
		c.folds.again, c.folds.size = c.now+c.cfg.Timing.Pull, 1
		return
	}
	if f.check {
		c.foldedCheck(&e.Steps[0])
		return
	}
	if len(f.entries) == 0 {
		c.tenure.closing.decisive, c.tenure.closing.influence, c.tenure.closing.carried = e.Decisive[0], e.influence[0], e.carried
		c.closed(&e.Steps[0])
		return
	}
	switch took := c.now - f.since; {
	case took > slowFold:
		c.folds.size = max(c.folds.size/2, 1)
	case took < quickFold:
		c.folds.size = min(2*c.folds.size, pipeline)
	}
	for i, m := range f.entries {
		if !c.take(m, &e.Steps[i], e.Decisive[i], i == n-1) {
			return
		}
		if c.chain.canonAt(m.height) != m { // else it is not drawn from any more
			m.influence = e.influence[i]
		}
	}
	c.startWaiting()
}

// take compares what a fold gave for an entry with what the entry says, and keeps the state. It returns false if they
// differ.
func (c *Coordinator) take(n *node, s *rollout.Folded, decisive []seedlog.Counter, last bool) bool {
	if s.Theta != n.theta || s.Digest != n.digest {
		c.doubt(n, s)
		return false
	}
	n.doubted = false
	if c.rules.Spec.SpotChecks != nil && n.decisive == nil && decisive != nil {
		n.decisive = decisive
		c.markFalse(n)
	}
	if s.State != nil && n.state == nil && (last || n.stage == linked || c.chain.states.marked(n)) {
		c.chain.states.keep(n, s.State, c.chain.head)
	}
	if n.stage == linked {
		n.stage = folded
		c.askReruns(n, decisive)
		c.audit(n)
	}
	return true
}

// doubt folds an entry with a wrong digest once more before it is refused and its leader disqualified. An
// entry that this peer trusted before is never refused: this computer must be at fault.
func (c *Coordinator) doubt(n *node, s *rollout.Folded) {
	err := fmt.Errorf("%w: height %d gives theta %x and state %x, the entry says %x and %x", seedlog.ErrDigest, n.height, s.Theta, s.Digest, n.theta, n.digest)
	c.folds.size = 1
	switch {
	case n.stage == trusted:
		c.out.note(NoteFold, c.self, "this computer folds an entry to another state than before; trying again: "+err.Error())
		c.folds.again = c.now + c.cfg.Timing.Pull
	case n.doubted:
		c.refuse(n, err)
	default:
		n.doubted = true
	}
}
