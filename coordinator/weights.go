package coordinator

// votingEntries is how many recent entries voting weight is counted over.
const votingEntries = 50

// recentWeights is the voting weight of every peer on the chain up to n: env-steps in the last entries, capped at
// twice the mean, so that one large machine does not decide alone.
func recentWeights(n *node) map[Peer]uint64 {
	weights := make(map[Peer]uint64)
	var total uint64
	for i := 0; i < votingEntries && n.parent != nil; i++ {
		for _, credit := range n.credits {
			weights[credit.peer] += credit.Steps
			total += credit.Steps
		}
		n = n.parent
	}
	if len(weights) == 0 {
		return weights
	}
	limit := 2 * (total/uint64(len(weights)) + 1)
	for peer, w := range weights { //lint:sorted each entry is capped on its own
		weights[peer] = min(w, limit)
	}
	return weights
}

// weights caches recentWeights of the head.
func (c *chain) weights() map[Peer]uint64 {
	if c.weightsOf != c.head {
		c.weightsOf, c.weightsCache = c.head, recentWeights(c.head)
	}
	return c.weightsCache
}
