package coordinator

// Peers may drop the older part of their chain (--keep). What is left begins at a base, from which a restart goes
// on; who joins begins at a base, too, and folds the past from those who have it. Where nobody has it any more the
// run continues.

const (
	// cutDepth is how many entries below the head stay at least, whatever is final: those who lag, and those who
	// begin at a base, find all that they need.
	cutDepth = 2 * keepDepth
)

// gone is the height up to which this peer gives no entries: it dropped them, or has not folded them yet.
func (c *Coordinator) gone() uint64 {
	if c.based != nil && c.based.past != nil {
		return c.based.height
	}
	return c.cfg.Archive.First() - 1
}

// Cuttable is the greatest height of a state that the archive's chain may be cut to begin with; 0: it may not be
// cut. That is one from which no rule looks down any more, and where entries become final, a final one.
func (c *Coordinator) Cuttable() uint64 {
	head := c.chain.head.height
	if c.based != nil || !c.rules.Bases() || c.recall.asked || c.recall.part != nil || head < cutDepth {
		return 0
	}
	most := min(c.chain.root.height, head-cutDepth)
	if f := c.checkpoints.final; f != nil && f.Height+staleFinal >= head {
		most = min(most, f.Height)
	}
	return most
}

// Elsewhere reports whether a hub that is heard says that it has the whole run.
func (c *Coordinator) Elsewhere() bool {
	for _, h := range c.members.heard {
		if h.Hub && h.Gone == 0 && h.Height > 0 && c.lately(h) {
			return true
		}
	}
	return false
}

// mayGive reports whether a hub that is heard may have what lies right above a chain's head: it says so, and was
// not asked in vain again and again.
func (c *Coordinator) mayGive(h *presence) bool {
	q := c.members.pulls[h.peer]
	return h.Gone <= c.chain.head.height && (q == nil || q.failures < brokenPulls)
}

// stranded reports whether this peer was away so long that nobody has the entries that follow its own any more.
// While its chain grows, or somebody shares it, it was not away: what strangers say of theirs takes nobody from
// the swarm.
func (c *Coordinator) stranded() bool {
	if c.now-c.lastEntry < deliveringPulls*c.cfg.Timing.Pull {
		return false
	}
	gone := false
	for _, h := range c.members.heard {
		switch {
		case !h.Hub || !c.lately(h) || c.faults.peers[h.peer]:
		case c.chain.nodes[h.Head] != nil, c.mayGuide(h) && c.mayGive(h):
			return false
		default:
			gone = gone || c.mayGuide(h)
		}
	}
	return gone
}

// missPast notes whether anybody that is heard may have what the past lacks. Where nobody has, this peer's chain
// begins at its base permanently, unless somebody comes who has it.
func (c *Coordinator) missPast() {
	b := c.based
	others := false
	for _, h := range c.members.heard {
		if h.Hub && c.lately(h) && h.Height >= b.height && !c.faults.peers[h.peer] {
			if others = true; b.past.mayGive(h) {
				b.alone, b.lost = 0, false
				return
			}
		}
	}
	switch {
	case !others || b.lost:
	case b.alone == 0:
		b.alone = c.now
	case c.now-b.alone > deliveringPulls*c.cfg.Timing.Pull:
		b.lost = true
		c.out.note(NoteSync, c.self, "nobody here has the older entries of this run any more: the chain begins at its base, and what lies below stays unchecked")
	}
}

// vouches reports whether a peer may sign checkpoints: it has folded the run, or nobody has what is missing for
// that. What it signs then it has checked from its base on.
func (b *based) vouches() bool {
	return b == nil || b.lost
}
