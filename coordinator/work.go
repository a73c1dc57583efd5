package coordinator

import (
	"maps"
	"slices"

	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

type jobKind uint8

const (
	jobOwn       jobKind = iota // a chunk of this peer
	jobClaim                    // the leader re-runs a claim before logging it
	jobDecisive                 // a follower re-runs what decides an entry
	jobAudit                    // a claim of an entry that is followed already
	jobProof                    // a proof is re-run before acting on it
	jobSpot                     // one result of a claim, or of an entry that is followed, drawn by lot
	jobDecides                  // the leader re-runs what decides the generation that it closes
	jobSealed                   // what decides the entry that it has just sealed
	jobRequested                // a result of a claim that the leader asks about
	jobTest                     // the test of the state of parent
	jobAhead                    // a result on a state that was taken over
)

// job is work given to the driver.
type job struct {
	kind     jobKind
	urgent   bool
	parent   *node
	peer     Peer                 // whose candidates are run
	chunk    uint64               // jobOwn: the first, and
	chunks   uint64               // how many
	pooled   *pooled              // jobClaim, jobDecides; jobSpot: of a claim that is not logged
	node     *node                // jobDecisive
	claim    seedlog.CheckedClaim // jobClaim, jobDecisive, jobAudit, jobProof, jobSpot, jobDecides, jobSealed, jobRequested, jobAhead
	counter  uint64               // jobDecisive, jobProof, jobSpot, jobDecides, jobSealed, jobRequested, jobAhead
	evidence *evidence            // jobProof
	request  *request             // jobRequested
	drawn    bool                 // jobDecisive: by an audit, so many times
	begun    bool                 // of these: the driver has it
	times    int
}

// work is what this peer has evaluated.
type work struct {
	pool    pool
	jobs    map[uint64]*job
	lastJob uint64
	waiting []uint64 // jobs that wait for a state
	drawn   []uint64 // re-runs for an audit that wait for their turn
	slots   int
	paused  bool
	chunk   uint64 // next own chunk on the head
	held    ownHeld
	begun   map[uint64]uint64 // own claims on the head that were under evaluation when it became the head: first chunk to chunks
	newest  *node             // the state on which own claims were begun last
	own     uint64            // own chunks under evaluation
	pace    pace
	logged  uint64 // height of the newest entry with a claim of this peer
	ledger  ledger
	late    uint64 // own chunk that is finished although its parent is no longer the head; 0: none
	audits  []audit
	spots   uint64 // own results since the last spot check
	alarm   uint64 // re-runs that this peer owes besides, since somebody was found to lie
	credit  uint64 // results of others that this peer may still re-run for a leader
}

// audit is a claim waiting to be re-run without hurry.
type audit struct {
	parent *node
	claim  seedlog.CheckedClaim
}

// maxAudits bounds the audits waiting; the newest are dropped.
const maxAudits = 4096

// single reports whether the job re-runs one counter.
func (j *job) single() bool {
	return j.kind == jobDecisive || j.kind == jobProof || j.kind == jobSpot || j.kind == jobDecides || j.kind == jobSealed || j.kind == jobRequested || j.kind == jobAhead
}

// counters is how many results the job gives.
func (j *job) counters(rules *seedlog.Rules) int {
	switch {
	case j.kind == jobTest:
		return 0
	case j.single():
		return 1
	case j.kind == jobOwn:
		return int(j.chunks * rules.Spec.Generation.Chunk)
	}
	return len(j.claim.Value().Steps)
}

// firstChunk is the first chunk of the claim that the job makes or re-runs.
func (j *job) firstChunk() uint64 {
	if claim := j.claim.Value(); claim != nil {
		return claim.Chunk
	}
	return j.chunk
}

// first is the first counter that the job evaluates.
func (j *job) first(rules *seedlog.Rules) uint64 {
	switch {
	case j.single():
		return j.counter
	case j.kind == jobOwn:
		return j.chunk * rules.Spec.Generation.Chunk
	}
	return rules.First(j.claim.Value())
}

// work is what the driver is asked to do, on the state of the job's parent.
func (j *job) work(id uint64, rules *seedlog.Rules) Work {
	on := j.parent
	if j.kind == jobTest {
		return Work{id, rollout.Task{State: on.state}, rules.TestSeeds(on.link, rules.Spec.Checks.Test), j.urgent}
	}
	return Work{id, rules.Range(on.state, on.link, j.peer, j.first(rules), uint64(j.counters(rules))), nil, j.urgent}
}

// issue gives a job to the driver, once the state of its parent is in memory.
func (c *Coordinator) issue(j *job, urgent bool) {
	if j.parent.forgotten {
		return // it failed, and is too deep by now to matter
	}
	c.work.lastJob++
	c.work.jobs[c.work.lastJob], j.urgent = j, urgent
	if j.drawn && c.chain.maxStale > 0 {
		j.begun = false
		c.work.drawn = append(c.work.drawn, c.work.lastJob)
		return
	}
	c.start(c.work.lastJob, j)
}

// start gives a job to the driver, or has it wait for a state.
func (c *Coordinator) start(id uint64, j *job) {
	if j.parent.state == nil {
		c.work.waiting = append(c.work.waiting, id)
		return
	}
	c.out.Work = append(c.out.Work, j.work(id, c.rules))
}

// startWaiting gives the driver the jobs whose state came into memory.
func (c *Coordinator) startWaiting() {
	waiting := c.work.waiting
	c.work.waiting = nil
	for _, id := range waiting {
		switch j := c.work.jobs[id]; {
		case j == nil:
		case j.parent.state == nil:
			c.work.waiting = append(c.work.waiting, id)
		default:
			c.out.Work = append(c.out.Work, j.work(id, c.rules))
		}
	}
}

// issueOwn keeps the slots full with chunks of this peer on the head.
func (c *Coordinator) issueOwn() {
	if c.work.paused || !c.trusts(c.self) || c.ahead.led || c.joining() || c.ended() != seedlog.Open {
		return
	}
	c.renewWaiting(c.chain.head)
	for c.takesOwn() && c.work.chunk < c.rules.Spec.Generation.Quota {
		k := c.work.chunk
		if begun := c.work.begun[k]; begun > 0 { // the head was this one before
			c.work.chunk += begun
		} else if p := c.work.pool.get(poolKey{c.self, c.chain.head.link, k}); p != nil {
			c.work.chunk += c.rules.Chunks(p.claim.Value())
		} else {
			c.work.chunk = c.issueClaim(c.chain.head, k, c.rules.Spec.Generation.Quota)
		}
	}
}

// renewWaiting gives up own claims that wait behind what is under evaluation, once there is a newer state: when their
// turn came, they would be as old as what they waited for took. What is given up has hardly begun.
func (c *Coordinator) renewWaiting(on *node) {
	w := &c.work
	if c.chain.maxStale == 0 || on.state == nil || w.newest == on {
		return
	}
	w.newest = on
	evaluating := uint64(0)
	for _, id := range sortedJobs(w.jobs) {
		switch j := w.jobs[id]; {
		case j.kind != jobOwn || j.chunk >= seedlog.FirstHeldOut:
		case evaluating < uint64(w.slots):
			evaluating += j.chunks
		case j.parent != on:
			delete(w.jobs, id)
			c.out.Cancel = append(c.out.Cancel, id)
			w.own -= min(j.chunks, w.own)
		}
	}
}

// issueClaim gives the driver an own claim that begins with a chunk and ends before another, and returns the chunk
// after it.
func (c *Coordinator) issueClaim(on *node, chunk, end uint64) (next uint64) {
	n := min(c.claimChunks(), end-chunk)
	if c.work.own == 0 {
		c.work.pace.begin(c.now)
	}
	c.work.own += n
	c.issue(&job{kind: jobOwn, parent: on, peer: c.self, chunk: chunk, chunks: n}, false)
	return chunk + n
}

// issueAudits re-runs waiting audits, as many at once as there are slots.
func (c *Coordinator) issueAudits() {
	if len(c.work.audits) == 0 {
		return
	}
	running := 0
	for _, j := range c.work.jobs { //lint:sorted only counted
		if j.kind == jobAudit {
			running++
		}
	}
	for running < c.atOnce() && len(c.work.audits) > 0 {
		a := c.work.audits[0]
		c.work.audits = c.work.audits[1:]
		running++
		c.issue(&job{kind: jobAudit, parent: a.parent, claim: a.claim, peer: a.claim.Value().Peer}, false)
	}
}

// cancelStale drops work that is too old for the head that is new, and counts the own work that is left.
func (c *Coordinator) cancelStale() {
	c.work.chunk, c.work.own, c.work.begun = 0, 0, nil
	for _, id := range sortedJobs(c.work.jobs) {
		j := c.work.jobs[id]
		switch {
		case j.kind == jobOwn && c.worthwhile(j.parent):
			c.work.own += j.chunks
			if j.parent == c.chain.head {
				if c.work.begun == nil {
					c.work.begun = make(map[uint64]uint64)
				}
				c.work.begun[j.chunk] = j.chunks
			}
		case j.kind == jobOwn && c.finishLate(id, j):
		case j.kind == jobOwn, j.kind == jobAhead && c.ahead.on == nil, (j.kind == jobClaim || j.kind == jobSpot && j.pooled != nil) && c.work.pool.links[j.pooled.claim.Link()] != j.pooled:
			delete(c.work.jobs, id)
			c.out.Cancel = append(c.out.Cancel, id)
			if j.kind == jobOwn && j.chunk >= seedlog.FirstHeldOut {
				c.work.held = ownHeld{}
			}
		}
	}
}

// inTime reports whether claims on an entry may be in the next one.
func (c *Coordinator) inTime(n *node) bool {
	if n.afloat {
		return c.ahead.inTime(n, c.chain.maxStale)
	}
	return c.chain.canonical(n) && n.height+c.chain.maxStale >= c.chain.head.height
}

// worthwhile reports whether claims on an entry may be in the one after the newest that this peer works on.
func (c *Coordinator) worthwhile(n *node) bool {
	return c.inTime(n) && (!c.ahead.led && !c.light.on || c.ahead.on == nil || c.ahead.inTime(n, c.chain.maxStale))
}

// finishLate reports whether an own chunk is finished although it comes too late: a peer that is always late shows so
// that it works, and the leader waits for it now and then, where no stale claims are taken. One at a time.
func (c *Coordinator) finishLate(id uint64, j *job) bool {
	if c.chain.maxStale > 0 || c.trusting() || j.parent == c.chain.head || !c.idle(c.self) || j.parent.height+lateFor <= c.chain.head.height || c.chain.canonAt(j.parent.height) != j.parent {
		return false
	}
	if old := c.work.jobs[c.work.late]; old != nil && c.work.late != id {
		return false
	}
	c.work.late = id
	return true
}

// showLate sends an own claim whose time is over.
func (c *Coordinator) showLate(checked seedlog.CheckedClaim) {
	switch {
	case c.chain.maxStale > 0 || c.trusting():
		return // no leader waits
	case !c.actsAsHub():
		c.out.send(Hubs, Peer{}, &Claims{Blocks: [][]byte{checked.Bytes()}})
		return
	case c.election.leader == (Peer{}) || c.election.role == Leader:
		return
	}
	claim := checked.Value()
	best, at := claim.Best()
	c.out.send(Direct, c.election.leader, &Inventory{Parent: claim.Parent, Items: []InventoryItem{
		{Claim: checked.Link(), Best: best, Seed: c.rules.Seed(claim.Parent, claim.Peer, c.rules.First(claim)+at)}}})
}

func (c *Coordinator) evaluated(e Evaluated) {
	j := c.work.jobs[e.ID]
	if j == nil {
		return
	}
	delete(c.work.jobs, e.ID)
	if e.Failed || len(e.Results) != j.counters(c.rules) {
		c.issue(j, j.urgent)
		return
	}
	fitness, steps := c.rules.Columns(j.firstChunk(), e.Results)
	switch j.kind {
	case jobTest:
		c.tested(j.parent, e.Returns)
	case jobOwn:
		if c.worthwhile(j.parent) {
			c.work.own -= min(j.chunks, c.work.own)
		}
		c.paced(j.chunks)
		c.work.spots += uint64(len(e.Results))
		c.work.credit = min(c.work.credit+uint64(len(e.Results)), c.mostCredit())
		claim := c.rules.OwnClaim(c.rules.Claim(j.parent.link, c.cfg.Key, j.chunk, e.Results))
		c.work.ledger.claimed(claim, j.parent.height)
		if j.parent.afloat || c.light.on {
			c.claimedAhead(j.parent, claim)
			return
		}
		c.offer(source{key: c.self}, claim)
	case jobClaim:
		c.rechecked(j.pooled, fitness, steps)
	case jobAudit:
		if counter, ok := c.differs(j.claim.Value(), fitness, steps); !ok {
			c.expose(j.claim, counter, fitness, steps, c.lotOf(c.cfg.Audit))
		}
	case jobSpot, jobSealed:
		c.spotted(j, fitness, steps[0])
	case jobDecides:
		c.sure(j, fitness, steps[0])
	case jobRequested:
		c.requested(j, fitness, steps[0])
	case jobAhead:
		c.checkedAhead(j, fitness, steps[0])
	case jobDecisive:
		c.decided(j, fitness, steps[0])
	case jobProof:
		c.proved(j, fitness, steps[0])
	}
}

// differs compares a re-run of a whole claim with what the claim states, and names the first counter that differs.
func (c *Coordinator) differs(claim *seedlog.Claim, fitness []int64, steps []uint64) (counter uint64, same bool) {
	signs := len(fitness) / len(steps)
	for i := range steps {
		if steps[i] != claim.Steps[i] || !slices.Equal(fitness[i*signs:(i+1)*signs], claim.Fitness[i*signs:(i+1)*signs]) {
			return c.rules.First(claim) + uint64(i), false
		}
	}
	return 0, true
}

func sortedJobs(jobs map[uint64]*job) []uint64 { return slices.Sorted(maps.Keys(jobs)) }

// note remembers an entry with a claim of this peer.
func (w *work) note(n *node, self Peer) {
	if slices.ContainsFunc(n.credits, func(credit peerCredit) bool { return credit.peer == self }) {
		w.logged = n.height
		w.ledger.came(n.height, n.claims)
	}
}
