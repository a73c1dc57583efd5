package evolve

import (
	"errors"
	"fmt"
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
	// New makes the strategy for theta of length dim (1 to MaxDim). It returns the
	// error of Check for p that Check refuses.
	New func(p Params, dim int) (Strategy, error)
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

// open checks p and dim, for New.
func (m Method) open(p Params, dim int) error {
	if dim < 1 || dim > MaxDim {
		return fmt.Errorf("%w: %s: dimension is %d, want 1 to %d", ErrParams, m.Name, dim, MaxDim)
	}
	return m.Check(p)
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
