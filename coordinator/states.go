package coordinator

import (
	"slices"

	"github.com/evoswarm/evoswarm/internal/evolve"
)

const (
	// stateBudget is how many bytes of recent states stay in memory, and as many of marks.
	stateBudget = 128 << 20
	// maxRecent and minRecent bound the number of recent states: a leader that loses its place, or a follower that
	// hears of a fork, goes back a few entries.
	maxRecent = 96
	minRecent = 3
	// maxMarks bounds the marks; when there are more, every second one goes and their distance doubles.
	maxMarks = 32
	// minMarks is enough for one of them to become the root in time.
	minMarks = 2
	// firstInterval is the distance of the first marks in height.
	firstInterval = 256
)

// markEvery is firstInterval. Tests change it.
var markEvery uint64 = firstInterval

// states keeps the states of some entries in memory: of recent ones, and marks along the chain from which older ones
// are folded again when a fork needs them. The root's state is always there.
type states struct {
	recent, marks       []*node // oldest first
	maxRecent, maxMarks int
	first, interval     uint64 // between marks, at the beginning and now
	bytes               int64  // of one state
}

func newStates(shape evolve.Shape) states {
	fit := int(stateBudget / max(shape.Bytes(), 1))
	s := states{maxRecent: min(max(fit, minRecent), maxRecent), maxMarks: min(max(fit, minMarks), maxMarks), first: markEvery, bytes: shape.Bytes()}
	if s.maxMarks < 4 {
		s.first = keepDepth // fewer than 4 marks of the shorter distance would not reach far enough below the head
	}
	s.interval = s.first
	return s
}

// StateMemory returns how many bytes of states a coordinator keeps at most, the best one included.
func StateMemory(shape evolve.Shape) int64 {
	s := newStates(shape)
	return int64(s.maxRecent+s.maxMarks+3) * shape.Bytes()
}

// keep remembers the state of n. head's state stays whatever its age.
func (s *states) keep(n *node, state *evolve.State, head *node) {
	n.state = state
	if s.marked(n) {
		s.marks = append(s.marks, n)
		s.thin()
	} else {
		s.recent = append(s.recent, n)
	}
	for len(s.recent) > s.maxRecent {
		old := s.recent[0]
		s.recent = s.recent[1:]
		if old == head {
			s.recent = append(s.recent, old)
			continue
		}
		old.state = nil
	}
}

// thin doubles the distance of the marks until few enough are left. A mark that is too many becomes a recent state.
func (s *states) thin() {
	for len(s.marks) > s.maxMarks {
		s.interval *= 2
		var left []*node
		for _, n := range s.marks {
			if n.height%s.interval == 0 {
				left = append(left, n)
			} else {
				s.recent = append(s.recent, n)
			}
		}
		// Forks at one height: the oldest becomes a recent one too.
		if len(left) == len(s.marks) {
			s.recent = append(s.recent, left[0])
			left = left[1:]
		}
		s.marks = left
	}
}

// unmark takes n from the marks: as the root it keeps its state anyway. Marks come closer again when few are left.
func (s *states) unmark(n *node) {
	s.marks = slices.DeleteFunc(s.marks, func(m *node) bool { return m == n })
	if s.interval > s.first && 2*len(s.marks) < s.maxMarks {
		s.interval /= 2
	}
}

// marked reports whether n is one of the marks.
func (s *states) marked(n *node) bool { return n.height%s.interval == 0 }
