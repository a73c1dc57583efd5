package evolve

import (
	"errors"
	"fmt"
)

// ErrMethod is wrapped by the errors of Find and At for a name or revision that does not exist.
var ErrMethod = errors.New("evolve: unknown strategy")

// Method is an evolution strategy that users choose by name.
type Method struct {
	// Name is in lower case, such as "openai-es".
	Name string
	// Revision starts at 1 and counts the changes that changed bits. Runs name {Name, Revision}.
	Revision uint64
	// Doc says in a few sentences what the method does and where it comes from.
	Doc string
	// Settings are all settings of the method; complete Params hold exactly these. Shared, read-only.
	Settings []Setting
	// build makes the strategy from complete and checked settings. It returns an error that wraps ErrParams
	// if they contradict each other or the size.
	build func(p Params, size Size) (Strategy, error)
}

// Size is the size of a run.
type Size struct {
	Dim        int // length of theta, 1 to MaxDim
	Population int // evaluations of a generation, both signs counted; at least 1
	Growth     int // factor by which the step of the mean grows at most where a generation has more results; 0: 1

	// Pooled says that results of all groups are ranked together, each group not by itself.
	Pooled bool
}

// At returns m as of an earlier revision: with its settings then, and a New that gives the same bits as then.
// The error wraps ErrMethod.
func (m Method) At(revision uint64) (Method, error) {
	if revision == 0 || revision > m.Revision {
		return Method{}, fmt.Errorf("%w revision %d of %s; this build has 1 to %d", ErrMethod, revision, m.Name, m.Revision)
	}
	old := m
	old.Revision, old.Settings = revision, nil
	for _, s := range m.Settings {
		if revision == 1 && s.First != nil {
			s.Choices = s.First
		}
		if s.Since <= revision {
			old.Settings = append(old.Settings, s)
		}
	}
	old.build = func(p Params, size Size) (Strategy, error) {
		full, err := m.Complete(p)
		if err != nil {
			return nil, err
		}
		return m.build(full, size)
	}
	return old, nil
}

// New makes the strategy for complete settings p. Errors wrap ErrParams: those of Check, and settings that
// contradict each other or the size.
func (m Method) New(p Params, size Size) (Strategy, error) {
	if size.Dim < 1 || size.Dim > MaxDim {
		return nil, fmt.Errorf("%w: %s: dimension is %d, want 1 to %d", ErrParams, m.Name, size.Dim, MaxDim)
	}
	if size.Population < 1 {
		return nil, fmt.Errorf("%w: %s: population is %d, want at least 1", ErrParams, m.Name, size.Population)
	}
	if err := m.Check(p); err != nil {
		return nil, err
	}
	return m.build(p, size)
}

// pairs returns an error that wraps ErrParams if the population is odd.
func pairs(method string, size Size) error {
	if size.Population%2 != 0 {
		return fmt.Errorf("%w: %s: population is %d, want an even number, since every seed is evaluated with both signs", ErrParams, method, size.Population)
	}
	return nil
}

// Complete returns a copy of p with every missing setting at its default. Errors are those of Check, but for
// missing settings.
func (m Method) Complete(p Params) (Params, error) {
	full := Params{}
	for _, s := range m.Settings {
		full[s.Name] = s.Default
	}
	names := p.names()
	for _, name := range names {
		full[name] = p[name]
	}
	if err := m.Check(full); err != nil {
		return nil, err
	}
	return full, nil
}

// Check returns an error that wraps ErrParams unless p holds exactly the settings of m, each of the right
// type and in range.
func (m Method) Check(p Params) error {
	for _, name := range p.names() {
		s, ok := m.setting(name)
		if !ok {
			return fmt.Errorf("%w: %s has no %q; it has %v", ErrParams, m.Name, name, m.settingNames())
		}
		if err := s.check(p[name]); err != nil {
			return fmt.Errorf("%w: %s: %w", ErrParams, m.Name, err)
		}
	}
	for _, s := range m.Settings {
		if _, ok := p[s.Name]; !ok {
			return fmt.Errorf("%w: %s: %q is missing", ErrParams, m.Name, s.Name)
		}
	}
	return nil
}

func (m Method) setting(name string) (Setting, bool) {
	for _, s := range m.Settings {
		if s.Name == name {
			return s, true
		}
	}
	return Setting{}, false
}

func (m Method) settingNames() []string {
	names := make([]string, len(m.Settings))
	for i, s := range m.Settings {
		names[i] = s.Name
	}
	return names
}
