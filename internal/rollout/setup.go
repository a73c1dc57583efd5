package rollout

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/policy"
)

// ErrSetup is wrapped by every error about a setup.
var ErrSetup = errors.New("rollout: bad setup")

// MaxSetup is the largest encoded setup [bytes].
const MaxSetup = 1 << 16

// Setup is the part of a run's spec that evaluations depend on. A worker receives it once, as bytes.
type Setup struct {
	// EnvID is the environment's ID as registered.
	EnvID string
	// EnvRevision must be the revision in the worker's build; 0 accepts any.
	EnvRevision uint64
	// EnvParams are the environment's parameters that are no defaults.
	EnvParams envs.Params
	// Policy is the policy for that environment.
	Policy policy.Spec
	// Strategy is the strategy's name.
	Strategy string
	// StrategyRevision is the revision of the strategy; 0 means the newest.
	StrategyRevision uint64
	// Params are the strategy's settings, complete.
	Params evolve.Params
	// Population is the number of evaluations of a generation, both signs counted.
	Population uint64
	// Growth is by what factor the step of the mean grows at most where a generation has more results; 0: it does not.
	Growth uint64
	// Pooled says that results of all states are ranked together.
	Pooled bool
	// CapGrowth says that the cap of episodes grows with a generation, with Growth.
	CapGrowth bool
	// Episodes says how candidates are evaluated.
	Episodes Episodes
}

// setupTag begins the encoding of a setup.
const setupTag = "evosetp6"

// MarshalSetup returns the encoding of s: "evosetp6", then the fields in their order, those of structs in their
// place. In little-endian order: integers and float64 values have 8 bytes, a text its length (4 bytes) and its bytes,
// a list its length (4 bytes) and its values; a bool is a byte, 0 or 1. Params are a list of pairs, sorted by name:
// the name, then 0 and a number, or 1 and a text. EnvParams are a list of pairs, likewise: the name and the number.
// Before Observations is 1, or 0 if there are none. Errors wrap
// ErrSetup. Canonical. It is not JSON since encoding/json is a tenth of what a tab's worker downloads.
func MarshalSetup(s Setup) ([]byte, error) {
	w := setupWriter{append([]byte(nil), setupTag...)}
	w.text(s.EnvID)
	w.integer(s.EnvRevision)
	w.envParams(s.EnvParams)
	p := &s.Policy
	w.text(p.Kind)
	w.length(len(p.Hidden))
	for _, width := range p.Hidden {
		w.integer(width)
	}
	w.text(p.Activation)
	w.flag(p.Bias)
	w.text(p.Head)
	w.integer(p.Bins)
	w.flag(p.VBN)
	w.text(s.Strategy)
	w.integer(s.StrategyRevision)
	if err := w.params(s.Params); err != nil {
		return nil, err
	}
	w.integer(s.Population)
	w.integer(s.Growth)
	w.flag(s.Pooled)
	w.flag(s.CapGrowth)
	e := &s.Episodes
	w.integer(e.Count)
	w.real(e.ActionNoise)
	w.real(e.Bonus)
	w.real(e.Penalty)
	w.integer(e.Skip)
	w.real(e.Cap)
	w.integer(e.Horizon)
	w.real(e.Growth)
	w.flag(e.Observations != nil)
	if o := e.Observations; o != nil {
		w.text(o.Kind)
		w.integer(o.Steps)
		w.integer(o.Episodes)
		w.real(o.Clip)
	}
	if len(w.b) > MaxSetup {
		return nil, fmt.Errorf("%w: %d bytes, at most %d", ErrSetup, len(w.b), MaxSetup)
	}
	return w.b, nil
}

