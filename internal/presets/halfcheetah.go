package presets

import "github.com/evoswarm/evoswarm/internal/evolve"

// Trials: seeds 1000 to 1002 (snes), 1000 (dises) and 1001 (ars), at most 40 s on a busy computer: snes with 1002 was
// at 3,463 after 6.5 M env-steps. A mean return of 3,000 took 0.8 M (snes), 1.2 M (dises, ars) env-steps. ars as in
// its paper (64 evaluations, sigma 0.03, alpha 0.02, top 4) was at 5,200 after 11.7 M.
func init() {
	add("HalfCheetah-v5", Preset{
		Policy: linear("clip", false), SharedEpisodes: true, Observations: running(), EvalEvery: 10, EvalEpisodes: 4,
	}, []row{
		{"snes", 40, 1, evolve.Params{"sigma": 0.1}, tuning(2, 3, 8_200_000)},
		{"ars", 40, 1, evolve.Params{"sigma": 0.05, "alpha": 0.04, "top": 8.0}, tuning(1, 1, 2_900_000)},
		{"dises", 60, 1, evolve.Params{"sigma": 0.1, "sigma_decay": 0.99, "sigma_min": 0.03, "selection": "linear", "top": 0.25}, tuning(1, 1, 8_500_000)},
	})
}
