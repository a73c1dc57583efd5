package presets

import (
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// Trials: ars with the settings of its paper (120 evaluations, sigma 0.025, alpha 0.015, top 20, whole episodes
// without the reward for being healthy), seed 1000: 3,053 after 9.1 M env-steps as below, still rising, and without
// contact forces in its observations 3,053 after 10.2 M, 4,319 after 30.4 M and at best 4,376 in 40.6 M. The fresh
// seed 20000, without them too, had 5,072 after 43 M. A policy that does nothing stays healthy and has about 1,000,
// and actions cost, so the first millions are spent below that.
//
// Seed 1000 of nine settings with a horizon, then fresh seeds 20000 to 20002 of what was best, snes, 2.9 M
// env-steps each: the best mean returns were 2,015, 1,716 and 2,284, and swung; without contact forces snes (sigma
// 0.03) stayed below 930 for 3.3 M. With a sigma of 0.05, or 20 candidates, nothing was learned in 0.5 M; with 0.1,
// and the reward for being healthy subtracted, snes learned to fall at once, which costs least. openai-es (60
// evaluations, sigma 0.02, alpha 0.01, a horizon of 200 that grows by 2, a bias, observations held to 2) had 1,461
// after 1.1 M; with sigma 0.03, alpha 0.015 and no contact forces it fell after 0.5 M and stayed down, and ars with
// that horizon, 60 evaluations and alpha 0.02 stayed below 940 for 3.5 M.
func init() {
	add("Ant-v5", Preset{
		Policy: linear("clip", false), SharedEpisodes: true, Conditions: rollout.Conditions{Horizon: 150, Growth: 1}, Observations: running(),
		EvalEvery: 5, EvalEpisodes: 4,
	}, []row{
		{"ars", 120, 1, evolve.Params{"sigma": 0.025, "alpha": 0.015, "top": 20.0}, tuning(0, 1, never)},
		{"snes", 40, 1, evolve.Params{"sigma": 0.02}, fresh(0, 3, never)},
		{"dises", 60, 1, evolve.Params{"sigma": 0.03, "sigma_decay": 0.998, "sigma_min": 0.01, "selection": "linear", "top": 0.25}, notTried},
		{"openai-es", 60, 1, evolve.Params{"sigma": 0.02, "alpha": 0.01, "beta1": 0.5, "beta2": 0.99, "l2": 0.0}, notTried},
	}).under("ars", func(p *Preset) {
		p.Conditions = rollout.Conditions{Bonus: 1}
		p.Observations.Clip = 3
	})
}
