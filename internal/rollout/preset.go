package rollout

import (
	"sort"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/policy"
)

// Preset is a way to train in a world that has been tried (presets.go says with what
// success): everything of a run's spec that is not the world, the seed or the swarm.
type Preset struct {
	// Strategy is the method's name.
	Strategy string
	// Params are its settings, complete: the method's defaults are written out.
	Params evolve.Params
	// Policy is the policy to train.
	Policy policy.Spec
	// Evaluations closes a generation: its population, both signs counted.
	Evaluations uint64
	// EpisodesPerCandidate is the number of episodes of one evaluation.
	EpisodesPerCandidate uint64
	// Conditions say how the episodes go.
	Conditions Conditions
	// Observations says how observations are normalised; nil: not at all.
	Observations *Observations
	// SharedEpisodes gives all candidates of a generation the same episodes, else each
	// seed has its own.
	SharedEpisodes bool
	// ValidateEvery is the number of generations between two looks at the mean policy
	// in ValidateEpisodes fresh episodes.
	ValidateEvery    uint64
	ValidateEpisodes uint64
}

// trials are the presets of a world: what they share, and what each strategy wants
// besides, the default strategy first.
type trials struct {
	env  string
	base Preset
	each []trial
}

// trial is what a strategy wants in a world.
type trial struct {
	strategy string
	// evaluations closes a generation.
	evaluations uint64
	params      evolve.Params
	// episodes of one evaluation; 0: what the world's presets share.
	episodes uint64
}

// PresetFor returns the preset with which strategy learns the world envID, both as
// registered; an empty strategy is DefaultStrategy's. It reports whether there is
// one. The maps and slices of a Preset are the caller's.
func PresetFor(envID, strategy string) (Preset, bool) {
	if strategy == "" {
		strategy = DefaultStrategy(envID)
	}
	for _, w := range presets() {
		if w.env == envID {
			return w.preset(strategy)
		}
	}
	return Preset{}, false
}

// DefaultStrategy returns the name of the method whose preset is the best in the world
// envID (presets.go); for worlds without one that of Untried.
func DefaultStrategy(envID string) string {
	for _, w := range presets() {
		if w.env == envID {
			return w.each[0].strategy
		}
	}
	return anyWorld(false).each[0].strategy
}

// PresetEnvs returns the ids of the worlds that have presets, sorted.
func PresetEnvs() []string {
	var ids []string
	for _, w := range presets() {
		ids = append(ids, w.env)
	}
	sort.Strings(ids)
	return ids
}

// Untried returns where a strategy starts in a world that has no preset, whose actions
// are discrete or not: settings that learn most of the worlds that have presets, if
// not fast. A strategy that it does not know gets its defaults. The maps and
// slices are the caller's.
func Untried(discrete bool, strategy string) Preset {
	w := anyWorld(discrete)
	if p, ok := w.preset(strategy); ok {
		return p
	}
	return w.base
}

// preset writes out the preset of a strategy, and reports whether there is one.
func (w trials) preset(strategy string) (Preset, bool) {
	for _, t := range w.each {
		if t.strategy == strategy {
			return t.complete(w.base), true
		}
	}
	return Preset{}, false
}

// complete writes out what the table leaves to the world and the method.
func (t trial) complete(p Preset) Preset {
	method, err := evolve.Find(t.strategy)
	if err != nil {
		panic("rollout: preset: " + err.Error())
	}
	p.Strategy, p.Evaluations = method.Name, t.evaluations
	if t.episodes != 0 {
		p.EpisodesPerCandidate = t.episodes
	}
	if p.Params, err = method.Complete(t.params); err != nil {
		panic("rollout: preset: " + err.Error())
	}
	return p
}

// frozen asks for observations normalised by the statistics of a random policy's first
// n observations.
func frozen(n uint64) *Observations { return &Observations{Kind: Frozen, Steps: n, Clip: 10} }

// running asks for observations normalised by the statistics of all episodes of the mean
// policy so far, one for each generation.
func running() *Observations { return &Observations{Kind: Running, Episodes: 1, Clip: 10} }

// linear is a policy without hidden layers.
func linear(head string, bias bool) policy.Spec {
	return policy.Spec{Kind: "linear", Hidden: []uint64{}, Bias: bias, Head: head}
}

// mlp is a policy with tanh layers.
func mlp(head string, hidden ...uint64) policy.Spec {
	return policy.Spec{Kind: "mlp", Hidden: hidden, Activation: "tanh", Bias: true, Head: head}
}
