package rollout

import "github.com/evoswarm/evoswarm/internal/evolve"

// The presets of the worlds on Box2D were chosen with seeds 1000 to 1039. Small linear
// policies want a sigma of the size of the weights that solve the task: 0.6 for plain
// observations, 1 for normalised ones. Without normalisation the discrete lander takes
// twice the steps, and a third of the runs gets stuck.

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
