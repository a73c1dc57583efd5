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
func (c *Coordinator) onAnnounce(from, via Peer, entry seedlog.CheckedEntry) {
	e := entry.Value()
	g := generation{entry: entry, claims: make([]seedlog.CheckedClaim, len(e.Claims))}
	known := true
	for i, link := range e.Claims {
		p := c.work.pool.links[link]
		if p == nil {
			known = false
			break
		}
		g.claims[i] = p.claim
	}
	if c.chain.nodes[e.Parent] == nil || !known {
		if c.chain.nodes[entry.Link()] == nil {
			c.pull(via)
		}
		return
	}
	n, err := c.insert(g)
	if err != nil {
		c.ban(from, "announced an invalid entry: "+err.Error())
		return
	}
	if from == n.leader {
		c.onHeartbeat(from, n.term, n.weight)
	}
}

// insert checks that a generation fits its parent and adds it to the tree.
func (c *Coordinator) insert(g generation) (*node, error) {
	if n := c.chain.nodes[g.entry.Link()]; n != nil {
		return n, nil
	}
	parent := c.chain.nodes[g.entry.Value().Parent]
	if parent == nil {
		return nil, errGap
	}
	if err := c.rules.CheckPlace(g.entry, parent.parentInfo(), g.claims); err != nil {
		return nil, err
	}
	n := c.chain.newNode(parent, g.entry, g.claims)
	n.body = &g
	c.hang(n)
	c.markFalse(n)
	return n, nil
}

// hang adds an entry to the tree. A leader that signed two for one place is disqualified.
func (c *Coordinator) hang(n *node) {
	if c.chain.hang(n) {
		c.disqualify(n.leader, "signed two entries for one place")
	}
}

// follow names the best known branch as the goal, and moves the head there as far as it is trusted.
func (c *Coordinator) follow() {
	c.folds.goal = bestTip(c.chain.root, c.chain.tips, func(*node) bool { return true })
	if !better(c.folds.goal, c.chain.head) {
		c.folds.goal = c.chain.head
	}
	var path []*node
	for n := c.folds.goal; n.stage != trusted; n = n.parent {
		path = append(path, n)
	}
	for _, n := range slices.Backward(path) {
		if n.stage != folded || n.reruns > 0 {
			break
		}
		n.stage = trusted
	}
	best := c.folds.goal
	for best.stage != trusted || !best.usable() {
		best = best.parent
	}
	if best != c.chain.head && better(best, c.chain.head) {
		c.adopt(best)
	}
	c.measure()
}

// askReruns asks for the re-runs that decide whether to follow an entry whose digests are right.
func (c *Coordinator) askReruns(n *node, decisive []seedlog.Counter) {
	for _, d := range decisive {
		claim := n.body.claims[d.Claim]
		if p := c.work.pool.links[claim.Link()]; claim.Value().Peer == c.self || (p != nil && p.good) {
			continue
		}
		n.reruns++
		c.issue(&job{kind: jobDecisive, parent: n.parent, node: n, claim: claim, peer: claim.Value().Peer, counter: d.Counter}, true)
	}
}

// decided takes the re-run of one decisive result.
func (c *Coordinator) decided(j *job, fitness []int64, steps uint64) {
	j.node.reruns--
	if stated, statedSteps := j.claim.Value().At(j.counter); !slices.Equal(stated, fitness) || statedSteps != steps {
		c.exposeCounter(j.claim, j.counter, fitness, steps)
	}
}

// refuse gives up an entry whose digest is wrong, and everything above it. Its leader signed what anybody can refute.
func (c *Coordinator) refuse(n *node, err error) {
	spread(n, func(m *node) { m.stage = refused })
	c.disqualify(n.leader, fmt.Sprintf("logged a wrong entry at height %d: %v", n.height, err))
}

// adopt moves the head to a trusted node and has the new entries audited.
func (c *Coordinator) adopt(n *node) {
	if c.cfg.Audit > 0 {
		for m := n; c.chain.canonAt(m.height) != m && m.height+proofDepth > n.height; m = m.parent {
			c.drawAudits(m)
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
		if claim.Value().Peer != c.self && int(c.draw.Uint64()%1024) < c.cfg.Audit && len(c.work.audits) < maxAudits {
			c.work.audits = append(c.work.audits, audit{parent: n.parent, claim: claim})
		}
	}
}
