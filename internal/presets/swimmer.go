package presets

import "github.com/evoswarm/evoswarm/internal/evolve"

// Trials: seeds 1000 and 1001 of eleven settings, then fresh seeds 20000 to 20009, at most 7.9 M env-steps each: snes
// solved 9 of 10, dises 6. All swim at 355 after a million env-steps or less; the threshold of 360 is just below the
// best that was seen (361.3). ars as in its paper, with 8 evaluations, reached 358.6 and 360.7. openai-es ran on
// seeds 30000 to 30005: five were at 355 to 358 after 1.9 to 2.7 M env-steps, where they were stopped, one at 98
// after 1.2 M.
func init() {
	add("Swimmer-v5", Preset{
		Policy: linear("clip", false), SharedEpisodes: true, EvalEvery: 5, EvalEpisodes: 8,
	}, []row{
		{"snes", 32, 1, evolve.Params{"sigma": 0.3}, fresh(9, 10, 4_000_000)},
		{"ars", 8, 1, evolve.Params{"sigma": 0.05, "alpha": 0.05, "top": 2.0}, tuning(0, 2, never)},
		{"dises", 32, 1, evolve.Params{"sigma": 0.5, "sigma_decay": 0.98, "sigma_min": 0.02, "selection": "linear", "top": 0.25}, fresh(6, 10, 5_200_000)},
		{"openai-es", 32, 2, evolve.Params{"sigma": 0.1, "alpha": 0.03, "beta1": 0.5, "beta2": 0.99, "l2": 0.0}, fresh(0, 6, never)},
	})
}
