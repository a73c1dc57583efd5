package presets

import "github.com/evoswarm/evoswarm/internal/evolve"

// Trials: seeds 50000 to 50009, at most 1 M env-steps (0.5 M for random-search).
//
// A small linear policy wants a sigma of the size of the weights that solve the task: 0.6 for plain
// observations. With two episodes per candidate cma-es got stuck in one tuning run of 8 (20 candidates) and
// one of 20 (32 candidates), snes in none of 34; one episode takes fewer env-steps.
func init() {
	add("LunarLanderContinuous-v3", Preset{
		Policy: linear("clip", false), SharedEpisodes: true, EvalEvery: 2, EvalEpisodes: 24,
	}, []row{
		{"snes", 28, 1, evolve.Params{"sigma": 0.6}, fresh(10, 10, 98_000)},
		{"ars", 32, 1, evolve.Params{"sigma": 0.6, "alpha": 0.4}, fresh(10, 10, 105_000)},
		{"cem", 40, 1, evolve.Params{"sigma": 0.6, "noise": 0.1}, fresh(10, 10, 109_000)},
		{"cma-es", 32, 1, evolve.Params{"sigma": 0.6}, fresh(10, 10, 103_000)},
		{"dises", 60, 1, evolve.Params{"sigma": 0.6, "selection": "linear", "top": 0.25}, fresh(10, 10, 136_000)},
		{"ga", 60, 1, evolve.Params{"sigma": 0.3, "spread": 2.0}, fresh(10, 10, 318_000)},
		{"openai-es", 40, 1, evolve.Params{"sigma": 0.6, "alpha": 0.2, "beta1": 0.5, "beta2": 0.99, "l2": 0.0}, fresh(10, 10, 132_000)},
		{"pepg", 40, 1, evolve.Params{"sigma": 0.6, "alpha": 0.3, "beta1": 0.0, "beta2": 0.9, "sigma_min": 0.1}, fresh(10, 10, 135_000)},
		{"pgpe", 40, 1, evolve.Params{"sigma": 0.8, "alpha": 0.2, "sigma_alpha": 0.2}, fresh(10, 10, 154_000)},
		{"random-search", 40, 1, evolve.Params{"sigma": 1.0}, fresh(0, 10, never)},
		{"sep-cma-es", 32, 1, evolve.Params{"sigma": 0.6}, fresh(10, 10, 101_000)},
		{"vanilla-es", 40, 1, evolve.Params{"sigma": 0.6}, fresh(10, 10, 130_000)},
		{"xnes", 40, 1, evolve.Params{"sigma": 0.6}, fresh(10, 10, 69_000)},
	})
}
