package presets

import (
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// Trials: seed 1000 of eight settings: the best, snes, had 476 after 80 s of half a core; fresh seed 20000 of dises,
// 2.1 M env-steps: 576, after 0.7 M, and no more later. A random policy has 120, and the ARS paper takes tens of
// millions. With 5,916 parameters, cma-es and xnes cannot train this policy.
func init() {
	add("Humanoid-v5", Preset{
		Policy: linear("clip", false), SharedEpisodes: true, Conditions: rollout.Conditions{Cap: 1.5}, Observations: running(),
		EvalEvery: 10, EvalEpisodes: 4,
	}, []row{
		{"snes", 80, 1, evolve.Params{"sigma": 0.02}, tuning(0, 1, never)},
		{"ars", 100, 1, evolve.Params{"sigma": 0.01, "alpha": 0.03, "top": 25.0}, notTried},
		{"dises", 100, 1, evolve.Params{"sigma": 0.02, "selection": "linear", "top": 0.25}, fresh(0, 1, never)},
		{"openai-es", 100, 1, evolve.Params{"sigma": 0.02, "alpha": 0.01, "beta1": 0.5, "beta2": 0.99, "l2": 0.0}, notTried},
	})
}
