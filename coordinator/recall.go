package coordinator

import (
	"fmt"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// A branch may leave the chain below what is in memory: two sides of a partition grew for long. Then the entries down
// to the fork come back from the archive, from the newest summary below it on, a few in each step.

const (
	// maxRecall is how far below the head a fork may lie. Each entry costs reads, and about a kilobyte meanwhile.
	maxRecall = 1 << 16
	// recallStep is how many entries are read in one step.
	recallStep = 8
	// recallHold is how long entries stay for a branch that is still being fetched, as a multiple of Timing.Pull, and
	// how long to wait at least before the next attempt. Each attempt doubles that, up to recallMost.
	recallHold = 32
	recallMost = 1 << 9
)

// Recall asks for the newest summary of a height up to the given one, as [Summaries] reads it; the answer is a Recalled
// event.
type Recall struct{ Height uint64 }

// recall is the way back to a deep fork.
type recall struct {
	asked bool // a summary was asked for
	part  *rebuilt
	again Tick // not to be begun before
	pause Tick // until again at the next attempt
}

// bringBack begins to recall the entries down to a height.
func (c *Coordinator) bringBack(height uint64) {
	r := &c.recall
	if r.asked || r.part != nil || c.now < r.again || c.based != nil {
		return
	}
	r.pause = min(max(2*r.pause, recallHold*c.cfg.Timing.Pull), recallMost*c.cfg.Timing.Pull)
	r.again = c.now + r.pause
	if first := c.cfg.Archive.First(); height+1 < first {
		c.out.note(NoteSync, c.self, fmt.Sprintf("a branch leaves the chain at height %d, below %d, from where on this peer has it; move the run's files away to join afresh", height, first))
		return
	}
	if height+maxRecall < c.chain.head.height {
		c.out.note(NoteSync, c.self, fmt.Sprintf("a branch leaves the chain at height %d, which is too far below the head to follow it; move the run's files away to join afresh", height))
		return
	}
	r.asked = true
	c.out.Recall = &Recall{height}
}

// recalled begins to read the chain from a summary on.
func (c *Coordinator) recalled(s *Summary) {
	r := &c.recall
	if !r.asked {
		return
	}
	r.asked = false
	if s == nil && c.chain.head.height > maxRecall || s != nil && s.Height >= c.chain.root.height {
		return
	}
	part, err := c.rebuild(s)
	if err != nil {
		c.abandon(err)
		return
	}
	r.part = part
}

// readBack reads the next entries of what is recalled, and puts it in place once it reaches the root.
func (c *Coordinator) readBack() {
	r := &c.recall
	for range recallStep {
		if r.part == nil {
			return
		}
		if r.part.top().height+1 == c.chain.root.height {
			c.chain.extendDown(r.part)
			c.chain.holdUntil = c.now + recallHold*c.cfg.Timing.Pull
			c.out.note(NoteSync, c.self, fmt.Sprintf("entries from height %d on are in memory again, for a branch that left the chain there", r.part.from))
			r.part = nil
			return
		}
		if err := r.part.read(c); err != nil {
			c.abandon(err)
		}
	}
}

func (c *Coordinator) abandon(err error) {
	c.recall.part = nil
	c.out.note(NoteSync, c.self, "cannot read the chain where another branch leaves it: "+err.Error())
}

// extendDown puts entries below the root, whose parents were its window, and makes the lowest with a state the root.
func (c *chain) extendDown(b *rebuilt) {
	old, top := c.root, b.top()
	b.settle(c, top, old.parent.evaluations, old.parent.steps, old.parent.weight, old.parent.votes)
	old.parent = top
	top.children = []*node{old}
	canon := make([]*node, 0, len(b.nodes)+len(c.canon))
	for _, n := range b.nodes {
		if n.height < b.from {
			continue
		}
		if n.height > b.from {
			n.parent.children = []*node{n}
		}
		c.nodes[n.link] = n
		canon = append(canon, n)
	}
	c.canon = append(canon, c.canon...)
	c.root = b.root()
	c.states.marks = append([]*node{old}, c.states.marks...)
}

// stays keeps the entries in memory that a branch hangs on, as long as fetching or checking it makes progress.
func (c *Coordinator) stays(n *node) {
	if n == nil || c.chain.root.height+2*keepDepth > c.chain.head.height || c.chain.holdUntil > c.now+recallHold*c.cfg.Timing.Pull/2 {
		return
	}
	if fork := c.chain.fork(n); fork.height+keepDepth < c.chain.head.height {
		c.chain.holdUntil = max(c.chain.holdUntil, c.now+recallHold*c.cfg.Timing.Pull)
	}
}

// gap says how to continue where the parent of an entry is not in memory. known reports that the entry itself is
// canonical here and was forgotten.
func (c *Coordinator) gap(link, parent seedlog.Link) (known bool) {
	if _, ok := c.chain.forgotten(link); ok {
		return true
	}
	if height, ok := c.chain.forgotten(parent); ok {
		c.bringBack(height)
	}
	return false
}
