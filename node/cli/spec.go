package cli

import (
	"errors"
	"flag"
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
)

// trainSpec are the flags that say what a new run is.
type trainSpec struct {
	strategy   string
	seed       uint64
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

// trainSpecFlags names them.
var trainSpecFlags = []string{"strategy", "seed", "param", "population", "policy", "hidden", "activation", "bias", "head", "bins",
	"vbn", "episodes", "shared", "action-noise", "alive-bonus", "max-penalty", "frame-skip", "cap", "observations", "observe-steps", "observe-episodes", "observe-clip",
	"chunk", "look-every", "look-episodes"}

// specFlagsHelp explains them. What is left out is what the world's preset for the strategy says.
var specFlagsHelp = `    --strategy S          ` + wrapped(strategies(), "                          ") + `
                          (default: what learns the world in the fewest steps)
    --seed N              of the initial parameters (default 0)
    --param NAME=VALUE    a setting of the strategy (evonode strategy show S lists them); may be repeated
    --population N        evaluations of a generation, both signs of a pair counted
    --policy KIND         linear, or mlp
    --hidden N,N,...      widths of the hidden layers of an mlp
    --activation NAME     after each hidden layer: tanh or relu
    --bias=false          layers without a bias
    --head HEAD           how an action is made of the outputs: argmax (discrete actions), clip or bins (real ones)
    --bins N              values that a bins head chooses from
    --vbn                 virtual batch normalisation of the hidden units of an mlp with biases
    --episodes N          of each evaluation; its fitness is their mean return
    --shared=false        each candidate meets episodes of its own, instead of the same ones in a generation
    --action-noise X      standard deviation of noise on real actions, in training only
    --alive-bonus X       taken off the reward of each step, in training only
    --max-penalty X       a reward below -X counts as -X, in training only; 0 for no bound
    --frame-skip N        steps that each action is held for; 1 for none
    --cap X               ends an episode after X times the running mean length, in training only; 0 for none
    --observations KIND   none, or normalised by mean and deviation: frozen (of a random policy before training) or
                          running (of the mean policy's episodes)
    --observe-steps N     observations for frozen statistics (default 10000)
    --observe-episodes N  episodes that each generation adds to running statistics (default 1)
    --observe-clip X      what normalised values are held to (default 10)
    --chunk N             seeds of a claim; larger ones make a smaller log
    --look-every N        generations between two looks at the mean policy
    --look-episodes N     episodes of a look
`

// wrapped joins words with commas to lines that begin with indent, but for the first one.
func wrapped(words []string, indent string) string {
	text := ""
	width := 0
	for i, word := range words {
		if i > 0 {
			text, width = text+", ", width+2
		}
		if width+len(word) > 90 {
			text, width = strings.TrimRight(text, " ")+"\n"+indent, 0
		}
		text, width = text+word, width+len(word)
	}
	return text
}

// strategies names them all.
func strategies() []string {
	var names []string
	for _, m := range evolve.Methods() {
		names = append(names, m.Name)
	}
	return names
}

func (t *trainSpec) bind(fs *flag.FlagSet) {
	t.params = evolve.Params{}
	fs.StringVar(&t.strategy, "strategy", "", "")
	fs.Uint64Var(&t.seed, "seed", 0, "")
	countVar(fs, &t.population, "population")
	fs.Func("param", "", func(v string) error {
		name, value, ok := strings.Cut(v, "=")
		if !ok || name == "" {
			return errors.New("want NAME=VALUE, such as sigma=0.5")
		}
		t.params[name] = paramValue(value)
		return nil
	})
	fs.StringVar(&t.policy.Kind, "policy", "", "")
	fs.Func("hidden", "", func(v string) (err error) { t.policy.Hidden, err = parseWidths(v); return err })
	fs.StringVar(&t.policy.Activation, "activation", "", "")
	boolVar(fs, &t.policy.Bias, "bias")
	fs.StringVar(&t.policy.Head, "head", "", "")
	countVar(fs, &t.policy.Bins, "bins")
	countVar(fs, &t.episodes, "episodes")
	boolVar(fs, &t.shared, "shared")
	boolVar(fs, &t.policy.VBN, "vbn")
	realVar(fs, &t.actionNoise, "action-noise")
	realVar(fs, &t.bonus, "alive-bonus")
	realVar(fs, &t.penalty, "max-penalty")
	countVar(fs, &t.skip, "frame-skip")
	realVar(fs, &t.cap, "cap")
	fs.StringVar(&t.observations.Kind, "observations", "", "")
	countVar(fs, &t.observations.Steps, "observe-steps")
	countVar(fs, &t.observations.Episodes, "observe-episodes")
	fs.Float64Var(&t.observations.Clip, "observe-clip", 0, "")
	countVar(fs, &t.chunk, "chunk")
	countVar(fs, &t.every, "look-every")
	countVar(fs, &t.validate, "look-episodes")
}

// countVar defines a flag that is at least 1, or not given (0).
func countVar(fs *flag.FlagSet, to *uint64, name string) {
	fs.Func(name, "", func(v string) error {
		n, err := strconv.ParseUint(v, 0, 64)
		if err != nil || n == 0 {
			return errors.New("want a whole number from 1")
		}
		*to = n
		return nil
	})
}

// realVar defines a flag that is a number, or not given (nil).
func realVar(fs *flag.FlagSet, to **float64, name string) {
	fs.Func(name, "", func(v string) error {
		x, err := strconv.ParseFloat(v, 64)
		if err != nil {
			return errors.New("want a number")
		}
		*to = &x
		return nil
	})
}

// boolVar defines a flag that is true, false or not given (nil).
func boolVar(fs *flag.FlagSet, to **bool, name string) {
	fs.BoolFunc(name, "", func(v string) error {
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

// options turns the flags into those of a run in env. It refuses a world, a strategy or a setting that does not exist,
// with the nearest right ones.
func (t *trainSpec) options(env string) (runspec.Options, error) {
	spec, err := findEnv(env)
	if err != nil {
		return runspec.Options{}, err
	}
	if t.strategy == "" {
		t.strategy = presets.DefaultStrategy(spec.ID)
	}
	method, err := evolve.Find(t.strategy)
	if err != nil {
		return runspec.Options{}, unknownStrategy(t.strategy)
	}
	if _, err := method.Complete(t.params); err != nil {
		return runspec.Options{}, wrong(err, settingsHint(method))
	}
	return runspec.Options{Env: spec.ID, Strategy: method.Name, Params: t.params, Population: t.population, Seed: t.seed,
		Policy: t.policy, Episodes: t.episodes, Shared: t.shared, Chunk: t.chunk, Every: t.every, Validate: t.validate,
		ActionNoise: t.actionNoise, Bonus: t.bonus, Penalty: t.penalty, Cap: t.cap, Skip: t.skip, Observations: t.observations}, nil
}

func unknownStrategy(name string) error {
	names := strategies()
	hint := "there are " + strings.Join(names, ", ")
	if near := nearest.Names(name, names); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, ", ") + "? T" + hint[1:]
	}
	return wrong(fmt.Errorf("%w %q", evolve.ErrMethod, name), hint)
}

// specError tells settings that cannot be from other failures.
func specError(err error) error {
	switch {
	case errors.Is(err, runspec.ErrPopulation):
		return wrong(err, "choose another --population, or leave it out")
	case errors.Is(err, runspec.ErrInit):
		return wrong(err, "begin with a model of the same policy, or leave out what changes it")
	case errors.Is(err, seedlog.ErrSpec), errors.Is(err, evolve.ErrParams), errors.Is(err, policy.ErrSpec), errors.Is(err, rollout.ErrEpisodes):
		return wrong(err, "see evonode train --help; --dry-run shows the settings of a run")
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

// parseUntil reads --until: solved, evals=N, steps=N, a duration, or several of them with commas: what comes first counts.
func parseUntil(text string) (solo.Until, error) {
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
				return u, usage(fmt.Sprintf("--until %q: %q is no number of evaluations or env-steps", text, part), "for example: --until evals=100000, or steps=5000000")
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
			return u, usage(fmt.Sprintf("--until %q", text), "solved, evals=N, steps=N, or a time such as 10m; several with commas end at the first")
		}
		u.Duration = d
	}
	return u, nil
}

// untilText is what parseUntil reads as u.
func untilText(u solo.Until) string {
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
