package coordinator

import (
	"slices"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// Spot checks. Where a run's spec has them, a leader re-runs the first claims of a key, of later ones a part that falls
// with its record, and what decides an entry; all else is logged as it is. Every native owes the swarm a re-run for so
// many results of its own: the leader pays with results of claims that come in, the others with results of entries that
// they follow. What is drawn is local and secret, and drawn after it was claimed. docs/spec/draft2.md has the reasons.

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

// spotPool decides what of the claims of known keys is re-run before they are logged. Of a key whose record is short
// they come one after the other, and all together no more than this computer does at once: what decides an entry must
// not wait for many.
func (c *Coordinator) spotPool(delegates *[]Peer) {
	pool := &c.work.pool
	busy, ready := make(map[Peer]bool), make(map[Peer]uint64)
	for _, p := range pool.known.All() {
		author := p.claim.Value().Peer
		busy[author] = busy[author] || p.running > 0 || p.asked.peer != (Peer{})
		if p.ready() {
			ready[author]++
		}
	}
	for _, p := range pool.known.All() {
		author := p.claim.Value().Peer
		if p.ready() || p.running > 0 || p.spared || busy[author] {
			continue
		}
		if !p.drawn {
			p.drawn, p.draws = true, c.drawn(author, ready[author])
		}
		switch {
		case p.draws == 0:
			c.spare(p)
			ready[author]++
			busy[author] = p.running > 0
		case c.delegate(delegates, p, p.draws):
			busy[author] = true
		case pool.checking >= c.work.slots:
			busy[author] = true
		default:
			busy[author] = true
			c.spotClaim(p)
		}
	}
}

// drawn is how many results of a known key's next claim are re-run: all until the log and this pool hold the first
// chunks of it, then a part that falls with what they hold.
func (c *Coordinator) drawn(author Peer, ready uint64) int {
	spot, size := c.rules.Spec.SpotChecks, c.rules.Spec.Generation.Chunk
	chunks := c.chain.credits[author].Evaluations/c.rules.EvaluationsPerChunk() + ready
	if chunks >= spot.First*spot.Share {
		return 0
	}
	return int(min(size, (size*spot.First+c.draw.Uint64()%(chunks+1))/(chunks+1)))
}

// spotClaim re-runs as many results of a claim as were drawn, which ones is drawn now.
func (c *Coordinator) spotClaim(p *pooled) {
	size := int(c.rules.Spec.Generation.Chunk)
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
	c.issue(&job{kind: jobSpot, parent: p.on, pooled: p, claim: p.claim, peer: claim.Peer, counter: claim.Chunk*uint64(len(claim.Steps)) + i}, true)
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
		c.spotResult(p, c.draw.Uint64()%c.rules.Spec.Generation.Chunk)
	}
}

// spotEntry has results of an entry re-run that this peer follows now, as far as it owes any: some of those that decide
// it, and of the others by the steps that they claim.
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
			counter = claim.Value().Chunk*uint64(len(claim.Value().Steps)) + uint64(d.result)
		}
		v := claim.Value()
		if on := c.chain.stateOf(n, v); on != nil && v.Peer != c.self {
			c.issue(&job{kind: jobSpot, parent: on, claim: claim, peer: v.Peer, counter: counter}, false)
		}
	}
}

// spotted takes the re-run of one result that was drawn.
func (c *Coordinator) spotted(j *job, fitness []int64, steps uint64) {
	if j.pooled != nil {
		c.work.pool.checked(j.pooled)
	}
	if stated, statedSteps := j.claim.Value().At(j.counter); !slices.Equal(stated, fitness) || statedSteps != steps {
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
	if stated, statedSteps := j.claim.Value().At(j.counter); !slices.Equal(stated, fitness) || statedSteps != steps {
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

// blamed reports whether a leader should have found a false claim before it logged it in n: of a key without work in
// the last entries for which nobody else answers, or in a result that decides the entry where leaders wait for its
// re-run. It is a function of the branch and the proof alone.
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
	_, attested := c.answers(n, link)
	return !attested && c.chain.accountsAt(n.parent).of[claim.Peer].entries == 0
}
