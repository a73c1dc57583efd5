package runspec

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/evoswarm/evoswarm/internal/nearest"
)

// ErrSetting is wrapped by every error about a setting. The message names the setting, the value and what is allowed.
var ErrSetting = errors.New("bad setting")

// Settings are values that differ from the preset's, by Setting.Name. The type of a value is that of the
// setting: uint64, float64, bool, string, or []uint64.
type Settings map[string]any

// Setting describes one thing that a run can be told besides its environment, strategy and seed. Flags, help,
// configuration files, checks, the library's options and the table in docs/spec/episodes.md follow from it.
type Setting struct {
	Name    string   // of the flag and in Settings, such as "max-penalty"
	Old     []string // names that earlier versions had: still accepted, not shown
	Key     string   // in a configuration file, such as "episodes.max_penalty"
	OldKeys []string // keys that earlier versions had: still accepted, not shown
	Doc     string   // what it is, in a phrase; a number is called X, a whole one N

	Min, Max     float64  // of a number, both included
	Zero         string   // what 0 is for, if that is special: it is allowed below Min too
	Choices      []string // of a word; nil for anything else
	Default      any      // what holds where neither the user nor the preset says anything; nil: the preset always does
	TrainingOnly bool     // held-out episodes ignore it

	field func(*draft) any // a pointer to where the value goes; its type is the setting's
}

// All returns all settings, in the order in which help shows them. Read-only.
func All() []Setting { return table }

// Find returns the setting with that name, or one that earlier versions called so.
func Find(name string) (Setting, bool) {
	for _, s := range table {
		if s.Name == name || slices.Contains(s.Old, name) {
			return s, true
		}
	}
	return Setting{}, false
}

// OfPolicy reports whether the setting says what the policy is.
func (s Setting) OfPolicy() bool { return strings.HasPrefix(s.Key, "policy.") }

// Arg is what help calls the value; empty for true or false.
func (s Setting) Arg() string {
	switch s.field(new(draft)).(type) {
	case *bool:
		return ""
	case *string:
		return strings.Join(s.Choices, "|")
	case *[]uint64:
		return "N,N,..."
	case *uint64:
		return "N"
	}
	return "X"
}

// Help describes the setting in a line: what it is, when it holds, and its default.
func (s Setting) Help() string {
	text := s.Doc
	if s.TrainingOnly {
		text += ", in training only"
	}
	if s.Zero != "" {
		text += "; 0 " + s.Zero
	}
	if s.Default != nil {
		text += fmt.Sprintf(" (default %v)", s.Default)
	}
	return text
}

// Range says what values are allowed.
func (s Setting) Range() string {
	numbers := fmt.Sprintf("from %s to %s", short(s.Min), short(s.Max))
	switch s.field(new(draft)).(type) {
	case *bool:
		return "true or false"
	case *string:
		last := len(s.Choices) - 1
		return strings.Join(s.Choices[:last], ", ") + " or " + s.Choices[last]
	case *[]uint64:
		return "whole numbers " + numbers + ", with commas between them"
	case *uint64:
		return "a whole number " + numbers
	}
	if s.Zero != "" && s.Min > 0 {
		return "0 " + s.Zero + ", or a number " + numbers
	}
	return "a number " + numbers
}

func short(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// Parse reads a value as a user writes it. Its error says what is allowed; the caller names the setting and the value.
func (s Setting) Parse(text string) (any, error) {
	v, err := s.read(text)
	if err != nil || s.Check(v) != nil {
		return nil, errors.New("want " + s.Range())
	}
	return v, nil
}

func (s Setting) read(text string) (any, error) {
	switch s.field(new(draft)).(type) {
	case *bool:
		return strconv.ParseBool(text)
	case *uint64:
		return strconv.ParseUint(text, 0, 64)
	case *float64:
		return strconv.ParseFloat(text, 64)
	case *[]uint64:
		var all []uint64
		for part := range strings.SplitSeq(text, ",") {
			n, err := strconv.ParseUint(strings.TrimSpace(part), 10, 64)
			if err != nil {
				return nil, err
			}
			all = append(all, n)
		}
		return all, nil
	}
	return text, nil
}

// Check returns an error that wraps ErrSetting unless v has the setting's type and is in its range.
func (s Setting) Check(v any) error {
	ok := false
	switch p := s.field(new(draft)).(type) {
	case *bool:
		_, ok = v.(bool)
	case *string:
		word, is := v.(string)
		ok = is && slices.Contains(s.Choices, word)
	case *uint64:
		n, is := v.(uint64)
		ok = is && s.holds(float64(n))
	case *float64:
		x, is := v.(float64)
		ok = is && s.holds(x)
	case *[]uint64:
		all, is := v.([]uint64)
		ok = is && len(all) > 0 && !slices.ContainsFunc(all, func(n uint64) bool { return !s.holds(float64(n)) })
	default:
		panic(fmt.Sprintf("runspec: setting %s is a %T", s.Name, p))
	}
	if !ok {
		return fmt.Errorf("%w: %s is %v, want %s", ErrSetting, s.Name, v, s.Range())
	}
	return nil
}

func (s Setting) holds(x float64) bool { return x >= s.Min && x <= s.Max || x == 0 && s.Zero != "" }

// set writes v, which Check accepts, to where it goes.
func (s Setting) set(d *draft, v any) {
	switch p := s.field(d).(type) {
	case *bool:
		*p = v.(bool)
	case *string:
		*p = v.(string)
	case *uint64:
		*p = v.(uint64)
	case *float64:
		*p = v.(float64) + 0 // -0 becomes 0, which has one encoding
	case *[]uint64:
		*p = v.([]uint64)
	}
}

// value returns what d has; ok is false for what says nothing: no word, no layer, no number where 0 is out of range.
func (s Setting) value(d *draft) (v any, ok bool) {
	switch p := s.field(d).(type) {
	case *bool:
		v = *p
	case *string:
		v = *p
	case *uint64:
		v = *p
	case *float64:
		v = *p
	case *[]uint64:
		v = *p
	}
	return v, s.Check(v) == nil
}

// check refuses settings that there are not, and values that are out of range.
func (all Settings) check() error {
	names := make([]string, len(table))
	for i, s := range table {
		names[i] = s.Name
		if v, ok := all[s.Name]; ok {
			if err := s.Check(v); err != nil {
				return err
			}
		}
	}
	for name := range all { //lint:sorted any failure refuses the whole
		if !slices.Contains(names, name) {
			if near := nearest.Names(name, names); len(near) > 0 {
				names = near
			}
			return fmt.Errorf("%w: there is no %q; did you mean %s?", ErrSetting, name, strings.Join(names, ", "))
		}
	}
	return nil
}

// has reports whether any of the names has a value.
func (all Settings) has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return all[name] != nil })
}
