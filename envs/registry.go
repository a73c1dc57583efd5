package envs

import (
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/evoswarm/evoswarm/internal/nearest"
)

// ErrUnknown is wrapped by the error of Find for an id that no environment has.
var ErrUnknown = errors.New("unknown environment")

// ErrSpec is wrapped by every error of Add. The message names the field and what is allowed.
var ErrSpec = errors.New("bad environment")

// MaxID is the largest length of an id.
const MaxID = 64

// registered holds the environments sorted by id. It changes only while a program starts, so it needs no lock.
var registered []*Spec

// Register is Add for init functions: it panics where Add returns an error. In a browser it makes no instance, and does
// without the first reset and step: the environments there are this module's, whose tests take them, and all of them
// would take a tab 0.1 s at each start.
func Register(spec *Spec) {
	if err := add(spec, playFirst); err != nil {
		panic("envs: registering: " + err.Error())
	}
}

// Add makes an environment known to Find and to everything that takes the id of one. spec must not change
// afterwards. Add refuses, with an error that wraps ErrSpec, a description that is incomplete or contradicts
// itself, an id that is taken, and an environment that does not do what its description says in a first reset
// and step.
//
// It may not be called while anything else of this module runs: call it in an init function or at the
// beginning of main. A program that replays a log, or takes part in a swarm, needs the same environments as
// the one that began the run.
func Add(spec *Spec) error { return add(spec, true) }

// add does what Add does, with an instance only if play is true.
func add(spec *Spec, play bool) error {
	if spec == nil {
		return fmt.Errorf("%w: no spec", ErrSpec)
	}
	if err := check(spec); err != nil {
		return fmt.Errorf("%w %q: %w", ErrSpec, spec.ID, err)
	}
	i := sort.Search(len(registered), func(i int) bool { return fold(registered[i].ID) >= fold(spec.ID) })
	if i < len(registered) && fold(registered[i].ID) == fold(spec.ID) {
		return fmt.Errorf("%w %q: ID: there is an environment %q already", ErrSpec, spec.ID, registered[i].ID)
	}
	if play {
		if err := try(spec); err != nil {
			return fmt.Errorf("%w %q: %w", ErrSpec, spec.ID, err)
		}
	}
	registered = append(registered, nil)
	copy(registered[i+1:], registered[i:])
	registered[i] = spec
	return nil
}

// All returns the registered environments sorted by id. The slice is the caller's, the specs are shared.
func All() []*Spec { return append([]*Spec(nil), registered...) }

// Find returns the environment with that id, in upper or lower case. The error for an unknown id wraps
// ErrUnknown and names the nearest ones that exist.
func Find(id string) (*Spec, error) {
	for _, s := range registered {
		if fold(s.ID) == fold(id) {
			return s, nil
		}
	}
	near := Nearest(id)
	if len(near) == 0 {
		return nil, fmt.Errorf("%w %q", ErrUnknown, id)
	}
	return nil, fmt.Errorf("%w %q; nearest: %s", ErrUnknown, id, strings.Join(near, ", "))
}

// Nearest returns up to three registered ids that id may have meant, best first. It is empty if nothing is near.
func Nearest(id string) []string {
	ids := make([]string, len(registered))
	for i, s := range registered {
		ids[i] = s.ID
	}
	return nearest.Names(strings.TrimSpace(id), ids)
}

// fold is what ids are compared by.
func fold(id string) string { return strings.ToLower(strings.TrimSpace(id)) }
