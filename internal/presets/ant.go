package presets

import "github.com/evoswarm/evoswarm/internal/evolve"

// Trials: seed 1000, 150 s on a busy computer: the best mean returns were 1,331 after 1.5 M env-steps (snes) and
// 1,305 after 2.5 M (dises). A policy that does nothing stays healthy and has about 1,000, and actions cost, so a
// sigma must be small: with 0.1, and the reward for being healthy subtracted, snes learned to fall at once, which
// costs least.
func init() {
	add("Ant-v5", Preset{
		Policy: linear("clip", false), SharedEpisodes: true, Observations: running(), EvalEvery: 5, EvalEpisodes: 4,
	}, []row{
		{"snes", 40, 1, evolve.Params{"sigma": 0.02}, tuning(0, 1, never)},
		{"ars", 120, 1, evolve.Params{"sigma": 0.025, "alpha": 0.015, "top": 20.0}, notTried},
		{"dises", 60, 1, evolve.Params{"sigma": 0.03, "sigma_decay": 0.995, "sigma_min": 0.01, "selection": "linear", "top": 0.25}, tuning(0, 1, never)},
	})
}
