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
	"github.com/evoswarm/evoswarm/internal/peer"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// trainSpec are the flags that say what a new run is.
type trainSpec struct {
	strategy   string
	seed       uint64
	params     evolve.Params
	population uint64
}

// trainSpecFlags names them.
var trainSpecFlags = []string{"strategy", "seed", "param", "population"}

func (t *trainSpec) bind(fs *flag.FlagSet) {
	t.params = evolve.Params{}
	fs.StringVar(&t.strategy, "strategy", "", "")
	fs.Uint64Var(&t.seed, "seed", 0, "")
	fs.Uint64Var(&t.population, "population", 0, "")
	fs.Func("param", "", func(v string) error {
		name, value, ok := strings.Cut(v, "=")
		if !ok || name == "" {
			return errors.New("want NAME=VALUE, such as sigma=0.5")
		}
		t.params[name] = paramValue(value)
		return nil
	})
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
func (t *trainSpec) options(env string) (peer.SpecOptions, error) {
	spec, err := findEnv(env)
	if err != nil {
		return peer.SpecOptions{}, err
	}
	if t.strategy == "" {
		t.strategy = rollout.DefaultStrategy(spec.ID)
	}
	method, err := evolve.Find(t.strategy)
	if err != nil {
		return peer.SpecOptions{}, unknownStrategy(t.strategy)
	}
	if _, err := method.Complete(t.params); err != nil {
		return peer.SpecOptions{}, wrong(err, settingsHint(method))
	}
	return peer.SpecOptions{Env: spec.ID, Strategy: method.Name, Params: t.params, Population: t.population, Seed: t.seed}, nil
}

func unknownStrategy(name string) error {
	var names []string
	for _, m := range evolve.Methods() {
		names = append(names, m.Name)
	}
	hint := "there are " + strings.Join(names, " and ")
	if near := nearest.Names(name, names); len(near) > 0 {
		hint = "did you mean " + near[0] + "? There are " + strings.Join(names, " and ")
	}
	return wrong(fmt.Errorf("%w %q", evolve.ErrMethod, name), hint)
}

// specError tells settings that cannot be from other failures.
func specError(err error) error {
	switch {
	case errors.Is(err, peer.ErrPopulation):
		return wrong(err, "choose another --population, or leave it out")
	case errors.Is(err, seedlog.ErrSpec), errors.Is(err, evolve.ErrParams), errors.Is(err, policy.ErrSpec):
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

// parseUntil reads --until: solved, evals=N, steps=N, a duration, or several of them with commas: what comes first counts.
func parseUntil(text string) (peer.Until, error) {
	var u peer.Until
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
func untilText(u peer.Until) string {
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
