package coordinator

import (
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

const (
	// firstAnnounced is how many claims a hub without a record announces.
	firstAnnounced = 4
	// maxTold bounds how often the time doubles after which a claim is announced again. An answer that does not come
	// is on its way through a full uplink more often than lost.
	maxTold = 3
	// crowdTold is maxTold for claims of light peers. Those of a crowd wait long for a place in an entry.
	crowdTold = 5
)

// want is a claim that was asked for.
type want struct {
	at    Tick
	known bool // whether the peer that was asked has a record
}

// onClaims takes claims that were asked for, or that a leaf gives: its own.
func (c *Coordinator) onClaims(from Peer, at source, claims []seedlog.CheckedClaim) {
	for _, claim := range claims {
		if claim.Value().Peer == from || c.trusting() || c.work.pool.wanted.Has(claim.Link()) {
			c.offer(at, claim)
			c.sawWork(from, claim.Value())
		}
	}
}

// onInventory asks for new claims, if this peer is the one to log them, and for claims that it turned away if there is
// room for them now.
func (c *Coordinator) onInventory(from Peer, at source, m *Inventory) {
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
	known, room := c.known(from), c.work.pool.fresh.Room(at)
	for _, item := range m.Items {
		if c.work.pool.links[item.Claim] != nil || !c.mayAsk(from, known, item.Claim) || len(list) == maxWant {
			continue
		}
		if t, ok := c.work.pool.turnedAway.Get(item.Claim); ok {
			if !c.hasPlace(t, room) {
				continue
			}
			if !c.known(t.key.peer) {
				room--
			}
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
	leader, hub, pool := c.election.leader, c.actsAsHub(), &c.work.pool
	if leader == c.self || hub && leader == (Peer{}) {
		pool.reconsider()
		return
	}
	if c.now >= pool.due {
		c.collectDue()
	}
	inventory := &Inventory{Parent: c.worksOn().link}
	gift := &Claims{}
	for len(pool.toTell) > 0 && len(inventory.Items) < maxInventory && len(gift.Blocks) < maxWant {
		p := pool.toTell[0]
		pool.toTell = pool.toTell[1:]
		claim := p.claim.Value()
		switch {
		case pool.links[p.claim.Link()] != p:
			continue // it is gone from the pool
		case hub:
			best, at := claim.Best()
			inventory.Items = append(inventory.Items, InventoryItem{Claim: p.claim.Link(), Best: best, Seed: c.rules.Seed(claim.Parent, claim.Peer, c.rules.First(claim)+at)})
		case claim.Peer == c.self:
			gift.Blocks = append(gift.Blocks, p.claim.Bytes())
		}
		p.again = c.now + 2*c.cfg.Timing.Heartbeat<<p.told
		pool.due = min(pool.due, p.again)
		if c.chain.maxStale > 0 { // else it has a place in one entry, and is soon too late
			p.told = min(p.told+1, maxTold)
		}
	}
	if len(inventory.Items) > 0 {
		c.out.send(Direct, leader, inventory)
	}
	if len(gift.Blocks) > 0 {
		c.out.send(Hubs, Peer{}, gift)
	}
}

// collectDue lists what is to be announced by now. It walks the pool, which grows with the swarm: what comes meanwhile
// is put into the list as it comes.
func (c *Coordinator) collectDue() {
	pool := &c.work.pool
	pool.due, pool.toTell = c.now+2*c.cfg.Timing.Heartbeat, nil
	own := c.mostAnnounced()
	for p := range pool.all {
		if p.claim.Value().Peer == c.self {
			if own--; own < 0 {
				continue
			}
		}
		if c.now < p.again {
			pool.due = min(pool.due, p.again)
			continue
		}
		pool.toTell = append(pool.toTell, p)
	}
}

// mostAnnounced is how many own claims a hub announces at once. Of a newcomer nobody logs any before the first one was
// re-run, and where many join at the same time their leader's uplink would be full of questions about the others.
func (c *Coordinator) mostAnnounced() int {
	if c.chain.maxStale > 0 && c.cfg.Hub && c.chain.head.height > 0 && c.chain.weights()[c.self] == 0 {
		return firstAnnounced
	}
	return maxInventory
}

// reannounce repeats everything at once: a new leader, or a new hub, has nothing yet.
func (p *pool) reannounce() {
	p.reconsider()
	for q := range p.all {
		q.again, q.told = 0, 0
	}
}

// reconsider has the pool walked for what is to be announced.
func (p *pool) reconsider() { p.due, p.toTell = 0, nil }
