package rollout

import (
	"sort"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/policy"
)

// Preset is a way to learn a world that has been tried: everything of a run's spec
// that is not the world, the seed or the swarm.
type Preset struct {
	// Strategy is the method's name.
	Strategy string
	// Params are its settings; those left out have the method's defaults.
	Params evolve.Params
	// Policy is the policy to train.
	Policy policy.Spec
	// Evaluations closes a generation: its population, both signs counted.
	Evaluations uint64
	// EpisodesPerCandidate is the number of episodes of one evaluation.
	EpisodesPerCandidate uint64
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
			return e.preset, true
		}
	}
	return Preset{}, false
}

// DefaultStrategy returns the name of the method that learns the world envID in the
// fewest env-steps, of those with a preset; "dises" for worlds without one.
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

// linear is a policy without hidden layers.
func linear(head string, bias bool) policy.Spec {
	return policy.Spec{Kind: "linear", Hidden: []uint64{}, Bias: bias, Head: head}
}

// mlp is a policy with tanh layers.
func mlp(head string, hidden ...uint64) policy.Spec {
	return policy.Spec{Kind: "mlp", Hidden: hidden, Activation: "tanh", Bias: true, Head: head}
}

// presets returns all presets, those of one world together, its default strategy
// first.
func presets() []presetEntry {
	return []presetEntry{
		{presetKey{"Acrobot-v1", "dises"}, Preset{
			Params: evolve.Params{"sigma": 0.5, "sigma_decay": 0.98}, Policy: linear("argmax", true),
			Evaluations: 32, EpisodesPerCandidate: 2, SharedEpisodes: true, Chunk: 4, ValidateEvery: 2, ValidateEpisodes: 16,
		}},
		{presetKey{"Acrobot-v1", "openai-es"}, Preset{
			Params: evolve.Params{"sigma": 0.5, "alpha": 0.2, "l2": 0.0}, Policy: linear("argmax", true),
			Evaluations: 32, EpisodesPerCandidate: 2, SharedEpisodes: true, Chunk: 2, ValidateEvery: 2, ValidateEpisodes: 16,
		}},
		{presetKey{"CartPole-v1", "dises"}, Preset{
			Params: evolve.Params{"sigma": 0.5}, Policy: linear("argmax", false),
			Evaluations: 16, EpisodesPerCandidate: 2, SharedEpisodes: true, Chunk: 2, ValidateEvery: 1, ValidateEpisodes: 8,
		}},
		{presetKey{"CartPole-v1", "openai-es"}, Preset{
			Params: evolve.Params{"sigma": 0.5, "alpha": 0.2, "l2": 0.0}, Policy: linear("argmax", false),
			Evaluations: 16, EpisodesPerCandidate: 1, SharedEpisodes: true, Chunk: 1, ValidateEvery: 1, ValidateEpisodes: 8,
		}},
	}
}
