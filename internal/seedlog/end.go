package seedlog

import (
	"errors"
	"fmt"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

var (
	// ErrEnded is returned for an entry on one that ended its run.
	ErrEnded = errors.New("seedlog: the run has ended")
	// ErrNotSolved is returned for an entry that says that a state passed the test which does not.
	ErrNotSolved = errors.New("seedlog: the test was not passed")
)

// Until says when a swarm's run ends: with the first entry of which one of these is true. Zero fields mean nothing.
type Until struct {
	Solved      bool   `cbor:"solved,omitempty" json:"solved,omitempty"`           // it names a state that passed the test
	Evaluations uint64 `cbor:"evaluations,omitempty" json:"evaluations,omitempty"` // of the run, at least
	Steps       uint64 `cbor:"steps,omitempty" json:"steps,omitempty"`             // env-steps of the run's claims, at least
	Entries     uint64 `cbor:"entries,omitempty" json:"entries,omitempty"`         // its height
}

// MaxSolvedAge is how many entries below its parent an entry may name a state that passed the test: held-out episodes
// take time, and training continues meanwhile.
const MaxSolvedAge = 16

// End says what ended a run.
type End string

// The ends of runs.
const (
	Open             End = ""            // none
	EndedSolved      End = "solved"      // a state passed the test
	EndedEvaluations End = "evaluations" // as many as the spec asks for
	EndedSteps       End = "steps"       // as many env-steps
	EndedEntries     End = "entries"     // as many entries
)

// Ended says what ended the run with the entry p; Open: it continues.
func (r *Rules) Ended(p Parent) End {
	switch u := r.Spec.Until; {
	case u == nil:
	case u.Solved && p.Solved > 0:
		return EndedSolved
	case u.Evaluations > 0 && p.Evaluations >= u.Evaluations:
		return EndedEvaluations
	case u.Steps > 0 && p.Steps >= u.Steps:
		return EndedSteps
	case u.Entries > 0 && p.Height >= u.Entries:
		return EndedEntries
	}
	return Open
}

// checkSolved verifies the form of what an entry says of a state that passed the test.
func (r *Rules) checkSolved(e *Entry, parent Parent) error {
	switch {
	case e.Solved == 0:
		return nil
	case r.Spec.Until == nil || !r.Spec.Until.Solved:
		return fmt.Errorf("%w: the state of height %d is called solved, but the run does not end with that", ErrMalformed, e.Solved)
	case e.Solved > parent.Height || parent.Height-e.Solved > MaxSolvedAge:
		return fmt.Errorf("%w: the state of height %d is called solved at height %d; allowed: its parent and %d below", ErrOrder, e.Solved, e.Height, MaxSolvedAge)
	}
	return nil
}

// Passes reports whether returns of the episodes of [Rules.TestSeeds] pass the test: their mean is what counts as
// solved or better. Bit exact: they are added in their order.
func (r *Rules) Passes(returns []float64) bool { return Mean(returns) >= r.Env.SolvedReturn }

// Mean is the mean of returns, added in their order; 0 of none.
func Mean(returns []float64) float64 {
	sum := 0.0
	for _, x := range returns {
		sum += x
	}
	return sum / float64(max(len(returns), 1))
}

// Test runs the test on a state, the one after the entry on, and returns an error that wraps ErrNotSolved unless it
// passes.
func (r *Rules) Test(pool *rollout.Pool, state *evolve.State, on Link) error {
	returns := make([]float64, r.Spec.Checks.Test)
	pool.Returns(state, r.TestSeeds(on, r.Spec.Checks.Test), returns)
	if !r.Passes(returns) {
		return fmt.Errorf("%w: the state of %s has a mean return of %g in %d episodes, %g is asked for", ErrNotSolved, on, Mean(returns), len(returns), r.Env.SolvedReturn)
	}
	return nil
}

// checkUntil checks a spec's end.
func (s *Spec) checkUntil() error {
	switch u := s.Until; {
	case u == nil:
	case s.Format == Format1:
		return fmt.Errorf("%w: until is a field of format %d", ErrSpec, Format2)
	case s.Solo():
		return fmt.Errorf("%w: until is for swarms; who trains on one machine ends the run there", ErrSpec)
	case *u == (Until{}):
		return fmt.Errorf("%w: until says nothing; leave it out", ErrSpec)
	}
	return nil
}
