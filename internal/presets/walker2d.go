package presets

import (
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// Trials: seeds 1000 and 1001 of twelve settings: ars had the best mean, 2,707 after 2 M env-steps each; before, snes
// without a bias (1,661 after 0.9 M). Then fresh seeds: 20000 to 20004 of ars solved it after 12.6, 12.3,
// 23.9, 33.6 and 52.6 M.
//
// Without a horizon, with a bias and a sigma of 0.15 that falls by 0.99 to 0.05, dises had at best 2,139, 2,199,
// 2,465, 2,924, 3,415 and 4,104 with seeds 20000 to 20005 after 7 M each; without a bias and down to 0.03, 3,245
// after 8.0 M (1000), and snes 2,319 and 2,470 after 2.2 and 5.0 M (1000 and 1002). A cap of 1.3 kept dises below 930
// for 2.9 M; ars as in its paper (80 evaluations, sigma 0.025, alpha 0.03, top 30, the reward for being healthy
// subtracted) was at 554 after 5.4 M. openai-es, seeds 30000 to 30005: 2,792 to 4,785 after 10 M.
func init() {
	add("Walker2d-v5", Preset{
		Policy: linear("clip", true), SharedEpisodes: true, Conditions: rollout.Conditions{Horizon: 300, Growth: 2}, Observations: running(),
		EvalEvery: 10, EvalEpisodes: 4,
	}, []row{
		{"ars", 40, 1, evolve.Params{"sigma": 0.05, "alpha": 0.04, "top": 10.0}, fresh(5, 5, 23_900_000)},
		{"dises", 100, 1, evolve.Params{"sigma": 0.1, "sigma_decay": 0.997, "sigma_min": 0.03, "selection": "linear", "top": 0.25}, tuning(0, 2, never)},
		{"openai-es", 80, 1, evolve.Params{"sigma": 0.1, "alpha": 0.02, "beta1": 0.5, "beta2": 0.99, "l2": 0.0}, fresh(0, 6, never)},
		{"snes", 40, 1, evolve.Params{"sigma": 0.1}, notTried},
	})
}
