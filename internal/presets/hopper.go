package presets

import (
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// Trials: seeds 1000 to 1003, at most 150 s (dises) and 40 s (snes), the first two on a busy computer: none solved.
// snes reached 3,000 with all four, after 0.5 to 2.1 M env-steps (4 to 16 s), and at best 3,202 to 3,361. dises
// reached 3,000 with three, after 1.6 to 1.9 M (6 to 13 s), and 3,665 and 3,513 after 14.8 and 16.9 M; with 1002 it
// was at 1,620 after 6.6 M. Then, with seeds 0 to 9, 25 s each, snes reached 3,000 with all ten after 0.5 to 3.1 M
// (1.6 to 9 s), and at best 3,157 to 3,736.
//
// A cap on the length of episodes teaches the first hops first. With 60 candidates, a sigma of 0.1 and a least one of
// 0.02 dises reached 3,503 and 3,184 (3.4 and 4.5 M). With a bonus of 1 subtracted instead of the cap, 40 candidates
// reached 3,473 and 3,254 (3.5 and 3.8 M), and ars (16 evaluations, sigma 0.025, alpha 0.01, top 4) 3,343 (6.7 M).
// snes with a sigma of 0.2 and neither got stuck at 2,534, with an mlp of 16 units at 1,080.
func init() {
	add("Hopper-v5", Preset{
		Policy: linear("clip", false), SharedEpisodes: true, Conditions: rollout.Conditions{Cap: 1.5}, Observations: running(),
		EvalEvery: 5, EvalEpisodes: 6,
	}, []row{
		{"snes", 60, 1, evolve.Params{"sigma": 0.1}, fresh(0, 10, never)},
		{"ars", 16, 1, evolve.Params{"sigma": 0.025, "alpha": 0.01, "top": 4.0}, notTried},
		{"dises", 100, 1, evolve.Params{"sigma": 0.15, "sigma_decay": 0.99, "sigma_min": 0.03, "selection": "linear", "top": 0.25}, tuning(0, 4, never)},
	})
}
