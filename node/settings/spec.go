package settings

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/nearest"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/presets"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/runspec"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/solo"
	"github.com/evoswarm/evoswarm/node/catalog"
	"github.com/evoswarm/evoswarm/node/verb"
)

// Flags are the values of the flags that say what a new run is.
type Flags struct {
	strategy   string
	Seed       uint64
	params     evolve.Params
	population uint64
	policy     runspec.Policy
	episodes   uint64
	shared     *bool
	chunk      uint64
	every      uint64
	validate   uint64

	actionNoise, bonus, penalty, cap *float64
	skip                             uint64
	observations                     rollout.Observations
}

// Names are the names of the flags that say what a new run is.
var Names = []string{"strategy", "seed", "param", "population", "policy", "hidden", "activation", "bias", "head", "bins",
	"vbn", "episodes", "shared", "action-noise", "alive-bonus", "max-penalty", "frame-skip", "cap", "observations", "observe-steps", "observe-episodes", "observe-clip",
	"chunk", "look-every", "look-episodes"}

// Bind defines the flags. What is left out is what the preset of the environment and the strategy says.
func (t *Flags) Bind(fs *verb.Flags) {
	t.params = evolve.Params{}
	fs.String(&t.strategy, "strategy", "STRATEGY", strings.Join(catalog.Strategies(), ", ")+" (default: what learns the environment in the fewest steps)")
	fs.Uint(&t.Seed, "seed", "N", "seed of the initial parameters (default 0)", 0)
	fs.Func("param", "NAME=VALUE", "a setting of the strategy (evonode strategy show STRATEGY lists them); may be repeated", func(v string) error {
		name, value, ok := strings.Cut(v, "=")
		if !ok || name == "" {
			return errors.New("want NAME=VALUE, such as sigma=0.5")
		}
		t.params[name] = paramValue(value)
		return nil
	})
	fs.Uint(&t.population, "population", "N", "evaluations per generation, both signs of a pair counted", 1)
	fs.String(&t.policy.Kind, "policy", "linear|mlp", "the kind of policy")
	fs.Func("hidden", "N,N,...", "widths of the hidden layers of an mlp", func(v string) (err error) { t.policy.Hidden, err = parseWidths(v); return err })
	fs.String(&t.policy.Activation, "activation", "tanh|relu", "after each hidden layer")
	boolVar(fs, &t.policy.Bias, "bias", "=false", "layers without a bias")
	fs.String(&t.policy.Head, "head", "argmax|clip|bins", "how an action is made of the outputs: argmax (discrete actions), clip or bins (real ones)")
	fs.Uint(&t.policy.Bins, "bins", "N", "values that a bins head chooses from", 1)
	boolVar(fs, &t.policy.VBN, "vbn", "", "virtual batch normalization of the hidden units of an mlp with biases")
	fs.Uint(&t.episodes, "episodes", "N", "episodes per evaluation; its fitness is their mean return", 1)
	boolVar(fs, &t.shared, "shared", "=false", "each candidate gets episodes of its own, instead of the same ones for a whole generation")
	realVar(fs, &t.actionNoise, "action-noise", "X", "standard deviation of noise on real actions, in training only")
	realVar(fs, &t.bonus, "alive-bonus", "X", "subtracted from the reward of each step, in training only")
	realVar(fs, &t.penalty, "max-penalty", "X", "a reward below -X counts as -X, in training only; 0 for no bound")
	fs.Uint(&t.skip, "frame-skip", "N", "steps that each action is held for; 1 for none", 1)
	realVar(fs, &t.cap, "cap", "X", "ends an episode after X times the running mean length, in training only; 0 for none")
	fs.String(&t.observations.Kind, "observations", "none|frozen|running", "normalization by mean and standard deviation: none, frozen (of a random policy before training) or "+
		"running (of the mean policy's episodes)")
	fs.Uint(&t.observations.Steps, "observe-steps", "N", "observations for frozen statistics (default 10000)", 1)
	fs.Uint(&t.observations.Episodes, "observe-episodes", "N", "episodes that each generation adds to running statistics (default 1)", 1)
	fs.Float(&t.observations.Clip, "observe-clip", "X", "bound of normalized values (default 10)")
	fs.Uint(&t.chunk, "chunk", "N", "seeds per claim; larger ones make a smaller log", 1)
	fs.Uint(&t.every, "look-every", "N", "evaluation interval: generations between two held-out evaluations of the mean policy", 1)
	fs.Uint(&t.validate, "look-episodes", "N", "episodes of a held-out evaluation", 1)
}

