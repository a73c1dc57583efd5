package coordinator

import (
	"cmp"
	"maps"
	"slices"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// pool holds the claims on the head that are not in an entry yet.
type pool struct {
	claims map[poolKey]*pooled
	links  map[seedlog.Link]*pooled
	wanted map[seedlog.Link]Tick // asked for at
}

type poolKey struct {
	peer  Peer
	chunk uint64
}

type pooled struct {
	claim    seedlog.CheckedClaim
	good     bool // own, or re-run with the same result
	checking bool // under re-run
	again    Tick // when it is announced next; messages get lost
}

func (w *work) resetPool() {
	w.pool = pool{claims: make(map[poolKey]*pooled), links: make(map[seedlog.Link]*pooled), wanted: make(map[seedlog.Link]Tick)}
	w.chunk, w.own = 0, 0
}

// sorted lists the pool in the order of (peer, chunk).
func (p *pool) sorted() []*pooled {
	list := slices.Collect(maps.Values(p.claims)) //lint:sorted right below
	slices.SortFunc(list, inEntryOrder)
	return list
}

// inEntryOrder is the order of claims in an entry: by peer, then by chunk.
func inEntryOrder(a, b *pooled) int {
	x, y := a.claim.Value(), b.claim.Value()
	return cmp.Or(x.Peer.Compare(y.Peer), cmp.Compare(x.Chunk, y.Chunk))
}

// offer takes a claim into the pool; claims on other parents come too late and are dropped.
func (c *Coordinator) offer(checked seedlog.CheckedClaim) {
	claim := checked.Value()
	key := poolKey{claim.Peer, claim.Chunk}
	if claim.Parent != c.chain.head.link || c.faults.peers[claim.Peer] || c.work.pool.claims[key] != nil || len(c.work.pool.claims) >= 2*seedlog.MaxClaims {
		return
	}
	p := &pooled{claim: checked, good: claim.Peer == c.self}
	c.work.pool.claims[key] = p
	c.work.pool.links[checked.Link()] = p
	delete(c.work.pool.wanted, checked.Link())
}

// onClaims takes claims that were asked for, or that a leaf gives.
func (c *Coordinator) onClaims(claims []seedlog.CheckedClaim) {
	for _, claim := range claims {
		c.offer(claim)
	}
}

// onInventory asks for claims that are new, if this peer is the one to log them.
func (c *Coordinator) onInventory(from Peer, m *Inventory) {
	if c.election.role != Leader || m.Parent != c.chain.head.link {
		return
	}
	var want []seedlog.Link
	for _, item := range m.Items {
		asked, waiting := c.work.pool.wanted[item.Claim]
		if c.work.pool.links[item.Claim] != nil || (waiting && c.now-asked < c.cfg.Timing.Heartbeat) || len(want) == maxWant {
			continue
		}
		c.work.pool.wanted[item.Claim] = c.now
		want = append(want, item.Claim)
	}
	if len(want) > 0 {
		c.out.send(Direct, from, &Want{Claims: want})
	}
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
		c.out.send(Direct, from, reply)
	}
}

// announceClaims tells others about claims in the pool: a hub gossips an inventory, a leaf gives its own to its hubs.
func (c *Coordinator) announceClaims() {
	if c.election.role == Leader || len(c.work.pool.claims) == 0 {
		return
	}
	inventory := &Inventory{Parent: c.chain.head.link}
	gift := &Claims{}
	for _, p := range c.work.pool.sorted() {
		if c.now < p.again {
			continue
		}
		p.again = c.now + 2*c.cfg.Timing.Heartbeat
		switch {
		case c.cfg.Hub && len(inventory.Items) < maxInventory:
			claim := p.claim.Value()
			best, counter := claim.Best()
			inventory.Items = append(inventory.Items, InventoryItem{Claim: p.claim.Link(), Best: best, Seed: c.rules.Seed(claim.Parent, claim.Peer, counter)})
		case !c.cfg.Hub && p.claim.Value().Peer == c.self && len(gift.Blocks) < maxWant:
			gift.Blocks = append(gift.Blocks, p.claim.Bytes())
		}
	}
	if len(inventory.Items) > 0 {
		c.out.send(Gossip, Peer{}, inventory)
	}
	if len(gift.Blocks) > 0 {
		c.out.send(Hubs, Peer{}, gift)
	}
}

// reannounce repeats everything at once: a new leader, or a new hub, has nothing yet.
func (p *pool) reannounce() {
	for _, q := range p.sorted() {
		q.again = 0
	}
}
