package presets_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/evoswarm/evoswarm/envs"
	_ "github.com/evoswarm/evoswarm/envs/all"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/presets"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// run is an environment with the preset of a strategy.
type run struct {
	env    *envs.Spec
	preset presets.Preset
}

// newRun finds both by name; an empty strategy is the environment's default.
func newRun(t testing.TB, envID, strategy string) run {
	t.Helper()
	env, err := envs.Find(envID)
	if err != nil {
		t.Fatal(err)
	}
	if strategy == "" {
		strategy = presets.DefaultStrategy(envID)
	}
	method, err := evolve.Find(strategy)
	if err != nil {
		t.Fatal(err)
	}
	return run{env, presets.For(env, method)}
}

// plan makes what evaluates and updates the run. It fails on a preset that cannot be trained.
func (r run) plan(t testing.TB) rollout.Plan {
	t.Helper()
	p := r.preset
	method, err := evolve.Find(p.Strategy)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := rollout.NewPlan(rollout.Setup{
		EnvID: r.env.ID, EnvRevision: r.env.Revision, Policy: p.Policy,
		Strategy: p.Strategy, StrategyRevision: method.Revision, Params: p.Params, Population: p.Population,
		Episodes: rollout.Episodes{Count: p.Episodes, Conditions: p.Conditions, Observations: p.Observations},
	})
	if err != nil {
		t.Fatalf("%s with %s: %v", r.env.ID, p.Strategy, err)
	}
	return plan
}

// TestEveryPairTrains checks that every strategy can start in every environment, tried or not.
func TestEveryPairTrains(t *testing.T) {
	for _, env := range envs.All() {
		for _, m := range evolve.Methods() {
			r := newRun(t, env.ID, m.Name)
			if env.ID == "Humanoid-v5" && (m.Name == "cma-es" || m.Name == "xnes") {
				continue // 5,916 parameters are more than a full covariance may have
			}
			plan, p, signs := r.plan(t), r.preset, uint64(1)
			if plan.Strategy.Antithetic() {
				signs = 2
			}
			if p.Strategy != m.Name || p.Population == 0 || p.Population%signs != 0 {
				t.Errorf("%s with %s: %q has a population of %d", env.ID, m.Name, p.Strategy, p.Population)
			}
			if p.Episodes == 0 || p.EvalEvery == 0 || p.EvalEpisodes == 0 {
				t.Errorf("%s with %s: %+v has a zero", env.ID, m.Name, p)
			}
		}
		if _, err := evolve.Find(presets.DefaultStrategy(env.ID)); err != nil {
			t.Errorf("%s: its default strategy: %v", env.ID, err)
		}
	}
}

// TestUntried: an environment that nobody knows takes every strategy, and a strategy that nobody has tried
// starts with its own defaults, with discrete actions and real ones.
func TestUntried(t *testing.T) {
	for id, head := range map[string]string{"CartPole-v1": "argmax", "Pendulum-v1": "clip"} {
		env, err := envs.Find(id)
		if err != nil {
			t.Fatal(err)
		}
		unknown := *env
		unknown.ID = "Unknown-v0"
		for _, m := range evolve.Methods() {
			p := presets.For(&unknown, m)
			r := run{env, p}
			r.plan(t)
			if p.Policy.Head != head || p.EvalEvery == 0 || p.EvalEpisodes == 0 || p.Trials != (presets.Trials{}) {
				t.Errorf("like %s, with %s: %+v", id, m.Name, p)
			}
			renamed := m
			renamed.Name = "new-es"
			defaults, err := m.Complete(nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range []*envs.Spec{env, &unknown} {
				p := presets.For(e, renamed)
				if p.Strategy != "new-es" || p.Population == 0 || p.Population%2 != 0 || p.Trials.Runs != 0 || !maps.Equal(p.Params, defaults) {
					t.Errorf("a new strategy like %s in %s gets %+v", m.Name, e.ID, p)
				}
			}
		}
		if name := presets.DefaultStrategy(unknown.ID); name == "" {
			t.Error("an unknown environment has no default strategy")
		}
	}
}

// TestTables checks that what the files say belongs to environments and strategies that exist.
func TestTables(t *testing.T) {
	ids := presets.Envs()
	if len(ids) == 0 || !slices.IsSorted(ids) {
		t.Errorf("Envs = %v, want some, sorted", ids)
	}
	for _, id := range ids {
		names := presets.Strategies(id)
		if !slices.IsSorted(names) || len(slices.Compact(names)) != len(presets.Strategies(id)) {
			t.Errorf("%s: Strategies = %v, want each once, sorted", id, names)
		}
		for _, name := range names {
			if trials := newRun(t, id, name).preset.Trials; trials.Solved > trials.Runs || trials.Runs == 0 && trials != (presets.Trials{}) {
				t.Errorf("%s with %s: %+v", id, name, trials)
			}
		}
	}
}

// TestPresetsAreTheCallers changes what For returned.
func TestPresetsAreTheCallers(t *testing.T) {
	first, second := newRun(t, "Pendulum-v1", ""), newRun(t, "Pendulum-v1", "")
	first.preset.Params["sigma"] = 99.0
	first.preset.Policy.Hidden[0] = 99
	first.preset.Observations.Steps = 99
	for _, p := range []presets.Preset{second.preset, newRun(t, "Pendulum-v1", "").preset} {
		if p.Params["sigma"] == 99.0 || p.Policy.Hidden[0] == 99 || p.Observations.Steps == 99 {
			t.Errorf("changing a preset changed another: %+v", p)
		}
	}
}
