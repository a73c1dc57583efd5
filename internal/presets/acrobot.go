package presets

import "github.com/evoswarm/evoswarm/internal/evolve"

// Trials: seeds 50000 to 50099, at most 0.6 M env-steps.
func init() {
	add("Acrobot-v1", Preset{
		Policy: linear("argmax", false), SharedEpisodes: true, EvalEvery: 1, EvalEpisodes: 16,
	}, []row{
		{"xnes", 6, 1, evolve.Params{"sigma": 1.0, "alpha": 1.5}, fresh(100, 100, 7_700)},
		{"ars", 8, 1, evolve.Params{"sigma": 1.0, "alpha": 0.6}, fresh(100, 100, 11_000)},
		{"cem", 8, 1, evolve.Params{"sigma": 2.0, "noise": 1.2, "noise_min": 0.04}, fresh(100, 100, 15_000)},
		{"cma-es", 6, 1, evolve.Params{"sigma": 2.0}, fresh(100, 100, 9_600)},
		{"dises", 8, 1, evolve.Params{"sigma": 1.0, "selection": "linear", "top": 0.5, "weights": "fitness"}, fresh(100, 100, 13_000)},
		{"ga", 12, 1, evolve.Params{"sigma": 2.0, "spread": 3.0, "retest": 0.3}, fresh(100, 100, 20_000)},
		{"openai-es", 8, 1, evolve.Params{"sigma": 2.0, "alpha": 1.2, "beta1": 0.5, "beta2": 0.99, "l2": 0.0}, fresh(100, 100, 13_000)},
		{"pepg", 6, 1, evolve.Params{"sigma": 2.0, "alpha": 2.0, "sigma_alpha": 0.2, "beta1": 0.0, "beta2": 0.9, "sigma_min": 0.2},
			fresh(100, 100, 11_000)},
		{"pgpe", 6, 1, evolve.Params{"sigma": 2.0, "alpha": 1.2}, fresh(100, 100, 13_000)},
		{"random-search", 8, 1, evolve.Params{"sigma": 1.0}, fresh(97, 100, 24_000)},
		{"sep-cma-es", 6, 1, evolve.Params{"sigma": 0.5}, fresh(100, 100, 11_000)},
		{"snes", 6, 1, evolve.Params{"sigma": 0.5}, fresh(100, 100, 10_000)},
		{"vanilla-es", 6, 1, evolve.Params{"sigma": 0.5}, fresh(100, 100, 11_000)},
	})
}
