package presets

import (
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// Trials: openai-es, fresh seeds 20000 to 20003 and 30000 to 30005, at most 11.5 M env-steps each: 10 of 10 solved;
// all ten reached 3,000 after 0.47 to 2.44 M. Seeds 1000 to 1002 of nine settings, of which ars solved two within
// some 12 s of a slow core; then fresh seeds 20000 to 20009: ars solved 3 of 10 within 1.6 M, and nine reached 3,000
// after 0.18 to 0.96 M; with more time 5, at most 2.7 M each where it did not; dises solved one, and nine reached
// 3,000 after 0.17 to 1.0 M.
//
// Without a horizon, snes (a sigma of 0.05) solved 9 of 10 in a median of 3.5 M (seeds 10 to 19), and all ten reached
// 3,000 after 0.8 to 3.3 M; with a sigma of 0.1, three of ten stayed on their backs at 2,000; ars as in its paper (64
// evaluations, sigma 0.03, alpha 0.02, top 4) was at 5,200 after 11.7 M.
func init() {
	add("HalfCheetah-v5", Preset{
		Policy: linear("clip", false), SharedEpisodes: true, Conditions: rollout.Conditions{Horizon: 250, Growth: 3}, Observations: running(),
		EvalEvery: 5, EvalEpisodes: 4,
	}, []row{
		{"openai-es", 40, 2, evolve.Params{"sigma": 0.05, "alpha": 0.02, "beta1": 0.5, "beta2": 0.99, "l2": 0.0}, fresh(10, 10, 2_150_000)},
		{"ars", 40, 1, evolve.Params{"sigma": 0.05, "alpha": 0.04, "top": 8.0}, fresh(5, 10, never)},
		{"dises", 60, 1, evolve.Params{"sigma": 0.1, "sigma_decay": 0.99, "sigma_min": 0.03, "selection": "linear", "top": 0.25}, fresh(1, 10, never)},
		{"snes", 40, 1, evolve.Params{"sigma": 0.05}, notTried},
	})
}
