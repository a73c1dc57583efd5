package coordinator

// stragglers makes a leader wait now and then for peers that follow the chain but finish too late for every
// generation: a tab on a busy computer, or one far away. Without the wait none of their work would ever
// count.
type stragglers struct {
	height uint64 // of the head at the last wait
	until  Tick   // when that wait ends, if not all are in before
	unused uint   // how many waits in a row brought no claim of a straggler
}

const (
	waitEvery  = 16 // entries from one wait to the next; doubled after each wait without effect, up to maxUnused times
	maxUnused  = 4
	waitLeast  = 8 // a generation with a wait lasts at least this many times the least generation, if not all are in before
	waitFactor = 2 // and at least this many times as long again as it took to fill
)

// awaits reports whether the leader holds a generation that is full open for stragglers.
func (c *Coordinator) awaits() bool {
	s := &c.tenure.stragglers
	if s.height == c.chain.head.height {
		return c.now < s.until && c.anyStraggler()
	}
	if c.chain.head.height < s.height+waitEvery<<s.unused || !c.anyStraggler() {
		return false
	}
	s.height = c.chain.head.height
	s.until = max(c.lastEntry+waitLeast*c.cfg.Timing.Generation, c.now+waitFactor*(c.now-c.lastEntry))
	return true
}

// anyStraggler reports whether a straggler has no good claim for this generation yet.
func (c *Coordinator) anyStraggler() bool {
	for _, h := range c.members.heard {
		if p := c.work.pool.claims[poolKey{h.peer, 0}]; (p == nil || !p.good) && c.straggles(h) {
			return true
		}
	}
	return false
}

// straggles reports whether a peer follows the canonical chain but has no claim in its last entries.
func (c *Coordinator) straggles(h *presence) bool {
	n := c.chain.canonAt(h.Height)
	return n != nil && n.link == h.Head && n.height+waitEvery > c.chain.head.height && c.lately(h) && !c.faults.peers[h.peer] && c.idle(h)
}

// idle reports whether the last entries hold no claim of a peer.
func (c *Coordinator) idle(h *presence) bool {
	return h != nil && h.logged+waitEvery <= c.chain.head.height
}

// settle notes whether the wait of the generation that is closed now, if it had one, brought a straggler's claim.
func (s *stragglers) settle(height uint64, used bool) {
	switch {
	case s.height != height || height == 0:
	case used:
		s.unused = 0
	default:
		s.unused = min(s.unused+1, maxUnused)
	}
}
