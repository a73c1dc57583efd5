package presets

import (
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// Trials: seed 1000, 90 s on a busy computer, for 0.3 M env-steps: a mean return of 569, where a random policy has
// 120. The ARS paper takes tens of millions. With 5,916 parameters, cma-es and xnes cannot train this policy.
func init() {
	add("Humanoid-v5", Preset{
		Policy: linear("clip", false), SharedEpisodes: true, Conditions: rollout.Conditions{Cap: 1.5}, Observations: running(),
		EvalEvery: 10, EvalEpisodes: 4,
	}, []row{
		{"snes", 80, 1, evolve.Params{"sigma": 0.02}, tuning(0, 1, never)},
		{"ars", 460, 1, evolve.Params{"sigma": 0.0075, "alpha": 0.02}, notTried},
		{"dises", 100, 1, evolve.Params{"sigma": 0.02, "selection": "linear", "top": 0.25}, notTried},
	})
}
