// Package envs holds the environments that policies are trained in: what an environment does ([Env]), what is
// known about it without running it ([Spec]), where it is found by name ([Find]) and what it looks like
// ([Scene]).
//
// Floor 1, environments: floors 1 to 6 import it.
//
// # Environments
//
// An environment has a package of its own below envs, in two parts. step.go holds its state as one flat value
// and its dynamics in the kernel subset of Go (docs/spec/worlds.md), so that the same source can be
// translated for GPUs and for the browser. The other file wraps it as an [Env], describes it and draws it.
//
// Package envs/all imports every environment; programs import it for its registrations.
//
// # Environments of your own
//
// An environment outside this module implements [Env], describes itself in a [Spec] and calls [Register] from
// an init function, or [Add]. Everything that takes the id of an environment then takes its id too. Three
// methods are enough to train; those of [Drawer] and [Stateful] make it possible to watch and trace it.
// examples/hover in this module is a complete one to copy. Take functions such as sine from package
// envs/exactmath: those of package math give other bits on other machines, and a replay of the log there
// would fail.
//
// # Determinism
//
// Everything that an environment computes in Reset, Step and SetState is bit exact: the same bits on every
// target. Drawing is local.
package envs

import "github.com/evoswarm/evoswarm/internal/noise"

// Stream is where an environment draws its random numbers from: Uniform in [0, 1), UniformIn(low, high),
// IntN(low, high), Normal, Uint32 and Uint64. The same stream gives the same bits on every target. It is a
// flat value that can be copied with =; environments get a pointer and never keep it.
type Stream = noise.Stream

// NewStream returns the stream of the episode with that seed, at its beginning.
func NewStream(seed uint64) Stream { return noise.NewStream(seed, noise.DomainEpisode) }

// Env is one instance of an environment. It is not safe for concurrent use; make one per goroutine with Spec.New.
//
// An Env does not know about time limits: the caller truncates an episode that has taken Spec().MaxSteps
// steps. Nor does it reset itself. What Step does after it has returned terminated is finite and bit exact,
// but means nothing.
type Env interface {
	// Spec returns the static description of the environment, with the default parameters. It is shared: read-only.
	Spec() *Spec

	// Reset starts an episode: it draws the first state from rng, in the order in which Gymnasium draws it,
	// and writes the first observation to obs (length ObsDim of the description whose New made the instance). It
	// keeps no reference to rng or obs and does not allocate. The result depends on rng only, not on earlier episodes.
	Reset(rng *Stream, obs []float32)

	// Step applies act for one time step, writes the observation to obs and returns the reward and whether
	// the state reached is terminal.
	//
	// With a discrete action space act[0] holds the integer action; otherwise act has one value per
	// dimension. Actions that CheckAction refuses are made harmless instead: see [Index] and [Real]. rng is
	// the stream that Reset got, for environments that draw in every step. Step keeps no reference and does
	// not allocate.
	Step(rng *Stream, act []float64, obs []float32) (reward float64, terminated bool)
}

// Drawer is an Env that can be drawn, for watching and filming. Its Spec gives View and FPS.
type Drawer interface {
	Env
	// Draw replaces s by a drawing of the present state. It changes nothing else.
	Draw(s *Scene)
}

// Stateful is an Env whose state can be read and set, for traces and tests. Its Spec describes the values in State.
type Stateful interface {
	Env
	// State returns a copy of the state: one value for each of Spec().State, in that order.
	State() []float64

	// SetState makes state the present state and writes its observation to obs. It returns an error that
	// wraps ErrState, and changes nothing, if the length is wrong, or a value is not finite or out of the
	// range given in Spec().State.
	SetState(state []float64, obs []float32) error
}

// Mechanical is a Stateful with the state of a simulation by MuJoCo, from which everything else in its state vector
// follows where nobody says otherwise.
type Mechanical interface {
	Stateful

	// SetMotion makes positions, velocities and the accelerations with which the solver starts the present state, with
	// derived values that belong to them, and writes its observation to obs. It returns an error that wraps ErrState,
	// and changes nothing, if a length is wrong, or a value is not finite or out of the range given in Spec().State. An
	// empty warmstart is one of zeros.
	SetMotion(qpos, qvel, warmstart []float64, obs []float32) error
}
