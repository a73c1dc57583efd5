// Package presets holds the settings with which each strategy trains in each environment: one file per
// environment, with a row per strategy that says what was measured with it. Whatever has no row starts from
// defaults (untried.go).
//
// Floor 2, learning: floors 2 to 6 import it.
package presets

import (
	"slices"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// Preset is everything in the spec of a run but the environment, the seed and the swarm.
type Preset struct {
	// Strategy is the name of the strategy.
	Strategy string
	// Params are its settings, complete: defaults are written out.
	Params evolve.Params
	// Policy is the policy to train.
	Policy policy.Spec
	// Population is the number of evaluations of a generation, both signs counted.
	Population uint64
	// Episodes is the number of episodes of an evaluation.
	Episodes uint64
	// Conditions change the episodes of training.
	Conditions rollout.Conditions
	// Observations says how observations are normalized; nil: not at all.
	Observations *rollout.Observations
	// SharedEpisodes gives all candidates of a generation the same episodes; otherwise each seed has its own.
	SharedEpisodes bool
	// EvalEvery is the evaluation interval in generations, EvalEpisodes the number of episodes of a held-out
	// evaluation.
	EvalEvery, EvalEpisodes uint64
	// Trials says what was measured with exactly these settings.
	Trials Trials
}

// Trials are training runs of a preset with different seeds. The zero value means that nobody has tried it.
type Trials struct {
	// Runs is the number of runs, Solved how many of them solved the environment.
	Runs, Solved int
	// Steps is the median of the training env-steps until solved, to two or three digits; 0 where the median
	// run did not solve the environment.
	Steps uint64
	// Tuning says that the settings were chosen by these very runs. Otherwise the seeds were fresh.
	Tuning bool
}

// For returns the preset for a strategy in env: what the environment's file says, and the defaults of
// untried.go for all that it does not say. Every pair has one; Trials tells whether it was ever tried. Maps
// and slices are the caller's.
func For(env *envs.Spec, method evolve.Method) Preset {
	t, ok := tables[env.ID]
	if !ok {
		t = &table{base: untried(env)}
	}
	r, ok := find(t.rows, method.Name)
	if !ok {
		r = startRow(method.Name)
	}
	return t.change(r.complete(t.base, method))
}

// SwarmStrategy is the strategy of a swarm's run that names none: it takes results of earlier states, so that nobody
// waits, and its steps grow with how many results there are.
const SwarmStrategy = "snes"

// DefaultStrategy returns the name of the strategy that learns best in the environment called envID.
func DefaultStrategy(envID string) string {
	if t, ok := tables[envID]; ok {
		return t.rows[0].strategy
	}
	return startRows[0].strategy
}

// Envs returns the IDs of the environments that have a file, sorted.
func Envs() []string {
	var ids []string
	for id := range tables {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// Strategies returns the names of the strategies that have a row for the environment called envID, sorted;
// where it has no file, of those that have a row for any environment.
func Strategies(envID string) []string {
	rows := startRows
	if t, ok := tables[envID]; ok {
		rows = t.rows
	}
	var names []string
	for _, r := range rows {
		names = append(names, r.strategy)
	}
	slices.Sort(names)
	return names
}
