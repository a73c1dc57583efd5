package coordinator

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"slices"

	"github.com/evoswarm/evoswarm/internal/fair"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

const (
	// maxKnownClaims bounds the claims of keys that have a record on the chain; each has a fair share.
	maxKnownClaims = 2 * seedlog.MaxClaims
	// maxNewClaims bounds those of keys without a record, which cost nothing; each source that hands them over has a
	// fair share.
	maxNewClaims = seedlog.MaxClaims / 2
	// maxWanted bounds the claims that were asked for; each peer asked has a fair share.
	maxWanted = 4 * seedlog.MaxClaims
	// newcomersShare bounds what newcomers get where claims compete: of re-runs, and of the places in an entry that is
	// full, one in so many.
	newcomersShare = 4
)

// pool holds the claims that the next entry may name: those on the head, and up to max_stale entries below it, that are
// in no entry yet. The own ones always have room; then there are those of keys with a record on the chain, and those of
// newcomers, who are free to have any number of keys.
type pool struct {
	own, known, fresh *fair.Table[poolKey, source, *pooled]
	links             map[seedlog.Link]*pooled
	wanted            *fair.Table[seedlog.Link, Peer, want]

	unchecked    *fair.Queue[source, poolKey] // newcomers' claims to re-run, in turns of those who handed them over
	checking     int                          // claims of known keys under re-run
	freshRunning int                          // claims of newcomers under re-run
	due          Tick                         // nothing is to be announced before
}

type poolKey struct {
	peer  Peer
	on    seedlog.Link // parent
	chunk uint64
}

type pooled struct {
	claim    seedlog.CheckedClaim
	on       *node  // its parent
	from     source // of those who handed it over
	fresh    bool   // its author has no record
	good     bool   // own, or re-run with the same result
	spared   bool   // may be logged without: its author's record is long
	checking bool   // under re-run
	again    Tick   // when it is announced next; messages get lost
	rank     [sha256.Size]byte
}

// want is a claim that was asked for.
type want struct {
	at    Tick
	known bool // whether the peer that was asked has a record
}

func newPool() pool {
	return pool{
		own:       fair.NewTable[poolKey, source, *pooled](seedlog.MaxClaims).KeepOldest(),
		known:     fair.NewTable[poolKey, source, *pooled](maxKnownClaims).KeepOldest(),
		fresh:     fair.NewTable[poolKey, source, *pooled](maxNewClaims).KeepOldest(),
		links:     make(map[seedlog.Link]*pooled),
		wanted:    fair.NewTable[seedlog.Link, Peer, want](maxWanted),
		unchecked: fair.NewQueue[source, poolKey](maxNewClaims, 1),
	}
}

// key is what the pool finds a claim by.
func (p *pooled) key() poolKey {
	claim := p.claim.Value()
	return poolKey{claim.Peer, claim.Parent, claim.Chunk}
}

// ready reports whether a claim may be logged.
func (p *pooled) ready() bool { return p.good || p.spared && !p.checking }

// renewPool begins the pool of another head. What has a place on it stays.
func (c *Coordinator) renewPool() {
	old := c.work.pool
	c.work.pool = newPool()
	if c.rules.Spec.Generation.MaxStale == 0 {
		return
	}
	pool := &c.work.pool
	pool.wanted = old.wanted
	for p := range old.all {
		if _, ok := c.place(p.claim.Value()); !ok || !c.enter(p) {
			continue
		}
		switch {
		case p.checking && p.fresh:
			pool.freshRunning++
		case p.checking:
			pool.checking++
		}
	}
}

// place is how many chunks of its peer and parent lie below a claim in the log; false if it has no place in the next
// entry.
func (c *Coordinator) place(claim *seedlog.Claim) (chunks uint64, ok bool) {
	if on := c.chain.nodes[claim.Parent]; on == nil || !c.inTime(on) {
		return 0, false
	}
	_, chunks, ok = below{c.chain.head}.Logged(claim.Parent, claim.Peer)
	return chunks, ok && claim.Chunk >= chunks
}

// get returns a claim, or nil.
func (p *pool) get(key poolKey) *pooled {
	for _, t := range [...]*fair.Table[poolKey, source, *pooled]{p.own, p.known, p.fresh} {
		if q, ok := t.Get(key); ok {
			return q
		}
	}
	return nil
}

// all walks the pool: own claims, those of known keys, those of newcomers, each in the order of arrival.
func (p *pool) all(yield func(*pooled) bool) {
	for _, t := range [...]*fair.Table[poolKey, source, *pooled]{p.own, p.known, p.fresh} {
		for _, q := range t.All() {
			if !yield(q) {
				return
			}
		}
	}
}

