package runspec

import (
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// NoObservations is the kind of observations that reach the policy as the environment gives them.
const NoObservations = "none"

// Defaults of what no preset says: of a policy that gets hidden layers or bins, and of observations that get
// normalized. Ten bins are those of Salimans et al. (2017), 10,000 observations are the random rollout of
// EvoRL, and most libraries clip at 10.
const (
	defaultHidden     = 16
	defaultActivation = "tanh"
	defaultBins       = 10
	defaultObserved   = 10_000
	defaultClip       = 10.0
)

// table is the one list of what a run can be told.
var table = []Setting{
	{Name: "population", Key: "population", Doc: "evaluations per generation, both signs of a pair counted",
		Min: 1, Max: seedlog.MaxEvaluations,
		field: func(d *draft) any { return &d.Population }},

	{Name: "policy", Key: "policy.kind", Doc: "kind of the policy; an mlp is a multilayer perceptron",
		Choices: []string{"linear", "mlp"},
		field:   func(d *draft) any { return &d.Policy.Kind }},
	{Name: "hidden", Key: "policy.hidden", Doc: "widths of the hidden layers of an mlp",
		Min: 1, Max: policy.MaxWidth, Default: defaultHidden,
		field: func(d *draft) any { return &d.Policy.Hidden }},
	{Name: "activation", Key: "policy.activation", Doc: "function after each hidden layer",
		Choices: []string{"tanh", "relu"}, Default: defaultActivation,
		field: func(d *draft) any { return &d.Policy.Activation }},
	{Name: "bias", Key: "policy.bias", Doc: "whether layers have a bias",
		field: func(d *draft) any { return &d.Policy.Bias }},
	{Name: "head", Key: "policy.head", Doc: "how outputs become an action: argmax for discrete actions, clip or bins for real ones",
		Choices: []string{"argmax", "clip", "bins"},
		field:   func(d *draft) any { return &d.Policy.Head }},
	{Name: "bins", Key: "policy.bins", Doc: "values that a bins head chooses from",
		Min: 2, Max: policy.MaxBins, Default: defaultBins,
		field: func(d *draft) any { return &d.Policy.Bins }},
	{Name: "vbn", Key: "policy.vbn", Doc: "whether the hidden units of an mlp with biases have virtual batch normalization",
		field: func(d *draft) any { return &d.Policy.VBN }},

	{Name: "episodes", Key: "episodes.count", Doc: "episodes per evaluation; its fitness is their mean return",
		Min: 1, Max: seedlog.MaxEpisodes,
		field: func(d *draft) any { return &d.Episodes }},
	{Name: "shared", Key: "episodes.shared", Doc: "whether all candidates of a generation get the same episodes",
		field: func(d *draft) any { return &d.SharedEpisodes }},
	{Name: "action-noise", Key: "episodes.action_noise", Doc: "standard deviation of Gaussian noise on real actions",
		Max: rollout.MaxActionNoise, TrainingOnly: true,
		field: func(d *draft) any { return &d.Conditions.ActionNoise }},
	{Name: "subtract-alive-bonus", Old: []string{"alive-bonus"}, Key: "episodes.subtract_alive_bonus", OldKeys: []string{"episodes.bonus"},
		Doc: "subtracted from the reward of each step, such as a reward for staying alive",
		Max: rollout.MaxBonus, TrainingOnly: true,
		field: func(d *draft) any { return &d.Conditions.Bonus }},
	{Name: "max-penalty", Key: "episodes.max_penalty", OldKeys: []string{"episodes.penalty"},
		Doc: "a reward below -X counts as -X",
		Max: rollout.MaxBonus, Zero: "for no bound", TrainingOnly: true,
		field: func(d *draft) any { return &d.Conditions.Penalty }},
	{Name: "frame-skip", Key: "episodes.frame_skip", OldKeys: []string{"episodes.skip"},
		Doc: "steps that each action is held for",
		Min: 1, Max: rollout.MaxSkip,
		field: func(d *draft) any { return &d.Conditions.Skip }},
	{Name: "cap", Key: "episodes.cap", Doc: "ends an episode after X times the running mean length",
		Min: rollout.MinCap, Max: rollout.MaxCap, Zero: "for never", TrainingOnly: true,
		field: func(d *draft) any { return &d.Conditions.Cap }},
	{Name: "horizon", Key: "episodes.horizon", Doc: "ends an episode after N steps",
		Max: rollout.MaxHorizon, Zero: "for never", TrainingOnly: true,
		field: func(d *draft) any { return &d.Conditions.Horizon }},
	{Name: "horizon-growth", Key: "episodes.horizon_growth", Doc: "steps that the horizon grows by in each generation",
		Max: rollout.MaxHorizon, TrainingOnly: true,
		field: func(d *draft) any { return &d.Conditions.Growth }},

	{Name: "observations", Key: "observations.kind", Doc: "normalization by mean and standard deviation: none, " +
		"frozen (of a random policy before training) or running (of the mean policy's episodes)",
		Choices: []string{NoObservations, rollout.Frozen, rollout.Running},
		field:   func(d *draft) any { return &d.observations.Kind }},
	{Name: "observe-steps", Key: "observations.steps", Doc: "observations for frozen statistics",
		Min: rollout.MinObserved, Max: rollout.MaxObserved, Default: defaultObserved,
		field: func(d *draft) any { return &d.observations.Steps }},
	{Name: "observe-episodes", Key: "observations.episodes", Doc: "episodes that each generation adds to running statistics",
		Min: 1, Max: rollout.MaxObserveEpisodes, Default: 1,
		field: func(d *draft) any { return &d.observations.Episodes }},
	{Name: "observe-clip", Key: "observations.clip", Doc: "bound of normalized values",
		Min: rollout.MinClip, Max: rollout.MaxClip, Default: defaultClip,
		field: func(d *draft) any { return &d.observations.Clip }},

	{Name: "chunk", Key: "chunk", Doc: "seeds per claim, fewer where N does not divide the population; larger claims make a smaller log",
		Min: 1, Max: seedlog.MaxChunk, Default: "as many as fit",
		field: func(d *draft) any { return &d.chunk }},
	{Name: "eval-every", Old: []string{"look-every"}, Key: "evaluation.every", OldKeys: []string{"checks.every"},
		Doc: "evaluation interval: generations between two held-out evaluations of the mean policy",
		Min: 1, Max: seedlog.MaxEvalEvery,
		field: func(d *draft) any { return &d.EvalEvery }},
	{Name: "eval-episodes", Old: []string{"look-episodes"}, Key: "evaluation.episodes", OldKeys: []string{"checks.validate"},
		Doc: "episodes of a held-out evaluation",
		Min: 1, Max: seedlog.MaxEvalEpisodes,
		field: func(d *draft) any { return &d.EvalEpisodes }},
}
