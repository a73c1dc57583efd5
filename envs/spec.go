package envs

import (
	"errors"
	"fmt"

	"github.com/evoswarm/evoswarm/internal/exact"
	"github.com/evoswarm/evoswarm/internal/noise"
)

// Unbounded is the bound of a value that has none: the largest float32. It means infinity and is finite so
// that a Spec can be written as JSON.
const Unbounded = 0x1.fffffep127

// ErrAction is wrapped by the errors of CheckAction.
var ErrAction = errors.New("bad action")

// ErrState is wrapped by the errors of CheckState and Stateful.SetState.
var ErrState = errors.New("bad state")

// ErrLacks is wrapped where an environment lacks methods that are not needed for training.
var ErrLacks = errors.New("the environment lacks methods")

// Spec is the static description of an environment. Registered specs are shared and never change. Title, Doc,
// State, View and FPS are for people: training does without.
type Spec struct {
	// ID is Gymnasium's id, such as "CartPole-v1".
	ID string `json:"id"`
	// Revision counts the changes of our implementation that change bits; it starts at 1. Runs name {ID, Revision}.
	Revision uint64 `json:"revision"`
	// Title is the name for people, such as "Cart Pole"; empty: the ID.
	Title string `json:"title"`
	// Doc is the documentation in the form of Gymnasium's, as Markdown.
	Doc string `json:"doc"`

	// ObsDim is the length of an observation, at least 1.
	ObsDim int `json:"obs_dim"`
	// ObsLow and ObsHigh bound each value of the observation; length ObsDim. -Unbounded and Unbounded mean no bound.
	ObsLow  []float64 `json:"obs_low"`
	ObsHigh []float64 `json:"obs_high"`
	// ObsBounds returns ObsLow and ObsHigh, and by their length ObsDim, where Params have these values. It depends on
	// nothing else. nil: they are those above whatever the values are.
	ObsBounds func(values []float64) (low, high []float64) `json:"-"`

	// Action is the action space.
	Action Space `json:"action"`

	// State names the values of Stateful.State and the range that SetState takes; empty for an environment
	// without them.
	State []Var `json:"state"`

	// MaxSteps is the time limit after which the caller truncates an episode, at least 1.
	MaxSteps int `json:"max_steps"`
	// SolvedReturn is the mean return over 100 episodes from which the environment counts as solved: Gymnasium's
	// reward_threshold, or ours if SolvedOurs.
	SolvedReturn float64 `json:"solved_return"`
	// SolvedOurs says that Gymnasium names no threshold for this environment.
	SolvedOurs bool `json:"solved_ours"`

	// View is the part of the world that a drawing shows; of one in space the form of the picture. Only a Drawer
	// needs it.
	View Bounds `json:"view"`
	// FPS is how many steps make one second of watching. Only a Drawer needs it.
	FPS int `json:"fps"`

	// Params are the parameters that [Spec.With] takes; instances are [Parametric] then.
	Params []Param `json:"params,omitempty"`

	// StepNS is roughly what a step takes on one core, in nanoseconds, for estimates only; 0 counts as 100.
	StepNS int `json:"-"`

	// New makes an instance. It must be Reset or SetState before use.
	New func() Env `json:"-"`

	// Of what With made: the description that it was made of, and the values of Params.
	base   *Spec
	values []float64
}

// Name returns the name for people.
func (s *Spec) Name() string {
	if s.Title == "" {
		return s.ID
	}
	return s.Title
}

// CanDraw returns an error that wraps ErrLacks unless instances can be drawn.
func (s *Spec) CanDraw() error {
	if _, ok := s.New().(Drawer); !ok {
		return fmt.Errorf("%w: %s cannot be drawn, it has no Draw", ErrLacks, s.ID)
	}
	return nil
}

// NewStateful makes an instance whose state can be read and set. The error wraps ErrLacks if instances cannot do that.
func (s *Spec) NewStateful() (Stateful, error) {
	env, ok := s.New().(Stateful)
	if !ok {
		return nil, fmt.Errorf("%w: the state of %s cannot be read or set, it has no State and SetState", ErrLacks, s.ID)
	}
	return env, nil
}

// Space is an action space: either N integers 0 .. N-1, or a box of Dim reals.
type Space struct {
	Discrete bool `json:"discrete"`
	// N is the number of actions of a discrete space, else 0.
	N int `json:"n"`
	// Dim is the length of an action: 1 if discrete.
	Dim int `json:"dim"`
	// Low and High bound each value of a box; nil if discrete.
	Low  []float64 `json:"low,omitempty"`
	High []float64 `json:"high,omitempty"`
}

// Var is one value of a state vector.
type Var struct {
	// Name says what it is, such as "cart position".
	Name string `json:"name"`
	// Unit is in SI, "" for none.
	Unit string `json:"unit"`
	// Low and High are the range that SetState takes.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// DiscreteSpace returns the space of the actions 0 .. n-1.
func DiscreteSpace(n int) Space { return Space{Discrete: true, N: n, Dim: 1} }

// BoxSpace returns the space of dim reals in [low, high].
func BoxSpace(dim int, low, high float64) Space {
	s := Space{Dim: dim, Low: make([]float64, dim), High: make([]float64, dim)}
	for i := range dim {
		s.Low[i], s.High[i] = low, high
	}
	return s
}

// Sample writes an action to act, of length s.Dim: each of the N with the same probability, or uniform in the
// box. Bit exact.
func (s *Space) Sample(act []float64, rng *noise.Stream) {
	if s.Discrete {
		act[0] = float64(rng.IntN(0, int64(s.N)))
		return
	}
	for i := range act {
		act[i] = rng.UniformIn(s.Low[i], s.High[i])
	}
}

// CheckAction returns an error that wraps ErrAction unless act is an action that the environment defines: of
// length spec.Action.Dim, finite, and for a discrete space an integer in 0 .. N-1. Reals outside the box are
// fine: every environment says what it does with them.
func CheckAction(spec *Spec, act []float64) error {
	if len(act) != spec.Action.Dim {
		return fmt.Errorf("%w: %s takes %d values, got %d", ErrAction, spec.ID, spec.Action.Dim, len(act))
	}
	for i, a := range act {
		if !finite(a) {
			return fmt.Errorf("%w: value %d is %v", ErrAction, i, a)
		}
	}
	if !spec.Action.Discrete {
		return nil
	}
	if a := act[0]; a < 0 || a > float64(spec.Action.N-1) || a != exact.Floor(a) {
		return fmt.Errorf("%w: %v; %s takes the integers 0 to %d", ErrAction, a, spec.ID, spec.Action.N-1)
	}
	return nil
}

// CheckState returns an error that wraps ErrState unless state has the length and ranges that spec.State gives.
func CheckState(spec *Spec, state []float64) error {
	if len(state) != len(spec.State) {
		return fmt.Errorf("%w: %s has %d values, got %d", ErrState, spec.ID, len(spec.State), len(state))
	}
	for i, x := range state {
		v := &spec.State[i]
		if !finite(x) {
			return fmt.Errorf("%w: %s (value %d) is %v", ErrState, v.Name, i, x)
		}
		if x < v.Low || x > v.High {
			return fmt.Errorf("%w: %s (value %d) is %v, not in [%v, %v]", ErrState, v.Name, i, x, v.Low, v.High)
		}
	}
	return nil
}

// finite reports whether x is neither NaN nor infinite.
func finite(x float64) bool { return x-x == 0 }
