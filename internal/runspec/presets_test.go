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

// TestGoldenPresetRuns holds the run ID of every row of the presets, so that people get the settings that
// were measured. The two environments that end in "Untried-v0" have no file: their rows are those for any
// environment.
func TestGoldenPresetRuns(t *testing.T) {
	ids := presets.Envs()
	for _, twin := range []struct{ of, id string }{{"CartPole-v1", "DiscreteUntried-v0"}, {"Pendulum-v1", "BoxUntried-v0"}} {
		spec, err := envs.Find(twin.of)
		if err != nil {
			t.Fatal(err)
		}
		untried, original := *spec, spec.New
		untried.ID, untried.State, untried.Params = twin.id, nil, nil
		untried.New = func() envs.Env { return renamed{original(), &untried} }
		if err := envs.Add(&untried); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, twin.id)
	}
	for _, id := range ids {
		for _, strategy := range presets.Strategies(id) {
			rules, err := New(Options{Env: id, Strategy: strategy})
			if err != nil {
				t.Fatalf("%s with %s: %v", id, strategy, err)
			}
			golden.Check(t, "preset/"+id+"/"+strategy, rules.Run.Bytes())
		}
		rules, err := New(Options{Env: id})
		if err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		golden.Check(t, "preset/"+id+"/default", rules.Run.Bytes())
	}
}
