package presets

import "github.com/evoswarm/evoswarm/internal/evolve"

// Trials: seed 1000, 60 s. A mean return of -5 took 15 M env-steps, -3.75 35 M, and the run hovered around the
// threshold (best -3.6) to 45 M without passing a test of 100 episodes. Which way the arm must turn depends on where
// the target is: a linear policy cannot tell. Without normalized observations the best was -5.0 after 21 M. Fresh
// seeds 20000 to 20004: dises had -5.0 to -4.4 at best after 34 M each, and cma-es, with 8 hidden units and a sigma
// of 0.5, which was the best of ten settings with seeds 1000 and 1001 after 19 s (-4.8), -4.4 to -3.8 after 29 M.
func init() {
	add("Reacher-v5", Preset{
		Policy: mlp("clip", 16), SharedEpisodes: true, Observations: frozen(10_000), EvalEvery: 10, EvalEpisodes: 50,
	}, []row{
		{"snes", 60, 4, evolve.Params{"sigma": 0.5}, tuning(0, 1, never)},
		{"dises", 60, 8, evolve.Params{"sigma": 0.5, "sigma_decay": 0.995, "sigma_min": 0.03, "selection": "linear", "top": 0.25}, fresh(0, 5, never)},
	})
}
