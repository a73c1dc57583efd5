package coordinator

import (
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// chain is the tree of all known branches, and which of them is canonical.
type chain struct {
	root, head *node
	reported   *node   // head that the driver knows
	canon      []*node // canonical chain by height
	nodes      map[seedlog.Link]*node
	tips       []*node // ends of all branches
	states     states  // in memory
	credits    map[Peer]Credit

	faulty      map[Peer]bool // peers whose work weighs nothing; shared with faults
	weightSteps uint64        // most that an entry weighs

	weightsOf    *node
	weightsCache map[Peer]uint64
}

func newChain(rules *seedlog.Rules, faulty map[Peer]bool) chain {
	root := &node{link: rules.Run, stage: trusted, state: rules.Initial(), best: evolve.InvalidFitness, mean: evolve.InvalidFitness}
	return chain{
		root: root, head: root, reported: root, canon: []*node{root}, nodes: map[seedlog.Link]*node{root.link: root}, tips: []*node{root},
		states: newStates(rules.Plan.Shape()), credits: make(map[Peer]Credit), faulty: faulty, weightSteps: rules.Spec.Generation.WeightSteps,
	}
}

// canonAt is the canonical entry of a height, or nil.
func (c *chain) canonAt(height uint64) *node {
	if height >= uint64(len(c.canon)) {
		return nil
	}
	return c.canon[height]
}

// fork is the last canonical entry at or below n.
func (c *chain) fork(n *node) *node {
	for c.canonAt(n.height) != n {
		n = n.parent
	}
	return n
}

// move makes n the head. It returns the entries that ceased to be canonical, newest last, and those that became it.
func (c *chain) move(n *node) (gone, come []*node) {
	fork := c.fork(n)
	gone = append(gone, c.canon[fork.height+1:]...)
	c.canon = c.canon[:fork.height+1]
	come = make([]*node, n.height-fork.height)
	for m := n; m != fork; m = m.parent {
		come[m.height-fork.height-1] = m
	}
	c.canon = append(c.canon, come...)
	for _, m := range gone {
		c.credit(m, false)
	}
	for _, m := range come {
		c.credit(m, true)
	}
	c.head = n
	return gone, come
}

// credit adds the credits of an entry that became canonical, or takes them back.
func (c *chain) credit(n *node, add bool) {
	for _, credit := range n.credits {
		sum := c.credits[credit.peer]
		if add {
			sum.Evaluations += credit.Evaluations
			sum.Steps += credit.Steps
		} else {
			sum.Evaluations -= credit.Evaluations
			sum.Steps -= credit.Steps
		}
		if sum == (Credit{}) {
			delete(c.credits, credit.peer)
		} else {
			c.credits[credit.peer] = sum
		}
	}
}

// locator lists links from tip, which may be nil, and from the head down, ever more widely spaced, and the
// run id at last.
func (c *chain) locator(tip *node) []seedlog.Link {
	var links []seedlog.Link
	if tip != nil {
		links = append(links, tip.link)
	}
	step := uint64(1)
	for height := c.head.height; height > 0 && len(links) < maxLocator-2; {
		links = append(links, c.canon[height].link)
		if len(links) > 8 {
			step *= 2
		}
		height -= min(step, height)
	}
	return append(links, c.root.link)
}

// after is the first link of a locator that is canonical here; the root if none is.
func (c *chain) after(locator []seedlog.Link) *node {
	for _, link := range locator {
		if n := c.nodes[link]; n != nil && c.canonAt(n.height) == n {
			return n
		}
	}
	return c.root
}

// newest is the newest entry at or below the head whose state is in memory.
func (c *chain) newest() *node {
	n := c.head
	for n.state == nil {
		n = n.parent
	}
	return n
}
