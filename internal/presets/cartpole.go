package presets

import "github.com/evoswarm/evoswarm/internal/evolve"

// Trials: seeds 50000 to 50099, at most 0.2 M env-steps.
func init() {
	add("CartPole-v1", Preset{
		Policy: linear("argmax", false), SharedEpisodes: true, EvalEvery: 1, EvalEpisodes: 8,
	}, []row{
		{"dises", 8, 1, evolve.Params{"sigma": 0.5}, fresh(100, 100, 3_400)},
		{"ars", 6, 1, evolve.Params{"sigma": 2.0, "alpha": 0.6, "top": 1.0}, fresh(100, 100, 4_000)},
		{"cem", 6, 1, evolve.Params{"sigma": 1.0, "noise": 0.3, "noise_decay": 1.0}, fresh(100, 100, 4_800)},
		{"cma-es", 6, 1, evolve.Params{"sigma": 2.0}, fresh(100, 100, 4_500)},
		{"ga", 12, 1, evolve.Params{"sigma": 0.15, "top": 0.3, "retest": 0.3}, fresh(100, 100, 12_000)},
		{"openai-es", 8, 1, evolve.Params{"sigma": 2.0, "alpha": 2.0, "beta1": 0.0, "beta2": 0.99, "l2": 0.0}, fresh(100, 100, 5_700)},
		{"pepg", 6, 1, evolve.Params{"sigma": 2.0, "alpha": 2.0, "sigma_alpha": 0.2, "beta1": 0.0, "beta2": 0.9, "sigma_min": 0.2},
			fresh(100, 100, 6_400)},
		{"pgpe", 6, 1, evolve.Params{"sigma": 0.5, "alpha": 0.5, "sigma_alpha": 0.2, "optimizer": "adam", "beta1": 0.5, "beta2": 0.99},
			fresh(100, 100, 7_800)},
		{"random-search", 32, 4, evolve.Params{"sigma": 1.0}, fresh(87, 100, 15_000)},
		{"sep-cma-es", 6, 1, evolve.Params{"sigma": 2.0}, fresh(100, 100, 4_700)},
		{"snes", 6, 1, evolve.Params{"sigma": 0.5, "alpha": 1.5, "sigma_alpha": 0.6}, fresh(100, 100, 4_400)},
		{"vanilla-es", 8, 1, evolve.Params{"sigma": 2.0, "parents": 2.0}, fresh(100, 100, 3_800)},
		{"xnes", 6, 1, evolve.Params{"sigma": 1.0, "alpha": 1.5}, fresh(100, 100, 4_700)},
	})
}