// drop forgets all claims of a peer.
func (p *pool) drop(peer Peer) {
	for q := range p.all {
		if claim := q.claim.Value(); claim.Peer == peer {
			for _, t := range [...]*fair.Table[poolKey, source, *pooled]{p.own, p.known, p.fresh} {
				t.Delete(q.key())
			}
			delete(p.links, q.claim.Link())
		}
	}
}

// inEntryOrder is the order of claims in an entry: by peer, then by the height of their parent, then by chunk.
func inEntryOrder(a, b *pooled) int {
	x, y := a.claim.Value(), b.claim.Value()
	return cmp.Or(x.Peer.Compare(y.Peer), cmp.Compare(a.on.height, b.on.height), cmp.Compare(x.Chunk, y.Chunk))
}

// claimRank orders peers where not all claims find room in an entry: a lottery for each parent, so that no key is ahead
// for long.
func claimRank(parent seedlog.Link, p Peer) [sha256.Size]byte {
	return sha256.Sum256(append(append([]byte("evoswarm/claims/1\x00"), parent.Bytes()...), p[:]...))
}

// known reports whether a peer has a record: work of its key is in the last entries of this peer's own log. On the
// genesis nobody has, and all count as known.
func (c *Coordinator) known(p Peer) bool {
	return p == c.self || c.chain.head.height == 0 || c.chain.weights()[p] > 0
}

// offer takes a claim into the pool. Claims without a place in the next entry come too late and are dropped.
func (c *Coordinator) offer(from source, checked seedlog.CheckedClaim) {
	claim, pool := checked.Value(), &c.work.pool
	if _, ok := c.place(claim); !ok {
		if claim.Peer == c.self {
			c.showLate(checked)
		} else {
			c.late(claim.Peer, claim.Parent)
		}
		return
	}
	if c.faults.peers[claim.Peer] || pool.links[checked.Link()] != nil {
		return
	}
	p := &pooled{claim: checked, on: c.chain.nodes[claim.Parent], from: from, good: claim.Peer == c.self, rank: claimRank(claim.Parent, claim.Peer)}
	if c.enter(p) {
		pool.wanted.Delete(checked.Link())
		pool.due = 0
	}
}

// enter puts a claim that has a place into the pool, unless there is another for the same chunk. A newcomer's chunk
// counts only after the one before it, so that a key that has done nothing costs one re-run, not as many as it
// claims.
func (c *Coordinator) enter(p *pooled) bool {
	pool, claim, key := &c.work.pool, p.claim.Value(), p.key()
	if pool.get(key) != nil {
		return false
	}
	var lost []fair.Lost[poolKey, source, *pooled]
	p.fresh = false
	switch {
	case claim.Peer == c.self:
		lost = pool.own.Put(key, source{key: claim.Peer}, 1, p)
	case c.known(claim.Peer):
		lost = pool.known.Put(key, source{key: claim.Peer}, 1, p)
	default:
		before := pool.get(poolKey{claim.Peer, claim.Parent, claim.Chunk - 1}) // of chunk 0: none
		logged, _ := c.place(claim)
		if claim.Chunk > logged && before == nil {
			return false
		}
		p.fresh, p.spared = true, false
		lost = pool.fresh.Put(key, p.from, 1, p)
		if !p.good && !p.checking && (claim.Chunk == logged || before.good) {
			pool.unchecked.Push(p.from, 1, key)
		}
	}
	pool.links[p.claim.Link()] = p
	for _, l := range lost {
		delete(pool.links, l.Value.claim.Link())
	}
	return pool.links[p.claim.Link()] == p
}

// onClaims takes claims that were asked for, or that a leaf gives: its own.
func (c *Coordinator) onClaims(from Peer, at source, claims []seedlog.CheckedClaim) {
	for _, claim := range claims {
		if claim.Value().Peer == from || c.work.pool.wanted.Has(claim.Link()) {
			c.offer(at, claim)
		}
	}
}

// onInventory asks for claims that are new, if this peer is the one to log them.
func (c *Coordinator) onInventory(from Peer, m *Inventory) {
	if n := c.chain.nodes[m.Parent]; n == nil || !c.inTime(n) {
		c.late(from, m.Parent)
		return
	}
	if h := c.members.heard.of(from); h != nil {
		if h.announced.parent != m.Parent {
			h.announced = announced{parent: m.Parent, at: c.now}
		}
	}
	if c.election.role != Leader {
		return
	}
	var list []seedlog.Link
	known := c.known(from)
	for _, item := range m.Items {
		if c.work.pool.links[item.Claim] != nil || !c.mayAsk(from, known, item.Claim) || len(list) == maxWant {
			continue
		}
		c.work.pool.wanted.Put(item.Claim, from, 1, want{c.now, known})
		list = append(list, item.Claim)
	}
	if len(list) > 0 {
		c.out.send(Direct, from, &Want{Claims: list})
	}
}

