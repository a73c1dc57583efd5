package coordinator

import (
	"fmt"
	"slices"
)

// shunned is a hub that is not asked.
type shunned struct {
	peer  Peer
	until Tick
}

// mayGuide reports whether a hub may be asked for a state: it says that it has much more than this peer, and can be
// reached.
func (c *Coordinator) mayGuide(h *presence) bool {
	if !h.Hub || h.Weight <= c.chain.head.weight || c.now-h.last > c.unheard(h)+c.cfg.Timing.Pull || !c.members.links[h.peer] || c.faults.peers[h.peer] {
		return false
	}
	least := uint64(aheadLeast)
	if c.light.on || c.fresh() {
		least = 1
	}
	shuns := func(s shunned) bool { return s.peer == h.peer && c.now < s.until }
	return h.Height >= c.chain.head.height+least && !slices.ContainsFunc(c.ahead.shun, shuns)
}

// guide is the hub whose states this peer takes: the same as before unless others leave it behind, else one whose
// entries proved good, else the one that says that its chain is the heaviest; nil: there is none.
func (c *Coordinator) guide() (best *presence) {
	proven := func(h *presence) bool { q := c.members.pulls[h.peer]; return q != nil && q.proven > 0 }
	for _, h := range c.members.near {
		switch {
		case !c.mayGuide(h):
		case h.peer == c.ahead.from && !c.leftBehind(h):
			return h
		case best == nil || proven(h) && !proven(best) || proven(h) == proven(best) && h.Weight > best.Weight:
			best = h
		}
	}
	return best
}

// leftBehind reports whether a hub's head stays where it is, while that of another moves on far above it.
func (c *Coordinator) leftBehind(h *presence) bool {
	return c.now-h.moved > 2*c.cfg.Timing.Pull && slices.ContainsFunc(c.members.near, func(other *presence) bool {
		return other.Height > h.Height+c.chain.maxStale && c.now-other.moved <= c.cfg.Timing.Pull && c.mayGuide(other)
	})
}

// leap is by how many entries the guide's head must be above a state to be asked for a newer one: by few where it has
// not moved, since the run may have ended.
func (c *Coordinator) leap(guide *presence) uint64 {
	if c.now-guide.moved > c.cfg.Timing.Pull {
		return 1
	}
	return min(max(c.chain.maxStale/2, 1), aheadEvery)
}

// shunGuide asks a hub no more for a while: what it gave was of no use.
func (c *Coordinator) shunGuide(p Peer, why error) {
	what := "gave no state to work on while this peer catches up"
	if c.light.on {
		what = "is left by this peer, which works on the states of hubs"
	}
	c.out.note(NoteSync, p, fmt.Sprintf("%s %s: %v", p.Short(), what, why))
	c.pauseGuide(p, aheadPause*c.cfg.Timing.Pull)
	if a := &c.ahead; a.from == p {
		a.on, a.from = nil, Peer{}
		c.cancelStale()
	}
}

// pauseGuide does not ask a hub for a time, and gives up what it was sending.
func (c *Coordinator) pauseGuide(p Peer, pause Tick) {
	a := &c.ahead
	a.shun = slices.DeleteFunc(a.shun, func(s shunned) bool { return s.until <= c.now || s.peer == p })
	if len(a.shun) == maxShunned {
		a.shun = a.shun[1:]
	}
	a.shun = append(a.shun, shunned{p, c.now + pause})
	if a.load != nil && a.load.from == p {
		a.load = nil
	}
}