// UnmarshalSetup returns the setup in b. It keeps no reference to b and rejects everything that MarshalSetup would
// not have written. Errors wrap ErrSetup.
func UnmarshalSetup(b []byte) (Setup, error) {
	if len(b) > MaxSetup {
		return Setup{}, fmt.Errorf("%w: %d bytes, at most %d", ErrSetup, len(b), MaxSetup)
	}
	if len(b) < len(setupTag) || string(b[:len(setupTag)]) != setupTag {
		return Setup{}, fmt.Errorf("%w: no %s header", ErrSetup, setupTag)
	}
	r := setupReader{b: b[len(setupTag):]}
	var s Setup
	s.EnvID, s.EnvRevision, s.EnvParams = r.text(), r.integer(), r.envParams()
	p := &s.Policy
	p.Kind = r.text()
	p.Hidden = make([]uint64, r.length(8))
	for i := range p.Hidden {
		p.Hidden[i] = r.integer()
	}
	p.Activation, p.Bias, p.Head, p.Bins, p.VBN = r.text(), r.flag(), r.text(), r.integer(), r.flag()
	s.Strategy, s.StrategyRevision = r.text(), r.integer()
	s.Params = r.params()
	s.Population, s.Growth, s.Pooled, s.CapGrowth = r.integer(), r.integer(), r.flag(), r.flag()
	e := &s.Episodes
	e.Count, e.ActionNoise, e.Bonus, e.Penalty, e.Skip, e.Cap = r.integer(), r.real(), r.real(), r.real(), r.integer(), r.real()
	e.Horizon, e.Growth = r.integer(), r.real()
	if r.flag() {
		e.Observations = &Observations{Kind: r.text(), Steps: r.integer(), Episodes: r.integer(), Clip: r.real()}
	}
	if r.bad || len(r.b) > 0 {
		return Setup{}, fmt.Errorf("%w: cut off, not canonical, or %d bytes too many", ErrSetup, len(r.b))
	}
	return s, nil
}

type setupWriter struct{ b []byte }

func (w *setupWriter) integer(x uint64) { w.b = binary.LittleEndian.AppendUint64(w.b, x) }
func (w *setupWriter) real(x float64)   { w.integer(math.Float64bits(x)) }
func (w *setupWriter) length(n int)     { w.b = binary.LittleEndian.AppendUint32(w.b, uint32(n)) }

func (w *setupWriter) flag(x bool) {
	if x {
		w.b = append(w.b, 1)
	} else {
		w.b = append(w.b, 0)
	}
}

func (w *setupWriter) text(s string) {
	w.length(len(s))
	w.b = append(w.b, s...)
}

func (w *setupWriter) envParams(p envs.Params) {
	names := slices.Sorted(maps.Keys(p))
	w.length(len(names))
	for _, name := range names {
		w.text(name)
		w.real(p[name])
	}
}

func (w *setupWriter) params(p evolve.Params) error {
	names := slices.Sorted(maps.Keys(p))
	w.length(len(names))
	for _, name := range names {
		w.text(name)
		switch x := p[name].(type) {
		case float64:
			w.flag(false)
			w.real(x)
		case string:
			w.flag(true)
			w.text(x)
		default:
			return fmt.Errorf("%w: setting %s is a %T, want a number or a text", ErrSetup, name, x)
		}
	}
	return nil
}

// setupReader takes values from the front of b. What it takes after bad is set is zero.
type setupReader struct {
	b   []byte
	bad bool
}

// take returns n bytes, or nil if there are fewer.
func (r *setupReader) take(n int) []byte {
	if r.bad || n > len(r.b) {
		r.bad = true
		return nil
	}
	taken := r.b[:n]
	r.b = r.b[n:]
	return taken
}

func (r *setupReader) integer() uint64 {
	if b := r.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (r *setupReader) real() float64 { return math.Float64frombits(r.integer()) }

// length returns the length of a list whose values have at least size bytes.
func (r *setupReader) length(size int) int {
	b := r.take(4)
	if b == nil {
		return 0
	}
	n := int64(binary.LittleEndian.Uint32(b))
	if n*int64(size) > int64(len(r.b)) {
		r.bad = true
		return 0
	}
	return int(n)
}

func (r *setupReader) flag() bool {
	b := r.take(1)
	if b == nil {
		return false
	}
	if b[0] > 1 {
		r.bad = true
	}
	return b[0] == 1
}

func (r *setupReader) text() string { return string(r.take(r.length(1))) }

func (r *setupReader) envParams() envs.Params {
	n := r.length(4 + 8)
	if n == 0 {
		return nil
	}
	p, last := make(envs.Params, n), ""
	for i := range n {
		name := r.text()
		if i > 0 && name <= last {
			r.bad = true
		}
		last, p[name] = name, r.real()
	}
	return p
}

func (r *setupReader) params() evolve.Params {
	n := r.length(4 + 1 + 4)
	if n == 0 {
		return nil
	}
	p, last := make(evolve.Params, n), ""
	for i := range n {
		name := r.text()
		if i > 0 && name <= last {
			r.bad = true
		}
		if last = name; r.flag() {
			p[name] = r.text()
		} else {
			p[name] = r.real()
		}
	}
	return p
}
