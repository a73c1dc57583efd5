package rollout

import "github.com/evoswarm/evoswarm/internal/evolve"

// Of the presets of the worlds on Box2D these runs were solved, with the median env-steps
// of training, within 1 and 3 M env-steps (tuning: 1.5 or 2 M). Fresh: seeds 50000 to
// 50009, after the presets were committed. Tuning: 1010 to 1015 or 1013 (dises: and 1020
// to 1033), by which they were chosen. * is the default:
//
//	strategy      LunarLanderCont., fresh   LunarLander
//	ars           10/10, 105 k              3/4 tuning, 1.1 M
//	cem           10/10, 109 k              4/4 tuning, 750 k
//	cma-es        10/10, 103 k              5/6 tuning, 612 k
//	dises         10/10, 136 k              10/10 fresh, 679 k (20/20 tuning)*
//	ga            10/10, 318 k              3/4 tuning, 1.8 M
//	openai-es     10/10, 132 k              4/4 tuning, 965 k
//	pepg          10/10, 135 k              4/4 tuning, 834 k
//	pgpe          10/10, 154 k              4/4 tuning, 864 k
//	random-search 0/10 (0.5 M)              0/4 tuning
//	sep-cma-es    10/10, 101 k              5/6 tuning, 1.0 M
//	snes          10/10, 98 k*              4/4 tuning, 428 k
//	vanilla-es    10/10, 130 k              4/4 tuning, 703 k
//	xnes          10/10, 69 k               6/6 tuning, 489 k
//
// dises by other selections, discrete lander, fresh seeds, within 5 M: group with two
// centres and 100 candidates 10/10, 930 k; max with 20 candidates, two episodes, a step of 0.2
// and a sigma that decays by 0.997 8/10, 888 k (8/8 tuning, 600 k). The best one alone
// points the right way only roughly: many generations with small steps average what few with
// large ones cannot (100 candidates, three episodes, step 1: 4/10).
//
// What was learnt on the way: small linear policies want a sigma of the size of the weights
// that solve the task, 0.6 for plain observations and 1 for normalised ones. Without
// normalisation the discrete lander took xnes twice the steps and left snes stuck in three
// runs of four. A sigma that decays by 0.985 spared dises a third of the steps there, and
// false tests. On the continuous lander, with two episodes per candidate, cma-es got
// stuck in one tuning run of 8 (20 candidates) and one of 20 (32), snes in none of 34; one
// episode takes fewer steps.

func lunarLanderContinuous() trials {
	return trials{"LunarLanderContinuous-v3", Preset{
		Policy: linear("clip", false), EpisodesPerCandidate: 1, SharedEpisodes: true, ValidateEvery: 2, ValidateEpisodes: 24,
	}, []trial{
		{"snes", 28, evolve.Params{"sigma": 0.6}, 0},
		{"ars", 32, evolve.Params{"sigma": 0.6, "alpha": 0.4}, 0},
		{"cem", 40, evolve.Params{"sigma": 0.6, "noise": 0.1}, 0},
		{"cma-es", 32, evolve.Params{"sigma": 0.6}, 0},
		{"dises", 60, evolve.Params{"sigma": 0.6, "selection": "linear", "top": 0.25}, 0},
		{"ga", 60, evolve.Params{"sigma": 0.3, "spread": 2.0}, 0},
		{"openai-es", 40, evolve.Params{"sigma": 0.6, "alpha": 0.2, "beta1": 0.5, "beta2": 0.99, "l2": 0.0}, 0},
		{"pepg", 40, evolve.Params{"sigma": 0.6, "alpha": 0.3, "beta1": 0.0, "beta2": 0.9, "sigma_min": 0.1}, 0},
		{"pgpe", 40, evolve.Params{"sigma": 0.8, "alpha": 0.2, "sigma_alpha": 0.2}, 0},
		{"random-search", 40, evolve.Params{"sigma": 1.0}, 0},
		{"sep-cma-es", 32, evolve.Params{"sigma": 0.6}, 0},
		{"vanilla-es", 40, evolve.Params{"sigma": 0.6}, 0},
		{"xnes", 40, evolve.Params{"sigma": 0.6}, 0},
	}}
}

