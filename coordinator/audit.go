package coordinator

import (
	"cmp"
	"errors"
	"slices"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// errAudit says that too many results of a branch are false.
var errAudit = errors.New("too many of the results drawn from it are false")

// The audit of foreign branches. A branch weighs what its keys say that they did, and entries name the steps of results
// that nobody may ever have computed. Before this peer gives up own entries for a branch it has results of the whole
// branch re-run that nobody else can foretell, drawn by the steps that they claim. docs/spec/protocol.md, section 6,
// has the bound that follows.

const (
	// shallow is how many own entries a branch may replace, and how many it may hold above what this peer has, without
	// an audit.
	shallow = 3
	// auditResults is how many results of a branch are drawn for as many steps as the weight that it would replace.
	auditResults = 400
	// auditFalse is how many of them may be false: a few were planted on honest branches before anybody noticed.
	auditFalse = 2
	// auditMost is how many false ones of all that were re-run end an audit early, if they are also more than one in
	// auditShare.
	auditMost, auditShare = 20, 20
	// auditAtOnce is how many entries of a branch that was checked before are sampled again in one step.
	auditAtOnce = 4
)

// sample is what a branch was audited for. Counts run from the genesis up to the node that has them.
type sample struct {
	over  uint64 // weight per auditResults results when this entry was drawn from; 0: it was not
	draws uint32 // results re-run, those that every entry gives included
	found uint32 // false ones among them
	false uint32 // false ones of those drawn by weight
}

// replaces is how many own entries would be given up for a branch from fork.
func (c *chain) replaces(fork *node) uint64 { return c.head.height - fork.height }

// near reports whether the branch up to n may be followed without an audit: it replaces next to nothing, and
// its leader was elected.
func (c *Coordinator) near(n *node) bool {
	if c.trusting() {
		return true
	}
	fork := c.chain.fork(n)
	return n == fork || c.chain.replaces(fork) <= shallow && c.mandated(n)
}

// deep reports whether the branch up to n replaces so much, or is so long, that its leaders' votes do not matter: its
// work does.
func (c *Coordinator) deep(n *node) bool {
	fork := c.chain.fork(n)
	return c.chain.replaces(fork) > shallow || n.height > fork.height+shallow
}

// stake is the weight that is given up for a branch from fork; at least that of so many entries as an audit is for.
func (c *chain) stake(fork *node) uint64 {
	least := c.head.below(shallow + 1)
	if least == nil {
		least = c.root
	}
	return max(c.head.weight-min(fork.weight, least.weight), 1)
}

// stakeOf is the weight that the audit of the branch up to n is over: what is given up for it, or where that is next to
// nothing, what it brings.
func (c *chain) stakeOf(n, fork *node) uint64 {
	if c.replaces(fork) > shallow {
		return c.stake(fork)
	}
	return max(c.stake(fork), n.weight-min(fork.weight, n.weight))
}

// heavierMost bounds how much heavier than its stake a branch counts as in its audit.
const heavierMost = 8

// auditOver is the weight that auditResults results are drawn for, of the branch up to n. In a swarm whose leaders
// re-run few claims a branch grows by the work of all, so one peer cannot re-run a fixed part of it. It need not: the
// heavier the branch is, the more of it would have to be invented to make up for what it replaces. Say it claims S
// over a stake of W and less than 0.95 W is true. Then the part that is invented is above (S - 0.95 W)/S, and with
// auditResults S/(20 S - 19 W) draws over all of it 20 of them hit invented results on average, as they do where S is
// W.
func (c *Coordinator) auditOver(n, fork *node) uint64 {
	stake := c.chain.stakeOf(n, fork)
	if c.rules.Spec.SpotChecks == nil {
		return stake
	}
	claims := n.weight - min(fork.weight, n.weight)
	return 20*max(min(claims, heavierMost*stake), stake) - 19*stake
}

// lackSpan is over how many entries at least auditResults results are drawn, where a peer catches up on its own chain
// and leaders re-run few claims: who lacks few entries need not re-run all of them, or it would never catch up. Of a
// chain that is shorter as many are drawn as of one that went on so far, but lackLeast by who never had its head.
const (
	lackSpan  = 256
	lackLeast = 64
)

// lackOver is the weight that auditResults results are drawn for, of what this peer lacks up to the goal above n.
func (c *Coordinator) lackOver(n *node) uint64 {
	goal := c.folds.goal
	from := min(c.settled.steps, n.parent.steps)
	if c.rules.Spec.SpotChecks == nil {
		return goal.steps - from
	}
	if old := goal.below(lackSpan); old != nil {
		return goal.steps - min(from, old.steps)
	}
	if c.based != nil {
		return goal.steps - min(from, c.based.Steps) // what lies below it is for the past to audit
	}
	results := max(auditResults*goal.height/lackSpan, 1)
	if c.settled == c.chain.root {
		results = max(results, lackLeast)
	}
	return goal.steps / min(results, auditResults) * auditResults
}

// audit has results of an entry re-run whose digests turned out right, if it is on a foreign branch or on the way up
// from far below.
func (c *Coordinator) audit(n *node) {
	fork := c.chain.fork(n)
	s := &n.sample
	s.draws, s.found, s.false = n.parent.sample.draws, n.parent.sample.found, n.parent.sample.false
	switch goal := c.folds.goal; {
	case goal.height > n.height+shallow && goal.descends(n): // what is followed is near, if not each entry on the way
		if c.cfg.Decisive > 0 {
			c.drawSample(n, c.lackOver(n), true)
		}
	case !c.near(n):
		tip := n
		if far := c.folds.far; far != nil && far.weight > n.weight && c.chain.fork(far) == fork {
			tip = far
		}
		c.drawSample(n, c.auditOver(tip, fork), true)
	case c.cfg.Decisive == 0 || c.rules.Spec.SpotChecks != nil: // all who follow an entry re-run of it by lot
	case fork != c.chain.head:
		c.drawSample(n, 0, true)
	}
}

// drawSample has as many results of an entry re-run as its part of auditResults is, if those are over so much weight.
// If that is none, and once is set, it is one. Over 0 it is none. Results of peers known to be faulty weigh nothing and
// are not drawn: else a peer that learns of a lie before it has the entry would refuse a branch that others follow.
func (c *Coordinator) drawSample(n *node, over uint64, once bool) bool {
	all := n.body.claimsOf(c, n)
	if all == nil {
		return false
	}
	claims, steps, results := make([]seedlog.CheckedClaim, 0, len(all)), uint64(0), uint64(0)
	for _, claim := range all {
		if v := claim.Value(); !c.faults.peers[v.Peer] {
			claims, steps, results = append(claims, claim), steps+v.TotalSteps(), results+uint64(len(v.Steps))
		}
	}
	n.sample.over = over
	wanted := uint64(0)
	if over > 0 {
		wanted = part(steps, over, c.draw.Uint64())
	}
	switch {
	case wanted >= results:
		for i, claim := range claims {
			for k := range claim.Value().Steps {
				c.rerunDrawn(n, claims, drawn{i, k, 1})
			}
		}
	case wanted > 0:
		for _, d := range drawResults(claims, wanted, func() uint64 { return c.draw.Uint64() % steps }) {
			c.rerunDrawn(n, claims, d)
		}
	case once && steps > 0:
		for _, d := range drawResults(claims, 1, func() uint64 { return c.draw.Uint64() % steps }) {
			d.times = 0
			c.rerunDrawn(n, claims, d)
		}
	}
	return true
}

// part is how many of auditResults results that are drawn over so much weight fall on an entry of so many steps: the
// exact number, rounded up or down by chance.
func part(steps, over, chance uint64) uint64 { return (auditResults*steps + chance%over) / over }

// claimsOf returns the claims of n, whose body this is, or reads them from the archive; nil if it cannot.
func (g *generation) claimsOf(c *Coordinator, n *node) []seedlog.CheckedClaim {
	if g != nil {
		return g.claims
	}
	claims, err := c.rules.KeptClaims(n.claims, c.cfg.Archive.Block)
	if err != nil {
		return nil
	}
	return claims
}

// drawn is a result of an entry that was drawn so many times.
type drawn struct{ claim, result, times int }

// drawResults draws results by the steps that they claim, with replacement. step draws one of all steps.
func drawResults(claims []seedlog.CheckedClaim, n uint64, step func() uint64) (list []drawn) {
	for range n {
		s := step()
		i := 0
		for ; s >= claims[i].Value().TotalSteps(); i++ {
			s -= claims[i].Value().TotalSteps()
		}
		k := 0
		for steps := claims[i].Value().Steps; s >= steps[k]; k++ {
			s -= steps[k]
		}
		at := slices.IndexFunc(list, func(d drawn) bool { return d.claim == i && d.result == k })
		if at < 0 {
			at = len(list)
			list = append(list, drawn{claim: i, result: k})
		}
		list[at].times++
	}
	slices.SortFunc(list, func(a, b drawn) int { return cmp.Or(a.claim-b.claim, a.result-b.result) })
	return list
}

// rerunDrawn asks for the re-run of a result that was drawn. Own claims are known to be true.
func (c *Coordinator) rerunDrawn(n *node, claims []seedlog.CheckedClaim, d drawn) {
	claim := claims[d.claim]
	n.sample.draws += uint32(max(d.times, 1))
	v := claim.Value()
	if on := c.chain.stateOf(n, v); on != nil && v.Peer != c.self {
		n.reruns++
		c.issue(&job{kind: jobDecisive, parent: on, node: n, claim: claim, peer: v.Peer, counter: c.rules.First(v) + uint64(d.result), drawn: true, times: d.times}, c.ahead.on == nil && !c.quiet) // own work ahead has a share
	}
}

// beginDrawn gives the driver re-runs for audits. There may be hundreds, so next to own work they are as many at a time
// as four own claims have results: who computes on the state of the swarm is not to do nothing else for minutes. One
// that follows it without claims needs none.
func (c *Coordinator) beginDrawn() {
	w := &c.work
	if len(w.drawn) == 0 || c.light.on {
		return
	}
	under := 0
	for _, j := range w.jobs { //lint:sorted counted
		if j.begun {
			under++
		}
	}
	alone, most := c.ahead.on == nil && !c.quiet, max(w.slots, int(drawnClaims*w.pace.chunks*c.rules.Spec.Generation.Chunk))
	for len(w.drawn) > 0 && (alone || under < most) {
		id := w.drawn[0]
		w.drawn = w.drawn[1:]
		if j := w.jobs[id]; j != nil { // else it was given up
			j.begun, j.urgent = true, alone
			under++
			c.start(id, j)
		}
	}
}

// holdDrawn takes back the re-runs for audits that the driver has: there is own work now.
func (c *Coordinator) holdDrawn() {
	w := &c.work
	var held []uint64
	for _, id := range sortedJobs(w.jobs) {
		if j := w.jobs[id]; j.begun {
			delete(w.jobs, id)
			c.out.Cancel = append(c.out.Cancel, id)
			j.begun = false
			w.lastJob++
			w.jobs[w.lastJob], held = j, append(held, w.lastJob)
		}
	}
	w.drawn = append(held, w.drawn...)
}

// drawnClaims is how many own claims have as many results as the driver has re-runs for audits.
const drawnClaims = 4

// foundFalse notes that a result of n that was drawn is false, and refuses what is above if those are too many.
func (c *Coordinator) foundFalse(n *node, times int) {
	if n.stage == refused || n.forgotten {
		return
	}
	spread(n, func(m *node) {
		m.sample.found += uint32(max(times, 1))
		m.sample.false += uint32(times)
	})
	base := c.chain.fork(n)
	if base == n {
		base = c.settled
	}
	var over []*node
	spread(n, func(m *node) {
		if m.stage != refused && m.stage != linked && m.sample.falls(&base.sample) && !m.parent.sample.falls(&base.sample) {
			over = append(over, m)
		}
	})
	for _, m := range over {
		c.refuse(m, errAudit)
	}
	c.cancelRefused()
	if !c.chain.head.usable() {
		c.retreat()
	}
	for _, m := range over {
		c.forgetAbove(m)
	}
}

// falls reports whether a branch has too many false results above base.
func (s *sample) falls(base *sample) bool {
	found, draws := s.found-min(base.found, s.found), s.draws-min(base.draws, s.draws)
	return s.false > base.false+auditFalse || found > auditMost && uint64(found)*auditShare > uint64(draws)
}

// dropDrawn gives up the re-runs for audits of a peer that turns out to be faulty: its work weighs nothing any more,
// and one lie is enough to know that.
func (c *Coordinator) dropDrawn(p Peer) {
	for _, id := range sortedJobs(c.work.jobs) {
		if j := c.work.jobs[id]; j.drawn && j.peer == p {
			j.node.reruns--
			delete(c.work.jobs, id)
			c.out.Cancel = append(c.out.Cancel, id)
		}
	}
}

// cancelRefused drops the re-runs of entries that were refused.
func (c *Coordinator) cancelRefused() {
	for _, id := range sortedJobs(c.work.jobs) {
		if j := c.work.jobs[id]; j.kind == jobDecisive && j.node.stage == refused {
			delete(c.work.jobs, id)
			c.out.Cancel = append(c.out.Cancel, id)
		}
	}
}

// audited reports whether enough results of the branch up to n, which replaces own entries, were re-run to follow it.
// Entries that were drawn from when less was at stake, or were followed once without an audit, are drawn from again.
func (c *Coordinator) audited(n *node) bool {
	fork := c.chain.fork(n)
	over := c.auditOver(n, fork)
	if n.height <= fork.height+shallow && c.chain.replaces(fork) <= shallow {
		return false // as long as it replaces little an election decides
	}
	var again []*node
	done := true
	for m := n; m != fork; m = m.parent {
		if m.reruns > 0 {
			done = false
		} else if m.sample.over == 0 || m.sample.over > over {
			again = append(again, m)
		}
	}
	if !done || len(again) == 0 {
		return done
	}
	for _, m := range slices.Backward(again[max(0, len(again)-auditAtOnce):]) {
		if !c.drawSample(m, over, false) {
			break
		}
	}
	return false
}
