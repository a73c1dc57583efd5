package settings

import (
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/runspec"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/node/model"
	"github.com/evoswarm/evoswarm/node/verb"
)

// Begin makes o begin with the model in the file at path: with its parameters, its policy and its
// normalization of observations.
func Begin(o *runspec.Options, path string) error {
	m, from, err := readInit(path)
	if err != nil {
		return err
	}
	// runspec.New refuses an environment that does not exist, and parameters that it does not take.
	to, err := envs.Find(o.Env)
	if err == nil {
		to, err = to.With(o.EnvParams)
	}
	if err == nil && !alike(from, to) {
		return verb.Misused(fmt.Sprintf("--init %s: the model is for %s, whose observations or actions differ from those of %s", path, m.Env, envs.Label(o.Env, o.EnvParams)),
			"train "+strings.ReplaceAll(m.Env.String(), " ", " --env-param ")+", or begin with another model")
	}
	if setsPolicy(o.Settings) {
		return verb.Misused("--init together with settings of the policy", "the model in "+path+" brings its own policy: leave those settings out")
	}
	init := &runspec.Init{Weights: m.State()}
	if init.Run, err = seedlog.ParseLink(m.Run); err == nil {
		init.Head, err = seedlog.ParseLink(m.Head)
	}
	if err != nil {
		return verb.Failed(fmt.Errorf("%s does not say which run it is of: %w", path, err), "take a file that evonode export wrote")
	}
	o.Init = init
	settings := runspec.PolicySettings(m.Policy)
	settings["observations"] = observationsOf(init)
	maps.Copy(settings, o.Settings)
	o.Settings = settings
	return nil
}

// setsPolicy reports whether any of the settings says what the policy is.
func setsPolicy(all runspec.Settings) bool {
	return slices.ContainsFunc(runspec.All(), func(s runspec.Setting) bool { return s.OfPolicy() && all[s.Name] != nil })
}

// alike reports whether two environments have the same observations and actions, as BipedalWalker-v3 and
// BipedalWalkerHardcore-v3 have: a model for one can begin in the other.
func alike(a, b *envs.Spec) bool {
	return a.SameObs(b) && reflect.DeepEqual(a.Action, b.Action)
}

// observationsOf is how the observations of a model with these slots are normalized.
func observationsOf(i *runspec.Init) string {
	switch {
	case i.Weights.Slot("obs/sums") != nil:
		return rollout.Running
	case i.Weights.Slot("obs/mean") != nil:
		return rollout.Frozen
	}
	return runspec.NoObservations
}

// readInit returns the model in the file at path, and its environment.
func readInit(path string) (*model.Model, *envs.Spec, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, verb.Failed(err, "--init takes a file that evonode export wrote")
	}
	defer f.Close()
	m, err := model.Read(f)
	if err != nil {
		return nil, nil, verb.Failed(fmt.Errorf("--init %s: %w", path, err), "it takes a file that evonode export wrote: safetensors, npz or JSON")
	}
	env, _, err := m.Resolve()
	if err != nil {
		return nil, nil, verb.Failed(fmt.Errorf("--init %s: %w", path, err), "it was written by another version of evonode")
	}
	return m, env, nil
}
