package presets

import "github.com/evoswarm/evoswarm/internal/evolve"

// Trials: seeds 1000 to 1005 (snes), 1000 (dises) and 1001 (ars), at most 45 s on two cores. snes took 7 to 10 s for
// the seeds from 1003 up, while nothing else ran; with 1002, on a busy computer, it was at 3,463 after 6.5 M
// env-steps and 40 s. A mean return of 3,000 took 0.8 to 1.6 M (snes), 1.2 M (dises, ars). ars as in its paper (64
// evaluations, sigma 0.03, alpha 0.02, top 4) was at 5,200 after 11.7 M.
func init() {
	add("HalfCheetah-v5", Preset{
		Policy: linear("clip", false), SharedEpisodes: true, Observations: running(), EvalEvery: 10, EvalEpisodes: 4,
	}, []row{
		{"snes", 40, 1, evolve.Params{"sigma": 0.1}, tuning(5, 6, 4_300_000)},
		{"ars", 40, 1, evolve.Params{"sigma": 0.05, "alpha": 0.04, "top": 8.0}, tuning(1, 1, 2_900_000)},
		{"dises", 60, 1, evolve.Params{"sigma": 0.1, "sigma_decay": 0.99, "sigma_min": 0.03, "selection": "linear", "top": 0.25}, tuning(1, 1, 8_500_000)},
	})
}
