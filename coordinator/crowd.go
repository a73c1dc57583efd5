package coordinator

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// A tab that comes to a swarm of thousands is one of many that come within a minute. If each of them fetched the claims
// until it had measured what they cost, its hubs would send little else, and nobody would have a state to work on. So
// where its hubs have many leaves, a tab first looks at one entry, and decides by that.

const (
	// manyLeaves is how many leaves each hub of a tab has where that looks first, and where tabs may be light although
	// few hubs have the run.
	manyLeaves = 64
	// wholeTabs is how many of a hub's tabs have the run where few hubs do, on average.
	wholeTabs = 16
	// wholeBytes is how many bytes a second a hub should spend on entries for its tabs, all together, so that it has
	// the rest of its uplink for states.
	wholeBytes = 1 << 20
	// sureCost is how many times what claims may cost a tab an entry must cost for it to be light at once: entries may
	// come more rarely than they may at most.
	sureCost = 2
	// mostHeads is how many heads of a hub a light tab remembers.
	mostHeads = 8
	// apartFor is for how many times the time for an answer the states of a hub may be on entries that no other hub had
	// as its head, before that is looked into.
	apartFor = 4
)

// leavesOfHubs is how many leaves the hubs of this leaf have, as the one with the fewest says, so that one that boasts
// of many changes nothing; 0: it hears none.
func (c *Coordinator) leavesOfHubs() uint64 {
	leaves, hubs := uint64(maxHeard), 0
	for _, h := range c.members.near {
		if h.Hub && c.lately(h) {
			leaves = min(leaves, h.Leaves)
			hubs++
		}
	}
	if hubs == 0 {
		return 0
	}
	return leaves
}

// manyLeavesEach reports whether each hub of this leaf has many leaves.
func (c *Coordinator) manyLeavesEach() bool {
	hubs := 0
	for _, h := range c.members.near {
		if !h.Hub || !c.lately(h) {
			continue
		}
		if h.Leaves < manyLeaves {
			return false
		}
		hubs++
	}
	return hubs > 0
}

// mostClaims is how many bytes a second of entries with their claims a tab takes: what it may download, or its share of
// what its hubs should spend on that, if that is less.
func (c *Coordinator) mostClaims() uint64 {
	return min(c.download(), wholeBytes/max(c.leavesOfHubs(), 1))
}

// suffices reports whether a tab may do without the run itself: so many hubs have it, or where they are fewer, some of
// many tabs.
func (c *Coordinator) suffices(hubs int) bool {
	n := c.keepers()
	return n >= hubs || n > 0 && !c.trusting() && !c.drawnWhole()
}

// drawnWhole reports whether this tab is one of those that have the run where few hubs do: all where tabs are few, else
// wholeTabs of those of a hub, by lot of their keys.
func (c *Coordinator) drawnWhole() bool {
	leaves, many := c.leavesOfHubs(), uint64(manyLeaves)
	if c.light.on {
		many /= 2 // who is light stays so while some leave
	}
	if leaves < many {
		return true
	}
	return uint64(wholeLot(c.rules.Run, c.self))*leaves < wholeTabs<<32
}

// wholeLot is the lot by which tabs are drawn that have the run.
func wholeLot(run seedlog.Link, p Peer) uint32 {
	lot := sha256.Sum256(append(append([]byte("evoswarm/whole/1\x00"), run.Bytes()...), p[:]...))
	return binary.BigEndian.Uint32(lot[:])
}

// fresh reports whether this peer is a tab of hubs with many leaves that has seen no entry yet.
func (c *Coordinator) fresh() bool {
	l := &c.light
	return !l.seen && !l.on && c.mayBeLight() && c.chain.maxStale > 0 && !c.trusting() &&
		(l.asked == 0 || c.now-l.asked <= c.cfg.Timing.Pull) && c.manyLeavesEach()
}

// undecided reports whether this peer waits for the entry by which it decides whether to follow the run with its
// claims: it fetches none, and needs none from gossip.
func (c *Coordinator) undecided() bool {
	return c.fresh() && c.guide() != nil
}

// HearsEntries reports whether this peer needs new entries from gossip.
func (c *Coordinator) HearsEntries() bool { return !c.light.on && !c.undecided() }

// look asks a hub for a state, which comes with the entry by which this peer decides.
func (c *Coordinator) look() {
	if l := &c.light; l.asked == 0 {
		l.asked = c.now
	}
	if c.ahead.load == nil {
		h := c.guide()
		c.ahead.load = &load{from: h.peer, since: c.now}
		c.out.send(Direct, h.peer, &Ask{})
	}
}

// decide has this peer follow the run without claims, if the first entry that it sees is sure to cost too much.
func (c *Coordinator) decide(duration uint64) {
	l := &c.light
	if l.seen || !c.mayBeLight() {
		return
	}
	rate := l.cost.whole * 1000 / tickMS / uint64(c.lastsAfter(&node{duration: duration}))
	turns := c.fresh() && rate > sureCost*c.mostClaims() && c.mayTurnLight()
	if l.seen = true; turns {
		c.becomeLight(rate)
	}
}

// pauseAfter is until the next check on average, after one that took so many bytes: as long as these allow for this
// peer, and where its hubs have many leaves, as long as checks of all of these leave most of what a hub gives of the
// newest entries to those who have the run.
func (c *Coordinator) pauseAfter(size uint64) uint64 {
	return max(size*(1000/tickMS)*checksPart/c.download(), size*c.leavesOfHubs()*checksPart/(leafHubs*newestBytes)) + 1
}

// firstCheck is until the first check of a peer that becomes light: of many that come at the same time each has its
// own. That others have the entries whose states it works on their statuses say.
func (c *Coordinator) firstCheck() Tick {
	if !c.manyLeavesEach() {
		return 0
	}
	return Tick(c.draw.Uint64() % c.pauseAfter(c.light.cost.whole))
}

// seeHead remembers the heads of hubs that a light peer is linked to.
func (c *Coordinator) seeHead(h *presence, head seedlog.Link) {
	if !c.light.on || !c.members.links[h.peer] {
		return
	}
	if len(h.heads) == mostHeads {
		h.heads = slices.Delete(h.heads, 0, 1)
	}
	h.heads = append(h.heads, head)
	if h.peer != c.ahead.from && slices.ContainsFunc(c.ahead.recent, func(n *node) bool { return n.link == head }) {
		c.light.shared = c.now
	}
}

// sharesHead reports whether an entry was the head of another hub than the one that gave its state.
func (c *Coordinator) sharesHead(from Peer, link seedlog.Link) bool {
	return slices.ContainsFunc(c.members.near, func(h *presence) bool {
		return h.Hub && h.peer != from && slices.Contains(h.heads, link)
	})
}

// apart reports whether the hub whose states this peer takes may show it a chain that no other hub has, which others
// that it is linked to would have named.
func (c *Coordinator) apart() bool {
	return c.now-c.light.shared > apartFor*c.cfg.Timing.Pull && slices.ContainsFunc(c.members.near, func(h *presence) bool {
		return h.peer != c.ahead.from && c.mayGuide(h)
	})
}

// waitsForRecord reports whether nothing of this peer is logged yet in a swarm that many join: others have to re-run
// its first claim as a whole, so it makes short ones.
func (c *Coordinator) waitsForRecord() bool {
	return c.rules.Spec.SpotChecks != nil && c.work.ledger.Logged == 0 && c.chain.maxStale > 0 && c.manyLeavesEach()
}
