package presets

import "github.com/evoswarm/evoswarm/internal/evolve"

// Trials: seeds 1000 to 1009, at most 24 s on one core (snes), 20 s (ars), and 1000, at most 45 s on two cores (dises).
// Of snes 7 of 10 were solved, the other three at 2,912, 4,544 and 4,660; then of seeds 10 to 19, at most 60 s, 9 of
// 10, and all ten reached 3,000 after 0.8 to 3.3 M env-steps. With sigma 0.1 it is faster where it learns (0.8 to 3.3 M
// env-steps to 3,000), but three of ten fresh seeds stay on their backs at 2,000; with 0.2 it solves 2 of 10, with 80
// evaluations 3 of 10. ars as in its paper (64 evaluations, sigma 0.03, alpha 0.02, top 4) was at 5,200 after 11.7 M.
func init() {
	add("HalfCheetah-v5", Preset{
		Policy: linear("clip", false), SharedEpisodes: true, Observations: running(), EvalEvery: 10, EvalEpisodes: 4,
	}, []row{
		{"snes", 40, 1, evolve.Params{"sigma": 0.05}, fresh(9, 10, 3_485_000)},
		{"ars", 40, 1, evolve.Params{"sigma": 0.05, "alpha": 0.04, "top": 8.0}, tuning(5, 10, never)},
		{"dises", 60, 1, evolve.Params{"sigma": 0.1, "sigma_decay": 0.99, "sigma_min": 0.03, "selection": "linear", "top": 0.25}, tuning(1, 1, 8_500_000)},
	})
}
