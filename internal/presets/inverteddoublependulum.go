package presets

import "github.com/evoswarm/evoswarm/internal/evolve"

// Trials: seeds 1000 and 1001. Four episodes for a candidate: with two, a run of snes balanced most of the time for
// 15 M env-steps, and fell once in a hundred episodes. dises as in other worlds (sigma 1) learned nothing in 9 M.
func init() {
	add("InvertedDoublePendulum-v5", Preset{
		Policy: linear("clip", false), SharedEpisodes: true, EvalEvery: 4, EvalEpisodes: 32,
	}, []row{
		{"snes", 24, 4, evolve.Params{"sigma": 0.5}, tuning(2, 2, 165_000)},
		{"ars", 24, 2, evolve.Params{"sigma": 0.3, "alpha": 0.3}, tuning(2, 2, 1_000_000)},
		{"dises", 40, 4, evolve.Params{"sigma": 0.5, "selection": "linear", "top": 0.25}, notTried},
	})
}
