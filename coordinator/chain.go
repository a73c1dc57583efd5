package coordinator

import (
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// chain is the tree of all known branches, and which of them is canonical.
type chain struct {
	archive Archive

	rules      *seedlog.Rules
	run        seedlog.Link
	root, head *node   // the root is the lowest entry in memory: the genesis, or an entry far below the head
	reported   *node   // head that the driver knows
	canon      []*node // canonical chain from the root on
	nodes      map[seedlog.Link]*node
	removed    uint64  // entries taken out of nodes so far
	tips       []*node // ends of all branches
	sides      sides
	states     states // in memory
	credits    map[Peer]Credit
	self       Peer // whose credit always has room

	reorg  Reorg // the last one that the driver heard of
	reorgs uint64

	holdUntil  Tick   // until when nothing leaves memory
	summarized uint64 // height of the newest summary

	faulty      map[Peer]bool // peers whose work weighs nothing; shared with faults
	weightSteps uint64        // most that an entry weighs
	maxStale    uint64        // entries that a claim's parent may lie back
	chunk       uint64        // counters of a chunk
	trusting    bool          // whether all work counts in full

	weightsOf    *node
	weightsCache map[Peer]uint64

	headAccounts, branchAccounts accounts
}

func newChain(rules *seedlog.Rules, archive Archive, faulty map[Peer]bool) chain {
	root := newGenesis(rules)
	return chain{
		archive: archive, rules: rules, run: rules.Run, root: root, head: root, reported: root, canon: []*node{root}, nodes: map[seedlog.Link]*node{root.link: root}, tips: []*node{root}, sides: newSides(),
		states: newStates(rules.Plan.Shape()), credits: make(map[Peer]Credit), faulty: faulty, weightSteps: rules.Spec.Generation.WeightSteps,
		maxStale: rules.Spec.Generation.MaxStale, chunk: rules.Spec.Generation.Chunk, trusting: rules.Trusting(),
	}
}

// newGenesis is the node of the genesis.
func newGenesis(rules *seedlog.Rules) *node {
	return &node{link: rules.Run, stage: trusted, state: rules.Initial(), best: evolve.InvalidFitness, mean: evolve.InvalidFitness,
		fresh: rules.Spec.Generation.MaxStale > 0}
}

// canonAt is the canonical entry of a height, or nil if there is none in memory.
func (c *chain) canonAt(height uint64) *node {
	if height < c.root.height || height-c.root.height >= uint64(len(c.canon)) {
		return nil
	}
	return c.canon[height-c.root.height]
}

// above lists the canonical entries above a height that is in memory.
func (c *chain) above(height uint64) []*node { return c.canon[height+1-c.root.height:] }

// linkAt is the link of the canonical entry of a height, in memory or not.
func (c *chain) linkAt(height uint64) (seedlog.Link, bool) {
	if n := c.canonAt(height); n != nil {
		return n.link, true
	}
	link, _, ok := c.archive.At(height)
	return link, ok
}

// canonical reports whether n is on the canonical chain.
func (c *chain) canonical(n *node) bool { return c.canonAt(n.height) == n }

// fork is the last canonical entry at or below n.
func (c *chain) fork(n *node) *node {
	if c.canonical(n) {
		return n
	}
	if b := n.branch; b != nil && b.parent != nil && !c.canonical(b) && c.canonical(b.parent) { // nil: long below the root
		return b.parent
	}
	b := n
	for !c.canonical(b.parent) {
		b = b.parent
	}
	n.branch = b
	return b.parent
}

// move makes n the head. It returns the entries that ceased to be canonical, newest last, and those that became it.
func (c *chain) move(n *node) (gone, come []*node) {
	fork := c.fork(n)
	c.summarized = min(c.summarized, fork.height)
	gone = append(gone, c.above(fork.height)...)
	c.canon = c.canon[:fork.height+1-c.root.height]
	come = make([]*node, n.height-fork.height)
	for m := n; m != fork; m = m.parent {
		come[m.height-fork.height-1] = m
		m.branch = nil
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

// maxCredited bounds the peers whose credit is counted: a key costs its owner one chunk of work. Later ones are left
// out.
const maxCredited = 1 << 14

// credit adds the credits of an entry that became canonical, or takes them back.
func (c *chain) credit(n *node, add bool) {
	for _, credit := range n.credits {
		sum, counted := c.credits[credit.peer]
		switch {
		case !counted && (!add || len(c.credits) >= maxCredited && credit.peer != c.self):
			continue
		case add:
			sum.Evaluations += credit.Evaluations
			sum.Steps += credit.Steps
		default: // some of it may have been left out
			sum.Evaluations -= min(sum.Evaluations, credit.Evaluations)
			sum.Steps -= min(sum.Steps, credit.Steps)
		}
		if sum == (Credit{}) {
			delete(c.credits, credit.peer)
		} else {
			c.credits[credit.peer] = sum
		}
	}
}

// locator lists links from tip, which may be undefined, and from the head down, ever more widely spaced, and the
// run id at last.
func (c *chain) locator(tip seedlog.Link) []seedlog.Link {
	var links []seedlog.Link
	if tip.Defined() {
		links = append(links, tip)
	}
	step := uint64(1)
	for height := c.head.height; height > 0 && len(links) < maxLocator-2; {
		if link, ok := c.linkAt(height); ok {
			links = append(links, link)
		}
		if len(links) > 8 {
			step *= 2
		}
		height -= min(step, height)
	}
	return append(links, c.run)
}

// after is the height of the first link of a locator that is canonical here; 0 if none is.
func (c *chain) after(locator []seedlog.Link) uint64 {
	for _, link := range locator {
		if n := c.nodes[link]; n != nil && c.canonAt(n.height) == n {
			return n.height
		}
		if height, ok := c.forgotten(link); ok {
			return height
		}
	}
	return 0
}

// forgotten is the height of a canonical entry that has left memory.
func (c *chain) forgotten(link seedlog.Link) (height uint64, ok bool) {
	if c.root.height == 0 {
		return 0, false
	}
	if link == c.run {
		return 0, true
	}
	height, ok = c.archive.Height(link)
	return height, ok && height < c.root.height
}

// generation returns all blocks of the canonical entry of a height; false if the archive cannot read one of them now.
func (c *chain) generation(height uint64) (Generation, bool) {
	if n := c.canonAt(height); n != nil {
		return n.blocks(c.archive)
	}
	link, seal, ok := c.archive.At(height)
	if !ok {
		return Generation{}, false
	}
	data, ok := c.archive.Block(link)
	if !ok {
		return Generation{}, false
	}
	e, err := seedlog.ReadEntry(data, c.archive.Block)
	if err != nil {
		return Generation{}, false
	}
	return readGeneration(c.archive, data, seal, e.Named())
}

// newest is the newest entry at or below the head whose state is in memory.
func (c *chain) newest() *node {
	n := c.head
	for n.state == nil {
		n = n.parent
	}
	return n
}
