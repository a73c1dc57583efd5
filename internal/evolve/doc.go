// Package evolve holds the evolution strategies: pure functions that say which
// parameters to try and how what was measured moves the model.
//
// A [Method] is a strategy as one can choose it: a name, settings with defaults and
// ranges, a constructor. A [Strategy] is a method with its settings filled in. It
// turns a [State] and a seed into a candidate, and a state and a generation's
// results into the next state. It keeps nothing between calls, so replaying,
// joining, checking and resuming a run are one fold of Apply.
//
// # Determinism
//
// Candidate, Apply and Init are bit exact: the same bits on every target. Results
// are summed in the order given; the parameters of a sum may be split over cores,
// the sum itself never.
package evolve
