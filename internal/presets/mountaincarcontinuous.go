package presets

import "github.com/evoswarm/evoswarm/internal/evolve"

// Trials: seeds 50000 to 50099, at most 0.4 M env-steps. With normalized observations even random search
// solves this one.
func init() {
	add("MountainCarContinuous-v0", Preset{
		Policy: linear("clip", false), SharedEpisodes: true, Observations: frozen(1000), EvalEvery: 1, EvalEpisodes: 8,
	}, []row{
		{"pepg", 6, 1, evolve.Params{"sigma": 0.5, "alpha": 0.15, "beta1": 0.5, "beta2": 0.9, "sigma_min": 0.05}, fresh(100, 100, 5_200)},
		{"ars", 6, 1, evolve.Params{"sigma": 1.0, "alpha": 0.3}, fresh(100, 100, 5_200)},
		{"cem", 6, 1, evolve.Params{"sigma": 0.5, "noise": 0.025, "noise_decay": 1.0}, fresh(100, 100, 5_100)},
		{"cma-es", 6, 1, evolve.Params{"sigma": 0.5}, fresh(99, 100, 5_100)},
		{"dises", 6, 1, evolve.Params{"sigma": 1.0}, fresh(100, 100, 5_200)},
		{"ga", 12, 1, evolve.Params{"sigma": 0.6, "top": 0.3, "elite": 0.1}, fresh(100, 100, 14_000)},
		{"openai-es", 6, 1, evolve.Params{"sigma": 0.5, "alpha": 0.75, "beta1": 0.0, "beta2": 0.99, "l2": 0.0}, fresh(100, 100, 6_200)},
		{"pgpe", 6, 1, evolve.Params{"sigma": 0.5, "alpha": 0.3, "sigma_alpha": 0.2}, fresh(100, 100, 5_300)},
		{"random-search", 6, 1, evolve.Params{"sigma": 1.0}, fresh(100, 100, 4_800)},
		{"sep-cma-es", 6, 1, evolve.Params{"sigma": 2.0}, fresh(100, 100, 5_300)},
		{"snes", 6, 1, evolve.Params{"sigma": 2.0, "sigma_alpha": 1.5}, fresh(100, 100, 5_200)},
		{"vanilla-es", 6, 1, evolve.Params{"sigma": 1.0, "sigma_decay": 0.99, "sigma_min": 0.1}, fresh(100, 100, 5_200)},
		{"xnes", 6, 1, evolve.Params{"sigma": 0.5, "alpha": 1.5, "sigma_alpha": 0.3}, fresh(100, 100, 5_400)},
	})
}
