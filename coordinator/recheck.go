package coordinator

import (
	"slices"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// recheckPool has claims of others re-run before they may be logged, in format 1 every one: those of known keys at
// once, newcomers' in turns of those who handed them over and few at a time. So claims of free keys take up a part of
// the leader's time.
func (c *Coordinator) recheckPool() {
	pool := &c.work.pool
	if c.rules.Spec.SpotChecks != nil {
		c.recheckUnattested()
		c.spotPool()
		return
	}
	for _, p := range pool.known.All() {
		if !p.good && p.running == 0 {
			c.recheck(p)
		}
	}
	for c.checksNewcomers() {
		p, ok := pool.nextFresh()
		if !ok {
			return
		}
		c.recheck(p)
	}
}

// nextFresh is the next newcomer's claim to re-run; false if none waits.
func (p *pool) nextFresh() (q *pooled, ok bool) {
	for {
		_, key, ok := p.unchecked.Pop()
		if !ok {
			return nil, false
		}
		if q, ok := p.fresh.Get(key); ok && q.waits() {
			return q, true
		}
	}
}

// checksNewcomers reports whether this leader may begin to re-run another claim of a newcomer by itself.
func (c *Coordinator) checksNewcomers() bool {
	pool := &c.work.pool
	return pool.freshRunning < max(1, c.atOnce()/newcomersShare, pool.checking/(newcomersShare-1))
}

// recheckUnattested re-runs claims that others would not attest.
func (c *Coordinator) recheckUnattested() {
	pool := &c.work.pool
	for len(c.tenure.again) > 0 {
		p := pool.get(c.tenure.again[0])
		waits := p != nil && p.waits()
		if waits && (p.fresh && !c.checksNewcomers() || !p.fresh && pool.checking >= c.atOnce()) {
			return
		}
		c.tenure.again = c.tenure.again[1:]
		if waits {
			c.recheck(p)
		}
	}
}

func (c *Coordinator) recheck(p *pooled) {
	c.work.pool.begin(p)
	c.issue(&job{kind: jobClaim, parent: p.on, pooled: p, claim: p.claim, peer: p.claim.Value().Peer}, true)
}

// begin notes that a re-run of a claim begins.
func (p *pool) begin(q *pooled) {
	if q.running++; q.running > 1 {
		return
	}
	if q.fresh {
		p.freshRunning++
	} else {
		p.checking++
	}
}

// checked notes that a re-run of a claim is over.
func (p *pool) checked(q *pooled) {
	if q.running--; q.running > 0 {
		return
	}
	if q.fresh {
		p.freshRunning--
	} else {
		p.checking--
	}
}

// nextOf has a newcomer's next claims re-run, now that this one was.
func (c *Coordinator) nextOf(q *pooled) {
	if !q.fresh || !q.ready() {
		return
	}
	list := c.work.pool.freshOf[q.claim.Value().Peer]
	for _, p := range list {
		if p.waits() && c.follows(p.claim.Value(), list) {
			c.work.pool.unchecked.Push(p.from, 1, p.key())
		}
	}
}

// follows reports whether all chunks of its peer and parent below a claim are in the log or ready.
func (c *Coordinator) follows(claim *seedlog.Claim, list []*pooled) bool {
	if logged, ok := c.place(claim); !ok || claim.Chunk == logged {
		return ok
	}
	before := before(c.rules, poolKeyOf(claim), list)
	return before != nil && before.ready()
}

// before is the one of a list that ends where a claim begins; nil: it is not there.
func before(rules *seedlog.Rules, claim poolKey, list []*pooled) *pooled {
	for _, q := range list {
		if v := q.claim.Value(); v.Peer == claim.peer && v.Parent == claim.on && v.Chunk+rules.Chunks(v) == claim.chunk {
			return q
		}
	}
	return nil
}

// rechecked takes the re-run of a claim in the pool. A false one of a newcomer is not logged and weighs nothing, so
// others can do without a proof of it, and get few.
func (c *Coordinator) rechecked(p *pooled, fitness []int64, steps []uint64) {
	pool := &c.work.pool
	pool.checked(p)
	c.tenure.ended = true
	claim := p.claim.Value()
	counter, same := c.differs(claim, fitness, steps)
	switch {
	case same:
		p.good = true
		if p.refused != (Peer{}) {
			c.silentDelegate(p.refused) // it said no
		}
		c.nextOf(p)
	case c.proofless(p):
		c.markFaulty(claim.Peer, "made a false claim")
	default:
		c.expose(p.claim, counter, fitness, steps, 0)
	}
}

// proofless reports whether others get no proof of a false claim that is not logged: it is a newcomer's, of which
// there may be any number. Where leaders re-run few claims, each re-runs those, so nobody needs one.
func (c *Coordinator) proofless(p *pooled) bool {
	if c.rules.Spec.SpotChecks != nil {
		return p.newcomers(c.chain.head)
	}
	return p.fresh && !c.faults.newcomers.Take(uint64(c.now), newcomerProof{}, newcomerProofTicks)
}

// awaitsReruns reports whether a generation should wait for re-runs that are under way. Newcomers' are waited for as
// long as that brings claims: after each time in vain the next comes twice as many entries later.
func (c *Coordinator) awaitsReruns() bool {
	pool := &c.work.pool
	if pool.checking > 0 {
		return true
	}
	w := &c.tenure.newcomers
	if pool.freshRunning == 0 || pool.unchecked.Len() > maxAwaited || c.chain.head.height < w.next {
		return false
	}
	w.waited = true
	return true
}

// newcomers is how waiting for newcomers went.
type newcomers struct {
	waited bool   // for the generation that is open
	unused uint   // how many waits in a row were in vain
	next   uint64 // height of the head at which the next may be
}

// maxAwaited is how many claims of newcomers may wait to be re-run while a generation waits for them: more are a
// flood.
const maxAwaited = 16

// maxUnusedNewcomers bounds how rare the waits become: one in 64 entries.
const maxUnusedNewcomers = 6

// settle notes whether the generation closed now holds a newcomer's claim.
func (n *newcomers) settle(height uint64, picked []*pooled) {
	switch {
	case slices.ContainsFunc(picked, func(p *pooled) bool { return p.fresh }):
		n.unused, n.next = 0, 0
	case n.waited:
		n.unused = min(n.unused+1, maxUnusedNewcomers)
		n.next = height + 1<<n.unused
	}
	n.waited = false
}
