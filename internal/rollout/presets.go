package rollout

import "github.com/evoswarm/evoswarm/internal/evolve"

// presets returns all presets, those of one world together, its default strategy
// first. They were chosen by runs with seeds 1000 to 1199, the fewest env-steps to
// the threshold first, then the worst run, and then measured once on seeds from
// 50000 up, with nothing changed after; seeds 0 to 9 were not looked at. Of those
// fresh runs were solved, with the median env-steps of training over all runs
// (validation and tests not counted; a run that fails a test goes on and is tested
// again):
//
//	world                     cap     dises             openai-es
//	CartPole-v1               0.2 M   200/200, 4.2 k    200/200, 6.3 k
//	Acrobot-v1                0.6 M    99/100, 10 k     100/100, 11 k
//	MountainCarContinuous-v0  0.4 M    98/100, 45 k     100/100, 67 k
//	Pendulum-v1               2 M        7/10, 1.4 M      7/10, 0.74 M
//	MountainCar-v0            2 M         0/6               0/6
//
// MountainCar-v0 is not learnt: the return is flat until a candidate reaches the
// flag, and linear policies end near -120 where -110 is asked. Its presets are
// starting points only.
//
// A linear policy with an argmax head takes the same actions when all its
// parameters are scaled, and it starts at zero: there sigma alone means nothing,
// only its ratio to alpha and its decay do. The small worlds want no bias: each
// parameter more costs steps, and their best simple policies are odd functions.
func presets() []presetEntry {
	return []presetEntry{
		{presetKey{"Acrobot-v1", "dises"}, Preset{
			Params: evolve.Params{"sigma": 1.0}, Policy: linear("argmax", false),
			Evaluations: 8, EpisodesPerCandidate: 1, SharedEpisodes: true, Chunk: 8, ValidateEvery: 1, ValidateEpisodes: 16,
		}},
		{presetKey{"Acrobot-v1", "openai-es"}, Preset{
			Params: evolve.Params{"sigma": 0.5, "alpha": 0.5, "beta1": 0.0, "beta2": 0.9, "l2": 0.0}, Policy: linear("argmax", false),
			Evaluations: 8, EpisodesPerCandidate: 1, SharedEpisodes: true, Chunk: 4, ValidateEvery: 1, ValidateEpisodes: 16,
		}},
		{presetKey{"CartPole-v1", "dises"}, Preset{
			Params: evolve.Params{"sigma": 0.5}, Policy: linear("argmax", false),
			Evaluations: 8, EpisodesPerCandidate: 1, SharedEpisodes: true, Chunk: 8, ValidateEvery: 1, ValidateEpisodes: 8,
		}},
		{presetKey{"CartPole-v1", "openai-es"}, Preset{
			Params: evolve.Params{"sigma": 0.5, "alpha": 0.7, "beta1": 0.0, "beta2": 0.9, "l2": 0.0}, Policy: linear("argmax", false),
			Evaluations: 8, EpisodesPerCandidate: 1, SharedEpisodes: true, Chunk: 4, ValidateEvery: 1, ValidateEpisodes: 8,
		}},
		{presetKey{"MountainCar-v0", "dises"}, Preset{
			Params: evolve.Params{"sigma": 30.0}, Policy: mlp("argmax", 8),
			Evaluations: 256, EpisodesPerCandidate: 1, SharedEpisodes: true, Chunk: 16, ValidateEvery: 1, ValidateEpisodes: 16,
		}},
		{presetKey{"MountainCar-v0", "openai-es"}, Preset{
			Params: evolve.Params{"sigma": 1.0, "alpha": 1.0, "beta1": 0.0, "beta2": 0.9, "l2": 0.0}, Policy: linear("argmax", false),
			Evaluations: 128, EpisodesPerCandidate: 2, SharedEpisodes: true, Chunk: 16, ValidateEvery: 1, ValidateEpisodes: 16,
		}},
		{presetKey{"MountainCarContinuous-v0", "dises"}, Preset{
			Params: evolve.Params{"sigma": 20.0}, Policy: linear("clip", false),
			Evaluations: 24, EpisodesPerCandidate: 1, SharedEpisodes: true, Chunk: 8, ValidateEvery: 1, ValidateEpisodes: 8,
		}},
		{presetKey{"MountainCarContinuous-v0", "openai-es"}, Preset{
			Params: evolve.Params{"sigma": 10.0, "alpha": 10.0, "beta1": 0.0, "beta2": 0.9, "l2": 0.0}, Policy: linear("clip", false),
			Evaluations: 8, EpisodesPerCandidate: 1, SharedEpisodes: true, Chunk: 4, ValidateEvery: 1, ValidateEpisodes: 8,
		}},
		{presetKey{"Pendulum-v1", "openai-es"}, Preset{
			Params: evolve.Params{"sigma": 1.0, "alpha": 0.5, "beta1": 0.0, "beta2": 0.9, "l2": 0.0}, Policy: mlp("clip", 8),
			Evaluations: 16, EpisodesPerCandidate: 1, SharedEpisodes: true, Chunk: 8, ValidateEvery: 1, ValidateEpisodes: 16,
		}},
		{presetKey{"Pendulum-v1", "dises"}, Preset{
			Params: evolve.Params{"sigma": 2.0}, Policy: mlp("clip", 8),
			Evaluations: 32, EpisodesPerCandidate: 2, SharedEpisodes: true, Chunk: 8, ValidateEvery: 1, ValidateEpisodes: 16,
		}},
	}
}
