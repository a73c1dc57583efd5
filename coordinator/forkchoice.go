package coordinator

// The fork choice: pure functions of the tree.

// usable reports whether a chain may end here: nothing below was refused, and no void entry is less than proofDepth
// below, or freshDepth. That depends on the branch alone, so peers that learn of a false claim at different times still
// agree.
func (n *node) usable() bool {
	return n.stage != refused && (n.falseAt == 0 || n.height >= n.falseAt+n.voidDepth())
}

// voidDepth is how far below the tip an entry of n's run may be void.
func (n *node) voidDepth() uint64 {
	if n.fresh {
		return freshDepth
	}
	return proofDepth
}

// better is the order of tips: weight, then the vote behind the tip, then the lower link.
func better(a, b *node) bool {
	if a.weight != b.weight {
		return a.weight > b.weight
	}
	if a.votes != b.votes {
		return a.votes > b.votes
	}
	return a.link.KeyString() < b.link.KeyString()
}

// bestTip is the best entry of the tree above root where a chain may end and which want accepts; root if there is none.
// tips are the ends of all branches.
func bestTip(root *node, tips []*node, want func(*node) bool) *node {
	best := root
	for _, n := range tips {
		for n.parent != nil && !(n.usable() && want(n)) {
			n = n.parent
		}
		if better(n, best) {
			best = n
		}
	}
	return best
}
