package main

import (
	"slices"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// What is kept at most: states, and their values together (4 or 8 bytes each).
const (
	keptStates = 48
	keptValues = 1 << 20
)

// kept keeps the newest states of a run by the entry that each is the state after, so that a candidate that was made
// from one can be played. It always has the newest.
type kept struct {
	order  []seedlog.Link // oldest first
	states map[seedlog.Link]*evolve.State
	values int
}

// put adds a state, which is read-only from then on.
func (s *kept) put(on seedlog.Link, state *evolve.State) {
	if s.states[on] != nil {
		return
	}
	if s.states == nil {
		s.states = make(map[seedlog.Link]*evolve.State)
	}
	s.order, s.states[on] = append(s.order, on), state
	s.values += values(state)
	for len(s.order) > 1 && (len(s.order) > keptStates || s.values > keptValues) {
		s.values -= values(s.states[s.order[0]])
		delete(s.states, s.order[0])
		s.order = s.order[1:]
	}
}

// on returns the state after an entry; nil: it is not there.
func (s *kept) on(entry seedlog.Link) *evolve.State { return s.states[entry] }

// albumMoves is how many moves an album holds at most.
const albumMoves = 24

// album keeps the newest moves with what plays them, as long as a page may ask for them.
type album []move

// put adds the moves of generations in order; those known already, or of replaced generations, it drops first.
func (a *album) put(entries []recentEntry) {
	for _, e := range entries {
		*a = slices.DeleteFunc(*a, func(m move) bool { return m.Height >= e.Height })
		if e.Move != nil {
			*a = append(*a, *e.Move)
		}
	}
	sum := 0
	for i := len(*a) - 1; i >= 0; i-- {
		sum += values((*a)[i].candidate.state)
		if n := len(*a) - i; n > 1 && (n > albumMoves || sum > keptValues) {
			*a = slices.Delete(*a, 0, i+1)
			return
		}
	}
}

// find returns the candidate of a move; false: it is not kept any more.
func (a album) find(id string) (move, bool) {
	for _, m := range a {
		if m.ID == id {
			return m, true
		}
	}
	return move{}, false
}

// values counts what a state holds.
func values(s *evolve.State) int {
	n := len(s.Theta)
	for i := range s.Slots {
		slot := &s.Slots[i]
		n += len(slot.Values) + len(slot.Reals) + len(slot.Words)
	}
	return n
}
