package coordinator

import (
	"slices"

	"github.com/evoswarm/evoswarm/internal/fair"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// Spot checks. Where a run's spec has them, a leader re-runs the first claims of a key, of later ones a part that
// falls with its record, and what decides an entry; all else is logged as it is. Every native owes the swarm a re-run
// for so many results of its own: the leader pays with results of claims that come in, the others with results of
// entries that they follow. What is drawn is local and secret, and drawn after it was claimed. docs/spec/draft2.md has
// the reasons.

const (
	// decisiveResults is how many results of an entry decide it.
	decisiveResults = 2
	// spotsOwed bounds the re-runs that a peer saves up.
	spotsOwed = 64
	// maxSealed bounds the decisive results of its own entries that a leader has under re-run.
	maxSealed = 8
	// decisiveSpots is which part of the re-runs goes to what decides an entry: one in so many.
	decisiveSpots = 2
)

// author is what the pool holds of a peer.
type author struct {
	busy  bool    // one of its claims is under re-run
	ready uint64  // chunks of its claims that are ready
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
			}
			if q.whole() && (a.whole == nil || inEntryOrder(q, a.whole) < 0) {
				a.whole = q
			}
		}
	}
	return authors
}

// spotPool decides what of others' claims is re-run before they are logged. Of a key they come one after the other,
// and all together no more than this computer and those it asks do at once: what decides an entry must not wait for
// many.
func (c *Coordinator) spotPool() {
	pool := &c.work.pool
	authors, delegates := pool.authors(c.rules), c.delegates()
	for _, p := range pool.known.All() {
		if a := authors[p.claim.Value().Peer]; p.waits() && !a.busy {
			c.spot(p, a, &delegates, pool.checking < c.atOnce())
		}
	}
	delegates = delegates[:min(len(delegates), c.newcomersMore())]
	var more []*pooled // of keys of which another claim is under re-run
	for len(delegates) > 0 || c.checksNewcomers() {
		p, ok := pool.nextFresh()
		if !ok {
			break
		}
		if a := authors[p.claim.Value().Peer]; a.busy {
			more = append(more, p)
		} else {
			c.spot(p, a, &delegates, true)
		}
	}
	for _, p := range more {
		a := authors[p.claim.Value().Peer]
		if len(delegates) == 0 && !c.checksNewcomers() {
			return // they come again after that
		}
		if a.whole == nil {
			c.spot(p, a, &delegates, true) // who re-runs the other may not answer
		}
	}
}

// spot has as many results of a claim re-run as are drawn: by another native if there is one, else here if there is
// room.
func (c *Coordinator) spot(p *pooled, a *author, delegates *[]Peer, room bool) {
	claim := p.claim.Value()
	if !p.drawn {
		p.drawn, p.draws = true, c.drawn(claim, a.ready)
	}
	if c.opens(p, a) {
		p.draws = len(claim.Steps)
	}
	switch {
	case p.draws == 0:
		c.spare(p)
		a.ready += c.rules.Chunks(claim)
		a.busy = p.running > 0
	default:
		a.busy = true
		if !c.delegate(delegates, p, p.draws) && room {
			c.spotClaim(p)
		}
	}
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
	spot, size := c.rules.Spec.SpotChecks, uint64(len(claim.Steps))
	chunks := c.chain.credits[claim.Peer].Evaluations/c.rules.EvaluationsPerChunk() + ready
	if chunks >= spot.First*spot.Share {
		return 0
	}
	return int(min(size, (size*spot.First+c.draw.Uint64()%(chunks+1))/(chunks+1)))
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

// spotEntry has results of an entry re-run that this peer follows now, as far as it owes any: some of those that
// decide it, and of the others by the steps that they claim.
func (c *Coordinator) spotEntry(n *node) {
	if n.body == nil || c.cfg.Audit == 0 || n.steps == n.parent.steps {
		return
	}
	claims, steps := n.body.claims, n.steps-n.parent.steps
	for c.spotOwed() {
		var claim seedlog.CheckedClaim
		var counter uint64
		if len(n.decisive) > 0 && c.draw.Uint64()%decisiveSpots == 0 {
			d := n.decisive[c.draw.Uint64()%uint64(len(n.decisive))]
			claim, counter = claims[d.Claim], d.Counter
		} else {
			d := drawResults(claims, 1, func() uint64 { return c.draw.Uint64() % steps })[0]
			claim = claims[d.claim]
			counter = c.rules.First(claim.Value()) + uint64(d.result)
		}
		v := claim.Value()
		if on := c.chain.stateOf(n, v); on != nil && v.Peer != c.self {
			c.issue(&job{kind: jobSpot, parent: on, claim: claim, peer: v.Peer, counter: counter}, false)
		}
	}
}

// spotted takes the re-run of one result that was drawn.
func (c *Coordinator) spotted(j *job, fitness []int64, steps uint64) {
	p := j.pooled
	if p != nil {
		c.work.pool.checked(p)
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

// suspects is how many natives re-run each claim of a peer that was found faulty, on average.
const suspects = 2

// suspect has the claims re-run that the newest entries hold of a peer that was found faulty: it may have lied before,
// and others may have attested that.
func (c *Coordinator) suspect(p Peer) {
	if c.rules.Spec.SpotChecks == nil || c.cfg.Audit == 0 {
		return
	}
	natives := uint64(c.natives())
	for n := c.chain.head; n.parent != nil && c.chain.head.height-n.height < proofDepth; n = n.parent {
		if !slices.ContainsFunc(n.credits, func(credit peerCredit) bool { return credit.peer == p }) {
			continue
		}
		for _, claim := range n.body.claimsOf(c, n) {
			on := c.chain.stateOf(n, claim.Value())
			if claim.Value().Peer == p && on != nil && !c.faults.falseClaims[claim.Link()] && c.draw.Uint64()%natives < suspects && len(c.work.audits) < maxAudits {
				c.work.audits = append(c.work.audits, audit{parent: on, claim: claim})
			}
		}
	}
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

// checkSealed has what decides an entry re-run that this leader has just sealed. It leaves out what it knows to be
// true, and what is more than it can keep up with: others draw that.
func (c *Coordinator) checkSealed(g *closing) {
	if c.chain.maxStale == 0 {
		return // it was before
	}
	running := 0
	for _, j := range c.work.jobs { //lint:sorted only counted
		if j.kind == jobSealed {
			running++
		}
	}
	for _, d := range g.decisive {
		if p := g.picked[d.Claim]; !p.good && running < maxSealed {
			running++
			c.issue(&job{kind: jobSealed, parent: p.on, claim: p.claim, peer: p.claim.Value().Peer, counter: d.Counter}, true)
		}
	}
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
	credit := n.creditOf(claim.Peer)
	_, attested := c.answers(n, link)
	return !attested && credit != nil && n.claims[credit.first] == link && c.chain.accountsAt(n.parent).of[claim.Peer].entries == 0
}
