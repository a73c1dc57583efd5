package settings

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/nearest"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/presets"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/runspec"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/node/catalog"
	"github.com/evoswarm/evoswarm/node/verb"
)

// Flags are the values of the flags that say what a new run is.
type Flags struct {
	Seed     uint64
	strategy string
	params   evolve.Params
	world    map[string]string // parameters of the environment
	settings runspec.Settings
}

// Names are the names of these flags, those of earlier versions included.
var Names = func() []string {
	names := []string{"strategy", "seed", "param", "env-param"}
	for _, s := range runspec.All() {
		names = append(append(names, s.Name), s.Old...)
	}
	return names
}()

// Bind defines the flags. What is left out is what the preset of the environment and the strategy says.
func (f *Flags) Bind(fs *verb.Flags) {
	f.params, f.world, f.settings = evolve.Params{}, map[string]string{}, runspec.Settings{}
	fs.String(&f.strategy, "strategy", "STRATEGY", strings.Join(catalog.Strategies(), ", ")+" (default: the one that learns the environment in the fewest steps; of a swarm, "+presets.SwarmStrategy+")")
	fs.Uint(&f.Seed, "seed", "N", "seed of the initial parameters (default 0)", 0)
	fs.Func("param", "NAME=VALUE", "a setting of the strategy (evonode strategy show STRATEGY lists them); may be repeated", func(text string) error {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return errors.New("want NAME=VALUE, such as sigma=0.5")
		}
		f.params[name] = paramValue(value)
		return nil
	})
	catalog.BindParams(fs, f.world, "a parameter of the environment, such as wind (evonode env show ENV lists them); may be repeated. "+
		"The log of a run with such is of format 2")
	for _, s := range runspec.All() {
		f.bind(fs, s)
	}
}

// bind defines the flag of one setting.
func (f *Flags) bind(fs *verb.Flags, s runspec.Setting) {
	set := func(text string) (err error) {
		f.settings[s.Name], err = s.Parse(text)
		return err
	}
	if arg := s.Arg(); arg != "" {
		fs.Func(s.Name, arg, s.Help(), set)
	} else {
		fs.BoolFunc(s.Name, "=true|false", s.Help(), set)
	}
	for _, old := range s.Old {
		fs.Alias(old, s.Name)
	}
}

// paramValue is a number where text is one, else text itself.
func paramValue(text string) any {
	if x, err := strconv.ParseFloat(text, 64); err == nil {
		if x == 0 {
			return 0.0 // the spec of a run has no -0
		}
		return x
	}
	return text
}

// Options turns the flags into those of a run on one machine in env. It refuses an environment, a strategy or a setting
// that does not exist and names the nearest ones that do.
func (f *Flags) Options(env string) (runspec.Options, error) {
	return f.options(env, presets.DefaultStrategy)
}

// SwarmOptions does so for a swarm's run.
func (f *Flags) SwarmOptions(env string) (runspec.Options, error) {
	return f.options(env, func(string) string { return presets.SwarmStrategy })
}

// options does so where a run that names no strategy has the preferred one of its environment.
func (f *Flags) options(env string, preferred func(envID string) string) (runspec.Options, error) {
	spec, err := catalog.Env(env)
	if err != nil {
		return runspec.Options{}, err
	}
	method, err := catalog.Strategy(cmp.Or(f.strategy, preferred(spec.ID)))
	if err != nil {
		return runspec.Options{}, err
	}
	if _, err := method.Complete(f.params); err != nil {
		return runspec.Options{}, verb.Wrong(err, settingsHint(method))
	}
	params, err := catalog.Params(spec, f.world)
	if err != nil {
		return runspec.Options{}, err
	}
	return runspec.Options{Env: spec.ID, EnvParams: params, Strategy: method.Name, Params: f.params, Seed: f.Seed, Settings: f.settings}, nil
}

// Error makes bad settings a failure of use; other errors stay as they are.
func Error(err error) error {
	switch {
	case errors.Is(err, runspec.ErrPopulation):
		return verb.Wrong(err, "choose another --population, or leave it out")
	case errors.Is(err, runspec.ErrInit):
		return verb.Wrong(err, "begin with a model of the same policy, or leave out what changes it")
	}
	for _, bad := range []error{runspec.ErrSetting, seedlog.ErrSpec, evolve.ErrParams, envs.ErrParam, policy.ErrSpec, rollout.ErrEpisodes} {
		if errors.Is(err, bad) {
			return verb.Wrong(err, "see evonode train --help; --dry-run shows the settings of a run")
		}
	}
	return err
}

// settingsHint lists what --param can set.
func settingsHint(m evolve.Method) string {
	var names []string
	for _, s := range m.Settings {
		names = append(names, fmt.Sprintf("%s (default %v)", s.Name, s.Default))
	}
	return m.Name + " has the settings " + strings.Join(names, ", ")
}

// settingHint says what a setting of a strategy takes, or which settings there are if there is none of that name.
func settingHint(m evolve.Method, name string) string {
	var names []string
	for _, s := range m.Settings {
		if s.Name == name {
			return fmt.Sprintf("%s: %s (default %v)", s.Name, strings.TrimSuffix(s.Doc, "."), s.Default)
		}
		names = append(names, s.Name)
	}
	if near := nearest.Names(name, names); len(near) > 0 {
		return "did you mean " + strings.Join(near, ", ") + "? " + settingsHint(m)
	}
	return settingsHint(m)
}

// given reports whether the user gave a flag, by its name or one of earlier versions.
func given(fs *verb.Flags, name string) bool {
	if s, ok := runspec.Find(name); ok {
		return slices.ContainsFunc(append(slices.Clone(s.Old), s.Name), fs.Given)
	}
	return fs.Given(name)
}
