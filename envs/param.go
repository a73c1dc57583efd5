package envs

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/evoswarm/evoswarm/internal/nearest"
)

// ErrParam is wrapped by every error about a parameter of an environment. The message names the parameter, the value
// and what is allowed.
var ErrParam = errors.New("bad parameter of the environment")

// MaxParams is the largest number of parameters of an environment.
const MaxParams = 32

// ParamKind says what values a parameter takes.
type ParamKind string

// The kinds of parameters.
const (
	RealParam    ParamKind = "real"
	IntegerParam ParamKind = "integer"
	BoolParam    ParamKind = "bool" // 0 is false, 1 is true
)

// Param describes a parameter of an environment, such as the wind: what Gymnasium's constructor takes as a keyword.
type Param struct {
	// Name is Gymnasium's, such as "wind_power": small letters, digits and _.
	Name string    `json:"name"`
	Kind ParamKind `json:"kind"`
	// Default is Gymnasium's, the value where nobody says another.
	Default float64 `json:"default"`
	// Low and High are the range. They belong to it unless Open; those of a bool are 0 and 1.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	Open bool    `json:"open,omitempty"`
	// Unit is in SI, "" for none.
	Unit string `json:"unit,omitempty"`
	// Doc says what it is, in a phrase.
	Doc string `json:"doc"`
}

// Params are values of parameters by name; a bool is 0 or 1. What is left out has its default.
type Params map[string]float64

// Label names an environment with parameters for people: the id, and what --env-param takes for each of them.
func Label(id string, params Params) string {
	for _, name := range sorted(params) {
		id += " " + name + "=" + number(params[name])
	}
	return id
}

// Parametric is an Env whose Spec has Params.
type Parametric interface {
	Env

	// SetParam gives Spec().Params[i] a value that it takes, from the next Reset on.
	SetParam(i int, value float64)
}

// Range says what values the parameter takes.
func (p *Param) Range() string {
	switch {
	case p.Kind == BoolParam:
		return "true or false"
	case p.Kind == IntegerParam:
		return fmt.Sprintf("a whole number from %s to %s", number(p.Low), number(p.High))
	case p.Open:
		return fmt.Sprintf("a number between %s and %s, neither of them", number(p.Low), number(p.High))
	case p.Low == -Unbounded && p.High == Unbounded:
		return "a number"
	case p.Low == -Unbounded:
		return "a number up to " + number(p.High)
	case p.High == Unbounded:
		return "a number from " + number(p.Low) + " up"
	}
	return fmt.Sprintf("a number from %s to %s", number(p.Low), number(p.High))
}

// Text is a value as a user writes it.
func (p *Param) Text(value float64) string {
	if p.Kind == BoolParam {
		return strconv.FormatBool(value != 0)
	}
	return number(value)
}

