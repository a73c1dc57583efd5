package presets

import (
	"slices"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// table holds the presets of an environment: what they share, and a row for each strategy, the default strategy first.
type table struct {
	base Preset
	rows []row
	own  map[string]func(*Preset) // what strategies want other than the base has
}

// row is what a strategy wants in an environment.
type row struct {
	strategy   string
	population uint64        // evaluations of a generation
	episodes   uint64        // of one evaluation
	params     evolve.Params // what differs from the strategy's defaults
	trials     Trials
}

// tables holds the tables by environment ID. It changes only while a program starts.
var tables = map[string]*table{}

// add registers the presets of the environment called envID.
func add(envID string, base Preset, rows []row) *table {
	if _, ok := tables[envID]; ok || len(rows) == 0 {
		panic("presets: " + envID + " has two tables or an empty one")
	}
	tables[envID] = &table{base, rows, map[string]func(*Preset){}}
	return tables[envID]
}

// under changes what a strategy shares with the others: its conditions, or how observations are normalized.
func (t *table) under(strategy string, change func(*Preset)) {
	if _, ok := find(t.rows, strategy); !ok {
		panic("presets: there is no row of " + strategy)
	}
	t.own[strategy] = change
}

// find returns the row of a strategy and reports whether there is one.
func find(rows []row, strategy string) (row, bool) {
	i := slices.IndexFunc(rows, func(r row) bool { return r.strategy == strategy })
	if i < 0 {
		return row{}, false
	}
	return rows[i], true
}

// complete writes out what the row leaves to the environment and the strategy.
func (r row) complete(p Preset, method evolve.Method) Preset {
	params, err := method.Complete(r.params)
	if err != nil {
		panic("presets: " + err.Error())
	}
	p.Strategy, p.Params = method.Name, params
	p.Population, p.Episodes, p.Trials = r.population, r.episodes, r.trials
	p.Policy.Hidden = slices.Clone(p.Policy.Hidden)
	if p.Observations != nil {
		o := *p.Observations
		p.Observations = &o
	}
	return p
}

// change makes the changes of the preset's strategy.
func (t *table) change(p Preset) Preset {
	if own := t.own[p.Strategy]; own != nil {
		own(&p)
	}
	return p
}

// fresh are runs with seeds that were not used to choose the settings.
func fresh(solved, runs int, steps uint64) Trials {
	return Trials{Runs: runs, Solved: solved, Steps: steps}
}

// tuning are the runs by which the settings were chosen.
func tuning(solved, runs int, steps uint64) Trials {
	return Trials{Runs: runs, Solved: solved, Steps: steps, Tuning: true}
}

// never is the median of trials in which half of the runs or more did not solve the environment.
const never = 0

// notTried is for settings that were carried over from a similar environment.
var notTried = Trials{}

// frozen normalizes observations by the statistics of a random policy's first n observations.
func frozen(n uint64) *rollout.Observations {
	return &rollout.Observations{Kind: rollout.Frozen, Steps: n, Clip: 10}
}

// running normalizes observations by the statistics of the mean policy's episodes so far, one for each generation.
func running() *rollout.Observations {
	return &rollout.Observations{Kind: rollout.Running, Episodes: 1, Clip: 10}
}

// linear is a policy without hidden layers.
func linear(head string, bias bool) policy.Spec {
	return policy.Spec{Kind: "linear", Hidden: []uint64{}, Bias: bias, Head: head}
}

// mlp is a policy with tanh layers.
func mlp(head string, hidden ...uint64) policy.Spec {
	return policy.Spec{Kind: "mlp", Hidden: hidden, Activation: "tanh", Bias: true, Head: head}
}
