package presets

import "github.com/evoswarm/evoswarm/internal/evolve"

// Fresh trials: seeds 50000 to 50009, at most 3 M env-steps. Tuning: seeds 1010 to 1015, at most 1.5 or 2 M env-steps;
// dises also solved 20 of 20 tuning runs with seeds up to 1033.
//
// dises with other selections, fresh seeds, at most 5 M env-steps: group with two centers and 100 candidates
// 10 of 10, median 930 k; max with 20 candidates, two episodes, a step of 0.2 and a sigma that decays by
// 0.997 8 of 10, 888 k (tuning: 8 of 8, 600 k). The best candidate alone points the right way only roughly:
// many generations with small steps average what a few large ones cannot (100 candidates, three episodes,
// step 1: 4 of 10).
//
// Normalized observations want a sigma of 1. Without normalization xnes took twice the env-steps, and snes got stuck in
// three runs of four. A sigma that decays by 0.985 saves dises a third of the env-steps, and false tests.
func init() {
	add("LunarLander-v3", Preset{
		Policy: linear("argmax", true), SharedEpisodes: true, Observations: frozen(10_000), EvalEvery: 2, EvalEpisodes: 24,
	}, []row{
		{"dises", 80, 2, evolve.Params{"sigma": 1.0, "sigma_decay": 0.985, "selection": "linear", "top": 0.2}, fresh(10, 10, 679_000)},
		{"ars", 60, 2, evolve.Params{"sigma": 1.0, "alpha": 0.5}, tuning(3, 4, 1_100_000)},
		{"cem", 80, 2, evolve.Params{"sigma": 1.0, "noise": 0.3, "noise_decay": 0.97, "noise_min": 0.02}, tuning(4, 4, 750_000)},
		{"cma-es", 40, 2, evolve.Params{"sigma": 1.0}, tuning(5, 6, 612_000)},
		{"ga", 80, 2, evolve.Params{"sigma": 0.3, "spread": 2.0}, tuning(3, 4, 1_800_000)},
		{"openai-es", 60, 2, evolve.Params{"sigma": 1.0, "alpha": 0.3, "beta1": 0.5, "beta2": 0.99, "l2": 0.0}, tuning(4, 4, 965_000)},
		{"pepg", 60, 2, evolve.Params{"sigma": 1.0, "alpha": 0.3, "beta1": 0.0, "beta2": 0.9, "sigma_min": 0.1}, tuning(4, 4, 834_000)},
		{"pgpe", 80, 2, evolve.Params{"sigma": 1.0, "alpha": 0.5}, tuning(4, 4, 864_000)},
		{"random-search", 64, 2, evolve.Params{"sigma": 1.0}, tuning(0, 4, never)},
		{"sep-cma-es", 60, 2, evolve.Params{"sigma": 1.0}, tuning(5, 6, 1_000_000)},
		{"snes", 40, 2, evolve.Params{"sigma": 1.0, "sigma_alpha": 0.5}, tuning(4, 4, 428_000)},
		{"vanilla-es", 80, 2, evolve.Params{"sigma": 1.0, "sigma_decay": 0.985}, tuning(4, 4, 703_000)},
		{"xnes", 40, 2, evolve.Params{"sigma": 1.0}, tuning(6, 6, 489_000)},
	})
}
