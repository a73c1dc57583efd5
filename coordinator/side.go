package coordinator

import (
	"errors"
	"slices"

	"github.com/evoswarm/evoswarm/internal/fair"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// Entries off the canonical chain: anybody can make them, so what they take is bounded and shared among those who
// deliver them.

const (
	// sideBytes is how much memory entries off the chain may take together, with their claims until those are stored.
	sideBytes = 64 << 20
	// sideCost is what an entry costs at least.
	sideCost = 1 << 10
	// maxTips bounds the branches.
	maxTips = 128
	// maxRefused bounds the refused entries that are remembered.
	maxRefused = 4096
)

var (
	// errRefused says that an entry, or the one below it, was refused here before.
	errRefused = errors.New("coordinator: a refused branch")
	// errFull says that there is no room for another entry off the chain now.
	errFull = errors.New("coordinator: too many entries off the chain")
)

// sides are the entries off the chain by who delivered them, and the lowest entries of refused branches.
type sides struct {
	entries *fair.Table[seedlog.Link, source, *node]
	refused *fair.Table[seedlog.Link, source, struct{}]
}

func newSides() sides {
	return sides{fair.NewTable[seedlog.Link, source, *node](1 << 62), fair.NewTable[seedlog.Link, source, struct{}](maxRefused)}
}

// cost is the memory that an entry takes.
func (n *node) cost() uint64 {
	cost := uint64(sideCost + 64*len(n.claims))
	if n.body != nil {
		cost += uint64(len(n.body.entry.Bytes()))
		for _, claim := range n.body.claims {
			cost += uint64(len(claim.Bytes()))
		}
	}
	return cost
}

// shelve notes who delivered an entry off the chain. It returns false if there was no room for it.
func (c *Coordinator) shelve(n *node, from source) bool {
	c.chain.sides.entries.Put(n.link, from, n.cost(), n)
	c.trim()
	return !n.forgotten
}

// trim has branches go where there are too many: of those who delivered most, the least.
func (c *Coordinator) trim() {
	for c.chain.sides.entries.Used() > sideBytes || len(c.chain.tips) > maxTips {
		tip := c.leastTip()
		if tip == nil {
			return
		}
		c.prune(tip)
	}
}

// leastTip is a tip of the source that delivered most, of those that nothing depends on: a refused one if there is any,
// or one that cannot be followed without an audit, and of those the lightest. Nil if there is none.
func (c *Coordinator) leastTip() (least *node) {
	var owner source
	var value int
	for _, n := range c.chain.tips {
		from, ok := c.chain.sides.entries.Source(n.link)
		if !ok || c.protected(n) {
			continue
		}
		if least != nil && from != owner {
			most, uses := c.chain.sides.entries.UsedBy(owner), c.chain.sides.entries.UsedBy(from)
			if uses < most || uses == most && owner.compare(from) < 0 {
				continue
			}
		} else if least != nil {
			if is := c.value(n); is > value || is == value && better(n, least) {
				continue
			}
		}
		least, owner, value = n, from, c.value(n)
	}
	return least
}

// value says in steps what a tip may still be good for.
func (c *Coordinator) value(n *node) int {
	switch {
	case n.stage == refused, !c.open(n):
		return 0
	case !c.near(n):
		return 1
	}
	return 2
}

// prune takes a tip out of memory, and what is below it as long as nothing else hangs on it and the same source
// delivered it.
func (c *Coordinator) prune(tip *node) {
	from, _ := c.chain.sides.entries.Source(tip.link)
	for n := tip; len(n.children) == 0 && !c.chain.canonical(n); n = n.parent {
		if by, ok := c.chain.sides.entries.Source(n.link); !ok || by != from {
			break
		}
		c.remove(n)
		if c.protected(n.parent) {
			break
		}
	}
	c.dropRemoved()
}

// protected reports whether an entry is on a branch that is followed or checked.
func (c *Coordinator) protected(n *node) bool {
	return n == c.folds.goal || n == c.folds.far || n == c.chain.reported
}

// remove takes an entry without children out of the tree.
func (c *Coordinator) remove(n *node) {
	n.forgotten, n.state, n.body = true, nil, nil
	delete(c.chain.nodes, n.link)
	c.chain.removed++
	c.chain.sides.entries.Delete(n.link)
	parent := n.parent
	if i := slices.Index(parent.children, n); i >= 0 {
		parent.children = slices.Delete(parent.children, i, i+1)
	}
	if i := slices.Index(c.chain.tips, n); i >= 0 {
		c.chain.tips = slices.Delete(c.chain.tips, i, i+1)
		if len(parent.children) == 0 && !parent.forgotten {
			c.chain.tips = append(c.chain.tips, parent)
		}
	}
}

// dropRemoved gives up work on entries that were removed.
func (c *Coordinator) dropRemoved() {
	states := &c.chain.states
	states.recent, states.marks = without(states.recent), without(states.marks)
	if f := c.folds.underway; f != nil && slices.ContainsFunc(f.entries, func(n *node) bool { return n.forgotten }) {
		c.dropFold()
	}
	for _, id := range sortedJobs(c.work.jobs) {
		if j := c.work.jobs[id]; j.parent.forgotten || j.node != nil && j.node.forgotten {
			delete(c.work.jobs, id)
			c.out.Cancel = append(c.out.Cancel, id)
		}
	}
	c.dropForgotten()
	if c.settled.forgotten {
		c.settled = c.chain.head
	}
}

// forgetAbove takes what is above a refused entry out of memory, and remembers that one. The entry itself stays, so
// that its leader cannot sign another for its place unnoticed.
func (c *Coordinator) forgetAbove(n *node) {
	if c.chain.nodes[n.link] != n || c.chain.canonical(n) {
		return
	}
	from, _ := c.chain.sides.entries.Source(n.link)
	c.chain.sides.refused.Put(n.link, from, 1, struct{}{})
	var branch []*node
	spread(n, func(m *node) { branch = append(branch, m) })
	for _, m := range slices.Backward(branch[1:]) { // those above come after those below
		m.children = nil
		c.remove(m)
	}
	c.dropRemoved()
}

// store has the blocks of a checked entry off the chain kept, so that a long branch takes little memory while it is
// audited.
func (c *Coordinator) store(n *node) {
	c.archiveBody(n)
	if from, ok := c.chain.sides.entries.Source(n.link); ok {
		c.chain.sides.entries.Put(n.link, from, n.cost(), n)
	}
}
