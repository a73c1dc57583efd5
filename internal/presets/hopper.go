package presets

import (
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// Trials: ars with the settings of its paper (16 evaluations, sigma 0.025, alpha 0.01, top 4, whole episodes
// without the reward for being healthy) and a bias solved all of the fresh seeds 20000 to 20004, after 33.9, 62.6,
// 99.7, 72.6 and 109.7 M env-steps; they reached 3,000 after 1.0 to 2.0 M. On seed 1000 it was at 3,617 after 12 M,
// at 3,784 after 44 M, and fell after 62 M. Without a bias it had 3,343 after 6.7 M, with 32 evaluations, alpha 0.02
// and top 8 3,329 after 28 M, with an alpha that falls to 0.001 by a half cosine over 2,500 generations 3,685 at
// last, with 16 hidden units at best 3,621 in 51 M.
//
// Seeds 1000 and 1001 of twelve other settings, then fresh seeds 20000 to 20005 of what was best, 8 M env-steps
// each: snes reached 3,000 with all six after 1.0 to 2.0 M env-steps, and at best 3,298, 3,504, 3,569, 3,623, 3,632
// and 3,737. A bias helps: on seed 1000 snes had 3,535 after 5 M, and 3,343 without. Observations are normalized,
// so without a bias the mean action is zero.
//
// A cap on the length of episodes teaches the first hops first. Without a bias, dises (100 candidates, a sigma of
// 0.15 that falls by 0.99 to 0.03) was at 3,592, 3,730 and 3,789 after 32 M, cma-es (40) below 2,850 after 2.4 M.
// With a bonus of 1 subtracted instead of the cap, 40 candidates of dises reached 3,473 and 3,254 (3.5 and 3.8 M).
// With a bias, the dises below was the best of twelve after 0.5 M (2,106), not later.
func init() {
	add("Hopper-v5", Preset{
		Policy: linear("clip", true), SharedEpisodes: true, Conditions: rollout.Conditions{Cap: 1.5}, Observations: running(),
		EvalEvery: 5, EvalEpisodes: 6,
	}, []row{
		{"ars", 16, 1, evolve.Params{"sigma": 0.025, "alpha": 0.01, "top": 4.0}, fresh(5, 5, 72_600_000)},
		{"snes", 60, 1, evolve.Params{"sigma": 0.1}, fresh(0, 6, never)},
		{"dises", 60, 1, evolve.Params{"sigma": 0.1, "sigma_decay": 0.995, "sigma_min": 0.02, "selection": "linear", "top": 0.25}, tuning(0, 2, never)},
		{"openai-es", 60, 2, evolve.Params{"sigma": 0.1, "alpha": 0.03, "beta1": 0.5, "beta2": 0.99, "l2": 0.0}, tuning(0, 2, never)},
	}).under("ars", func(p *Preset) { p.Conditions = rollout.Conditions{Bonus: 1} })
}
