// Package evolve holds the evolution strategies: pure functions that propose parameters and update the model from the
// fitness measured with them.
//
// Floor 2, learning: floors 2 to 6 import it.
//
// A [Method] is a strategy that users can choose by name, with settings, their defaults and ranges. A
// [Strategy] is a method with its settings filled in. It turns a [State] and a seed into a candidate, and a
// state and the results of a generation into the next state. It keeps nothing between calls, so replaying,
// joining, checking and resuming a run are one fold of Apply.
//
// # Determinism
//
// Candidate, Apply and Init are bit exact: the same bits on every target. Results are summed in the order
// given. Several cores may share the parameters of a sum, never its terms.
package evolve
