package runspec

import (
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/presets"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// usualHidden and usualBins are what a policy gets that is to have hidden layers or bins and does not say which. Ten
// bins are those of Salimans et al. (2017).
const (
	usualHidden = 16
	usualBins   = 10
)

// NoObservations is the kind that asks for observations as the world gives them, whatever the preset does.
const NoObservations = "none"

// What normalised observations get that Options does not say: the length of EvoRL's random rollout, and the clip of
// most libraries.
const (
	usualObserved = 10_000
	usualClip     = 10.0
)

// Policy changes a preset's policy. The zero value changes nothing, and neither does a zero field, unless
// another field asks for it.
type Policy struct {
	Kind       string   // linear or mlp; "": mlp if Hidden is not empty
	Hidden     []uint64 // widths of the hidden layers; of an mlp that had none: one of 16
	Activation string   // tanh or relu; of an mlp that had none: tanh
	Bias       *bool    // nil: the preset's; true if an mlp takes the place of a linear policy
	Head       string   // argmax, clip or bins; "": bins if Bins is not zero
	Bins       uint64   // of a bins head that had none: 10
	VBN        *bool    // virtual batch normalisation, of an mlp with biases; nil: the preset's
}

// choose returns p as o asks for it. Whether that makes sense policy.New says.
func (o *Policy) choose(p policy.Spec) policy.Spec {
	was := p.Kind
	switch {
	case o.Kind != "":
		p.Kind = o.Kind
	case len(o.Hidden) > 0:
		p.Kind = "mlp"
	}
	if p.Kind == "linear" {
		p.Hidden, p.Activation, p.VBN = []uint64{}, "", false
	}
	if p.Kind == "mlp" && was == "linear" {
		p.Hidden, p.Activation, p.Bias = []uint64{usualHidden}, "tanh", true
	}
	if len(o.Hidden) > 0 {
		p.Hidden = o.Hidden
	}
	if o.Activation != "" {
		p.Activation = o.Activation
	}
	if o.Bias != nil {
		p.Bias = *o.Bias
	}
	if o.VBN != nil {
		p.VBN = *o.VBN
	}
	o.chooseHead(&p)
	return p
}

func (o *Policy) chooseHead(p *policy.Spec) {
	switch {
	case o.Head != "":
		p.Head = o.Head
	case o.Bins != 0:
		p.Head = "bins"
	}
	if p.Head != "bins" {
		p.Bins = 0
	} else if p.Bins == 0 {
		p.Bins = usualBins
	}
	if o.Bins != 0 {
		p.Bins = o.Bins
	}
}

// choose changes the preset as o asks, but for the strategy's settings.
func (o *Options) choose(p *presets.Preset) {
	p.Policy = o.Policy.choose(p.Policy)
	switch {
	case o.Population != 0:
		p.Population = o.Population
	case o.Nonce != [16]byte{}:
		p.Population = max(p.Population, swarmClaim)
	}
	set(&p.Episodes, o.Episodes)
	set(&p.EvalEvery, o.Every)
	set(&p.EvalEpisodes, o.Validate)
	if o.Shared != nil {
		p.SharedEpisodes = *o.Shared
	}
	c := &p.Conditions
	setReal(&c.ActionNoise, o.ActionNoise)
	setReal(&c.Bonus, o.Bonus)
	setReal(&c.Penalty, o.Penalty)
	setReal(&c.Cap, o.Cap)
	if set(&c.Skip, o.Skip); c.Skip == 1 {
		c.Skip = 0
	}
	p.Observations = chooseObservations(p.Observations, o.Observations)
}

// chooseObservations returns the preset's normalisation of observations, nil for none, as ask changes it.
func chooseObservations(preset *rollout.Observations, ask rollout.Observations) *rollout.Observations {
	kind := ask.Kind
	if kind == "" && preset != nil {
		kind = preset.Kind
	}
	if kind == NoObservations || ask == (rollout.Observations{}) && preset == nil {
		return nil
	}
	full := rollout.Observations{Kind: kind, Clip: usualClip}
	switch kind {
	case rollout.Frozen:
		full.Steps = usualObserved
	case rollout.Running:
		full.Episodes = 1
	}
	if preset != nil && preset.Kind == kind {
		full = *preset
	}
	set(&full.Steps, ask.Steps)
	set(&full.Episodes, ask.Episodes)
	if ask.Clip != 0 {
		full.Clip = ask.Clip
	}
	return &full
}

// set makes x what was asked for, if anything was.
func set(x *uint64, asked uint64) {
	if asked != 0 {
		*x = asked
	}
}

// setReal makes x what was asked for, if anything was; -0 becomes 0.
func setReal(x, asked *float64) {
	if asked != nil {
		*x = *asked + 0
	}
}
