package presets

import (
	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/evolve"
)

// untried returns what presets share in an environment that has no table: a small network with normalized
// observations, for which a sigma of about 1 is right nearly everywhere.
func untried(env *envs.Spec) Preset {
	head := "clip"
	if env.Action.Discrete {
		head = "argmax"
	}
	return Preset{
		Policy: mlp(head, 16), SharedEpisodes: true, Observations: frozen(10_000), EvalEvery: 1, EvalEpisodes: 16,
	}
}

// startRow returns where a strategy starts in an environment whose table has no row for it. A strategy without a row in
// startRows starts with its own defaults.
func startRow(strategy string) row {
	if r, ok := find(startRows, strategy); ok {
		return r
	}
	return row{strategy, 32, 2, nil, notTried}
}

// startRows, with the policy of untried, learn most of the environments of this module, if not fast: populations and
// numbers of episodes that chance does not fool often. The default strategy comes first.
var startRows = []row{
	{"dises", 32, 2, evolve.Params{"sigma": 1.0, "selection": "linear", "top": 0.25}, notTried},
	{"ars", 32, 2, evolve.Params{"sigma": 0.5, "alpha": 0.5}, notTried},
	{"cem", 32, 2, evolve.Params{"sigma": 1.0, "noise": 0.05, "noise_min": 0.001}, notTried},
	{"cma-es", 32, 2, evolve.Params{"sigma": 1.0}, notTried},
	{"ga", 64, 2, evolve.Params{"sigma": 0.3, "spread": 2.0}, notTried},
	{"openai-es", 32, 2, evolve.Params{"sigma": 0.5, "alpha": 0.15, "beta1": 0.5, "beta2": 0.99, "l2": 0.0}, notTried},
	{"pepg", 32, 2, evolve.Params{"sigma": 0.5, "alpha": 0.3, "beta1": 0.0, "beta2": 0.9, "sigma_min": 0.05}, notTried},
	{"pgpe", 32, 2, evolve.Params{"sigma": 1.0, "alpha": 1.0}, notTried},
	{"random-search", 64, 2, evolve.Params{"sigma": 1.0}, notTried},
	{"sep-cma-es", 32, 2, evolve.Params{"sigma": 1.0}, notTried},
	{"snes", 32, 2, evolve.Params{"sigma": 1.0, "sigma_alpha": 0.6}, notTried},
	{"vanilla-es", 32, 2, evolve.Params{"sigma": 1.0}, notTried},
	{"xnes", 32, 2, evolve.Params{"sigma": 1.0, "sigma_alpha": 0.6}, notTried},
}
