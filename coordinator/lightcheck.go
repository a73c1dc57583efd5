package coordinator

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// A light peer checks what it works on. Again and again, at times that it draws, it asks another hub than the one
// whose state it took for the entry after that state, with its claims. A hub that shows this peer a branch of its own
// is found by the others, which do not have it; a state that does not follow from the one before by folding; an
// invented result by a re-run, of which it owes as many as others.

// lightCheck is the check of one state.
type lightCheck struct {
	again   Tick        // when the next one begins
	on      *node       // the state; nil: none is checked
	begun   Tick        // when its check began
	from    Peer        // that gave it
	asked   Peer        // who was asked for the entry after it; zero: nobody
	since   Tick        // then
	tried   []Peer      // who was asked before
	denied  int         // how many of them do not have the entry that gave the state
	above   *generation // what is after it; nil: not here
	doubted bool        // it folds to another state than it says; it is folded once more
}

// checkLight begins and continues the check of a state.
func (c *Coordinator) checkLight() {
	k := &c.light.check
	switch {
	case k.above != nil:
		return // it is folded
	case k.asked != (Peer{}) && c.now-k.since <= c.cfg.Timing.Pull:
		return
	case k.asked != (Peer{}): // it does not answer
		k.tried, k.asked = append(k.tried, k.asked), Peer{}
	case k.on == nil && c.now < k.again && !c.apart():
		return
	}
	if k.on == nil {
		k.on, k.from, k.begun = c.ahead.on, c.ahead.from, c.now
	}
	to, lower, ok := c.witness()
	switch {
	case ok:
		k.asked, k.since = to, c.now
		c.out.send(Direct, to, &Pull{Locator: []seedlog.Link{k.on.link}})
	case lower && c.now-k.begun <= provenPulls*c.cfg.Timing.Pull:
	case lower:
		c.shunGuide(k.from, fmt.Errorf("no other that this peer is linked to comes to height %d", k.on.height))
		c.endCheck(0)
	case k.denied > 0:
		c.shunGuide(k.from, fmt.Errorf("of the others that this peer is linked to %d do not have its entry of height %d", k.denied, k.on.height))
		c.endCheck(0)
	case len(k.tried) > 0 || k.on != c.ahead.on:
		c.endCheck(c.cfg.Timing.Pull)
	}
}

// witness is a hub that is asked for the entry after the state that is checked, drawn in secret: another one than gave
// that state, unless this peer is linked to no other. lower says that there are others, which have not come so far yet.
func (c *Coordinator) witness() (to Peer, lower, ok bool) {
	k := &c.light.check
	var others []Peer
	for _, h := range c.members.near {
		switch {
		case h.peer == k.from || slices.Contains(k.tried, h.peer) || !c.mayGuide(h):
		case h.Height > k.on.height:
			others = append(others, h.peer)
		default:
			lower = true
		}
	}
	if len(others) > 0 {
		return others[c.draw.Uint64()%uint64(len(others))], lower, true
	}
	h := c.members.heard.of(k.from)
	return k.from, lower, !lower && len(k.tried) == 0 && h != nil && c.mayGuide(h) && h.Height > k.on.height
}

// endCheck ends a check. The next one begins after a time, or if that is none at once.
func (c *Coordinator) endCheck(pause Tick) {
	c.light.check, c.light.shared = lightCheck{again: c.now + pause}, c.now
}

// checkPause is until the next check: as long as what this one took to download allows, by lot half of it to half more.
func (c *Coordinator) checkPause(g *generation) Tick {
	_, size := g.blocks()
	pause := c.pauseAfter(uint64(size))
	return Tick(pause/2 + c.draw.Uint64()%pause)
}

// awaitsCheck reports whether a light peer waits for an entry from a hub.
func (c *Coordinator) awaitsCheck(from Peer) bool {
	return c.light.on && c.light.check.asked == from && from != (Peer{})
}

// onChecked takes the entry after a state that is checked, or that the hub has none.
func (c *Coordinator) onChecked(from Peer, m *Segment, generations []generation) {
	k := &c.light.check
	k.asked, k.tried = Peer{}, append(k.tried, from)
	if len(generations) == 0 {
		if m.Height > k.on.height {
			k.denied++
		}
		return
	}
	g := &generations[0]
	if e := g.entry.Value(); e.Parent != k.on.link || !g.whole() {
		c.pauseGuide(from, aheadPause*c.cfg.Timing.Pull) // nobody asked for that
		return
	}
	k.above = g
}

// whole reports whether all claims are here that the entry names.
func (g *generation) whole() bool {
	return g.entry.Joined() && slices.EqualFunc(g.claims, g.entry.Value().Claims, func(claim seedlog.CheckedClaim, link seedlog.Link) bool { return claim.Link() == link })
}

// foldCheck begins to fold what is checked, if there is something. It reports whether it did.
func (c *Coordinator) foldCheck() bool {
	k := &c.light.check
	if k.above == nil {
		return false
	}
	c.startFold(k.on.state, nil, []FoldEntry{{parent: k.on.link, claims: k.above.claims}})
	c.out.Fold.carry, c.folds.underway.check = false, true
	return true
}

// foldedCheck compares the state that folding gave with what the entry says.
func (c *Coordinator) foldedCheck(s *rollout.Folded) {
	k := &c.light.check
	if k.above == nil {
		return // it is whole meanwhile
	}
	e := k.above.entry.Value()
	if !bytes.Equal(s.Theta[:], e.Theta) || !bytes.Equal(s.Digest[:], e.State) {
		if !k.doubted {
			k.doubted = true
			return
		}
		by := k.tried[len(k.tried)-1]
		c.out.note(NoteBad, e.Leader, fmt.Sprintf("the entry of height %d that %s gave does not follow from its claims", e.Height, by.Short()))
		c.shunGuide(by, fmt.Errorf("its entry of height %d has a false state", e.Height))
		c.endCheck(0)
		return
	}
	c.drawLight(k.above)
	c.endCheck(c.checkPause(k.above))
}

// drawLight has results of an entry re-run, as many as this peer owes, of claims on states that it has.
func (c *Coordinator) drawLight(g *generation) {
	var claims []seedlog.CheckedClaim
	var on []*node
	steps := uint64(0)
	for _, claim := range g.claims {
		v := claim.Value()
		i := slices.IndexFunc(c.ahead.recent, func(n *node) bool { return n.link == v.Parent })
		if i >= 0 && v.Peer != c.self && v.TotalSteps() > 0 {
			claims, on, steps = append(claims, claim), append(on, c.ahead.recent[i]), steps+v.TotalSteps()
		}
	}
	if steps == 0 || c.rules.Spec.SpotChecks == nil {
		return
	}
	owed := uint64(0)
	for c.spotOwed() {
		owed++
	}
	for _, d := range drawResults(claims, owed, func() uint64 { return c.draw.Uint64() % steps }) {
		v := claims[d.claim].Value()
		c.issue(&job{kind: jobAhead, parent: on[d.claim], claim: claims[d.claim], peer: v.Peer, counter: c.rules.First(v) + uint64(d.result)}, false)
	}
}
