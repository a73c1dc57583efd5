package coordinator

import (
	"slices"

	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// tenure is what a leader knows of its term.
type tenure struct {
	votes       []seedlog.Vote // that made this peer leader
	sealedTerm  bool           // whether the votes were already written into a seal
	mandateFrom uint64         // height of the head when it began to lead
	yieldUntil  Tick           // until when nothing is closed, because it handed over
	closing     *closing
	stragglers  stragglers
}

// lead does the leader's work: it has claims re-run, closes generations, and hands over at the end of its mandate.
func (c *Coordinator) lead() {
	if c.election.role != Leader || c.now < c.tenure.yieldUntil {
		return
	}
	if c.chain.head.state == nil {
		return
	}
	c.recheckPool()
	if c.tenure.closing != nil || c.behind() || c.now-c.lastEntry < c.cfg.Timing.Generation {
		return
	}
	claims := c.work.pool.closable(c.rules)
	if claims == nil || (c.now-c.lastEntry < 2*c.cfg.Timing.Generation && (c.work.pool.checking() || c.outran())) {
		return // as long again for pending re-runs and for hubs that lag
	}
	if c.awaits() {
		return
	}
	if c.hard.SealedTerm == c.hard.Term && c.chain.head.height < c.hard.SealedHeight {
		c.stand(true) // an entry of this term was signed here and lost since: only a new term may sign another
		return
	}
	c.tenure.closing = &closing{term: c.hard.Term, picked: claims}
}

// closing is a generation whose claims are fixed; it becomes an entry when its fold is done.
type closing struct {
	term   uint64
	picked []*pooled
}

// recheckPool has every claim of others re-run before it may be logged.
func (c *Coordinator) recheckPool() {
	for _, p := range c.work.pool.sorted() {
		if p.good || p.checking {
			continue
		}
		p.checking = true
		c.issue(&job{kind: jobClaim, parent: c.chain.head, pooled: p, peer: p.claim.Value().Peer, chunk: p.claim.Value().Chunk}, true)
	}
}

func (p *pool) checking() bool {
	for _, q := range p.claims { //lint:sorted any one decides
		if q.checking {
			return true
		}
	}
	return false
}

// outran reports whether a hub that follows is more than one entry behind. What it computes comes too late
// for every generation, so a leader that did not slow down would soon hold all the voting weight, and its
// successor would lack the newest entries. Hubs on other branches or far behind are catching up, which
// waiting does not help.
func (c *Coordinator) outran() bool {
	tip := c.chain.head.height
	for _, h := range c.members.heard {
		n := c.chain.canonAt(h.Height)
		if n != nil && n.link == h.Head && n.height+1 < tip && tip < n.height+votingEntries && h.Hub && c.lately(h) {
			return true
		}
	}
	return false
}

// closable picks the claims of the next entry, in its order, or nil if the generation is not full.
// Only good claims count, and only with all lower chunks of their peer.
func (p *pool) closable(rules *seedlog.Rules) []*pooled {
	rows := make(map[uint64][]*pooled) // by chunk, each in the order of peers
	next := make(map[Peer]uint64)
	var last uint64
	for _, q := range p.sorted() {
		if claim := q.claim.Value(); q.good && next[claim.Peer] == claim.Chunk {
			next[claim.Peer]++
			rows[claim.Chunk] = append(rows[claim.Chunk], q)
			last = max(last, claim.Chunk)
		}
	}
	g := rules.Spec.Generation
	perClaim := rules.EvaluationsPerChunk()
	limit := uint64(min(seedlog.MaxClaims, seedlog.MaxEvaluations/int(perClaim)))
	if !g.Open {
		limit = g.Evaluations / perClaim
	}
	// Lower chunks first, so that every peer gets its share of a closed generation.
	var picked []*pooled
	var evaluations, steps uint64
	for chunk := uint64(0); chunk <= last; chunk++ {
		for _, q := range rows[chunk] {
			if uint64(len(picked)) < limit {
				picked = append(picked, q)
				evaluations += q.claim.Value().Evaluations()
				steps += q.claim.Value().TotalSteps()
			}
		}
	}
	if !rules.Full(evaluations, steps) {
		return nil
	}
	slices.SortFunc(picked, inEntryOrder)
	return picked
}

// closed appends the generation whose fold is done. That it was signed is durable before it leaves.
func (c *Coordinator) closed(s *rollout.Folded) {
	g := c.tenure.closing
	c.tenure.closing = nil
	if c.election.role != Leader || c.hard.Term != g.term {
		return
	}
	claims := make([]seedlog.CheckedClaim, len(g.picked))
	for i, p := range g.picked {
		claims[i] = p.claim
	}
	c.tenure.stragglers.settle(c.chain.head.height, slices.ContainsFunc(claims, func(claim seedlog.CheckedClaim) bool { return c.idle(c.members.heard.of(claim.Value().Peer)) }))
	e := c.rules.EntryOf(c.chain.head.parentInfo(), c.hard.Term, c.self, claims, s.Theta, s.Digest)
	var votes []seedlog.Vote
	if !c.tenure.sealedTerm {
		votes, c.tenure.sealedTerm = c.tenure.votes, true
	}
	entry := c.rules.OwnEntry(e, c.cfg.Key, votes)
	c.hard.SealedTerm, c.hard.SealedHeight = e.Term, e.Height
	c.hardChanged = true
	n := c.chain.newNode(c.chain.head, entry, claims)
	n.stage, n.body = trusted, &generation{entry, claims}
	c.hang(n)
	c.chain.states.keep(n, s.State, c.chain.head)
	c.moveHead(n)
	c.lastEntry = c.now
	c.out.send(Gossip, Peer{}, &Announce{Entry: entry.Bytes(), Seal: entry.Seal().Bytes()})
	if c.chain.head.height-c.tenure.mandateFrom >= c.cfg.Mandate {
		c.handOver()
	}
}

// dropClosing gives up the generation that is being closed: the head moved, or this peer no longer leads.
func (c *Coordinator) dropClosing() {
	if c.tenure.closing == nil {
		return
	}
	c.tenure.closing = nil
	if c.folds.underway != nil && len(c.folds.underway.entries) == 0 {
		c.dropFold()
	}
}

// handOver asks the next in rank to lead. No generation is closed until it does or time runs out.
func (c *Coordinator) handOver() {
	c.tenure.mandateFrom = c.chain.head.height
	successor, ok := c.successor()
	if !ok {
		return
	}
	c.tenure.yieldUntil = c.now + c.cfg.Timing.Election
	c.out.send(Direct, successor, &Handover{Term: c.hard.Term + 1, Head: c.chain.head.link})
}

// successor is the first in rank that may lead, other than this peer.
func (c *Coordinator) successor() (Peer, bool) {
	for _, p := range c.ranking(c.hard.Term + 1) {
		if p != c.self && c.faults.mayLead(p, c.chain.head.height) && c.members.heard.of(p) != nil {
			return p, true
		}
	}
	return Peer{}, false
}

// retire hands over, says goodbye and stops this peer's own work.
func (c *Coordinator) retire() {
	if c.retired {
		return
	}
	c.retired, c.work.paused = true, true
	if c.election.role == Leader {
		c.handOver()
		c.election.role = Follower
		c.dropClosing()
	}
	if c.cfg.Hub {
		c.out.send(Gossip, Peer{}, &Leave{})
	} else {
		c.out.send(Hubs, Peer{}, &Leave{})
	}
}
