package presets

import "github.com/evoswarm/evoswarm/internal/evolve"

// Trials: seeds 50000 to 50049, at most 1 M env-steps. Two episodes per candidate: with one, chance decides.
func init() {
	add("MountainCar-v0", Preset{
		Policy: mlp("argmax", 8), SharedEpisodes: true, Observations: frozen(2000), EvalEvery: 1, EvalEpisodes: 16,
	}, []row{
		{"snes", 16, 2, evolve.Params{"sigma": 0.5, "sigma_alpha": 0.6}, fresh(50, 50, 80_000)},
		{"ars", 24, 2, evolve.Params{"sigma": 0.5, "alpha": 0.3}, fresh(50, 50, 90_000)},
		{"cem", 16, 2, evolve.Params{"sigma": 2.0, "noise": 1.2, "noise_decay": 0.98}, fresh(49, 50, 109_000)},
		{"cma-es", 16, 2, evolve.Params{"sigma": 1.0}, fresh(50, 50, 82_000)},
		{"dises", 16, 2, evolve.Params{"sigma": 0.5, "selection": "linear", "top": 0.2}, fresh(50, 50, 80_000)},
		{"ga", 48, 2, evolve.Params{"sigma": 0.3, "top": 0.1}, fresh(50, 50, 196_000)},
		{"openai-es", 16, 2, evolve.Params{"sigma": 0.5, "alpha": 0.15, "beta1": 0.0, "beta2": 0.9, "l2": 0.0}, fresh(49, 50, 87_000)},
		{"pepg", 16, 2, evolve.Params{"sigma": 1.0, "alpha": 0.3, "optimizer": "clipup", "sigma_min": 0.1}, fresh(49, 50, 137_000)},
		{"pgpe", 16, 2, evolve.Params{"sigma": 1.0, "alpha": 0.3}, fresh(47, 50, 147_000)},
		{"random-search", 24, 2, evolve.Params{"sigma": 0.5}, fresh(9, 50, never)},
		{"sep-cma-es", 16, 2, evolve.Params{"sigma": 0.5}, fresh(50, 50, 68_000)},
		{"vanilla-es", 16, 2, evolve.Params{"sigma": 0.5}, fresh(50, 50, 81_000)},
		{"xnes", 16, 2, evolve.Params{"sigma": 0.5, "sigma_alpha": 0.6}, fresh(50, 50, 72_000)},
	})
}
