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
	claim    *seedlog.Claim
	link     seedlog.Link
	data     []byte
	good     bool // own, or re-run with the same result
	checking bool // under re-run
	again    Tick // when it is announced next; messages get lost
}

func (c *Coordinator) resetPool() {
	c.pool = pool{claims: make(map[poolKey]*pooled), links: make(map[seedlog.Link]*pooled), wanted: make(map[seedlog.Link]Tick)}
	c.chunk, c.own = 0, 0
}

// sorted lists the pool in the order of (peer, chunk).
func (p *pool) sorted() []*pooled {
	list := slices.Collect(maps.Values(p.claims)) //lint:sorted right below
	slices.SortFunc(list, inEntryOrder)
	return list
}

// inEntryOrder is the order of claims in an entry: by peer, then by chunk.
func inEntryOrder(a, b *pooled) int {
	return cmp.Or(a.claim.Peer.Compare(b.claim.Peer), cmp.Compare(a.claim.Chunk, b.claim.Chunk))
}

// offer takes a claim that was checked for form and signature; claims on other parents come too late and are dropped.
func (c *Coordinator) offer(claim *seedlog.Claim, link seedlog.Link, data []byte) *pooled {
	key := poolKey{claim.Peer, claim.Chunk}
	if claim.Parent != c.head.link || c.liars[claim.Peer] || c.pool.claims[key] != nil || len(c.pool.claims) >= 2*seedlog.MaxClaims {
		return nil
	}
	p := &pooled{claim: claim, link: link, data: data, good: claim.Peer == c.self}
	c.pool.claims[key] = p
	c.pool.links[link] = p
	delete(c.pool.wanted, link)
	return p
}

// onClaims takes claims that were asked for, or that a leaf gives.
func (c *Coordinator) onClaims(from Peer, m *Claims) {
	for _, data := range m.Blocks {
		claim, link, err := c.memo.claim(c.rules, data)
		if err != nil {
			c.ban(from, "sent an invalid claim: "+err.Error())
			return
		}
		c.offer(claim, link, data)
	}
}

// onDigest asks for claims that are new, if this peer is the one to log them.
func (c *Coordinator) onDigest(from Peer, m *Digest) {
	if c.role != Leader || m.Parent != c.head.link {
		return
	}
	var want []seedlog.Link
	for _, item := range m.Items {
		asked, waiting := c.pool.wanted[item.Claim]
		if c.pool.links[item.Claim] != nil || (waiting && c.now-asked < c.cfg.Timing.Heartbeat) || len(want) == maxWant {
			continue
		}
		c.pool.wanted[item.Claim] = c.now
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
		if p := c.pool.links[link]; p != nil && size+len(p.data) < segmentBytes {
			reply.Blocks = append(reply.Blocks, p.data)
			size += len(p.data)
		}
	}
	if len(reply.Blocks) > 0 {
		c.out.send(Direct, from, reply)
	}
}

// announceClaims tells others about claims in the pool: a hub gossips a digest, a leaf gives its own to its hubs.
func (c *Coordinator) announceClaims() {
	if c.role == Leader || len(c.pool.claims) == 0 {
		return
	}
	digest := &Digest{Parent: c.head.link}
	gift := &Claims{}
	for _, p := range c.pool.sorted() {
		if c.now < p.again {
			continue
		}
		p.again = c.now + 2*c.cfg.Timing.Heartbeat
		switch {
		case c.cfg.Hub && len(digest.Items) < maxDigest:
			best, counter := p.claim.Best()
			digest.Items = append(digest.Items, DigestItem{Claim: p.link, Best: best, Seed: c.rules.Seed(p.claim.Parent, p.claim.Peer, counter)})
		case !c.cfg.Hub && p.claim.Peer == c.self && len(gift.Blocks) < maxWant:
			gift.Blocks = append(gift.Blocks, p.data)
		}
	}
	if len(digest.Items) > 0 {
		c.out.send(Gossip, Peer{}, digest)
	}
	if len(gift.Blocks) > 0 {
		c.out.send(Hubs, Peer{}, gift)
	}
}

// reannounce repeats everything at once: a new leader, or a new hub, has nothing yet.
func (c *Coordinator) reannounce() {
	for _, p := range c.pool.sorted() {
		p.again = 0
	}
}
