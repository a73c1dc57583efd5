package coordinator

import (
	"testing"

	"github.com/evoswarm/evoswarm/internal/evolve"
)

// TestStatesStayWithinTheirBudget keeps a long chain of large states and a fork at one height.
func TestStatesStayWithinTheirBudget(t *testing.T) {
	for _, dim := range []int{8, 1 << 20, 16 << 20} {
		shape := evolve.Shape{Dim: dim}
		s := newStates(shape)
		var all []*node
		for height := range uint64(20000) {
			n := &node{height: height}
			all = append(all, n)
			s.keep(n, &evolve.State{Gen: height}, n)
			if height == 8192 {
				for range 50 {
					fork := &node{height: height}
					all = append(all, fork)
					s.keep(fork, &evolve.State{Gen: height}, n)
				}
			}
		}
		held := 0
		for _, n := range all {
			if n.state != nil {
				held++
			}
		}
		if limit := StateMemory(shape) / shape.Bytes(); int64(held) > limit || held < minRecent {
			t.Errorf("%d parameters: %d states are held, want %d to %d", dim, held, minRecent, limit)
		}
		if all[len(all)-1].state == nil {
			t.Errorf("%d parameters: the head's state is gone", dim)
		}
		if len(s.marks) > s.maxMarks {
			t.Errorf("%d parameters: %d marks, want at most %d", dim, len(s.marks), s.maxMarks)
		}
	}
}
