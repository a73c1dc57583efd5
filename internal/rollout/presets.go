package rollout

import "github.com/evoswarm/evoswarm/internal/evolve"

// presets returns all presets, those of one world together, its default strategy
// first. They were tuned on runs with seeds from 1000 up, the fewest env-steps to
// the threshold first, then the worst run; seeds below 1000 were not looked at.
// Runs solved and their median env-steps, validation and tests not counted:
//
//	CartPole-v1               dises 200/200, 3.6 k   openai-es 100/100, 6.5 k
//	Acrobot-v1                dises 100/100, 10 k    openai-es 100/100, 13 k
//	MountainCarContinuous-v0  dises 99/100, 42 k     openai-es 40/40, 67 k (within 0.4 M)
//	Pendulum-v1               dises 7/8, 1.2 M       openai-es 6/6, 0.75 M (within 1.5 and 2 M)
//	MountainCar-v0            dises 2/6              openai-es 0/6         (within 2 and 1.5 M)
//
// MountainCar-v0 is not learnt reliably: the return is flat until a candidate reaches
// the flag, and linear policies end near -120 where -110 is asked.
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
