package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// jsonFormat names the object and its version.
const jsonFormat = "evoswarm-model/1"

// document is a model as a JSON object.
type document struct {
	Format   string            `json:"format"`
	Run      string            `json:"run"`
	Height   uint64            `json:"height"`
	Head     string            `json:"head"`
	Env      seedlog.EnvRef    `json:"env"`
	Policy   *policy.Spec      `json:"policy"`
	Episodes *seedlog.Episodes `json:"episodes"`
	// Observations is left out where observations are not normalized.
	Observations *rollout.Observations `json:"observations,omitempty"`
	Theta        string                `json:"theta"`  // digest
	Layout       []policy.Tensor       `json:"layout"` // what lies where in values
	Values       []float32             `json:"values"`
	Slots        []documentSlot        `json:"slots"`
}

type documentSlot struct {
	Name   string    `json:"name"`
	Values []float32 `json:"values"`
}

// ErrNotFinite is returned by Write for a model that JSON cannot hold.
var ErrNotFinite = errors.New("JSON has no NaN and no infinity")

func (m *Model) writeJSON(w io.Writer) error {
	plan, err := m.Plan()
	if err != nil {
		return err
	}
	spec := m.policy()
	d := document{Format: jsonFormat, Run: m.Run, Height: m.Height, Head: m.Head, Env: m.Env, Policy: &spec, Episodes: &m.Episodes, Observations: m.Observations,
		Theta: m.Digest(), Layout: plan.Policy.Layout(), Values: m.Theta, Slots: []documentSlot{}}
	for _, slot := range m.Slots {
		d.Slots = append(d.Slots, documentSlot{slot.Name, slot.Values})
	}
	if err := m.finite(); err != nil {
		return err
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(d)
}

// finite returns ErrNotFinite if a value cannot be written as JSON.
func (m *Model) finite() error {
	for _, slot := range append([]evolve.Slot{{Name: "theta", Values: m.Theta}}, m.Slots...) {
		for _, x := range slot.Values {
			if x-x != 0 {
				return fmt.Errorf("%w: %s", ErrNotFinite, slot.Name)
			}
		}
	}
	return nil
}

func readJSON(data []byte) (*Model, error) {
	var d document
	if err := strictJSON(data, &d); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrDamaged, err)
	}
	if d.Format != jsonFormat {
		return nil, fmt.Errorf("%w: a JSON object of format %.40q, not %q", ErrFormat, d.Format, jsonFormat)
	}
	if d.Policy == nil || d.Episodes == nil {
		return nil, fmt.Errorf("%w: it has no policy, or no episodes", ErrForeign)
	}
	m := &Model{Run: d.Run, Height: d.Height, Head: d.Head, Env: d.Env, Policy: *d.Policy, Episodes: *d.Episodes, Observations: d.Observations, Theta: d.Values}
	_, pol, err := m.Resolve()
	if err != nil {
		return nil, err
	}
	if !slices.Equal(d.Layout, pol.Layout()) {
		return nil, fmt.Errorf("%w: its layout is not that of the policy", ErrDamaged)
	}
	var rest []tensor
	for _, slot := range d.Slots {
		rest = append(rest, tensorOf(&evolve.Slot{Name: slot.Name, Values: slot.Values}))
	}
	if m.Slots, err = loadSlots(rest); err != nil {
		return nil, err
	}
	return m, m.verify(d.Theta)
}

// strictJSON decodes one JSON value, without fields that v does not have and without anything behind it.
func strictJSON(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("something behind the end")
	}
	return nil
}
