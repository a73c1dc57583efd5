// Package envs holds the worlds that policies are trained in: what a world is
// ([Env]), what is known about it without running it ([Spec]), where it is found
// by name ([Find]) and what it looks like ([Scene]).
//
// # Worlds
//
// A world lives in its own package below envs and consists of two parts. step.go
// holds its state as one flat value and its dynamics in the kernel subset of Go
// (docs/spec/worlds.md), so that the same source can be translated for GPUs and
// for the browser. The other file wraps it as an [Env], describes it and draws it.
//
// Package envs/all imports every world; programs import it for its registrations.
//
// # Determinism
//
// Everything a world computes in Reset, Step and SetState is bit exact: the same
// bits on every target. Drawing is local.
package envs

import "github.com/evoswarm/evoswarm/internal/noise"

// Env is one instance of a world. It is not safe for concurrent use; make one per
// goroutine with Spec.New.
//
// An Env does not know about time limits: the caller truncates an episode when it
// has taken Spec().MaxSteps steps. Nor does it reset itself. What Step does after
// it has returned terminated is finite and bit exact, but means nothing.
type Env interface {
	// Spec returns the static description of the world. It is shared: read-only.
	Spec() *Spec

	// Reset starts an episode: it draws the first state from rng, in the order in
	// which Gymnasium draws it, and writes the first observation to obs
	// (length Spec().ObsDim). It keeps no reference to rng or obs and does not
	// allocate. The result depends on rng only, not on earlier episodes.
	Reset(rng *noise.Stream, obs []float32)

	// Step applies act for one time step, writes the observation to obs and returns
	// the reward and whether the state reached is terminal.
	//
	// With a discrete action space act[0] holds the integer action; otherwise act has
	// one value per dimension. Actions that CheckAction refuses are made harmless
	// instead: see [Index] and [Real]. rng is the stream that Reset got, for worlds
	// that draw in every step. Step keeps no reference and does not allocate.
	Step(rng *noise.Stream, act []float64, obs []float32) (reward float64, terminated bool)

	// State returns a copy of the state, for traces and tests: one value for each of
	// Spec().State, in that order.
	State() []float64

	// SetState makes state the present state and writes its observation to obs.
	// It returns an error that wraps ErrState, and changes nothing, if the length is
	// wrong, a value is not finite or out of the range given in Spec().State.
	SetState(state []float64, obs []float32) error

	// Draw replaces s by a drawing of the present state.
	Draw(s *Scene)
}
