package runspec

import (
	"testing"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/golden"
	"github.com/evoswarm/evoswarm/internal/presets"
)

// renamed is an environment under another ID.
type renamed struct {
	envs.Env
	spec *envs.Spec
}

func (r renamed) Spec() *envs.Spec { return r.spec }

// TestGoldenPresetRuns holds the run ID of every environment with every strategy where nothing else is asked for: the
// settings that were measured are the ones people get. The two environments that end in "Untried-v0" have no preset.
func TestGoldenPresetRuns(t *testing.T) {
	for _, twin := range []struct{ of, id string }{{"CartPole-v1", "DiscreteUntried-v0"}, {"Pendulum-v1", "BoxUntried-v0"}} {
		spec, err := envs.Find(twin.of)
		if err != nil {
			t.Fatal(err)
		}
		untried, original := *spec, spec.New
		untried.ID, untried.State = twin.id, nil
		untried.New = func() envs.Env { return renamed{original(), &untried} }
		if err := envs.Add(&untried); err != nil {
			t.Fatal(err)
		}
	}
	for _, env := range envs.All() {
		for _, strategy := range presets.Strategies(env.ID) {
			rules, err := New(Options{Env: env.ID, Strategy: strategy})
			if err != nil {
				t.Fatalf("%s with %s: %v", env.ID, strategy, err)
			}
			golden.Check(t, "preset/"+env.ID+"/"+strategy, rules.Run.Bytes())
		}
		rules, err := New(Options{Env: env.ID})
		if err != nil {
			t.Fatalf("%s: %v", env.ID, err)
		}
		golden.Check(t, "preset/"+env.ID+"/default", rules.Run.Bytes())
	}
}