// number is x as one types it: inf for what means infinity.
func number(x float64) string {
	switch x {
	case Unbounded:
		return "inf"
	case -Unbounded:
		return "-inf"
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// Parse reads a value as a user writes it. Errors wrap ErrParam.
func (p *Param) Parse(text string) (float64, error) {
	bad := fmt.Errorf("%w: %s is %q, want %s", ErrParam, p.Name, text, p.Range())
	if p.Kind == BoolParam {
		on, err := strconv.ParseBool(text)
		switch {
		case err != nil:
			return 0, bad
		case on:
			return 1, nil
		}
		return 0, nil
	}
	x, err := strconv.ParseFloat(text, 64)
	if x == x && !finite(x) {
		x = min(max(x, -Unbounded), Unbounded) // refused where the parameter has a bound
	}
	if err != nil || !p.takes(x) {
		return 0, bad
	}
	return x + 0, nil // -0 becomes 0, which has one encoding
}

// check returns an error that wraps ErrParam unless the parameter takes the value. -0 is refused: it would be a second
// encoding of 0.
func (p *Param) check(value float64) error {
	if !p.takes(value) || value == 0 && 1/value < 0 {
		return fmt.Errorf("%w: %s is %v, want %s", ErrParam, p.Name, value, p.wanted())
	}
	return nil
}

// wanted is Range for one who gives numbers.
func (p *Param) wanted() string {
	if p.Kind == BoolParam {
		return "0 (false) or 1 (true)"
	}
	return p.Range()
}

func (p *Param) takes(x float64) bool {
	if p.Open {
		return x > p.Low && x < p.High
	}
	return x >= p.Low && x <= p.High && (p.Kind == RealParam || x == float64(int64(x)))
}

// Param returns the parameter of that name. The error for an unknown one wraps ErrParam and names the nearest, or all.
func (s *Spec) Param(name string) (*Param, error) {
	i, err := s.param(name)
	if err != nil {
		return nil, err
	}
	return &s.Params[i], nil
}

func (s *Spec) param(name string) (int, error) {
	names := make([]string, len(s.Params))
	for i := range s.Params {
		if names[i] = s.Params[i].Name; names[i] == name {
			return i, nil
		}
	}
	switch near := nearest.Names(name, names); {
	case len(names) == 0:
		return 0, fmt.Errorf("%w: %s has no parameters, and so no %q", ErrParam, s.ID, name)
	case len(near) > 0:
		return 0, fmt.Errorf("%w: %s has no %q; nearest: %s", ErrParam, s.ID, name, strings.Join(near, ", "))
	}
	return 0, fmt.Errorf("%w: %s has no %q; it has %s", ErrParam, s.ID, name, strings.Join(names, ", "))
}

// With returns the description of the same environment with other parameters: instances that its New makes have them,
// and their observations the length that it says. Parameters that are left out have their defaults. It is s itself
// where all have. Errors wrap ErrParam.
func (s *Spec) With(params Params) (*Spec, error) {
	base := s
	if s.base != nil {
		base = s.base
	}
	values := base.Values()
	for _, name := range sorted(params) {
		i, err := base.param(name)
		if err != nil {
			return nil, err
		}
		if err := base.Params[i].check(params[name]); err != nil {
			return nil, err
		}
		values[i] = params[name]
	}
	if slices.Equal(values, base.Values()) {
		return base, nil
	}
	with := *base
	with.base, with.values = base, values
	if base.ObsBounds != nil {
		with.ObsLow, with.ObsHigh = base.ObsBounds(slices.Clone(values))
		with.ObsDim = len(with.ObsLow)
		if err := checkObsBounds(&with); err != nil {
			return nil, fmt.Errorf("%w: with %s: %w", ErrParam, Label(base.ID, with.Given()), err)
		}
	}
	with.Title = Label(base.Name(), with.Given())
	with.New = func() Env {
		env := base.New()
		for i, x := range values {
			env.(Parametric).SetParam(i, x)
		}
		return env
	}
	return &with, nil
}

// SameObs reports whether observations mean the same with both descriptions, as far as can be told: they have the same
// bounds, and of one environment the same value of every parameter that changes their length.
func (s *Spec) SameObs(other *Spec) bool {
	if !slices.Equal(s.ObsLow, other.ObsLow) || !slices.Equal(s.ObsHigh, other.ObsHigh) {
		return false
	}
	if s.ID != other.ID {
		return true
	}
	length := func(name string, value float64) int {
		with, err := s.With(Params{name: value})
		if err != nil {
			return 0 // not after With took the values of both
		}
		return with.ObsDim
	}
	theirs := other.Values()
	for i, x := range s.Values() {
		if name := s.Params[i].Name; x != theirs[i] && length(name, x) != length(name, theirs[i]) {
			return false
		}
	}
	return true
}

// Values returns the values of all Params, in their order, which instances that New makes have.
func (s *Spec) Values() []float64 {
	values := slices.Clone(s.values)
	for i := len(values); i < len(s.Params); i++ {
		values = append(values, s.Params[i].Default)
	}
	return values
}

// Given returns those of Values that are not defaults: what With has to be given for them; nil for none.
func (s *Spec) Given() Params {
	var given Params
	for i, x := range s.Values() {
		if p := &s.Params[i]; x != p.Default {
			if given == nil {
				given = Params{}
			}
			given[p.Name] = x
		}
	}
	return given
}

func sorted(params Params) []string {
	names := make([]string, 0, len(params))
	for name := range params { //lint:sorted below
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// checkParams says what is wrong with the descriptions of parameters.
func checkParams(params []Param) error {
	if len(params) > MaxParams {
		return fmt.Errorf("it has %d Params, want at most %d", len(params), MaxParams)
	}
	for i := range params {
		p := &params[i]
		if !paramName(p.Name) {
			return fmt.Errorf("its Params[%d] is named %q, want 1 to %d small letters, digits and _, a letter first", i, p.Name, MaxID)
		}
		if slices.ContainsFunc(params[:i], func(q Param) bool { return q.Name == p.Name }) {
			return fmt.Errorf("it has two Params named %s", p.Name)
		}
		switch {
		case p.Kind != RealParam && p.Kind != IntegerParam && p.Kind != BoolParam:
			return fmt.Errorf("its Params %s is of the kind %q, want %s, %s or %s", p.Name, p.Kind, RealParam, IntegerParam, BoolParam)
		case p.Kind == BoolParam && (p.Low != 0 || p.High != 1), p.Open && p.Kind != RealParam, !finite(p.Low), !finite(p.High), !(p.Low < p.High):
			return fmt.Errorf("its Params %s ranges from %v to %v (open: %t), want finite bounds, the first below the second, 0 and 1 for a bool", p.Name, p.Low, p.High, p.Open)
		case p.Kind == IntegerParam && (p.Low < -maxWhole || p.High > maxWhole):
			return fmt.Errorf("its Params %s ranges from %v to %v, want whole numbers within %v", p.Name, p.Low, p.High, float64(maxWhole))
		}
		if err := p.check(p.Default); err != nil {
			return fmt.Errorf("its default: %w", err)
		}
	}
	return nil
}

// maxWhole bounds whole numbers: float64 has all of them up to there.
const maxWhole = 1 << 53

func paramName(name string) bool {
	for i, c := range []byte(name) {
		if letter := c >= 'a' && c <= 'z'; !letter && (i == 0 || c != '_' && (c < '0' || c > '9')) {
			return false
		}
	}
	return name != "" && len(name) <= MaxID
}
