package envs

import (
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/evoswarm/evoswarm/internal/nearest"
)

// ErrUnknown is wrapped by the error of Find for an id that no world has.
var ErrUnknown = errors.New("envs: unknown world")

// registered holds the worlds sorted by id. It changes only while packages are
// initialised, so it needs no lock.
var registered []*Spec

// Register adds a world. It is called by the init function of the world's package
// and panics if spec is not complete or its id is taken.
func Register(spec *Spec) {
	if err := check(spec); err != nil {
		panic("envs: registering " + spec.ID + ": " + err.Error())
	}
	i := sort.Search(len(registered), func(i int) bool { return fold(registered[i].ID) >= fold(spec.ID) })
	if i < len(registered) && fold(registered[i].ID) == fold(spec.ID) {
		panic("envs: registering " + spec.ID + ": twice")
	}
	registered = append(registered, nil)
	copy(registered[i+1:], registered[i:])
	registered[i] = spec
}

// check says what is missing or contradictory in spec.
func check(spec *Spec) error {
	switch {
	case spec.ID == "" || spec.Title == "" || spec.Doc == "":
		return errors.New("no id, title or doc")
	case spec.Revision == 0 || spec.MaxSteps <= 0 || spec.FPS <= 0 || spec.New == nil:
		return errors.New("no revision, step limit, frame rate or constructor")
	case spec.ObsDim <= 0 || len(spec.ObsLow) != spec.ObsDim || len(spec.ObsHigh) != spec.ObsDim:
		return errors.New("observation bounds do not have length ObsDim")
	case spec.Action.Discrete && (spec.Action.N < 2 || spec.Action.Dim != 1):
		return errors.New("a discrete space has at least 2 actions of length 1")
	case !spec.Action.Discrete && (spec.Action.Dim <= 0 ||
		len(spec.Action.Low) != spec.Action.Dim || len(spec.Action.High) != spec.Action.Dim):
		return errors.New("action bounds do not have length Dim")
	case spec.View.MinX >= spec.View.MaxX || spec.View.MinY >= spec.View.MaxY:
		return errors.New("empty view")
	}
	return nil
}

// All returns the registered worlds sorted by id. The slice is the caller's, the
// specs are shared.
func All() []*Spec { return append([]*Spec(nil), registered...) }

// Find returns the world with that id, without regard to case. The error for an
// unknown id wraps ErrUnknown and names the nearest right ones.
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

// Nearest returns up to three registered ids that id may have meant, best first. It is
// empty if nothing is near.
func Nearest(id string) []string {
	ids := make([]string, len(registered))
	for i, s := range registered {
		ids[i] = s.ID
	}
	return nearest.Names(strings.TrimSpace(id), ids)
}

// fold is what ids are compared by.
func fold(id string) string { return strings.ToLower(strings.TrimSpace(id)) }