// mayAsk reports whether to ask a peer for a claim: nobody else is being asked, or that one takes long, or the new one
// is known and the other is not. A peer is not asked twice in a row before it announces again of itself, so that one
// that names others' claims and then says nothing does not keep them away.
func (c *Coordinator) mayAsk(from Peer, known bool, claim seedlog.Link) bool {
	w, ok := c.work.pool.wanted.Get(claim)
	if !ok {
		return true
	}
	if asked, _ := c.work.pool.wanted.Source(claim); asked == from {
		return c.now-w.at >= 2*c.cfg.Timing.Heartbeat
	}
	return known && !w.known || known == w.known && c.now-w.at >= c.cfg.Timing.Heartbeat
}

// onWant answers with those claims that this peer holds.
func (c *Coordinator) onWant(from Peer, m *Want) {
	reply := &Claims{}
	size := 0
	for _, link := range m.Claims {
		if p := c.work.pool.links[link]; p != nil && size+len(p.claim.Bytes()) < segmentBytes {
			reply.Blocks = append(reply.Blocks, p.claim.Bytes())
			size += len(p.claim.Bytes())
		}
	}
	if len(reply.Blocks) > 0 {
		c.serving.bytes.Charge(uint64(c.now), from, uint64(size))
		c.out.send(Direct, from, reply)
	}
}

// announceClaims tells others about claims in the pool: a hub sends the leader an inventory, a leaf gives its own to
// its hubs.
func (c *Coordinator) announceClaims() {
	leader := c.election.leader
	if leader == c.self || c.cfg.Hub && leader == (Peer{}) || c.now < c.work.pool.due {
		return
	}
	inventory := &Inventory{Parent: c.chain.head.link}
	gift := &Claims{}
	pool := &c.work.pool
	pool.due = c.now + 2*c.cfg.Timing.Heartbeat
	for p := range pool.all {
		if c.now < p.again {
			pool.due = min(pool.due, p.again)
			continue
		}
		switch {
		case c.cfg.Hub && len(inventory.Items) < maxInventory:
			claim := p.claim.Value()
			best, counter := claim.Best()
			inventory.Items = append(inventory.Items, InventoryItem{Claim: p.claim.Link(), Best: best, Seed: c.rules.Seed(claim.Parent, claim.Peer, counter)})
		case !c.cfg.Hub && p.claim.Value().Peer == c.self && len(gift.Blocks) < maxWant:
			gift.Blocks = append(gift.Blocks, p.claim.Bytes())
		case c.cfg.Hub || p.claim.Value().Peer == c.self:
			pool.due = c.now // the rest follows in the next message
			continue
		}
		p.again = c.now + 2*c.cfg.Timing.Heartbeat
	}
	if len(inventory.Items) > 0 {
		c.out.send(Direct, leader, inventory)
	}
	if len(gift.Blocks) > 0 {
		c.out.send(Hubs, Peer{}, gift)
	}
}

// reannounce repeats everything at once: a new leader, or a new hub, has nothing yet.
func (p *pool) reannounce() {
	p.due = 0
	for q := range p.all {
		q.again = 0
	}
}

// recheckPool has every claim of others re-run before it may be logged: those of known keys at once, newcomers' in
// turns of those who handed them over and few at a time. So claims of free keys take up a part of the leader's time.
func (c *Coordinator) recheckPool() {
	pool := &c.work.pool
	if c.rules.Spec.SpotChecks != nil {
		c.spotPool()
	} else {
		for _, p := range pool.known.All() {
			if !p.good && !p.checking {
				c.recheck(p)
			}
		}
	}
	for pool.freshRunning < max(1, c.work.slots/newcomersShare, pool.checking/(newcomersShare-1)) {
		_, key, ok := pool.unchecked.Pop()
		if !ok {
			return
		}
		if p, ok := pool.fresh.Get(key); ok && !p.good && !p.checking {
			c.recheck(p)
		}
	}
}

func (c *Coordinator) recheck(p *pooled) {
	p.checking = true
	if p.fresh {
		c.work.pool.freshRunning++
	} else {
		c.work.pool.checking++
	}
	c.issue(&job{kind: jobClaim, parent: p.on, pooled: p, peer: p.claim.Value().Peer, chunk: p.claim.Value().Chunk}, true)
}

// checked notes that a re-run of a claim is over.
func (p *pool) checked(q *pooled) {
	q.checking = false
	if q.fresh {
		p.freshRunning--
	} else {
		p.checking--
	}
}

