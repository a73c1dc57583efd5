package coordinator

const (
	// votingEntries is how many recent entries accounts are kept over.
	votingEntries = 50
	// earnedEntries is how many of them must hold claims of a key before its work counts in full: until then it is on
	// probation. Entries are re-run by their leader and, in samples, by all who follow, so a key earns its weight by
	// having been re-run.
	earnedEntries = 3
	// probationShare is the part of its work that counts while a key is on probation: one in so many.
	probationShare = 8
	// largestShare bounds what one key weighs in a vote: one in so many of all. Unlike a bound by the mean, it does not
	// sink when many small keys join.
	largestShare = 3
)

// account is what the last entries of a branch hold of one key.
type account struct {
	steps   uint64
	entries int
}

// accounts are those of all keys in the last entries up to one node.
type accounts struct {
	at     *node
	length int // entries in the window: fewer than votingEntries near the genesis
	of     map[Peer]account
}

// moveTo makes a the accounts of n. From a node to its child, or back, that costs as much as both have claims.
func (a *accounts) moveTo(n *node) {
	if a.at == n {
		return
	}
	path, ok := a.path(n)
	if !ok {
		a.recount(n)
		return
	}
	for i := len(path) - 1; i >= 0; i-- {
		a.enter(path[i])
	}
}

// path goes down to the last node that a.at and n have in common, and lists the nodes from there to n, newest first. It
// gives up where counting again is cheaper.
func (a *accounts) path(n *node) (up []*node, ok bool) {
	if a.at == nil {
		return nil, false
	}
	down, m := a.at, n
	for steps := 0; down != m; steps++ {
		if steps > votingEntries || down == nil || m == nil {
			return nil, false
		}
		if down.height >= m.height {
			down = down.parent
		} else {
			up = append(up, m)
			m = m.parent
		}
	}
	for a.at != down {
		a.leave()
	}
	return up, true
}

// recount counts the window of n.
func (a *accounts) recount(n *node) {
	a.at, a.length, a.of = n, 0, make(map[Peer]account)
	for m := n; a.length < votingEntries && m.parent != nil; m = m.parent {
		a.length++
		a.add(m)
	}
}

// enter moves to a child of the present node.
func (a *accounts) enter(child *node) {
	if a.length == votingEntries {
		a.drop(child.below(votingEntries))
	} else {
		a.length++
	}
	a.add(child)
	a.at = child
}

// leave moves to the parent of the present node.
func (a *accounts) leave() {
	a.drop(a.at)
	if old := a.at.below(votingEntries); old != nil && old.parent != nil {
		a.add(old)
	} else {
		a.length--
	}
	a.at = a.at.parent
}

// below is the ancestor so many entries below n; nil if there is none.
func (n *node) below(entries int) *node {
	for ; entries > 0 && n != nil; entries-- {
		n = n.parent
	}
	return n
}

func (a *accounts) add(n *node) {
	for _, credit := range n.credits {
		sum := a.of[credit.peer]
		a.of[credit.peer] = account{sum.steps + credit.Steps, sum.entries + 1}
	}
}

func (a *accounts) drop(n *node) {
	for _, credit := range n.credits {
		sum := a.of[credit.peer]
		if sum = (account{sum.steps - credit.Steps, sum.entries - 1}); sum.entries == 0 {
			delete(a.of, credit.peer)
		} else {
			a.of[credit.peer] = sum
		}
	}
}

// earned reports whether a key is off probation. Where the chain is shorter than probation lasts, those are whose
// claims are in every entry; on the genesis, all.
func (a *accounts) earned(p Peer) bool { return a.of[p].entries >= min(earnedEntries, a.length) }

// counted is what so many env-steps of a key count for: all, or on probation a part, rounded up.
func (a *accounts) counted(p Peer, steps uint64) uint64 {
	if a.earned(p) {
		return steps
	}
	return (steps + probationShare - 1) / probationShare
}

// votes is the voting weight of every key: its env-steps in the window as they count, at most a third of all.
func (a *accounts) votes() map[Peer]uint64 {
	weights := make(map[Peer]uint64, len(a.of))
	var total uint64
	for p, account := range a.of { //lint:sorted each key on its own, and a sum
		weights[p] = a.counted(p, account.steps)
		total += weights[p]
	}
	limit := total/largestShare + 1
	for p, w := range weights { //lint:sorted each key on its own
		weights[p] = min(w, limit)
	}
	return weights
}

// recentWeights is the voting weight of every key on the chain up to n.
func recentWeights(n *node) map[Peer]uint64 {
	var a accounts
	a.recount(n)
	return a.votes()
}

// weights caches the voting weights at the head.
func (c *chain) weights() map[Peer]uint64 {
	if c.weightsOf != c.head {
		c.headAccounts.moveTo(c.head)
		c.weightsOf, c.weightsCache = c.head, c.headAccounts.votes()
	}
	return c.weightsCache
}

// accountsAt are the accounts at a node that an entry is to follow: those of the head, or of the branch that was added
// to last, so that a segment of a foreign branch counts its window once.
func (c *chain) accountsAt(n *node) *accounts {
	if n == c.head {
		c.headAccounts.moveTo(n)
		return &c.headAccounts
	}
	c.branchAccounts.moveTo(n)
	return &c.branchAccounts
}
