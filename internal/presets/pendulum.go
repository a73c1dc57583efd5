package presets

import "github.com/evoswarm/evoswarm/internal/evolve"

// Trials: seeds from 50000 up (60000 for ars, snes and vanilla-es, which were changed afterwards), at most 2
// M env-steps.
//
// Pendulum wants a large sigma that stays: with a decay of 0.99, 18 of 100 runs of dises failed, without it 3.
func init() {
	add("Pendulum-v1", Preset{
		Policy: mlp("clip", 10), SharedEpisodes: true, Observations: frozen(2000), EvalEvery: 4, EvalEpisodes: 16,
	}, []row{
		{"vanilla-es", 24, 1, evolve.Params{"sigma": 3.0}, fresh(97, 100, 597_000)},
		{"ars", 16, 1, evolve.Params{"sigma": 3.0, "alpha": 3.0}, fresh(26, 30, 668_000)},
		{"cem", 24, 1, evolve.Params{"sigma": 3.0, "noise": 1.0, "noise_decay": 0.99, "noise_min": 0.05, "elites": 6.0}, fresh(22, 30, 655_000)},
		{"cma-es", 12, 1, evolve.Params{"sigma": 3.0, "sigma_min": 0.5}, fresh(25, 30, 482_000)},
		{"dises", 20, 1, evolve.Params{"sigma": 2.0, "selection": "linear", "top": 0.4}, fresh(25, 30, 530_000)},
		{"ga", 48, 1, evolve.Params{"sigma": 1.0, "top": 0.1, "spread": 2.0}, fresh(28, 30, 732_000)},
		{"openai-es", 16, 1, evolve.Params{"sigma": 1.0, "alpha": 1.0, "beta1": 0.0, "beta2": 0.9, "l2": 0.0}, fresh(22, 30, 1_200_000)},
		{"pepg", 16, 1, evolve.Params{"sigma": 2.0, "alpha": 0.6, "beta1": 0.0, "beta2": 0.9, "sigma_min": 0.4}, fresh(16, 30, 1_400_000)},
		{"pgpe", 16, 1, evolve.Params{"sigma": 1.0, "alpha": 0.6}, fresh(25, 30, 821_000)},
		{"random-search", 64, 4, evolve.Params{"sigma": 2.0}, fresh(0, 30, never)},
		{"sep-cma-es", 16, 1, evolve.Params{"sigma": 3.0, "sigma_min": 0.5}, fresh(27, 30, 437_000)},
		{"snes", 12, 1, evolve.Params{"sigma": 3.0, "sigma_alpha": 0.05}, fresh(93, 100, 424_000)},
		{"xnes", 16, 1, evolve.Params{"sigma": 3.0, "sigma_alpha": 0.05}, fresh(28, 30, 450_000)},
	})
}
