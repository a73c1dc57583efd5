package runspec

import (
	"fmt"

	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/presets"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// draft is what settings change: a preset, and what presets leave open.
type draft struct {
	presets.Preset
	observations rollout.Observations // in place of the preset's: of the kind NoObservations, not nil, if there are none
	chunk        uint64               // 0: as fits
}

func newDraft(p presets.Preset) *draft {
	d := &draft{Preset: p, observations: rollout.Observations{Kind: NoObservations}}
	if p.Observations != nil {
		d.observations = *p.Observations
	}
	d.Conditions.Skip = max(d.Conditions.Skip, 1)
	return d
}

// SettingsOf returns what a preset says of each setting that it has.
func SettingsOf(p presets.Preset) Settings { return newDraft(p).settings() }

// PolicySettings returns the settings that make any preset's policy that one.
func PolicySettings(p policy.Spec) Settings {
	all := (&draft{Preset: presets.Preset{Policy: p}}).settings()
	for _, s := range table {
		if !s.OfPolicy() {
			delete(all, s.Name)
		}
	}
	return all
}

func (d *draft) settings() Settings {
	all := Settings{}
	for _, s := range table {
		if v, ok := s.value(d); ok {
			all[s.Name] = v
		}
	}
	return all
}

// apply changes the draft as asked. The error wraps ErrSetting. Whether the policy makes sense policy.New says.
func (d *draft) apply(asked Settings) error {
	if err := asked.check(); err != nil {
		return err
	}
	d.preparePolicy(asked)
	if err := d.prepareObservations(asked); err != nil {
		return err
	}
	for _, s := range table {
		if v, ok := asked[s.Name]; ok {
			s.set(d, v)
		}
	}
	if d.Conditions.Horizon == 0 {
		d.Conditions.Growth = 0
	}
	if d.Policy.Head != "bins" && !asked.has("bins") {
		d.Policy.Bins = 0
	}
	return nil
}

// preparePolicy makes room for what is asked: a policy of the kind and with the head that it implies.
func (d *draft) preparePolicy(asked Settings) {
	p, was := &d.Policy, d.Policy.Kind
	if kind, ok := asked["policy"].(string); ok {
		p.Kind = kind
	} else if asked.has("hidden") {
		p.Kind = "mlp"
	}
	switch {
	case p.Kind == "linear":
		p.Hidden, p.Activation, p.VBN = []uint64{}, "", false
	case was == "linear":
		p.Hidden, p.Activation, p.Bias = []uint64{defaultHidden}, defaultActivation, true
	}
	if head, ok := asked["head"].(string); ok {
		p.Head = head
	} else if asked.has("bins") {
		p.Head = "bins"
	}
	if p.Head == "bins" && p.Bins == 0 {
		p.Bins = defaultBins
	}
}

// prepareObservations fills in the defaults of another kind, and refuses settings that the kind does not have.
func (d *draft) prepareObservations(asked Settings) error {
	o := &d.observations
	if kind, ok := asked["observations"].(string); ok && kind != o.Kind {
		*o = rollout.Observations{Kind: kind}
		switch kind {
		case rollout.Frozen:
			o.Steps, o.Clip = defaultObserved, defaultClip
		case rollout.Running:
			o.Episodes, o.Clip = 1, defaultClip
		}
	}
	for _, need := range []struct {
		name string
		has  bool
		kind string
	}{
		{"observe-steps", o.Kind == rollout.Frozen, "frozen"},
		{"observe-episodes", o.Kind == rollout.Running, "running"},
		{"observe-clip", o.Kind != NoObservations, "frozen or running"},
	} {
		if asked.has(need.name) && !need.has {
			return fmt.Errorf("%w: %s needs observations that are %s, these are %s", ErrSetting, need.name, need.kind, o.Kind)
		}
	}
	return nil
}

// conditions returns the conditions as a spec holds them: no skip is written as 0.
func (d *draft) conditions() rollout.Conditions {
	c := d.Conditions
	if c.Skip == 1 {
		c.Skip = 0
	}
	return c
}

// normalization returns the observations as a spec holds them.
func (d *draft) normalization() *rollout.Observations {
	if d.observations.Kind == NoObservations {
		return nil
	}
	return &d.observations
}
