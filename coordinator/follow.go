package coordinator

import (
	"errors"
	"fmt"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// errGap says that an entry stands on one that is not known, or names claims that are not.
var errGap = errors.New("coordinator: blocks are missing")

// pipeline is how many entries may wait for their re-runs at once while catching up.
const pipeline = 32

// onAnnounce takes a new entry from the gossip. What it lacks is pulled from who handed it over.
func (c *Coordinator) onAnnounce(from, via Peer, m *Announce) {
	g := Generation{Entry: m.Entry, Seal: m.Seal}
	e, err := seedlog.DecodeEntry(m.Entry)
	if err != nil {
		c.ban(from, "announced an invalid entry: "+err.Error())
		return
	}
	known := true
	for _, link := range e.Claims {
		p := c.pool.links[link]
		if p == nil {
			known = false
			break
		}
		g.Claims = append(g.Claims, p.data)
	}
	if c.nodes[e.Parent] == nil || !known {
		if c.nodes[seedlog.LinkOf(m.Entry)] == nil {
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

// insert checks the form of a generation whose parent is known and hangs it into the tree.
func (c *Coordinator) insert(g Generation) (*node, error) {
	e, err := seedlog.DecodeEntry(g.Entry)
	if err != nil {
		return nil, err
	}
	link := seedlog.LinkOf(g.Entry)
	if n := c.nodes[link]; n != nil {
		return n, nil
	}
	parent := c.nodes[e.Parent]
	if parent == nil {
		return nil, errGap
	}
	seal, err := seedlog.DecodeSeal(g.Seal)
	if err != nil {
		return nil, err
	}
	claims := make([]*seedlog.Claim, len(g.Claims))
	for i, data := range g.Claims {
		if claims[i], _, err = c.memo.claim(c.rules, data); err != nil {
			return nil, err
		}
	}
	if err := c.rules.CheckEntry(e, seal, parent.parentInfo(), claims); err != nil {
		return nil, err
	}
	n := c.newNode(parent, link, e, seal, claims)
	n.archive = &body{entry: g.Entry, seal: g.Seal, claims: g.Claims}
	c.hang(n)
	c.markLie(n)
	return n, nil
}

// follow brings the best known branch to trust, and moves the head there as far as it got.
func (c *Coordinator) follow() {
	for {
		goal := c.bestTip(func(n *node) bool { return true })
		if goal == c.head || !better(goal, c.head) {
			return
		}
		if c.trustPath(goal) {
			return
		}
	}
}

// trustPath checks the entries up to goal in order. It returns false if one was refused.
func (c *Coordinator) trustPath(goal *node) bool {
	var path []*node
	for n := goal; n.stage != trusted; n = n.parent {
		path = append(path, n)
	}
	waiting := 0
	for i := len(path) - 1; i >= 0 && waiting < pipeline; i-- {
		n := path[i]
		if n.stage == linked {
			if err := c.fold(n); err != nil {
				c.refuse(n, err)
				return false
			}
		}
		if n.reruns > 0 || n.parent.stage != trusted {
			waiting++
			continue
		}
		n.stage = trusted
	}
	best := goal
	for best.stage != trusted || !best.usable() {
		best = best.parent
	}
	if best != c.head && better(best, c.head) {
		c.adopt(best)
	}
	return true
}

// fold applies an entry, compares the digests and asks for the re-runs that decide whether to follow.
func (c *Coordinator) fold(n *node) error {
	state, err := c.stateOf(n.parent)
	if err != nil {
		return err
	}
	claims, err := c.claimsOf(n)
	if err != nil {
		return err
	}
	e, err := seedlog.DecodeEntry(n.archive.entry)
	if err != nil {
		return err
	}
	next, err := c.rules.Advance(state, e, claims)
	if err != nil {
		return err
	}
	n.stage = folded
	c.states.keep(n, next, c.head)
	for _, d := range c.rules.Decisive(claims, c.cfg.Decisive) {
		claim := claims[d.Claim]
		if p := c.pool.links[n.claims[d.Claim]]; claim.Peer == c.self || (p != nil && p.good) {
			continue
		}
		n.reruns++
		c.issue(&job{kind: jobDecisive, parent: n.parent, node: n, claim: claim, link: n.claims[d.Claim], counter: d.Counter,
			task: c.rules.Recheck(state, n.parent.link, claim.Peer, d.Counter)}, true)
	}
	return nil
}

// decided takes the re-run of one decisive result.
func (c *Coordinator) decided(j *job, fitness []int64, steps uint64) {
	j.node.reruns--
	if stated, statedSteps := j.claim.At(j.counter); !equal(stated, fitness) || statedSteps != steps {
		c.exposeCounter(j.claim, j.link, seedlog.Encode(j.claim), j.counter, fitness, steps)
	}
}

// refuse gives up an entry whose digest is wrong, and everything above it. Its leader signed what anybody can refute.
func (c *Coordinator) refuse(n *node, err error) {
	spread(n, func(m *node) { m.stage = refused })
	c.bar(n.leader, fmt.Sprintf("logged a wrong entry at height %d: %v", n.height, err))
}

// adopt moves the head to a trusted node and has the new entries audited.
func (c *Coordinator) adopt(n *node) {
	old := c.head
	c.moveHead(n)
	for m := n; m != nil && m.height > 0 && m.height+proofDepth > n.height && c.cfg.Audit > 0 && m != old; m = m.parent {
		c.drawAudits(m)
	}
}

// drawAudits draws by local, secret randomness which claims of an entry are run again.
func (c *Coordinator) drawAudits(n *node) {
	claims, err := c.claimsOf(n)
	if err != nil {
		return
	}
	for i, claim := range claims {
		if claim.Peer != c.self && int(c.draw.Uint64()%1024) < c.cfg.Audit && len(c.audits) < maxAudits {
			c.audits = append(c.audits, audit{parent: n.parent, claim: claim, link: n.claims[i]})
		}
	}
}