// realVar defines a flag that is a number, or not given (nil).
func realVar(fs *verb.Flags, to **float64, name, arg, doc string) {
	fs.Func(name, arg, doc, func(v string) error {
		x, err := strconv.ParseFloat(v, 64)
		if err != nil {
			return errors.New("want a number")
		}
		*to = &x
		return nil
	})
}

// boolVar defines a flag that is true, false or not given (nil).
func boolVar(fs *verb.Flags, to **bool, name, arg, doc string) {
	fs.BoolFunc(name, arg, doc, func(v string) error {
		b, err := strconv.ParseBool(v)
		if err != nil {
			return errors.New("want true or false")
		}
		*to = &b
		return nil
	})
}

// parseWidths reads the widths of hidden layers, such as 16,16.
func parseWidths(text string) ([]uint64, error) {
	var all []uint64
	for _, part := range strings.Split(text, ",") {
		n, err := strconv.ParseUint(strings.TrimSpace(part), 10, 64)
		if err != nil {
			return nil, errors.New("want widths of layers, such as 16,16")
		}
		all = append(all, n)
	}
	return all, nil
}

// paramValue is a number where text is one, else text itself.
func paramValue(text string) any {
	if x, err := strconv.ParseFloat(text, 64); err == nil {
		if x == 0 {
			return 0.0 // a run's spec knows no -0
		}
		return x
	}
	return text
}

// Options turns the flags into those of a run in env. It refuses a world, a strategy or a setting that does not exist,
// with the nearest right ones.
func (t *Flags) Options(env string) (runspec.Options, error) {
	spec, err := catalog.Env(env)
	if err != nil {
		return runspec.Options{}, err
	}
	if t.strategy == "" {
		t.strategy = presets.DefaultStrategy(spec.ID)
	}
	method, err := catalog.Strategy(t.strategy)
	if err != nil {
		return runspec.Options{}, err
	}
	if _, err := method.Complete(t.params); err != nil {
		return runspec.Options{}, verb.Wrong(err, settingsHint(method))
	}
	return runspec.Options{Env: spec.ID, Strategy: method.Name, Params: t.params, Population: t.population, Seed: t.Seed,
		Policy: t.policy, Episodes: t.episodes, Shared: t.shared, Chunk: t.chunk, Every: t.every, Validate: t.validate,
		ActionNoise: t.actionNoise, Bonus: t.bonus, Penalty: t.penalty, Cap: t.cap, Skip: t.skip, Observations: t.observations}, nil
}

// Error tells settings that cannot be from other failures.
func Error(err error) error {
	switch {
	case errors.Is(err, runspec.ErrPopulation):
		return verb.Wrong(err, "choose another --population, or leave it out")
	case errors.Is(err, runspec.ErrInit):
		return verb.Wrong(err, "begin with a model of the same policy, or leave out what changes it")
	case errors.Is(err, seedlog.ErrSpec), errors.Is(err, evolve.ErrParams), errors.Is(err, policy.ErrSpec), errors.Is(err, rollout.ErrEpisodes):
		return verb.Wrong(err, "see evonode train --help; --dry-run shows the settings of a run")
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

// settingHint says what a setting takes, or which settings there are if there is none of that name.
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

// ParseUntil reads --until: solved, evals=N, steps=N, a duration, or several of them with commas: what comes first counts.
func ParseUntil(text string) (solo.Until, error) {
	var u solo.Until
	for _, part := range strings.Split(text, ",") {
		part = strings.TrimSpace(part)
		if part == "solved" {
			u.Solved = true
			continue
		}
		if name, n, ok := strings.Cut(part, "="); ok {
			v, err := strconv.ParseUint(n, 10, 64)
			if err != nil || v == 0 || name != "evals" && name != "steps" {
				return u, verb.Misused(fmt.Sprintf("--until %q: %q is no number of evaluations or env-steps", text, part), "for example: --until evals=100000, or steps=5000000")
			}
			if name == "evals" {
				u.Evaluations = v
			} else {
				u.Steps = v
			}
			continue
		}
		d, err := time.ParseDuration(part)
		if err != nil || d <= 0 {
			return u, verb.Misused(fmt.Sprintf("--until %q", text), "solved, evals=N, steps=N, or a time such as 10m; several with commas end at the first")
		}
		u.Duration = d
	}
	return u, nil
}

// UntilText is what ParseUntil reads as u.
func UntilText(u solo.Until) string {
	var parts []string
	if u.Solved {
		parts = append(parts, "solved")
	}
	if u.Evaluations > 0 {
		parts = append(parts, fmt.Sprintf("evals=%d", u.Evaluations))
	}
	if u.Steps > 0 {
		parts = append(parts, fmt.Sprintf("steps=%d", u.Steps))
	}
	if u.Duration > 0 {
		parts = append(parts, u.Duration.String())
	}
	return strings.Join(parts, ",")
}