func lunarLander() trials {
	return trials{"LunarLander-v3", Preset{
		Policy: linear("argmax", true), EpisodesPerCandidate: 2, SharedEpisodes: true, Observations: frozen(10_000), ValidateEvery: 2, ValidateEpisodes: 24,
	}, []trial{
		{"dises", 80, evolve.Params{"sigma": 1.0, "sigma_decay": 0.985, "selection": "linear", "top": 0.2}, 0},
		{"ars", 60, evolve.Params{"sigma": 1.0, "alpha": 0.5}, 0},
		{"cem", 80, evolve.Params{"sigma": 1.0, "noise": 0.3, "noise_decay": 0.97, "noise_min": 0.02}, 0},
		{"cma-es", 40, evolve.Params{"sigma": 1.0}, 0},
		{"ga", 80, evolve.Params{"sigma": 0.3, "spread": 2.0}, 0},
		{"openai-es", 60, evolve.Params{"sigma": 1.0, "alpha": 0.3, "beta1": 0.5, "beta2": 0.99, "l2": 0.0}, 0},
		{"pepg", 60, evolve.Params{"sigma": 1.0, "alpha": 0.3, "beta1": 0.0, "beta2": 0.9, "sigma_min": 0.1}, 0},
		{"pgpe", 80, evolve.Params{"sigma": 1.0, "alpha": 0.5}, 0},
		{"random-search", 64, evolve.Params{"sigma": 1.0}, 0},
		{"sep-cma-es", 60, evolve.Params{"sigma": 1.0}, 0},
		{"snes", 40, evolve.Params{"sigma": 1.0, "sigma_alpha": 0.5}, 0},
		{"vanilla-es", 80, evolve.Params{"sigma": 1.0, "sigma_decay": 0.985}, 0},
		{"xnes", 40, evolve.Params{"sigma": 1.0}, 0},
	}}
}

// bipedalWalker wants soft policies: a sigma that does not drive the motors to their
// limits, in units of normalised observations, and no bias. A cap just above the mean length
// teaches the first steps first. A fall, which costs 100, counts as 10 in training: else
// two tuning runs of eight learnt to stand still, and none of nine with it.
func bipedalWalker() trials {
	return trials{"BipedalWalker-v3", Preset{
		Policy: linear("clip", false), EpisodesPerCandidate: 1, SharedEpisodes: true, Conditions: Conditions{Cap: 1.3, Penalty: 10},
		Observations: running(), ValidateEvery: 5, ValidateEpisodes: 24,
	}, walking()}
}

// bipedalWalkerHardcore is as bipedalWalker, with two episodes, whose ground differs more.
func bipedalWalkerHardcore() trials {
	return trials{"BipedalWalkerHardcore-v3", Preset{
		Policy: linear("clip", false), EpisodesPerCandidate: 2, SharedEpisodes: true, Conditions: Conditions{Cap: 1.3, Penalty: 10},
		Observations: running(), ValidateEvery: 10, ValidateEpisodes: 24,
	}, walking()}
}

// walking is what each strategy wants to learn to walk. Only snes and dises were tuned to the
// end: on tuning seeds snes solved 1021 (3.4 M env-steps), dises 1010, where a fast gait that
// falls is found easily, 1011, 1021 and 1023 (3.1 to 7.5 M; 40 to 100 candidates) but not 1012
// (looks of 163 to 306 from 4 to 12 M), group with two centres 1010 (4.7 M). A sigma that decays
// by 0.98 is gone before the gait is smooth, one by 0.997 leaves candidates falling at 270. Max
// with 40 candidates, two episodes, a step of 0.1, sigma_decay 0.997 and sigma_min 0.05 solved
// 1021 and 1022 (23.9 and 18.5 M), was at 297 with 1023 (8.6 M), and stood still with 1010; with
// steps of 0.2 or 20 candidates it came to 290. Earlier, without the bound on a fall, ars with
// constant rates came to 268 (6 M), sep-cma-es to 235; xnes stood still. The others were not run.
func walking() []trial {
	return []trial{
		{"snes", 40, evolve.Params{"sigma": 0.15}, 0},
		{"ars", 64, evolve.Params{"sigma": 0.2, "alpha": 0.3, "top": 16.0, "sigma_decay": 0.99, "sigma_min": 0.05, "alpha_decay": 0.99, "alpha_min": 0.05}, 0},
		{"cem", 64, evolve.Params{"sigma": 0.15, "noise": 0.002}, 0},
		{"cma-es", 40, evolve.Params{"sigma": 0.15}, 0},
		{"dises", 100, evolve.Params{"sigma": 0.15, "sigma_decay": 0.99, "sigma_min": 0.03, "selection": "linear", "top": 0.33}, 0},
		{"ga", 80, evolve.Params{"sigma": 0.05, "spread": 2.0}, 0},
		{"openai-es", 64, evolve.Params{"sigma": 0.15, "alpha": 0.05, "beta1": 0.5, "beta2": 0.99, "l2": 0.0}, 0},
		{"pepg", 64, evolve.Params{"sigma": 0.15, "alpha": 0.05, "beta1": 0.5, "beta2": 0.99, "sigma_min": 0.03}, 0},
		{"pgpe", 64, evolve.Params{"sigma": 0.15, "alpha": 0.1}, 0},
		{"random-search", 64, evolve.Params{"sigma": 0.3}, 0},
		{"sep-cma-es", 40, evolve.Params{"sigma": 0.15}, 0},
		{"vanilla-es", 64, evolve.Params{"sigma": 0.3, "sigma_decay": 0.985, "sigma_min": 0.03}, 0},
		{"xnes", 40, evolve.Params{"sigma": 0.15}, 0},
	}
}
