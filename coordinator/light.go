package coordinator

import (
	"fmt"
	"slices"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// In a large swarm the claims of all entries are more than a tab should download, which does nothing with them but fold
// them. Where enough hubs have the run a tab follows it without: it works ahead as a newcomer does, on the newest
// states of a hub, for as long as that lasts. Its chain stays where it is. It does not take the hub's word: now
// and then it folds an entry by itself, and re-runs results (lightcheck.go).

const (
	// downloadBytes is how many bytes a second a tab spends on entries, claims and states, if nothing else is said.
	downloadBytes = 16 << 10
	// statesPart and checksPart of that are for states, and for entries with claims that are checked: one in so many.
	statesPart, checksPart = 2, 4
	// lightHubs is how many hubs must have the run for a tab to become light, and wholeHubs below how many it is whole
	// again: what few have each tab keeps.
	lightHubs, wholeHubs = 4, 3
	// hubsWithin is how many entries the head of a hub that has the run may lie below that of the middle one.
	hubsWithin = 32
	// lightWindow is over how many ticks it is measured what the claims of entries cost, and joiningWindow while this
	// peer joins, which fetches as much as it can.
	lightWindow, joiningWindow = 100, 40
	// claimBytes and resultBytes are how many bytes a claim takes, and each of its results besides.
	claimBytes, resultBytes = 250, 12
	// mostGap bounds how many entries are counted that were not seen between two.
	mostGap = 64
)

// light is what a peer knows that follows the run without its claims.
type light struct {
	on    bool
	seen  bool // it has seen an entry of this run's since it started
	asked Tick // when it asked for the first one; 0: it did not
	cost  cost
	few   Tick // since when too few hubs have the run; 0: enough do
	alone Tick // since when no hub has states to give; 0: one has
	again Tick // when a newer state is asked for next
	until Tick // up to when it counts as catching up, after it was light
	check lightCheck

	shared Tick // when another hub last had an entry as its head whose state this peer took, or that was looked into

	end    seedlog.End // what ended the run, as the hub that was asked last says; Open: it continues
	solved uint64      // height of the state that passed the test, as that hub's entry says; 0: none
}

// cost is what the entries take that were seen, with their claims.
type cost struct {
	since  Tick
	bytes  uint64 // since then
	height uint64 // of the newest entry that was seen since then; 0: none was
	entry  uint64 // bytes of the newest entry, without its claims
	whole  uint64 // with them
}

// Light reports whether this peer follows the run without its claims.
func (c *Coordinator) Light() bool { return c.light.on }

// download is how many bytes a second this peer should spend on the run.
func (c *Coordinator) download() uint64 {
	if c.cfg.Download > 0 {
		return c.cfg.Download
	}
	return downloadBytes
}

// mayBeLight reports whether this peer is one that may follow without claims: natives have the run, and hubs serve it.
func (c *Coordinator) mayBeLight() bool { return c.cfg.Kind == Tab && !c.cfg.Hub && !c.quiet }

// seeCost counts what an entry of so many bytes takes with its claims. By the first one this peer may decide.
func (c *Coordinator) seeCost(entry seedlog.CheckedEntry, size int) {
	k, e := &c.light.cost, entry.Value()
	if e.Height <= k.height {
		return
	}
	k.entry = uint64(size)
	k.whole = k.entry + claimsSize(e)
	entries := uint64(1)
	if k.height > 0 {
		entries = min(e.Height-k.height, mostGap)
	}
	k.bytes, k.height = k.bytes+entries*k.whole, e.Height
	c.decide(e.Duration)
}

// claimsSize is about how many bytes the claims of an entry take, if what it says of them is true.
func claimsSize(e *seedlog.Entry) uint64 {
	return e.NamesClaims()*claimBytes + min(e.Evaluations, 1<<32)*resultBytes
}

// weighLight decides whether this peer follows the run with its claims or without.
func (c *Coordinator) weighLight() {
	l := &c.light
	if !c.mayBeLight() {
		return
	}
	if l.on {
		switch {
		case c.suffices(wholeHubs):
			l.few = 0
		case l.few == 0:
			l.few = c.now
		case c.now-l.few > c.cfg.Timing.Pull:
			c.becomeWhole("few hubs have the run")
			return
		}
	}
	k, window := &l.cost, Tick(lightWindow)
	if !l.on && c.joining() {
		window = joiningWindow
	}
	if c.now-k.since < window {
		return
	}
	rate := k.bytes * 1000 / tickMS / uint64(c.now-k.since)
	seen := k.height > 0
	k.since, k.bytes, k.height = c.now, 0, 0
	switch {
	case !l.on && rate > c.mostClaims() && c.mayTurnLight():
		c.becomeLight(rate)
	case l.on && seen && rate < c.mostClaims()/2:
		c.becomeWhole("its claims are few")
	}
}

// mayTurnLight reports whether others have the run if this peer does not, and states cost less.
func (c *Coordinator) mayTurnLight() bool {
	return c.election.role == Follower && c.suffices(lightHubs) && c.lightPays()
}

// keepers is how many hubs are heard that have the run: those whose heads are not far below that of the middle one. A
// peer whose chain is at the head counts those with work in the last entries alone; what others say of themselves costs
// nothing.
func (c *Coordinator) keepers() (n int) {
	weights, far := c.chain.weights(), c.light.on || c.joining() || c.fresh()
	var heights []uint64
	for _, h := range c.members.heard {
		if h.Hub && c.lately(h) && !c.faults.peers[h.peer] && h.Height > 0 && (far || weights[h.peer] > 0) {
			heights = append(heights, h.Height)
		}
	}
	if len(heights) == 0 {
		return 0
	}
	slices.Sort(heights)
	middle := heights[len(heights)/2]
	for _, height := range heights {
		if height+hubsWithin >= middle {
			n++
		}
	}
	return n
}

// lightPays reports whether states are less than half of what entries with claims are, as rarely as they are asked for
// at most.
func (c *Coordinator) lightPays() bool {
	k := &c.light.cost
	return 2*(k.entry+uint64(c.chain.newest().state.EncodedLen())) < k.whole*c.rarely()
}

// rarely is after how many entries a light peer asks for a newer state at the latest.
func (c *Coordinator) rarely() uint64 { return max(c.chain.maxStale/2, 1) }

// becomeLight has this peer follow the run without claims.
func (c *Coordinator) becomeLight(rate uint64) {
	a, l := &c.ahead, &c.light
	l.on, l.few, l.alone, l.again, l.until, l.end, l.check = true, 0, 0, 0, 0, seedlog.Open, lightCheck{again: c.now + c.firstCheck()}
	l.shared = c.now
	a.led, a.carried, a.checks = false, nil, checksAhead{}
	c.holdDrawn()
	c.seeking, c.members.pulls = seeking{}, make(map[Peer]*pull)
	pool := &c.work.pool
	for key, p := range pool.own.All() {
		a.claims = append(a.claims, claimAhead{CheckedClaim: p.claim, height: p.on.height, given: p.again > 0})
		pool.own.Delete(key)
		delete(pool.links, p.claim.Link())
	}
	c.out.note(NoteSync, c.self, fmt.Sprintf("follows the run by the states that hubs give, without its claims, which are %d KB a second", rate>>10))
}

// becomeWhole has this peer have the run itself again: it joins from where its chain is.
func (c *Coordinator) becomeWhole(why string) {
	a, l := &c.ahead, &c.light
	l.on, l.check, a.recent = false, lightCheck{}, nil
	l.until = c.now + deliveringPulls*c.cfg.Timing.Pull
	c.begun, c.lastEntry, c.folds.caughtUp = c.now, c.now, c.now
	if b := c.based; b != nil && b.past != nil {
		b.past.lastEntry = c.now
	}
	c.out.note(NoteSync, c.self, "takes in the run with its claims again: "+why)
}

// returning reports whether this peer was light a moment ago, and others have much that it lacks.
func (c *Coordinator) returning() bool { return c.now < c.light.until && c.guide() != nil }

// followLight has a light peer work on the states of a hub.
func (c *Coordinator) followLight() {
	a, l := &c.ahead, &c.light
	if k := a.load; k != nil && !k.reading && c.now-k.since > c.cfg.Timing.Pull {
		c.pauseGuide(k.from, 2*c.cfg.Timing.Pull)
	}
	h := c.guide()
	switch {
	case h != nil:
		l.alone = 0
	case l.alone == 0:
		l.alone = c.now
		return
	case c.now-l.alone > deliveringPulls*c.cfg.Timing.Pull && l.end == seedlog.Open:
		c.becomeWhole("no hub gives states")
		return
	default:
		return
	}
	if a.load == nil && (a.on == nil || a.from != h.peer || c.now >= l.again && h.Height > a.on.height) {
		a.load = &load{from: h.peer, since: c.now}
		c.out.send(Direct, h.peer, &Ask{})
	}
	if a.on == nil || h.Height > a.on.height+c.chain.maxStale || c.now-h.moved > deliveringPulls*c.cfg.Timing.Pull {
		return // too old, or the run has ended where it is
	}
	if c.checkLight(); a.on != nil { // else it left that hub
		c.issueAhead()
	}
}

// waitsForGuide has a light peer ask its hub again in a moment, which has no newer state yet. It reports whether that
// suffices: one that says that it has much more is to be left.
func (c *Coordinator) waitsForGuide(from Peer) bool {
	a := &c.ahead
	h := c.members.heard.of(from)
	if !c.light.on || a.on == nil || a.from != from || h == nil || h.Height > a.on.height+c.chain.maxStale {
		return false
	}
	a.load, c.light.again = nil, c.now+c.cfg.Timing.Heartbeat
	return true
}

// tookLight notes that a light peer works on another state, and when it needs the next: as often as what it costs
// allows, but not so rarely that claims on it come too late.
func (c *Coordinator) tookLight(l *load) {
	a := &c.ahead
	if !c.light.on {
		return
	}
	pause := Tick(uint64(l.bytes) * (1000 / tickMS) * statesPart / c.download())
	c.light.again = c.now + min(pause, Tick(c.rarely())*c.lastsAfter(a.on))
	a.recent = append(slices.DeleteFunc(a.recent, func(n *node) bool { return !a.inTime(n, c.chain.maxStale) }), a.on)
	a.on.named = l.entry.Value().NamesClaims()
	c.crowded(a.on)
	if a.from != l.from || c.sharesHead(l.from, a.on.link) {
		c.light.shared = c.now
	}
	if h := c.members.heard.of(l.from); h != nil && h.Height > a.on.height+c.chain.maxStale {
		c.pauseGuide(l.from, 2*c.cfg.Timing.Pull) // it does not give what it says that it has
	}
	c.work.ledger.settle(a.on.height, c.chain.maxStale)
}

// loggedOf lists the claims of a peer that the newest entries up to a height hold, as far as they are in memory.
func (c *Coordinator) loggedOf(p Peer, height uint64) []seedlog.Link {
	list := []seedlog.Link{}
	for n := c.chain.canonAt(height); n != nil && n.height+seedlog.MaxStale > height && len(list) < maxWant; n = n.parent {
		i, ok := slices.BinarySearchFunc(n.credits, p, func(credit peerCredit, p Peer) int { return credit.peer.Compare(p) })
		if !ok {
			continue
		}
		last := len(n.claims)
		if i+1 < len(n.credits) {
			last = n.credits[i+1].first
		}
		list = append(list, n.claims[n.credits[i].first:last]...)
	}
	return list[:min(len(list), maxWant)]
}
