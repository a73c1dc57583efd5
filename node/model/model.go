package model

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evoswarm/evoswarm/envs"
	_ "github.com/evoswarm/evoswarm/envs/all" // the environments that a file may name
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

var (
	// ErrFormat is returned for a file of no known format.
	ErrFormat = errors.New("not a model file")
	// ErrDamaged is returned for a file that contradicts itself: cut, changed, or with sizes that do not fit.
	ErrDamaged = errors.New("the model file is damaged")
	// ErrForeign is returned for a well-formed file of a policy or an environment that this build does not have.
	ErrForeign = errors.New("not a model that this build can use")
	// ErrTooLarge is returned for a file beyond what the largest policy needs.
	ErrTooLarge = errors.New("the model is too large")
)

// Model is a trained policy and its origin. Read-only once made.
type Model struct {
	Env      seedlog.EnvRef   // the environment
	Policy   policy.Spec      // what Theta means
	Episodes seedlog.Episodes // how the run evaluated it
	// Observations says how observations are normalized; nil: not at all.
	Observations *rollout.Observations
	Run          string        // CID of the run's genesis block, "" if it is not known
	Head         string        // CID of the entry that Theta is the state after, "" if it is not known
	Height       uint64        // of that entry
	Theta        []float32     // parameters of the mean policy
	Slots        []evolve.Slot // what else the policy needs to act: statistics of observations, a reference batch
}

// Limits of what is read.
const (
	maxSlots      = 4
	maxSlotValues = 1 << 20
	maxMetadata   = 1 << 16 // letters of all metadata together
)

// The slots of a run's state that a policy needs to act.
const (
	slotMean      = "obs/mean"      // of observations
	slotStd       = "obs/std"       // of observations; 0: the value is left out
	slotReference = "obs/reference" // of virtual batch normalization
)

// Digest returns the digest of theta in hexadecimal, as replay prints it.
func (m *Model) Digest() string {
	s := evolve.State{Theta: m.Theta}
	return fmt.Sprintf("%x", s.ThetaDigest())
}

// Of returns the model that a replay ended at. It shares its vectors with r, which must have been folded.
func Of(r *seedlog.Replayed) *Model {
	spec := r.Rules.Spec
	m := &Model{Env: spec.Env, Policy: spec.Policy, Episodes: spec.Episodes, Observations: spec.Observations,
		Run: r.Rules.Run.String(), Head: r.Link.String(), Height: r.Height, Theta: r.State.Theta}
	for _, slot := range r.State.Slots {
		if slices.Contains([]string{slotMean, slotStd, slotReference}, slot.Name) {
			m.Slots = append(m.Slots, slot)
		}
	}
	return m
}

// State returns the model as the state of a run, for evaluation. It shares its vectors with m.
func (m *Model) State() *evolve.State {
	return &evolve.State{Gen: m.Height, Theta: m.Theta, Slots: m.Slots}
}

// TestSeeds names n episodes of the run's test stream for this model: the ones that its log names. Models whose run is
// not known share a stream.
func (m *Model) TestSeeds(n uint64) []uint64 {
	run, err := seedlog.ParseLink(m.Run)
	if err != nil {
		run = seedlog.Link{}
	}
	head, err := seedlog.ParseLink(m.Head)
	if err != nil {
		head = seedlog.Link{}
	}
	return (&seedlog.Rules{Run: run}).TestSeeds(head, n)
}

// policy is the spec as it is written: a linear policy has an empty list of layers, not none.
func (m *Model) policy() policy.Spec {
	spec := m.Policy
	if spec.Hidden == nil {
		spec.Hidden = []uint64{}
	}
	return spec
}

// Resolve returns the environment and the policy of the model. The error wraps ErrForeign where this build lacks the
// environment, its revision or the policy, and ErrDamaged where theta has another length.
func (m *Model) Resolve() (*envs.Spec, *policy.Policy, error) {
	env, pol, err := resolve(m.Env, m.Policy)
	if err != nil {
		return nil, nil, err
	}
	if len(m.Theta) != pol.Dim() {
		return nil, nil, fmt.Errorf("%w: %d parameters, the policy has %d", ErrDamaged, len(m.Theta), pol.Dim())
	}
	return env, pol, nil
}

// Plan is what evaluates the model, with State; it makes no candidates. Errors are those of Resolve; one that wraps
// ErrDamaged too where a slot is missing or there is one that the policy does not need.
func (m *Model) Plan() (rollout.Plan, error) {
	env, pol, err := m.Resolve()
	if err != nil {
		return rollout.Plan{}, err
	}
	plan := rollout.Plan{Env: env, Policy: pol, Episodes: rollout.Episodes{Count: m.Episodes.Count, Conditions: m.Episodes.Conditions, Observations: m.Observations}}
	if err := m.Episodes.Conditions.Check(); err != nil {
		return plan, fmt.Errorf("%w: %w", ErrForeign, err)
	}
	need := map[string]int{}
	if m.Observations != nil {
		if err := m.Observations.Check(); err != nil {
			return plan, fmt.Errorf("%w: %w", ErrForeign, err)
		}
		need[slotMean], need[slotStd] = env.ObsDim, env.ObsDim
	}
	if pol.VBN() {
		need[slotReference] = policy.ReferenceSize * env.ObsDim
	}
	if len(m.Slots) != len(need) {
		return plan, fmt.Errorf("%w: %d slots, the policy needs %d", ErrDamaged, len(m.Slots), len(need))
	}
	for _, slot := range m.Slots {
		if n, ok := need[slot.Name]; !ok || len(slot.Values) != n {
			return plan, fmt.Errorf("%w: %d float32 values of %s, the policy needs %d", ErrDamaged, len(slot.Values), slot.Name, n)
		}
	}
	return plan, nil
}

func resolve(ref seedlog.EnvRef, spec policy.Spec) (*envs.Spec, *policy.Policy, error) {
	env, err := envs.Find(ref.ID)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrForeign, err)
	}
	if env.Revision != ref.Revision {
		return nil, nil, fmt.Errorf("%w: it is for %s revision %d; this build has revision %d", ErrForeign, env.ID, ref.Revision, env.Revision)
	}
	if env, err = env.With(ref.Params); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrForeign, err)
	}
	pol, err := policy.New(spec, env)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrForeign, err)
	}
	return env, pol, nil
}

// Format is how a model is written to a file.
type Format string

// The formats.
const (
	Safetensors Format = "safetensors" // Hugging Face's: one tensor per layer and bias
	NPZ         Format = "npz"         // NumPy's: a zip of arrays
	JSON        Format = "json"        // one object, readable without any library
)

// FormatOf returns the format that a file's name ends in; ok is false for any other ending.
func FormatOf(name string) (f Format, ok bool) {
	switch f := Format(strings.ToLower(strings.TrimPrefix(filepath.Ext(name), "."))); f {
	case Safetensors, NPZ, JSON:
		return f, true
	}
	return "", false
}
