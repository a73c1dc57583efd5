package store

import (
	"fmt"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// Cut is where the log of a run is to begin, whose older part is dropped.
type Cut struct {
	Height             uint64 // of the entry after which the state is
	Data               []byte // the summary of that height
	Start, Len         int    // where in Data the state is, as evolve.State encodes it
	Evaluations, Steps uint64 // of the chain up to there
}

// cutWindow is how many entries below the one with the state of a base, that included, stay in the log: as many as a
// coordinator reads there. Tests
// change it.
var cutWindow = 65

// leastBound is the least that a run can be told to take, without its states, in bytes, and leastStates how many states
// have room then.
const leastBound, leastStates = 32 << 20, 64

// LeastBound is the least number of bytes that a run can be told to take.
func LeastBound(rules *seedlog.Rules) int64 {
	return leastBound + leastStates*int64(rules.Initial().EncodedLen())
}

// base says what a reader has to know of the chain up to a height below the cut. read gives the entries from that
// height on.
func (c *Cut) base(low uint64, read func(height uint64) (seedlog.Link, []byte, bool)) (seedlog.Base, error) {
	b := seedlog.Base{Height: low, Evaluations: c.Evaluations, Steps: c.Steps, At: c.Height, Start: uint64(c.Start), Len: uint64(c.Len)}
	for height := low; height <= c.Height; height++ {
		l, data, ok := read(height)
		e, err := seedlog.DecodeEntry(data)
		if !ok || err != nil {
			return b, fmt.Errorf("cannot be read at height %d", height)
		}
		if height == low {
			b.Link, b.Term, b.Solved, b.Duration = l, e.Term, e.Solved, e.Duration
			continue
		}
		b.Evaluations -= e.Evaluations
		b.Steps -= e.Steps
	}
	return b, nil
}
