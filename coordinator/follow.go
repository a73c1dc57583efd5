package coordinator

import (
	"errors"
	"fmt"
	"slices"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// errGap says that the parent of an entry is unknown.
var errGap = errors.New("coordinator: blocks are missing")

// pipeline is how many entries may wait for their re-runs at once while catching up.
const pipeline = 32

// onAnnounce takes a new entry from gossip. What is missing is pulled from the peer that relayed it.
func (c *Coordinator) onAnnounce(from, via Peer, at source, entry seedlog.CheckedEntry) {
	e := entry.Value()
	c.compare(entry)
	c.seeAhead(e.Height, e.Claims)
	if c.light.on {
		return // on its way when this peer said that it needs none
	}
	if from == c.election.leader {
		c.ahead.announced, c.ahead.height = entry, e.Height
		if c.seeCost(entry, len(entry.Bytes())); c.light.on {
			return
		}
		c.advance()
	}
	g := generation{entry: entry, claims: make([]seedlog.CheckedClaim, len(e.Claims))}
	known := g.entry.Joined()
	for i, link := range e.Claims {
		p := c.work.pool.links[link]
		if p == nil {
			known = false
			break
		}
		g.claims[i] = p.claim
	}
	if c.chain.nodes[e.Parent] == nil || !known {
		// Anybody can announce an entry that leads nowhere: only those who may lead cause questions to their neighbors.
		refused := c.chain.sides.refused.Has(entry.Link()) || c.chain.sides.refused.Has(e.Parent)
		if c.chain.nodes[entry.Link()] == nil && !refused && (c.known(from) || from == c.election.leader) {
			if (e.Leader != from || !c.seals(from, e.Term) || !c.await(entry.Link(), e)) && !c.verifies() {
				c.pull(via)
			}
		}
		return
	}
	c.placeNew(g, from, at)
}

// culprit is who answers for an invalid entry: who gave it, but the leader that sealed it where this peer's leader
// announced it and it came with the claims that it names. Hubs pass such entries on before they have what those follow.
func (c *Coordinator) culprit(g *generation, from Peer) Peer {
	if c.isComing(g.entry.Link()) && g.whole() {
		return g.entry.Value().Leader
	}
	return from
}

// placeNew takes an entry that came unasked, with all that it names.
func (c *Coordinator) placeNew(g generation, from Peer, at source) *node {
	known := c.chain.nodes[g.entry.Link()] != nil
	n, err := c.insert(g, at)
	switch {
	case errors.Is(err, errGap):
		c.pull(from)
		return nil
	case errors.Is(err, errRefused), errors.Is(err, errFull):
		return nil
	case err != nil:
		c.ban(c.culprit(&g, from), "announced an invalid entry: "+err.Error())
		return nil
	}
	c.remember(n.mandate)
	if from == n.leader {
		c.onHeartbeat(from, n.term)
	}
	switch {
	case known:
	case c.trusting():
		c.give(n, &g)
	default:
		c.passOn(n, &g, n.height)
	}
	return n
}

// insert checks that a generation fits its parent and adds it to the tree.
func (c *Coordinator) insert(g generation, from source) (*node, error) {
	link, below := g.entry.Link(), g.entry.Value().Parent
	if n := c.chain.nodes[link]; n != nil && n.stage != refused {
		return n, nil
	}
	if c.chain.sides.refused.Has(link) || c.chain.sides.refused.Has(below) {
		return nil, errRefused
	}
	parent := c.chain.nodes[below]
	if parent == nil {
		return nil, errGap
	}
	if err := c.checkPlace(g.entry, parent, g.claims); err != nil {
		return nil, err
	}
	n := c.chain.newNode(parent, g.entry, g.claims)
	if fork := c.chain.fork(parent); c.isFinal(fork) && n.height > fork.height+partedEntries && !c.parted(n, fork) {
		return nil, errRefused
	}
	n.body = &g
	c.noteVotes(n.term, n.leader, g.entry.Seal().Value().Votes)
	c.hang(n)
	if n.leader == c.election.leader && n.height > c.chain.head.height {
		c.election.liveness.entry(c.now, n.height)
	}
	c.markFalse(n)
	if !c.shelve(n, from) {
		return nil, errFull
	}
	return n, nil
}

// hang adds an entry to the tree. A leader that signed two for one place is disqualified.
func (c *Coordinator) hang(n *node) {
	if twin := c.chain.hang(n); twin != nil && c.trusting() {
		c.usedTwice(n.leader, n.height)
	} else if twin != nil && n.body != nil {
		c.caught(twin, n.body.entry.Bytes(), n.body.entry.Seal().Value().Signature)
	}
}

// follow names the best branches, and moves the head up the better one as far as it was checked. What replaces
// little and was elected is followed as soon as it is trusted; meanwhile what replaces more is audited.
func (c *Coordinator) follow() {
	c.folds.goal = c.chain.head
	for _, tip := range c.chain.tips {
		if n := c.nearest(tip); better(n, c.folds.goal) {
			c.folds.goal = n
		}
	}
	c.folds.far = bestTip(c.chain.root, c.chain.tips, c.open)
	if !better(c.folds.far, c.folds.goal) {
		c.folds.far = nil
	}
	if n := c.checked(c.folds.goal); n != c.chain.head && better(n, c.chain.head) {
		c.adopt(n)
	}
	if c.folds.far != nil {
		if n := c.checked(c.folds.far); better(n, c.chain.head) && (c.near(n) || c.audited(n)) {
			c.adopt(n)
		}
	}
	switch {
	case c.folds.goal == c.chain.head && !c.delivering():
		c.settled = c.chain.head
	case !c.settled.forgotten:
		c.settled = c.chain.fork(c.settled)
	}
	c.measure()
}

// open reports whether an audit may decide about the branch up to n: it is deep, and leaves what is final as it is, or
// a part of the swarm went that way.
func (c *Coordinator) open(n *node) bool {
	fork := c.chain.fork(n)
	return n == fork || c.deep(n) && (!c.isFinal(fork) || c.parted(n, fork))
}

// nearest is the highest entry on the way down from a tip that may end a chain and be followed without an audit; the
// fork if there is none near the tip.
func (c *Coordinator) nearest(tip *node) *node {
	fork := c.chain.fork(tip)
	if !c.trusting() && (c.chain.replaces(fork) > shallow || c.isFinal(fork)) {
		return fork
	}
	n := tip
	for range 2 * proofDepth {
		if n == fork || n.usable() && c.near(n) {
			return n
		}
		n = n.parent
	}
	return fork
}

// checked trusts what was checked on the way to a tip, and returns the highest entry there that may end a chain.
func (c *Coordinator) checked(tip *node) *node {
	var path []*node
	n := tip
	for ; n.stage != trusted; n = n.parent {
		path = append(path, n)
	}
	for _, m := range slices.Backward(path) {
		if m.stage != folded || m.reruns > 0 {
			break
		}
		m.stage, n = trusted, m
		if tip == c.folds.far && !c.near(tip) {
			c.store(m)
		}
	}
	for n.stage != trusted || !n.usable() {
		n = n.parent
	}
	return n
}

// askReruns asks for the re-runs that decide whether to follow an entry whose digests are right.
func (c *Coordinator) askReruns(n *node, decisive []seedlog.Counter) {
	if c.rules.Spec.SpotChecks != nil || c.trusting() {
		return // some of those who follow it will, and the leader has
	}
	for _, d := range decisive {
		claim := n.body.claims[d.Claim]
		if p := c.work.pool.links[claim.Link()]; claim.Value().Peer == c.self || (p != nil && p.good) {
			continue
		}
		on := c.chain.stateOf(n, claim.Value())
		if on == nil {
			continue
		}
		n.reruns++
		c.issue(&job{kind: jobDecisive, parent: on, node: n, claim: claim, peer: claim.Value().Peer, counter: d.Counter}, true)
	}
}

// decided takes the re-run of one decisive result.
func (c *Coordinator) decided(j *job, fitness []int64, steps uint64) {
	j.node.reruns--
	if stated, statedSteps := c.rules.At(j.claim.Value(), j.counter); !slices.Equal(stated, fitness) || statedSteps != steps {
		known := c.faults.peers[j.peer] // then the entry does not weigh what it did
		share := 1024                   // all natives re-run what decides an entry
		if j.drawn {
			share = c.cfg.Audit
		}
		c.exposeCounter(j.claim, j.counter, fitness, steps, c.lotOf(share))
		if j.drawn && !known {
			c.foundFalse(j.node, j.times)
		}
	}
}

// refuse gives up an entry whose digest is wrong, and everything above it. Its leader signed what anybody can refute.
func (c *Coordinator) refuse(n *node, err error) {
	spread(n, func(m *node) { m.stage = refused })
	c.disqualify(n.leader, fmt.Sprintf("logged a wrong entry at height %d: %v", n.height, err))
	c.forgetAbove(n)
}

// adopt moves the head to a trusted node and has the new entries audited.
func (c *Coordinator) adopt(n *node) {
	if c.cfg.Audit > 0 {
		for m := n; c.chain.canonAt(m.height) != m && m.height+proofDepth > n.height; m = m.parent {
			if c.rules.Spec.SpotChecks != nil {
				c.spotEntry(m)
			} else {
				c.drawAudits(m)
			}
		}
	}
	c.moveHead(n)
}

// drawAudits picks, by local and secret randomness, the claims of an entry to re-run.
func (c *Coordinator) drawAudits(n *node) {
	if n.body == nil {
		return // it was canonical before, and drawn then
	}
	for _, claim := range n.body.claims {
		if claim.Value().Peer == c.self || int(c.draw.Uint64()%1024) >= c.cfg.Audit || len(c.work.audits) >= maxAudits {
			continue
		}
		if on := c.chain.stateOf(n, claim.Value()); on != nil {
			c.work.audits = append(c.work.audits, audit{parent: on, claim: claim})
		}
	}
}
