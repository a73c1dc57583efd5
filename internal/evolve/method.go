package evolve

import (
	"errors"
	"fmt"
	"slices"
	"sort"
)

// ErrMethod is wrapped by the error of Find for a name that no method has.
var ErrMethod = errors.New("evolve: unknown strategy")

// ErrParams is wrapped by every error about a method's settings. The message names
// the setting, the value and what is allowed.
var ErrParams = errors.New("evolve: bad strategy setting")

// Params holds the settings of a strategy by name. The values are float64 or
// string. It goes into the genesis block of a run with every default written out.
type Params map[string]any

// Setting describes one setting of a method.
type Setting struct {
	// Name is how Params calls it.
	Name string
	// Doc says what it is, with its unit, in one sentence.
	Doc string
	// Default is a float64, or a string if Choices is set.
	Default any
	// Min and Max bound a number, both included.
	Min, Max float64
	// Integer says that a number must have no fraction.
	Integer bool
	// Choices are the values that a string may have; nil for a number.
	Choices []string
	// First are the Choices that revision 1 had, if they were fewer.
	First []string
	// Since is the revision of the method that brought the setting, 0 for the first one.
	// Runs of earlier revisions do not name it, and Default is what they do.
	Since uint64
}

// Method is an evolution strategy that can be chosen by name.
type Method struct {
	// Name is in lower case, such as "openai-es".
	Name string
	// Revision counts the changes that change bits; it starts at 1. Runs name
	// {Name, Revision}.
	Revision uint64
	// Doc says in a few sentences what the method does, and its source.
	Doc string
	// Settings are all that Params may and, once complete, must hold. Shared:
	// read-only.
	Settings []Setting
	// build makes the strategy of settings that are complete and checked. It returns an
	// error that wraps ErrParams if they do not fit each other or the size.
	build func(p Params, size Size) (Strategy, error)
}

// Size is how large a run is.
type Size struct {
	Dim        int // length of theta: 1 to MaxDim
	Population int // evaluations that close a generation, both signs counted: at least 1
}

// At returns m as it was in an earlier revision: with the settings of then, and New
// giving the bits of then. The error wraps ErrMethod.
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

// New makes the strategy for the settings p, complete. Errors wrap ErrParams: those of
// Check, and settings that contradict each other or the size.
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

// settings joins the parts of a method's settings, sorted by name.
func settings(parts ...[]Setting) []Setting {
	all := slices.Concat(parts...)
	sort.Slice(all, func(a, b int) bool { return all[a].Name < all[b].Name })
	return all
}

// pairs returns an error that wraps ErrParams if a population does not consist of
// pairs.
func pairs(method string, size Size) error {
	if size.Population%2 != 0 {
		return fmt.Errorf("%w: %s: population is %d, want an even number: each seed is tried with both signs", ErrParams, method, size.Population)
	}
	return nil
}

// Complete returns a copy of p with every missing default written out. It refuses
// what Check refuses, except absence.
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

// Check returns an error that wraps ErrParams unless p holds every setting of m,
// nothing else, and each is of the right type and in range.
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

// check says what is wrong with v as a value of s.
func (s Setting) check(v any) error {
	switch v := v.(type) {
	case float64:
		return s.checkNumber(v)
	case string:
		return s.checkString(v)
	}
	return fmt.Errorf("%s is of type %T, want %s", s.Name, v, s.want())
}

func (s Setting) checkNumber(x float64) error {
	switch {
	case s.Choices != nil:
		return fmt.Errorf("%s is %v, want %s", s.Name, x, s.want())
	case !(x >= s.Min && x <= s.Max): // also refuses NaN
		return fmt.Errorf("%s is %v, want %s", s.Name, x, s.want())
	case x == 0 && 1/x < 0:
		return fmt.Errorf("%s is -0, want 0", s.Name)
	case s.Integer && x != float64(int64(x)):
		return fmt.Errorf("%s is %v, want %s", s.Name, x, s.want())
	}
	return nil
}

func (s Setting) checkString(v string) error {
	for _, c := range s.Choices {
		if v == c {
			return nil
		}
	}
	return fmt.Errorf("%s is %q, want %s", s.Name, v, s.want())
}

// want says what s takes.
func (s Setting) want() string {
	switch {
	case s.Choices != nil:
		return fmt.Sprintf("one of %q", s.Choices)
	case s.Integer:
		return fmt.Sprintf("an integer in [%v, %v]", s.Min, s.Max)
	}
	return fmt.Sprintf("a number in [%v, %v]", s.Min, s.Max)
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

// names returns the names in p in ascending order.
func (p Params) names() []string {
	names := make([]string, 0, len(p))
	for name := range p {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// number returns a setting that Check has found to be a number.
func (p Params) number(name string) float64 { return p[name].(float64) }

// text returns a setting that Check has found to be a string.
func (p Params) text(name string) string { return p[name].(string) }
