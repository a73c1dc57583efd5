package presets

import (
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// Trials: seeds 0 to 4, at most 60 M (snes) and 40 M (dises) env-steps. Only these two were tuned to the end;
// the settings of the other rows were carried over, and nobody has run them as they are.
//
// The walker wants a soft policy: no bias, and a sigma, in units of normalized observations, that does not
// drive the motors to their limits. A cap just above the mean episode length teaches the first steps first. A
// fall, which costs 100, counts as 10 in training: without that two tuning runs of eight learned to stand
// still, with it none of nine.
//
// Tuning seeds: snes solved 1021 (3.4 M env-steps); dises 1010, where a fast gait that falls is easy to find,
// 1011, 1021 and 1023 (3.1 to 7.5 M; 40 to 100 candidates) but not 1012 (returns of 163 to 306 from 4 to 12
// M); dises in two groups 1010 (4.7 M). A sigma that decays by 0.98 is gone before the gait is smooth; with
// one that decays by 0.997 candidates still fall at a return of 270. dises by max, with 40 candidates, two
// episodes, a step of 0.1, sigma_decay 0.997 and sigma_min 0.05, solved 1021 and 1022 (23.9 and 18.5 M), was
// at 297 with 1023 (8.6 M), and stood still with 1010; with steps of 0.2 or 20 candidates it reached 290.
// Before falls were bounded, ars with constant rates reached 268 (6 M), sep-cma-es 235, and xnes stood still.
func init() {
	add("BipedalWalker-v3", walker(5), walking)
}

// walker is what the presets of both walkers share.
func walker(interval uint64) Preset {
	return Preset{
		Policy: linear("clip", false), SharedEpisodes: true, Conditions: rollout.Conditions{Cap: 1.3, Penalty: 10},
		Observations: running(), EvalEvery: interval, EvalEpisodes: 24,
	}
}

// walking holds what each strategy wants to learn to walk.
var walking = []row{
	{"snes", 40, 1, evolve.Params{"sigma": 0.15}, fresh(5, 5, 5_100_000)},
	{"ars", 64, 1, evolve.Params{"sigma": 0.2, "alpha": 0.3, "top": 16.0, "sigma_decay": 0.99, "sigma_min": 0.05, "alpha_decay": 0.99, "alpha_min": 0.05},
		notTried},
	{"cem", 64, 1, evolve.Params{"sigma": 0.15, "noise": 0.002}, notTried},
	{"cma-es", 40, 1, evolve.Params{"sigma": 0.15}, notTried},
	{"dises", 100, 1, evolve.Params{"sigma": 0.15, "sigma_decay": 0.99, "sigma_min": 0.03, "selection": "linear", "top": 0.33}, fresh(5, 5, 8_300_000)},
	{"ga", 80, 1, evolve.Params{"sigma": 0.05, "spread": 2.0}, notTried},
	{"openai-es", 64, 1, evolve.Params{"sigma": 0.15, "alpha": 0.05, "beta1": 0.5, "beta2": 0.99, "l2": 0.0}, notTried},
	{"pepg", 64, 1, evolve.Params{"sigma": 0.15, "alpha": 0.05, "beta1": 0.5, "beta2": 0.99, "sigma_min": 0.03}, notTried},
	{"pgpe", 64, 1, evolve.Params{"sigma": 0.15, "alpha": 0.1}, notTried},
	{"random-search", 64, 1, evolve.Params{"sigma": 0.3}, notTried},
	{"sep-cma-es", 40, 1, evolve.Params{"sigma": 0.15}, notTried},
	{"vanilla-es", 64, 1, evolve.Params{"sigma": 0.3, "sigma_decay": 0.985, "sigma_min": 0.03}, notTried},
	{"xnes", 40, 1, evolve.Params{"sigma": 0.15}, notTried},
}
