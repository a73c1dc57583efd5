package presets

import "github.com/evoswarm/evoswarm/internal/evolve"

// Trials: seeds 1000 and 1001; openai-es: 30000 to 30005. A pole that falls ends the episode, so the first
// generations cost next to nothing.
func init() {
	add("InvertedPendulum-v5", Preset{
		Policy: linear("clip", false), SharedEpisodes: true, EvalEvery: 2, EvalEpisodes: 16,
	}, []row{
		{"dises", 16, 1, evolve.Params{"sigma": 1.0, "selection": "linear", "top": 0.25}, tuning(2, 2, 22_000)},
		{"openai-es", 16, 1, evolve.Params{"sigma": 1.0, "alpha": 0.3, "beta1": 0.5, "beta2": 0.99, "l2": 0.0}, fresh(6, 6, 37_000)},
		{"snes", 16, 1, evolve.Params{"sigma": 1.0}, tuning(2, 2, 24_000)},
	})
}
