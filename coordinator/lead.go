package coordinator

import (
	"slices"

	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// lead does the leader's work: re-run what came in, close generations, pass the mandate on.
func (c *Coordinator) lead() {
	if c.role != Leader || c.now < c.yieldUntil {
		return
	}
	if c.head.state == nil {
		return
	}
	c.recheckPool()
	if c.closing != nil || c.behind() || c.now-c.lastEntry < c.cfg.Timing.Generation {
		return
	}
	claims := c.closable()
	if claims == nil || (c.now-c.lastEntry < 2*c.cfg.Timing.Generation && (c.checking() || c.outran())) {
		return // re-runs of what came in before the least time, and hubs that follow, are given as long again
	}
	if c.awaits() {
		return
	}
	if c.hard.SealedTerm == c.hard.Term && c.head.height < c.hard.SealedHeight {
		c.stand(true) // this place was signed already and lost since: only a new term may sign it again
		return
	}
	c.closing = &closing{term: c.hard.Term, picked: claims}
}

// closing is a generation whose claims are fixed; it becomes an entry when its fold is done.
type closing struct {
	term   uint64
	picked []*pooled
}

// recheckPool has every foreign claim run again before it may be logged.
func (c *Coordinator) recheckPool() {
	for _, p := range c.pool.sorted() {
		if p.good || p.checking {
			continue
		}
		p.checking = true
		c.issue(&job{kind: jobClaim, parent: c.head, pooled: p, peer: p.claim.Value().Peer, chunk: p.claim.Value().Chunk}, true)
	}
}

func (c *Coordinator) checking() bool {
	for _, p := range c.pool.claims { //lint:sorted any one decides
		if p.checking {
			return true
		}
	}
	return false
}

// outran reports whether a hub that follows is more than one entry behind. What it computes comes too late for every
// generation, so a leader that ran on would soon hold all the voting weight, and whoever replaced it would stand behind.
// Hubs on other branches or far behind are catching up, which waiting does not help.
func (c *Coordinator) outran() bool {
	tip := c.head.height
	for _, h := range c.heard {
		n := c.canonAt(h.Height)
		if n != nil && n.link == h.Head && n.height+1 < tip && tip < n.height+votingEntries && h.Hub && c.lately(h) {
			return true
		}
	}
	return false
}

// closable picks the claims of the next entry, in its order, or nil if the generation is not full.
// Only good claims count, and only with all lower chunks of their peer.
func (c *Coordinator) closable() []*pooled {
	rows := make(map[uint64][]*pooled) // by chunk, each in the order of peers
	next := make(map[Peer]uint64)
	var last uint64
	for _, p := range c.pool.sorted() {
		if claim := p.claim.Value(); p.good && next[claim.Peer] == claim.Chunk {
			next[claim.Peer]++
			rows[claim.Chunk] = append(rows[claim.Chunk], p)
			last = max(last, claim.Chunk)
		}
	}
	g := c.rules.Spec.Generation
	perClaim := c.rules.EvaluationsPerChunk()
	limit := uint64(min(seedlog.MaxClaims, seedlog.MaxEvaluations/int(perClaim)))
	if !g.Open {
		limit = g.Evaluations / perClaim
	}
	// Lower chunks first, so that every peer gets its share of a closed generation.
	var picked []*pooled
	var evaluations, steps uint64
	for chunk := uint64(0); chunk <= last; chunk++ {
		for _, p := range rows[chunk] {
			if uint64(len(picked)) < limit {
				picked = append(picked, p)
				evaluations += p.claim.Value().Evaluations()
				steps += p.claim.Value().TotalSteps()
			}
		}
	}
	if !c.rules.Full(evaluations, steps) {
		return nil
	}
	slices.SortFunc(picked, inEntryOrder)
	return picked
}

// closed appends the generation whose fold is done. That it was signed is durable before it leaves.
func (c *Coordinator) closed(s *rollout.Folded) {
	g := c.closing
	c.closing = nil
	if c.role != Leader || c.hard.Term != g.term {
		return
	}
	claims := make([]seedlog.CheckedClaim, len(g.picked))
	for i, p := range g.picked {
		claims[i] = p.claim
	}
	c.grace.settle(c.head.height, slices.ContainsFunc(claims, func(claim seedlog.CheckedClaim) bool { return c.idle(c.heard.of(claim.Value().Peer)) }))
	e := c.rules.EntryOf(c.head.parentInfo(), c.hard.Term, c.self, claims, s.Theta, s.Digest)
	var votes []seedlog.Vote
	if !c.sealedTerm {
		votes, c.sealedTerm = c.votes, true
	}
	entry := c.rules.OwnEntry(e, c.cfg.Key, votes)
	c.hard.SealedTerm, c.hard.SealedHeight = e.Term, e.Height
	c.hardChanged = true
	n := c.newNode(c.head, entry, claims)
	n.stage, n.body = trusted, &generation{entry, claims}
	c.hang(n)
	c.states.keep(n, s.State, c.head)
	c.moveHead(n)
	c.lastEntry = c.now
	c.out.send(Gossip, Peer{}, &Announce{Entry: entry.Bytes(), Seal: entry.Seal().Bytes()})
	if c.head.height-c.mandateFrom >= c.cfg.Mandate {
		c.handOver()
	}
}

// dropClosing gives up the generation that is being closed: the head moved, or this peer no longer leads.
func (c *Coordinator) dropClosing() {
	if c.closing == nil {
		return
	}
	c.closing = nil
	if c.folding != nil && len(c.folding.entries) == 0 {
		c.dropFold()
	}
}

// handOver asks the next in rank to lead. Until it does, or time runs out, nothing is closed.
func (c *Coordinator) handOver() {
	c.mandateFrom = c.head.height
	successor, ok := c.successor()
	if !ok {
		return
	}
	c.yieldUntil = c.now + c.cfg.Timing.Election
	c.out.send(Direct, successor, &Handover{Term: c.hard.Term + 1, Head: c.head.link})
}

// successor is the first in rank of those who may stand, without this peer.
func (c *Coordinator) successor() (Peer, bool) {
	for _, p := range c.ranking(c.hard.Term + 1) {
		if p != c.self && c.mayLead(p) && c.heard.of(p) != nil {
			return p, true
		}
	}
	return Peer{}, false
}

// retire hands over, says goodbye and stops own work.
func (c *Coordinator) retire() {
	if c.retired {
		return
	}
	c.retired, c.paused = true, true
	if c.role == Leader {
		c.handOver()
		c.role = Follower
		c.dropClosing()
	}
	if c.cfg.Hub {
		c.out.send(Gossip, Peer{}, &Leave{})
	} else {
		c.out.send(Hubs, Peer{}, &Leave{})
	}
}
