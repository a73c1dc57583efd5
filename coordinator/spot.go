package coordinator

import (
	"cmp"
	"slices"

	"github.com/evoswarm/evoswarm/internal/fair"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// Spot checks. Where a run's spec has them, a leader re-runs the first claims of a key, of later ones a part that
// falls with its record, and what decides an entry; all else is logged as it is. Every native owes the swarm a re-run
// for so many results of its own: the leader pays with results of claims that come in, the others with results of
// entries that they follow. What is drawn is local and secret, and drawn after it was claimed. docs/spec/format2.md has
// the reasons.

const (
	// decisiveResults is how many results of an entry decide it.
	decisiveResults = 2
	// spotsOwed bounds the re-runs that a peer saves up.
	spotsOwed = 64
	// maxSealed bounds the decisive results of its own entries that a leader has under re-run.
	maxSealed = 8
	// stepsSpots is which part of what natives re-run of an entry is drawn by the env-steps that results claim: one in
	// so many. The others are drawn by how much results move the model.
	stepsSpots = 4
	// sealedPart of sealedOf is how many times as rare as natives' re-runs those are of what decides an entry, by its
	// leader: with both a swarm stays below a twentieth.
	sealedPart, sealedOf = 3, 4
	// alarmShare is which part of an entry's results all natives together re-run besides while they owe re-runs for
	// somebody who was found to lie: one in so many.
	alarmShare = 8
)

// author is what the pool holds of a peer.
type author struct {
	busy  bool    // one of its claims is under re-run
	ready uint64  // chunks of its claims that are ready
	bytes int     // that one of these takes in an entry
	whole *pooled // of those that were re-run as a whole, the first in an entry's order
}

// authors sums up the pool by peers, without this one.
func (p *pool) authors(rules *seedlog.Rules) map[Peer]*author {
	authors := make(map[Peer]*author)
	for _, t := range [...]*fair.Table[poolKey, source, *pooled]{p.known, p.fresh} {
		for _, q := range t.All() {
			a := authors[q.claim.Value().Peer]
			if a == nil {
				a = new(author)
				authors[q.claim.Value().Peer] = a
			}
			a.busy = a.busy || q.running > 0 || q.asked.peer != (Peer{})
			if q.ready() {
				a.ready += rules.Chunks(q.claim.Value())
				a.bytes = entryBytes(rules, q)
			}
			if q.whole() && (a.whole == nil || inEntryOrder(q, a.whole) < 0) {
				a.whole = q
			}
		}
	}
	return authors
}

// overfull reports whether so many peers have claims that are ready that an entry has no room for one of each.
func overfull(rules *seedlog.Rules, authors map[Peer]*author) bool {
	bytes, claims := 0, uint64(0)
	for _, a := range authors { //lint:sorted only summed up
		if bytes += a.bytes; a.bytes > 0 {
			claims++
		}
	}
	return bytes > mostBytes(rules) || claims > rules.MostClaims()
}

const (
	// mostSpots is how often in a tick it is decided what is re-run, at most.
	mostSpots = 8
	// walkedClaims bounds the claims that a leader walks for that in a tick, beyond the first walk: in a crowd re-runs
	// end all the time.
	walkedClaims = 4096
)

// mostWalks is how often in a tick a leader walks this pool, at most.
func (p *pool) mostWalks() int {
	return min(max(1, walkedClaims/max(p.known.Len()+p.fresh.Len(), 1)), mostSpots)
}

// stepRechecks bounds whom a leader asks for re-runs at once.
const stepRechecks = 48

// spotPool decides what of others' claims is re-run before they are logged. Of a key they come one after the other,
// and all together no more than this computer and those it asks do at once: what decides an entry must not wait for
// many. It walks the whole pool, which grows with the swarm, so it runs once a tick, and a few times more if re-runs
// end within that tick: else a peer that makes several claims a tick would have one checked, and the rest logged late.
func (c *Coordinator) spotPool() {
	if t := &c.tenure; t.spotted != c.now+1 {
		t.spotted, t.spots = c.now+1, 0
	} else if !t.ended || t.spots >= c.work.pool.mostWalks() {
		return
	}
	c.tenure.spots, c.tenure.ended = c.tenure.spots+1, false
	c.tenure.forgetWorkers(c)
	pool := &c.work.pool
	authors, others := pool.authors(c.rules), c.attesters()
	c.tenure.overfull = overfull(c.rules, authors)
	for _, p := range pool.known.All() {
		if !p.waits() {
			continue
		}
		if a := authors[p.claim.Value().Peer]; !a.busy {
			c.spot(p, a, &others, pool.checking < c.atOnce())
		}
	}
	others.left = min(others.left, max(others.newcomers, 0), c.newcomersMore())
	var more, later []*pooled // of keys of which another claim is under re-run; that nobody can be asked about now
	for len(later) < stepRechecks && (others.left > 0 || c.checksNewcomers()) {
		p, ok := pool.nextFresh()
		if !ok {
			break
		}
		if a := authors[p.claim.Value().Peer]; a.busy {
			more = append(more, p)
		} else if !c.spot(p, a, &others, c.checksNewcomers()) {
			later = append(later, p)
		}
	}
	for _, p := range later {
		pool.unchecked.Push(p.from, 1, p.key())
	}
	for _, p := range more {
		a := authors[p.claim.Value().Peer]
		if others.left == 0 && !c.checksNewcomers() {
			return // they come again after that
		}
		if a.whole == nil {
			c.spot(p, a, &others, c.checksNewcomers()) // who re-runs the other may not answer
		}
	}
}

// spot has as many results of a claim re-run as are drawn: by another peer if there is one, else here if there is
// room. It reports whether nothing is left to do.
func (c *Coordinator) spot(p *pooled, a *author, others *attesters, room bool) bool {
	claim := p.claim.Value()
	if !p.drawn {
		p.drawn, p.draws = true, c.drawn(claim, a.ready)
	}
	if c.opens(p, a) {
		p.draws = len(claim.Steps)
	}
	best, outstanding := c.outstanding(claim, a.ready)
	switch {
	case outstanding && p.draws < len(claim.Steps):
		a.busy = true
		if !room {
			return false
		}
		p.spared = true
		c.spotResult(p, best)
	case p.draws == 0:
		c.spare(p)
		a.ready += c.rules.Chunks(claim)
		a.busy = p.running > 0
	default:
		a.busy = true
		if !c.delegate(others, p, p.draws) {
			if !room {
				return false
			}
			c.spotClaim(p)
		}
	}
	return true
}

// opens reports whether a newcomer's claim may come to be its first in an entry: the leader answers for that.
func (c *Coordinator) opens(p *pooled, a *author) bool {
	return p.newcomers(c.chain.head) && (a.whole == nil || inEntryOrder(p, a.whole) < 0)
}

// newcomers reports whether a claim is of a key without work in the last entries.
func (p *pooled) newcomers(head *node) bool { return p.fresh || head.height == 0 }

// drawn is how many results of a key's next claim are re-run: all until the log and this pool hold the first chunks of
// it, then a part that falls with what they hold.
func (c *Coordinator) drawn(claim *seedlog.Claim, ready uint64) int {
	size, chunks := uint64(len(claim.Steps)), c.chunksOf(claim.Peer)+ready
	if !c.shortRecord(chunks) {
		return 0
	}
	return int(min(size, c.lot(size*c.rules.Spec.SpotChecks.First, chunks+1)))
}

// chunksOf is how many chunks of a key the log holds.
func (c *Coordinator) chunksOf(p Peer) uint64 {
	return c.chain.credits[p].Evaluations / c.rules.EvaluationsPerChunk()
}

// shortRecord reports whether claims of a key are still drawn from before they are logged.
func (c *Coordinator) shortRecord(chunks uint64) bool {
	return chunks < c.rules.Spec.SpotChecks.First*c.rules.Spec.SpotChecks.Share
}

// outstanding is the best result of a claim, and whether it is to be re-run before it is logged: its author's record is
// short, and it would have been the best of the newest entry. So a new key gets little out of one honest claim: what it
// says next is either not what moves the model most, or re-run.
func (c *Coordinator) outstanding(claim *seedlog.Claim, ready uint64) (result uint64, ok bool) {
	fitness, result := claim.Best()
	return result, c.chain.maxStale > 0 && c.chain.head.height > 0 && c.shortRecord(c.chunksOf(claim.Peer)+ready) && fitness >= c.chain.head.best
}

// spotClaim re-runs as many results of a claim as were drawn, which ones is drawn now.
func (c *Coordinator) spotClaim(p *pooled) {
	size := len(p.claim.Value().Steps)
	if p.draws == size {
		c.recheck(p)
		return
	}
	p.spared = true
	for _, i := range c.drawDistinct(size, p.draws) {
		c.spotResult(p, uint64(i))
	}
}

// spotResult re-runs a result of a claim before that is logged.
func (c *Coordinator) spotResult(p *pooled, i uint64) {
	c.work.pool.begin(p)
	claim := p.claim.Value()
	c.issue(&job{kind: jobSpot, parent: p.on, pooled: p, claim: p.claim, peer: claim.Peer, counter: c.rules.First(claim) + i}, true)
}

// spotOwed takes one of the re-runs that this peer owes; false if it owes none.
func (c *Coordinator) spotOwed() bool {
	share := c.rules.Spec.SpotChecks.Share
	c.work.spots = min(c.work.spots, spotsOwed*share)
	if c.work.spots < share {
		return false
	}
	c.work.spots -= share
	return true
}

// spare has a claim logged without; by lot one of its results is re-run before.
func (c *Coordinator) spare(p *pooled) {
	p.spared = true
	if c.spotOwed() {
		c.spotResult(p, c.draw.Uint64()%uint64(len(p.claim.Value().Steps)))
	}
	c.nextOf(p)
}

// spotEntry has results of an entry re-run that this peer follows now, as far as it owes any.
func (c *Coordinator) spotEntry(n *node) {
	if n.body == nil || c.cfg.Audit == 0 || n.steps == n.parent.steps {
		return
	}
	for c.spotOwed() {
		c.spotLogged(n)
	}
	for range c.alarmed(n) {
		c.spotLogged(n)
	}
	n.influence = nil
}

// alarmed is how many results of an entry this peer re-runs besides, since somebody was found to lie of late.
func (c *Coordinator) alarmed(n *node) uint64 {
	if c.work.alarm == 0 {
		return 0
	}
	k := min(c.work.alarm, c.lot(n.evaluations-n.parent.evaluations, alarmShare*uint64(c.natives())))
	c.work.alarm -= k
	return k
}

// lot is so many of n as one in so many are, rounded up or down by lot.
func (c *Coordinator) lot(n, share uint64) uint64 { return (n + c.draw.Uint64()%share) / share }

// spotLogged has a result of an entry re-run: of stepsSpots one is drawn by the env-steps that it claims, so that who
// claims more than he did is found, and the others by how much they move the model, so that who lies moves it little
// before he is found, whatever he lies about.
func (c *Coordinator) spotLogged(n *node) {
	claims, steps := n.body.claims, n.steps-n.parent.steps
	var d drawn
	if n.influence == nil || c.draw.Uint64()%stepsSpots == 0 {
		d = drawResults(claims, 1, func() uint64 { return c.draw.Uint64() % steps })[0]
	} else {
		d = resultAt(claims, c.heavy(n.influence))
	}
	claim := claims[d.claim]
	v := claim.Value()
	if on := c.chain.stateOf(n, v); on != nil && v.Peer != c.self {
		c.issue(&job{kind: jobSpot, parent: on, claim: claim, peer: v.Peer, counter: c.rules.First(v) + uint64(d.result)}, false)
	}
}

// heavy draws one of some weights, each as often as it is heavy.
func (c *Coordinator) heavy(weights []float64) int {
	sum, last := 0.0, 0
	for i, w := range weights {
		if sum += w; w > 0 {
			last = i
		}
	}
	at := float64(float64(c.draw.Uint64()>>11) / (1 << 53) * sum)
	for i, w := range weights {
		if at -= w; at < 0 {
			return i
		}
	}
	return last
}

// resultAt is the result with a number among all of some claims.
func resultAt(claims []seedlog.CheckedClaim, number int) drawn {
	for i, claim := range claims {
		size := len(claim.Value().Steps)
		if number < size {
			return drawn{claim: i, result: number}
		}
		number -= size
	}
	return drawn{}
}

// spotted takes the re-run of one result that was drawn.
func (c *Coordinator) spotted(j *job, fitness []int64, steps uint64) {
	p := j.pooled
	if p != nil {
		c.work.pool.checked(p)
		c.tenure.ended = c.tenure.ended || p.running == 0
	}
	stated, statedSteps := c.rules.At(j.claim.Value(), j.counter)
	switch {
	case slices.Equal(stated, fitness) && statedSteps == steps:
		if p != nil {
			c.nextOf(p)
		}
	case p != nil && c.proofless(p):
		c.markFaulty(j.peer, "made a false claim")
	default:
		c.exposeCounter(j.claim, j.counter, fitness, steps, 0)
	}
}

// suspects is how many natives re-run each claim of a peer that was found faulty, on average, and vouched how many do
// where somebody answers for the claim.
const suspects, vouched = 1, 2

// suspect has the claims re-run that the newest entries hold of a peer that was found faulty: it may have lied before,
// and others may have attested that. Where one lies others may, so all natives together re-run as many results besides
// as the log has of it: checks rise while lies are found, and fall back by themselves, and who would have them rise
// pays with a record as large.
func (c *Coordinator) suspect(p Peer) {
	if c.rules.Spec.SpotChecks == nil || c.cfg.Audit == 0 {
		return
	}
	natives, logged := uint64(c.natives()), uint64(0)
	for n := c.chain.head; n.parent != nil && c.chain.head.height-n.height < proofDepth; n = n.parent {
		credit := n.creditOf(p)
		if credit == nil {
			continue
		}
		logged += credit.Evaluations
		for _, claim := range n.body.claimsOf(c, n) {
			if claim.Value().Peer != p || c.faults.falseClaims[claim.Link()] {
				continue
			}
			rerunBy := uint64(suspects)
			if c.answered(n, claim) {
				rerunBy = vouched
			}
			if on := c.chain.stateOf(n, claim.Value()); on != nil && c.draw.Uint64()%natives < rerunBy && len(c.work.audits) < maxAudits {
				c.work.audits = append(c.work.audits, audit{parent: on, claim: claim})
			}
		}
	}
	c.work.alarm = min(c.work.alarm+c.lot(logged, natives), spotsOwed)
}

// checkDecisive has what decides the generation that this leader closes re-run, but for what it knows to be true, and
// returns how many results that are.
func (c *Coordinator) checkDecisive() int {
	g := c.tenure.closing
	for _, d := range g.decisive {
		if p := g.picked[d.Claim]; !p.good {
			g.unsure++
			c.issue(&job{kind: jobDecides, parent: p.on, pooled: p, claim: p.claim, peer: p.claim.Value().Peer, counter: d.Counter}, true)
		}
	}
	return g.unsure
}

// checkSealed has what decides an entry re-run that this leader has just sealed: the heaviest result, or both, by lot
// where the entry is short. It leaves out what it knows to be true, and what is more than it can keep up with: others
// draw that.
func (c *Coordinator) checkSealed(g *closing) {
	if c.chain.maxStale == 0 || c.trusting() {
		return // it was before, or nothing is
	}
	running, results := 0, uint64(0)
	for _, j := range c.work.jobs { //lint:sorted only counted
		if j.kind == jobSealed {
			running++
		}
	}
	for _, p := range g.picked {
		results += uint64(len(p.claim.Value().Steps))
	}
	most := c.lot(sealedPart*results, sealedOf*c.rules.Spec.SpotChecks.Share)
	for _, d := range g.heaviest(c.rules)[:min(uint64(len(g.decisive)), most)] {
		if p := g.picked[d.Claim]; !p.good && running < maxSealed {
			running++
			c.issue(&job{kind: jobSealed, parent: p.on, claim: p.claim, peer: p.claim.Value().Peer, counter: d.Counter}, true)
		}
	}
}

// heaviest are the results that decide the generation, the heaviest first.
func (g *closing) heaviest(rules *seedlog.Rules) []seedlog.Counter {
	weight := func(d seedlog.Counter) float64 {
		at := int(d.Counter - rules.First(g.picked[d.Claim].claim.Value()))
		for _, p := range g.picked[:d.Claim] {
			at += len(p.claim.Value().Steps)
		}
		if at >= len(g.influence) {
			return 0
		}
		return g.influence[at]
	}
	list := slices.Clone(g.decisive)
	slices.SortStableFunc(list, func(a, b seedlog.Counter) int { return cmp.Compare(weight(b), weight(a)) })
	return list
}

// sure takes the re-run of a result that decides the generation that this leader closes. If it is false the
// generation is closed without its author.
func (c *Coordinator) sure(j *job, fitness []int64, steps uint64) {
	if stated, statedSteps := c.rules.At(j.claim.Value(), j.counter); !slices.Equal(stated, fitness) || statedSteps != steps {
		c.dropClosing()
		c.exposeCounter(j.claim, j.counter, fitness, steps, 0)
		return
	}
	if g := c.tenure.closing; g != nil {
		if g.unsure--; g.unsure == 0 {
			c.closed(g.folded)
		}
	}
}

// blamed reports whether a leader should have found a false claim before it logged it in n: the first one there of a
// key without work in the last entries, for which nobody else answers, or in a result that decides the entry where
// leaders wait for its re-run. It is a function of the branch and the proof alone.
func (c *Coordinator) blamed(n *node, link seedlog.Link) bool {
	if c.rules.Spec.SpotChecks == nil {
		return true // leaders re-run all claims
	}
	kept, ok := c.faults.kept.Get(link)
	if !ok {
		return false
	}
	claim, err := seedlog.DecodeClaim(kept.Claim)
	if err != nil {
		return false
	}
	proof, err := seedlog.DecodeProof(kept.Proof)
	if err != nil {
		return false
	}
	decides := seedlog.Counter{Claim: slices.Index(n.claims, link), Counter: proof.Counter}
	if c.chain.maxStale == 0 && slices.Contains(n.decisive, decides) {
		return true
	}
	return c.answersLeader(n, link, claim.Peer)
}
