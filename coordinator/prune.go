package coordinator

const (
	// keepDepth is how many canonical entries below the head stay in memory at least: more than any rule looks back.
	// Deeper ones are in the archive alone.
	keepDepth = 512
	// windowDepth is how many entries below the root stay linked as parents, for what is counted over recent entries.
	windowDepth = 64
)

// forget takes entries out of memory once the head is keepDepth above a canonical entry whose state is in memory: that
// entry becomes the root. Branches that leave the chain below it go too, except those that this peer follows or
// audits. The driver has stored what goes, since it knows the head.
func (c *Coordinator) forget() {
	if c.chain.head != c.chain.reported || c.now < c.chain.holdUntil || c.recall.part != nil {
		return
	}
	mark := c.chain.deepMark()
	if mark == nil || c.chain.fork(c.folds.goal).height < mark.height || c.auditsBelow(mark) {
		return
	}
	if f := c.folds.underway; f != nil && len(f.entries) > 0 && !f.entries[0].descends(mark) {
		c.dropFold()
	}
	c.chain.reroot(mark)
	c.dropForgotten()
}

// auditsBelow reports whether the branch that is audited leaves the chain below mark, but not so far that keeping it
// would let a stranger fill the memory.
func (c *Coordinator) auditsBelow(mark *node) bool {
	if c.folds.far == nil || c.folds.far.forgotten {
		return false
	}
	fork := c.chain.fork(c.folds.far)
	return fork.height < mark.height && c.chain.head.height < fork.height+4*keepDepth
}

// dropForgotten gives up work for which a state of a forgotten entry would be needed.
func (c *Coordinator) dropForgotten() {
	for _, id := range c.work.waiting {
		if j := c.work.jobs[id]; j != nil && j.parent.forgotten {
			delete(c.work.jobs, id)
		}
	}
	kept := c.work.audits[:0]
	for _, a := range c.work.audits {
		if !a.parent.forgotten {
			kept = append(kept, a)
		}
	}
	clear(c.work.audits[len(kept):])
	c.work.audits = kept
}

// deepMark is the highest canonical entry above the root and keepDepth below the head whose state is in memory; nil
// if there is none.
func (c *chain) deepMark() *node {
	var best *node
	for _, n := range c.states.marks {
		if n.height+keepDepth <= c.head.height && n.height > c.root.height && c.canonAt(n.height) == n && (best == nil || n.height > best.height) {
			best = n
		}
	}
	return best
}

// descends reports whether n is above m on m's branch, or m.
func (n *node) descends(m *node) bool {
	for n != nil && n.height > m.height {
		n = n.parent
	}
	return n == m
}

// reroot makes a canonical entry with a state the root and drops everything that is not above it.
func (c *chain) reroot(root *node) {
	stack := []*node{c.root}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if n == root {
			continue
		}
		stack = append(stack, n.children...)
		delete(c.nodes, n.link)
		c.removed++
		c.sides.entries.Delete(n.link)
		n.forgotten, n.children, n.state, n.body = true, nil, nil, nil
	}
	c.canon = append([]*node(nil), c.canon[root.height-c.root.height:]...)
	c.root = root
	lowest := root
	for range windowDepth {
		if lowest.parent == nil {
			break
		}
		lowest = lowest.parent
	}
	lowest.parent = nil
	c.tips = without(c.tips)
	c.states.recent, c.states.marks = without(c.states.recent), without(c.states.marks)
	c.states.unmark(root)
}

// without returns the nodes that are not forgotten.
func without(nodes []*node) []*node {
	kept := make([]*node, 0, len(nodes))
	for _, n := range nodes {
		if !n.forgotten {
			kept = append(kept, n)
		}
	}
	return kept
}
