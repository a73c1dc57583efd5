package coordinator

import (
	"crypto/sha256"
	"slices"

	"github.com/evoswarm/evoswarm/internal/fair"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

const (
	// knownEntries is how many entries the claims fill at most of keys that have a record on the chain; each has a fair
	// share.
	knownEntries = 2
	// maxNewClaims bounds the claims of keys without a record, which cost nothing; each source that hands them over has
	// a fair share.
	maxNewClaims = seedlog.MaxClaims / 2
	// wantedEntries is how many entries the claims fill that were asked for; each peer asked has a fair share.
	wantedEntries = 4
	// mostPooled bounds what an entry is taken to hold for that. More do not fit into a message either.
	mostPooled = 8 * seedlog.MaxClaims
	// newcomersShare bounds what newcomers get where claims compete: of re-runs, and of the places in an entry that is
	// full, one in so many.
	newcomersShare = 4
	// longNewcomer bounds how many times as long as this peer's own claims those of newcomers may be: all of the first
	// one is re-run, and junk costs nothing to make.
	longNewcomer = 2
)

// pool holds the claims that the next entry may name: those on the head, and up to max_stale entries below it, that are
// in no entry yet. The own ones always have room; then there are those of keys with a record on the chain, and those of
// newcomers, who are free to have any number of keys.
type pool struct {
	own, known, fresh *fair.Table[poolKey, source, *pooled]
	freshOf           map[Peer][]*pooled // of fresh each newcomer's, in the order of arrival
	links             map[seedlog.Link]*pooled
	wanted            *fair.Table[seedlog.Link, Peer, want]
	turnedAway        *fair.Table[seedlog.Link, source, turnedAway]

	unchecked    *fair.Queue[source, poolKey] // newcomers' claims to re-run, in turns of those who handed them over
	checking     int                          // claims of known keys under re-run
	freshRunning int                          // claims of newcomers under re-run
	due          Tick                         // nothing else is to be announced before
	toTell       []*pooled                    // to be announced now, those in front first
}

type poolKey struct {
	peer  Peer
	on    seedlog.Link // parent
	chunk uint64       // its first
}

type pooled struct {
	claim   seedlog.CheckedClaim
	on      *node  // its parent
	from    source // of those who handed it over
	fresh   bool   // its author has no record
	good    bool   // own, or re-run with the same result
	spared  bool   // may be logged without: its author's record is long
	running int    // re-runs under way
	drawn   bool   // whether it is decided how many of its results are re-run:
	draws   int    // so many
	asked   asked  // who re-runs it for this leader
	refused Peer   // who said no to it; zero: nobody
	again   Tick   // when it is announced next; messages get lost
	told    uint   // how often it was announced, at most maxTold
	rank    [sha256.Size]byte

	attested *seedlog.Attestation // of another that re-ran it; nil: none
}

func newPool(rules *seedlog.Rules) pool {
	entry := max(seedlog.MaxClaims, min(rules.MostClaims(), mostPooled))
	fresh := uint64(maxNewClaims)
	if rules.Spec.Generation.Batch > 0 {
		fresh = max(fresh, attestedEntries*mostAttested(rules))
	}
	return pool{
		own:        fair.NewTable[poolKey, source, *pooled](seedlog.MaxClaims).KeepOldest(),
		known:      fair.NewTable[poolKey, source, *pooled](knownEntries * entry).KeepOldest(),
		fresh:      fair.NewTable[poolKey, source, *pooled](fresh).KeepOldest(),
		freshOf:    make(map[Peer][]*pooled),
		links:      make(map[seedlog.Link]*pooled),
		wanted:     fair.NewTable[seedlog.Link, Peer, want](wantedEntries * entry),
		turnedAway: fair.NewTable[seedlog.Link, source, turnedAway](wantedEntries * entry),
		unchecked:  fair.NewQueue[source, poolKey](fresh, 1),
	}
}

// key is what the pool finds a claim by.
func (p *pooled) key() poolKey { return poolKeyOf(p.claim.Value()) }

func poolKeyOf(claim *seedlog.Claim) poolKey { return poolKey{claim.Peer, claim.Parent, claim.Chunk} }

// ready reports whether a claim may be logged.
func (p *pooled) ready() bool { return p.good || p.attested != nil || p.spared && p.running == 0 }

// waits reports whether a claim is not ready and nobody re-runs it.
func (p *pooled) waits() bool { return !p.ready() && p.running == 0 && p.asked.peer == (Peer{}) }

// whole reports whether all of a claim was re-run with the same results.
func (p *pooled) whole() bool { return p.good || p.attested != nil }

// renewPool begins the pool of another head. What has a place on it stays.
func (c *Coordinator) renewPool() {
	old := c.work.pool
	c.work.pool = newPool(c.rules)
	if c.rules.Spec.Generation.MaxStale == 0 {
		return
	}
	pool := &c.work.pool
	pool.wanted, pool.turnedAway = old.wanted, old.turnedAway
	for p := range old.all {
		if p.attested != nil && c.covers(c.chain.head, p.attested.Peer) == 0 {
			p.attested = nil // it covered a claim at the start of the run
		}
		if _, ok := c.place(p.claim.Value()); !ok || !c.enter(p) {
			if p.asked.peer != (Peer{}) && !ok {
				c.silentDelegate(p.asked.peer)
			}
			continue
		}
		switch {
		case p.running > 0 && p.fresh:
			pool.freshRunning++
		case p.running > 0:
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
	if claim.HeldOut() {
		return c.heldOutPlace(claim)
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

// ofCandidates counts the claims of candidates of peers with a record.
func (p *pool) ofCandidates() (claims uint64) {
	for _, t := range [...]*fair.Table[poolKey, source, *pooled]{p.own, p.known} {
		for _, q := range t.All() {
			if !q.claim.Value().HeldOut() {
				claims++
			}
		}
	}
	return claims
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
	delete(p.freshOf, peer)
}

// forget drops what had to make room.
func (p *pool) forget(lost []fair.Lost[poolKey, source, *pooled]) {
	for _, l := range lost {
		delete(p.links, l.Value.claim.Link())
		peer := l.Value.claim.Value().Peer
		if list := slices.DeleteFunc(p.freshOf[peer], func(q *pooled) bool { return q == l.Value }); len(list) > 0 {
			p.freshOf[peer] = list
		} else {
			delete(p.freshOf, peer)
		}
	}
}

// known reports whether a peer has a record: work of its key is in the last entries of this peer's own log. On the
// genesis nobody has, and all count as known.
func (c *Coordinator) known(p Peer) bool {
	if c.trusting() {
		return c.trusts(p)
	}
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
	p := &pooled{claim: checked, on: c.chain.nodes[claim.Parent], from: from, good: claim.Peer == c.self || c.trusting(), rank: claimRank(claim.Parent, claim.Peer)}
	if c.enter(p) {
		pool.wanted.Delete(checked.Link())
		if claim.Peer == c.self || c.trusting() {
			pool.due = 0
		} else {
			pool.toTell = append(pool.toTell, p)
		}
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
		if claim.HeldOut() || c.rules.Chunks(claim) > longNewcomer*c.mostChunks() {
			c.turnAway(p, true) // all of a newcomer's first claim is re-run: that is to be work of candidates, and short
			return false
		}
		before := before(c.rules, key, pool.freshOf[claim.Peer])
		logged, _ := c.place(claim)
		if claim.Chunk > logged && before == nil {
			c.turnAway(p, false)
			return false
		}
		p.fresh, p.spared = true, false
		pool.freshOf[claim.Peer] = append(pool.freshOf[claim.Peer], p)
		lost = pool.fresh.Put(key, p.from, 1, p)
		if p.waits() && (claim.Chunk == logged || before.ready()) {
			pool.unchecked.Push(p.from, 1, key)
		}
	}
	pool.links[p.claim.Link()] = p
	pool.turnedAway.Delete(p.claim.Link())
	pool.forget(lost)
	for _, l := range lost {
		c.turnAway(l.Value, false)
	}
	return pool.links[p.claim.Link()] == p
}

// turnedAway is a claim that a leader had no place for. Hubs announce a claim until it is logged or too late, so
// without a memory of these the leader of a crowd would mostly verify claims that it had verified before.
type turnedAway struct {
	key         poolKey
	needsRecord bool // it has no place until its author has a record
}

// turnAway remembers a claim that has no place now. With max_stale 0 a claim fits one entry only, so none comes back.
func (c *Coordinator) turnAway(p *pooled, needsRecord bool) {
	if c.election.role == Leader && c.chain.maxStale > 0 {
		c.work.pool.turnedAway.Put(p.claim.Link(), p.from, 1, turnedAway{p.key(), needsRecord})
	}
}

// hasPlace reports whether the pool would take a claim now that it turned away. room is how many more newcomers' claims
// it takes from who announces this one.
func (c *Coordinator) hasPlace(t turnedAway, room uint64) bool {
	if c.known(t.key.peer) {
		return c.work.pool.known.Room(source{key: t.key.peer}) > 0
	}
	on := c.chain.nodes[t.key.on]
	if room == 0 || t.needsRecord || on == nil || !c.inTime(on) {
		return false
	}
	_, logged, ok := below{c.chain.head}.Logged(t.key.on, t.key.peer)
	return ok && (t.key.chunk == logged || before(c.rules, t.key, c.work.pool.freshOf[t.key.peer]) != nil)
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
