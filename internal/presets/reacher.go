package presets

import "github.com/evoswarm/evoswarm/internal/evolve"

// Trials: seed 1000, 60 s. A mean return of -5 took 15 M env-steps, -3.75 35 M, and the run hovered around the
// threshold (best -3.6) to 45 M without passing a test of 100 episodes. Which way the arm must turn depends on where
// the target is: a linear policy cannot tell. Without normalized observations the best was -5.0 after 21 M.
func init() {
	add("Reacher-v5", Preset{
		Policy: mlp("clip", 16), SharedEpisodes: true, Observations: frozen(10_000), EvalEvery: 10, EvalEpisodes: 50,
	}, []row{
		{"snes", 60, 4, evolve.Params{"sigma": 0.5}, tuning(0, 1, never)},
		{"dises", 60, 8, evolve.Params{"sigma": 0.5, "sigma_decay": 0.995, "sigma_min": 0.03, "selection": "linear", "top": 0.25}, notTried},
	})
}
