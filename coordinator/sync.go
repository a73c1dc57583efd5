package coordinator

import (
	"cmp"
	"errors"
	"slices"
)

// pull is a request for what follows on another peer's chain.
type pull struct {
	since Tick
	asked bool
	late  bool  // not answered in time; a later answer is still used
	tip   *node // newest entry got from that peer on a branch that is not ours yet
	again Tick  // not to be asked before
}

// maxPulls bounds the requests under way.
const maxPulls = 3

// behind reports whether a heavier chain is known to exist and being fetched or checked, by more than the newest entry.
func (c *Coordinator) behind() bool {
	for p, q := range c.members.pulls { //lint:sorted any one decides
		if !q.asked {
			continue
		}
		if h := c.members.heard.of(p); h != nil && c.lately(h) && h.Weight > c.chain.head.weight && h.Height > c.chain.head.height+2 {
			return true
		}
	}
	return false
}

// sync asks those who have more.
func (c *Coordinator) sync() {
	running := 0
	for p, q := range c.members.pulls { //lint:sorted each one on its own
		if q.asked && c.now-q.since > c.cfg.Timing.Pull {
			q.asked, q.late, q.tip, q.again = false, true, nil, c.now+c.cfg.Timing.Pull
		}
		if q.asked {
			running++
		} else if c.now > q.again && c.members.heard.of(p) == nil {
			delete(c.members.pulls, p)
		}
	}
	if running >= maxPulls {
		return
	}
	for _, h := range c.richer() {
		p := h.peer
		if running >= maxPulls {
			return
		}
		if q := c.members.pulls[p]; q == nil || (!q.asked && c.now >= q.again) {
			c.pull(p)
			running++
		}
	}
}

// richer lists the peers whose head is unknown here and no lighter than ours, heaviest first.
func (c *Coordinator) richer() roll {
	var rich roll
	for _, h := range c.members.heard {
		if h.Head != c.chain.head.link && h.Weight >= c.chain.head.weight && h.Height > 0 && c.lately(h) && c.chain.nodes[h.Head] == nil {
			rich = append(rich, h)
		}
	}
	slices.SortStableFunc(rich, func(a, b *presence) int { return cmp.Compare(b.Weight, a.Weight) })
	return rich
}

// pull asks p for what follows our chain, or the branch that was begun with p.
func (c *Coordinator) pull(p Peer) {
	if p == c.self || c.faults.peers[p] || (!c.cfg.Hub && !c.members.links[p]) {
		return // a leaf reaches only the peers that it dialed
	}
	q := c.members.pulls[p]
	if q == nil {
		q = new(pull)
		c.members.pulls[p] = q
	}
	if q.asked || c.now < q.again {
		return
	}
	q.asked, q.since = true, c.now
	c.out.send(Direct, p, &Pull{Locator: c.chain.locator(q.tip)})
}

// onPull answers with the entries after the first link that both have.
func (c *Coordinator) onPull(from Peer, m *Pull) {
	reply := &Segment{Height: c.chain.head.height}
	start := c.chain.after(m.Locator)
	size := 0
	for height := start.height + 1; height <= c.chain.head.height && len(reply.Generations) < maxGenerations && size < segmentBytes; height++ {
		g, ok := c.chain.canon[height].blocks(c.cfg.Archive)
		if !ok {
			break
		}
		reply.Generations = append(reply.Generations, g)
		size += len(g.Entry) + len(g.Seal)
		for _, data := range g.Claims {
			size += len(data)
		}
	}
	for i := max(0, len(c.faults.proofs)-16); i < len(c.faults.proofs); i++ {
		reply.Proofs = append(reply.Proofs, c.faults.proofs[i])
	}
	c.out.send(Direct, from, reply)
}

// onSegment takes entries in order. Only answers to our own questions are read.
func (c *Coordinator) onSegment(from Peer, m *Segment, checked *Checked) {
	q := c.members.pulls[from]
	if q == nil || !q.asked && !q.late {
		return
	}
	q.asked, q.late = false, false
	var last *node
	for _, g := range checked.generations {
		n, err := c.insert(g)
		if errors.Is(err, errGap) {
			break
		}
		if err != nil {
			c.ban(from, "sent an invalid entry: "+err.Error())
			return
		}
		last = n
	}
	for i := range checked.evidence {
		c.onFraudProof(&checked.evidence[i])
	}
	if last == nil {
		// The peer has nothing more on our branch yet: a hub passes gossip on before it trusts it. Ask again soon.
		q.tip, q.again = nil, c.now+2
		return
	}
	q.tip = last
	if last.height < m.Height {
		c.pull(from)
	}
}
