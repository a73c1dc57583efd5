package presets

import "github.com/evoswarm/evoswarm/internal/evolve"

// Trials: seeds 1000 and 1001 (dises), 1000 and 1002 (snes), 150, 100, 45 and 90 s on a busy computer: none solved.
// The best mean returns were 3,245 after 8.0 M env-steps and 2,140 after 12.4 M (dises), 2,319 after 2.2 M and 2,470
// after 5.0 M (snes).
//
// dises with a sigma of 0.1 and a third of the candidates was at 1,225 after 3.2 M. With 60 candidates snes was at
// 1,433 and 1,602 after 3.5 and 3.8 M. A cap of 1.3 kept it below 930 for 2.9 M; with the reward for being healthy
// subtracted it reached 2,027 after 4 M; ars as in its paper (80 evaluations, sigma 0.025, alpha 0.03, top 30, that
// reward subtracted) 554 after 5.4 M.
func init() {
	add("Walker2d-v5", Preset{
		Policy: linear("clip", false), SharedEpisodes: true, Observations: running(), EvalEvery: 10, EvalEpisodes: 4,
	}, []row{
		{"dises", 100, 1, evolve.Params{"sigma": 0.15, "sigma_decay": 0.99, "sigma_min": 0.03, "selection": "linear", "top": 0.25}, tuning(0, 2, never)},
		{"ars", 80, 1, evolve.Params{"sigma": 0.025, "alpha": 0.03, "top": 30.0}, notTried},
		{"snes", 40, 1, evolve.Params{"sigma": 0.1}, tuning(0, 2, never)},
	})
}
