package rollout

import (
	"sort"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/policy"
)

// Preset is a way to train in a world that has been tried (presets.go says with what
// success): everything of a run's spec
// that is not the world, the seed or the swarm.
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
	// Observations says how observations are normalised; nil: not at all. Shared:
	// read-only.
	Observations *Observations
	// SharedEpisodes gives all candidates of a generation the same episodes, else each
	// seed has its own.
	SharedEpisodes bool
	// Chunk is the number of seeds of a claim. It divides Evaluations, a pair of an
	// antithetic strategy counting two.
	Chunk uint64
	// ValidateEvery is the number of generations between two looks at the mean policy
	// in ValidateEpisodes fresh episodes.
	ValidateEvery    uint64
	ValidateEpisodes uint64
}

// presetKey names a preset.
type presetKey struct{ env, strategy string }

// PresetFor returns the preset with which strategy learns the world envID, both as
// registered; an empty strategy is DefaultStrategy's. It reports whether there is
// one. The maps and slices of a Preset are the caller's.
func PresetFor(envID, strategy string) (Preset, bool) {
	if strategy == "" {
		strategy = DefaultStrategy(envID)
	}
	for _, e := range presets() {
		if e.key == (presetKey{envID, strategy}) {
			return e.complete(), true
		}
	}
	return Preset{}, false
}

// DefaultStrategy returns the name of the method whose preset took the fewest
// env-steps in the world envID (for MountainCar-v0, where none does well: dises); "dises" for worlds without one.
func DefaultStrategy(envID string) string {
	for _, e := range presets() {
		if e.key.env == envID {
			return e.key.strategy
		}
	}
	return "dises"
}

// PresetEnvs returns the ids of the worlds that have presets, sorted.
func PresetEnvs() []string {
	var ids []string
	for _, e := range presets() {
		if n := len(ids); n == 0 || ids[n-1] != e.key.env {
			ids = append(ids, e.key.env)
		}
	}
	sort.Strings(ids)
	return ids
}

type presetEntry struct {
	key    presetKey
	preset Preset
}

// complete writes out what the table leaves to the key and the method.
func (e presetEntry) complete() Preset {
	method, err := evolve.Find(e.key.strategy)
	if err != nil {
		panic("rollout: preset: " + err.Error())
	}
	p := e.preset
	p.Strategy = method.Name
	if p.Params, err = method.Complete(p.Params); err != nil {
		panic("rollout: preset: " + err.Error())
	}
	return p
}

// linear is a policy without hidden layers.
func linear(head string, bias bool) policy.Spec {
	return policy.Spec{Kind: "linear", Hidden: []uint64{}, Bias: bias, Head: head}
}

// mlp is a policy with tanh layers.
func mlp(head string, hidden ...uint64) policy.Spec {
	return policy.Spec{Kind: "mlp", Hidden: hidden, Activation: "tanh", Bias: true, Head: head}
}