// rechecked takes the re-run of a claim in the pool. A false one of a newcomer is not logged and weighs nothing, so
// others can do without a proof of it, and get few.
func (c *Coordinator) rechecked(p *pooled, fitness []int64, steps []uint64) {
	pool := &c.work.pool
	pool.checked(p)
	claim := p.claim.Value()
	counter, same := differs(claim, fitness, steps)
	switch {
	case same:
		p.good = true
		if next, ok := pool.fresh.Get(poolKey{claim.Peer, claim.Parent, claim.Chunk + 1}); ok && !next.good {
			pool.unchecked.Push(next.from, 1, next.key())
		}
	case p.fresh && !c.faults.newcomers.Take(uint64(c.now), newcomerProof{}, newcomerProofTicks):
		c.markFaulty(claim.Peer, "made a false claim")
	default:
		c.expose(p.claim, counter, fitness, steps, 0)
	}
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

// maxAwaited is how many claims of newcomers may wait to be re-run while a generation waits for them: more are a flood.
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

// closable picks the claims of the next entry on head, in its order, or nil if the generation is not full.
// Only good claims count, and only with all lower chunks of their peer and parent.
func (p *pool) closable(rules *seedlog.Rules, head *node) []*pooled {
	var good []*pooled
	var evaluations, steps uint64
	for q := range p.all {
		if q.ready() {
			good = append(good, q)
			evaluations += q.claim.Value().Evaluations()
			steps += q.claim.Value().TotalSteps()
		}
	}
	g := rules.Spec.Generation
	if evaluations < g.Evaluations || g.Open && !rules.Full(evaluations, steps) {
		return nil // not worth sorting
	}
	perClaim := rules.EvaluationsPerChunk()
	limit := min(seedlog.MaxClaims, seedlog.MaxEvaluations/int(perClaim))
	if !g.Open {
		limit = int(g.Evaluations / perClaim)
	}
	picked := pickFair(inTurns(good, head), limit)
	evaluations, steps = 0, 0
	for _, q := range picked {
		evaluations += q.claim.Value().Evaluations()
		steps += q.claim.Value().TotalSteps()
	}
	if !rules.Full(evaluations, steps) {
		return nil
	}
	slices.SortFunc(picked, inEntryOrder)
	return picked
}

// inTurns orders claims so that every peer gets its share of what they are taken for: lower chunks first, of one chunk
// those on older parents, and of those by lot. It leaves out those without all lower chunks of their peer and parent,
// here or in the log.
func inTurns(claims []*pooled, head *node) []*pooled {
	slices.SortFunc(claims, func(a, b *pooled) int {
		return cmp.Or(cmp.Compare(a.claim.Value().Chunk, b.claim.Value().Chunk), cmp.Compare(a.on.height, b.on.height), bytes.Compare(a.rank[:], b.rank[:]))
	})
	next := make(map[poolKey]uint64)
	return slices.DeleteFunc(claims, func(q *pooled) bool {
		claim := q.claim.Value()
		key := poolKey{claim.Peer, claim.Parent, 0}
		if _, begun := next[key]; !begun && q.on != head {
			_, next[key], _ = below{head}.Logged(claim.Parent, claim.Peer)
		}
		if next[key] != claim.Chunk {
			return true
		}
		next[key]++
		return false
	})
}

// pickFair takes the first claims up to a limit, of newcomers at most their share while those of others wait.
func pickFair(claims []*pooled, limit int) []*pooled {
	if len(claims) <= limit {
		return claims
	}
	others := 0
	for _, q := range claims {
		if !q.fresh {
			others++
		}
	}
	forNewcomers := max(limit/newcomersShare, limit-others)
	forOthers := limit - min(forNewcomers, len(claims)-others)
	return slices.DeleteFunc(claims, func(q *pooled) bool {
		room := &forOthers
		if q.fresh {
			room = &forNewcomers
		}
		*room--
		return *room < 0
	})
}

// dropClaims forgets a peer's claims and gives up their re-runs.
func (c *Coordinator) dropClaims(p Peer) {
	c.work.pool.drop(p)
	if g := c.tenure.closing; g != nil && slices.ContainsFunc(g.picked, func(q *pooled) bool { return !q.good && q.claim.Value().Peer == p }) {
		c.dropClosing()
	}
	for _, id := range sortedJobs(c.work.jobs) {
		j := c.work.jobs[id]
		if j.peer != p || j.kind != jobClaim && (j.kind != jobSpot || j.pooled == nil) {
			continue
		}
		c.work.pool.checked(j.pooled)
		delete(c.work.jobs, id)
		c.out.Cancel = append(c.out.Cancel, id)
	}
}
