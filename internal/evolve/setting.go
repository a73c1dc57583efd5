package evolve

import (
	"errors"
	"fmt"
	"slices"
	"sort"
)

// ErrParams is wrapped by every error about settings. The message names the setting, the value and what is allowed.
var ErrParams = errors.New("evolve: bad strategy setting")

// Params holds the values of a strategy's settings by name, each a float64 or a string. The genesis block of
// a run contains them with all defaults written out.
type Params map[string]any

// Setting describes a setting of a method.
type Setting struct {
	// Name is its key in Params.
	Name string
	// Doc says what it is, with its unit, in a short phrase.
	Doc string
	// Default is a float64, or a string if there are Choices.
	Default any
	// Min and Max bound a number, both included.
	Min, Max float64
	// Integer says that a number must be whole.
	Integer bool
	// Choices are the allowed strings; nil for a number.
	Choices []string
	// First are the Choices of revision 1, if there were fewer.
	First []string
	// Since is the revision of the method that introduced the setting; 0 means the first. Runs of earlier
	// revisions do not name it and behave as with Default.
	Since uint64
}

// check returns an error unless v is a valid value of s.
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

// want describes the valid values of s.
func (s Setting) want() string {
	switch {
	case s.Choices != nil:
		return fmt.Sprintf("one of %q", s.Choices)
	case s.Integer:
		return fmt.Sprintf("an integer in [%v, %v]", s.Min, s.Max)
	}
	return fmt.Sprintf("a number in [%v, %v]", s.Min, s.Max)
}

// settings concatenates lists of settings and sorts them by name.
func settings(parts ...[]Setting) []Setting {
	all := slices.Concat(parts...)
	sort.Slice(all, func(a, b int) bool { return all[a].Name < all[b].Name })
	return all
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

// number returns a setting that has passed Check as a number.
func (p Params) number(name string) float64 { return p[name].(float64) }

// text returns a setting that has passed Check as a string.
func (p Params) text(name string) string { return p[name].(string) }
