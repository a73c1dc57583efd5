package coordinator

import (
	"slices"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// stragglers makes a leader wait now and then for peers that follow the chain but finish too late for every
// generation: a tab on a busy computer, or one far away. Without the wait none of their work would ever
// count.
type stragglers struct {
	height uint64 // of the head at the last wait
	until  Tick   // when that wait ends, if not all are in before
	next   uint64 // height from which on there may be another one
	usual  Tick   // how long the newest entry without a wait took
}

const (
	waitEvery  = 16 // entries from one wait to the next
	waitShare  = 3  // entries without a wait take at least so many times the time that waits take
	waitRarely = 16 // times as many after a wait that brought nobody's claim: being late on purpose gains little
	waitSeen   = 4  // times as many after one of another leader: else each leader would have to find out by itself
	lateFor    = 16 // entries for which a late claim is remembered
	waitLeast  = 8  // a generation with a wait lasts at least this many times the least generation, if not all are in before
	waitFactor = 2  // and as many times as long again as it took to fill, up to three quarters of that
)

// awaits reports whether the leader holds a generation that is full open for stragglers. Not the first after a leader
// was lost: all have waited for long.
func (c *Coordinator) awaits() bool {
	s := &c.tenure.stragglers
	if !c.tenure.sealedTerm && c.now-c.lastEntry > c.timing().Election {
		return false
	}
	if s.height == c.chain.head.height {
		return c.now < s.until && c.anyStraggler()
	}
	if c.chain.head.height < s.next || !c.anyStraggler() {
		return false
	}
	s.height = c.chain.head.height
	s.next = s.height + waitEvery
	least := waitLeast * c.lasts()
	s.until = max(c.lastEntry+least, c.now+min(waitFactor*(c.now-c.lastEntry), 3*least/4)) // a leader may waste no more
	return true
}

// anyStraggler reports whether a straggler has no good claim for this generation yet, or may have none: those of other
// hubs' leaves are not known by name.
func (c *Coordinator) anyStraggler() bool {
	all := c.electorate()
	for _, h := range c.members.heard {
		if h.Idle > 0 && c.lately(h) && all.weightOf(h.peer) > 0 {
			return true
		}
		p := c.work.pool.get(poolKey{h.peer, c.chain.head.link, 0})
		if p == nil && h.announced.parent == c.chain.head.link && c.now-h.announced.at > 2*c.cfg.Timing.Heartbeat {
			continue // it says that it has a claim, and does not give it
		}
		if (p == nil || !p.good) && c.straggles(h) {
			return true
		}
	}
	return false
}

// straggles reports whether a peer follows the canonical chain and works, since claims of it came too late, but has
// none in the last entries.
func (c *Coordinator) straggles(h *presence) bool {
	n := c.chain.canonAt(h.Height)
	return n != nil && n.link == h.Head && n.height+waitEvery > c.chain.head.height && c.lately(h) && !c.faults.peers[h.peer] &&
		h.late > 0 && h.late+lateFor > c.chain.head.height && c.idle(h.peer)
}

// idle reports whether the last entries hold no claim of a peer.
func (c *Coordinator) idle(p Peer) bool {
	if p == c.self {
		return c.work.logged+waitEvery <= c.chain.head.height
	}
	if h := c.members.heard.of(p); h != nil {
		return h.logged+waitEvery <= c.chain.head.height
	}
	return c.chain.headAccounts.of[p].entries == 0
}

// late notes that a peer works on entries that are no longer the head.
func (c *Coordinator) late(p Peer, parent seedlog.Link) {
	if n := c.chain.nodes[parent]; n != nil && n.height+lateFor > c.chain.head.height && c.chain.canonAt(n.height) == n {
		if h := c.members.heard.of(p); h != nil {
			h.late = n.height + 1
		}
	}
}

// settle notes how long the generation that is closed now took, and if it had a wait, whether that brought a
// straggler's claim.
func (s *stragglers) settle(height uint64, took Tick, used bool) {
	switch {
	case s.height != height || height == 0:
		s.usual = max(took, 1)
	case !used:
		s.next = height + waitRarely*waitEvery
	default:
		s.next = height + max(waitEvery, uint64(waitShare*(took-min(took, s.usual))/max(s.usual, 1)))
	}
}

// seeWait notes that another leader took as long as with a wait for an entry that there was enough for, and that
// brought nobody's claim who had none of late.
func (c *Coordinator) seeWait(n *node) {
	if n.parent != c.chain.head || c.election.liveness.full == 0 || c.now-c.lastEntry < waitLeast*c.lasts() {
		return
	}
	if !slices.ContainsFunc(n.credits, func(credit peerCredit) bool { return c.idle(credit.peer) }) {
		s := &c.tenure.stragglers
		s.next = max(s.next, n.height+waitSeen*waitEvery)
	}
}
