package store

import (
	"math/bits"
	"slices"
)

// Summaries let a peer restart without reading its whole chain. They are small files of their own, or rows, that
// promise nothing: one may be lost, old or damaged, and the chain is read from further below.
//
// A summary of height h is kept in a slot. Its level is how often 2 divides h, and each level has two slots in turn, so
// that recent summaries lie close to each other and older ones ever farther apart.

const (
	summaryLevels = 32
	summarySlots  = 2 * summaryLevels
	// summaryBudget is how many bytes of summaries of one size are kept, if two of them take no more.
	summaryBudget = 256 << 20
)

// leastExponent is of the least distance of summaries: those of heights that 2 divides less often share a level. Tests
// change it.
var leastExponent = 5

// summarySlot is where a summary of a height goes, given its size in bytes and the budget.
func summarySlot(height uint64, size, budget int) int {
	levels := min(max(budget/(2*max(size, 1)), 1), summaryLevels)
	level := min(max(bits.TrailingZeros64(height)-leastExponent, 0), levels-1)
	turn := height >> (leastExponent + level)
	if level < levels-1 {
		turn >>= 1 // it is odd here
	}
	return 2*level + int(turn&1)
}

// newestUpTo returns the slot that holds the greatest height up to most; heights are 0 where nothing is kept.
func newestUpTo(heights *[summarySlots]uint64, most uint64) (slot int, ok bool) {
	for i, h := range heights {
		if h > 0 && h <= most && (!ok || h > heights[slot]) {
			slot, ok = i, true
		}
	}
	return slot, ok
}

// memorySummaries are summaries in memory.
type memorySummaries struct {
	heights [summarySlots]uint64
	data    [summarySlots][]byte
}

func (m *memorySummaries) put(height uint64, data []byte, budget int) (slot int) {
	slot = summarySlot(height, len(data), budget)
	m.heights[slot], m.data[slot] = height, slices.Clone(data)
	return slot
}

func (m *memorySummaries) get(most uint64) (height uint64, data []byte, ok bool) {
	slot, ok := newestUpTo(&m.heights, most)
	if !ok {
		return 0, nil, false
	}
	return m.heights[slot], m.data[slot], true
}
