package coordinator

import (
	"slices"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// An entry is announced to everybody before its claims have come down the tree. A hub waits for them as long as they
// need, and gives them on as they come: the leader sealed the entry, and it names them.

const (
	// hubUplink is how many bytes a second a hub is taken to send at least: 10 Mbit/s, less what else it says.
	hubUplink = 1 << 20
	// spreadPulls is for how many times the time for an answer an entry is awaited at most, however large it is.
	spreadPulls = 2
	// maxComing bounds the entries that a hub waits for.
	maxComing = 16
)

// coming is an entry of the leader that was announced and is to come from another hub.
type coming struct {
	link  seedlog.Link
	until Tick    // when it may be pulled
	came  *pushed // what came of it; nil: nothing
	below []Peer  // to whom this peer gives it
	given int     // how many of its claims they were given
}

// pushed is an entry that comes unasked, with those of its claims that are here.
type pushed struct {
	generation
	from Peer // who gave the first of them
	at   source
}

// await notes that an announced entry comes by way of the tree; false: this peer has no place there, or is so far
// behind that it could not keep what comes. Who is some entries behind stays in the tree, and with it those below.
func (c *Coordinator) await(link seedlog.Link, e *seedlog.Entry) bool {
	if !c.spreads() || e.Height > c.chain.head.height+maxComing {
		return false
	}
	i := slices.Index(c.tree(e.Height, e.Leader, e.Term), c.self)
	if i < 0 {
		return false
	}
	if c.isComing(link) {
		return true
	}
	depth := Tick(0)
	for ; i >= spreadTo; i = i/spreadTo - 1 {
		depth++
	}
	t := c.cfg.Timing
	if len(c.coming) == maxComing {
		c.coming = c.coming[1:]
	}
	c.coming = append(c.coming, coming{link: link, until: c.now + 2*t.Heartbeat + min(depth*t.Heartbeat/2+passing(e), max(depth*t.Heartbeat/2, spreadPulls*t.Pull))})
	return true
}

// passing is how long a hub needs for giving an entry to those below it.
func passing(e *seedlog.Entry) Tick {
	return Tick(spreadTo * min(claimsSize(e), MaxDirectBytes) * (1000 / tickMS) / hubUplink)
}

func (c *Coordinator) isComing(link seedlog.Link) bool {
	return c.awaited(link) != nil
}

// awaited is the entry that is to come; nil: it is not.
func (c *Coordinator) awaited(link seedlog.Link) *coming {
	if i := slices.IndexFunc(c.coming, func(a coming) bool { return a.link == link }); i >= 0 {
		return &c.coming[i]
	}
	return nil
}

// comesLater reports whether an entry should come by way of the tree, so that it is not pulled yet.
func (c *Coordinator) comesLater(link seedlog.Link) bool {
	return slices.ContainsFunc(c.coming, func(a coming) bool { return a.link == link && c.now < a.until })
}

// forgetComing drops what came, and what others were asked for since.
func (c *Coordinator) forgetComing() {
	c.coming = slices.DeleteFunc(c.coming, func(a coming) bool { return c.chain.nodes[a.link] != nil || c.now > a.until+c.cfg.Timing.Pull })
}

// pushes reports whether a part of an entry is of one that is awaited, whichever peer sends it, or from the leader.
func (c *Coordinator) pushes(from Peer, m *Push) bool {
	return c.spreads() && !c.light.on && (from == c.election.leader || from == c.election.outgoing.leader || c.isComing(m.Link))
}

// onPush takes a part of an entry that is awaited, or that the leader gives before it was announced here. What comes
// before it is here: messages of one peer keep their order, and who lost one pulls.
func (c *Coordinator) onPush(from Peer, at source, m *Push, checked *Checked) {
	if c.chain.nodes[m.Link] != nil {
		return
	}
	if g := checked.generations; len(g) > 0 && !c.isComing(m.Link) {
		if e := g[0].entry.Value(); from == e.Leader && c.seals(from, e.Term) {
			c.await(m.Link, e)
		}
	}
	a := c.awaited(m.Link)
	if a == nil {
		return
	}
	var came pushed
	switch {
	case m.First == 0 && a.came == nil:
		came = pushed{checked.generations[0], from, at}
		a.below = c.below(came.entry.Value())
	case m.First == 0 || a.came == nil || m.First != uint64(len(a.came.claims)):
		return // twice, or one before it is missing
	default:
		came = *a.came
		came.claims = append(came.claims, checked.claims...)
	}
	if !came.begins() {
		c.ban(from, "sent other claims than the entry names")
		return
	}
	a.came = &came
	c.push(&came.generation, a.given, a.below)
	a.given = max(a.given, len(came.claims))
	c.placeComing()
}

// begins reports whether the claims that are here are the first of those that the entry names.
func (g *generation) begins() bool {
	named := g.entry.Value().Claims
	return g.entry.Joined() && len(g.claims) <= len(named) &&
		slices.EqualFunc(g.claims, named[:len(g.claims)], func(claim seedlog.CheckedClaim, link seedlog.Link) bool { return claim.Link() == link })
}

// passOn gives those below this peer in the tree what they lack of an entry that just came, if it is one of the newest
// of the leader that is followed. The height of the newest that came with it is newest.
func (c *Coordinator) passOn(n *node, g *generation, newest uint64) {
	if !c.seals(n.leader, n.term) || !c.isComing(n.link) && n.height+c.chain.maxStale < max(c.ahead.height, newest) {
		return
	}
	given := 0
	if a := c.awaited(n.link); a != nil {
		given, a.given = a.given, len(g.claims)
	}
	c.push(g, given, c.below(g.entry.Value()))
}

// placeComing puts entries that are here with all their claims into the tree of branches, once what they follow is. A
// hub that missed one entry has those after it as soon as it has that one.
func (c *Coordinator) placeComing() {
	for placed := true; placed; {
		placed = false
		for i := range c.coming {
			if p := c.coming[i].came; p != nil && p.whole() && c.chain.nodes[p.entry.Value().Parent] != nil {
				c.coming[i].came, placed = nil, true
				c.placeNew(p.generation, p.from, p.at)
				break // which may have changed the list
			}
		}
	}
}
