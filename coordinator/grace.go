package coordinator

// grace makes a leader wait now and then for peers that follow but come too late for every generation: a tab on a busy
// computer, or one far away. They would compute for nothing, and their people would see it.
type grace struct {
	height uint64 // of the head when the last one was given
	until  Tick   // when it ends, if not all are in before
	unused uint   // how many in a row nobody used
}

const (
	graceEvery  = 16 // entries from one grace to the next; twice as many after each that nobody used, up to maxUnused
	maxUnused   = 4
	graceLeast  = 8 // least times of a generation that one with a grace lasts, if not all are in before
	graceFactor = 2 // and for how many times longer than it took until then
)

// awaits reports whether the leader gives those who are late more time for this generation, which is full.
func (c *Coordinator) awaits() bool {
	g := &c.tenure.grace
	if g.height == c.chain.head.height {
		return c.now < g.until && c.anyLate()
	}
	if c.chain.head.height < g.height+graceEvery<<g.unused || !c.anyLate() {
		return false
	}
	g.height = c.chain.head.height
	g.until = max(c.lastEntry+graceLeast*c.cfg.Timing.Generation, c.now+graceFactor*(c.now-c.lastEntry))
	return true
}

// anyLate reports whether somebody who is late has no good claim for this generation yet.
func (c *Coordinator) anyLate() bool {
	for _, h := range c.members.heard {
		if p := c.work.pool.claims[poolKey{h.peer, 0}]; (p == nil || !p.good) && c.late(h) {
			return true
		}
	}
	return false
}

// late reports whether a peer follows but has nothing in the last entries.
func (c *Coordinator) late(h *presence) bool {
	n := c.chain.canonAt(h.Height)
	return n != nil && n.link == h.Head && n.height+graceEvery > c.chain.head.height && c.lately(h) && !c.faults.peers[h.peer] && c.idle(h)
}

// idle reports whether the last entries hold nothing of a peer that is heard.
func (c *Coordinator) idle(h *presence) bool {
	return h != nil && h.logged+graceEvery <= c.chain.head.height
}

// settle notes whether the grace of the generation that is closed now, if it had one, was used.
func (g *grace) settle(height uint64, used bool) {
	switch {
	case g.height != height || height == 0:
	case used:
		g.unused = 0
	default:
		g.unused = min(g.unused+1, maxUnused)
	}
}
