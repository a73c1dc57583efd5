package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/nearest"
	"github.com/evoswarm/evoswarm/internal/presets"
	"github.com/evoswarm/evoswarm/node/catalog"
	"github.com/evoswarm/evoswarm/node/verb"
)

// ConfigNotes is what the verbs with --config say about it.
const ConfigNotes = `A TOML file can say the same as flags; flags take precedence. Its keys are those of the spec that --dry-run prints:
    env = "Pendulum-v1"        # the argument ENV
    strategy = "openai-es"     # --strategy; also seed, population, chunk, until, workers, log (-o), curve, tensorboard
    params = { sigma = 0.05 }  # --param
    [policy]
    hidden = [16, 16]          # --hidden; also kind (--policy), activation, bias, head, bins, vbn
    [episodes]
    count = 4                  # --episodes; also shared, action_noise, bonus (--alive-bonus), penalty (--max-penalty),
                               # skip (--frame-skip), cap
    [observations]
    kind = "running"           # --observations; also steps, episodes, clip (--observe-...)
    [checks]
    every = 10                 # --look-every; also validate (--look-episodes)`

// configKeys names the flag of each key, but for params and env.
var configKeys = map[string]string{
	"strategy": "strategy", "seed": "seed", "population": "population", "chunk": "chunk",
	"until": "until", "workers": "workers", "log": "o", "init": "init", "curve": "curve", "tensorboard": "tensorboard",
	"policy.kind": "policy", "policy.hidden": "hidden", "policy.activation": "activation", "policy.bias": "bias",
	"policy.head": "head", "policy.bins": "bins",
	"policy.vbn": "vbn", "episodes.count": "episodes", "episodes.shared": "shared",
	"episodes.action_noise": "action-noise", "episodes.bonus": "alive-bonus", "episodes.penalty": "max-penalty", "episodes.skip": "frame-skip", "episodes.cap": "cap",
	"observations.kind": "observations", "observations.steps": "observe-steps", "observations.episodes": "observe-episodes", "observations.clip": "observe-clip",
	"checks.every": "look-every", "checks.validate": "look-episodes",
}

// paramsPrefix begins the keys of the strategy's settings.
const paramsPrefix = "params."

// maxConfig bounds a file.
const maxConfig = 1 << 20

// setting is a value of a TOML file, as a flag takes it.
type setting struct {
	key  string
	line int
	text string
}

// config is a TOML file with settings.
type config struct {
	name     string
	settings []setting
}

// readConfig reads a TOML file.
func readConfig(s *verb.IO, name string) (*config, error) {
	in, err := s.Open(name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, maxConfig+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxConfig {
		return nil, verb.Wrong(fmt.Errorf("%s: more than %d bytes", verb.Called(name), maxConfig), "is this a TOML file with the settings of a run?")
	}
	c := &config{name: verb.Called(name)}
	c.settings, err = parseConfig(data)
	if err != nil {
		return nil, verb.Wrong(fmt.Errorf("%s: %w", c.name, err), "see evonode train --help for what it may look like")
	}
	return c, nil
}

// parseConfig lists the values of a TOML file in their order.
func parseConfig(data []byte) ([]setting, error) {
	if err := checkTOML(data); err != nil {
		return nil, err
	}
	var p unstable.Parser
	p.Reset(data)
	var all []setting
	prefix := ""
	for p.NextExpression() {
		e := p.Expression()
		key, line := keyOf(&p, e)
		var err error
		switch e.Kind {
		case unstable.Table:
			prefix = key + "."
		case unstable.KeyValue:
			all, err = appendSettings(&p, all, prefix+key, line, e.Value())
		default:
			err = fmt.Errorf("line %d: [[%s]]: there are no lists of tables", line, key)
		}
		if err != nil {
			return nil, err
		}
	}
	return all, p.Error()
}

// checkTOML finds what is wrong with a file as a whole, such as a key that is there twice, and says where.
func checkTOML(data []byte) error {
	decode := func(data []byte) error { return toml.Unmarshal(data, &map[string]any{}) }
	err := decode(data)
	if err == nil {
		return nil
	}
	var at *toml.DecodeError
	if errors.As(err, &at) {
		line, column := at.Position()
		return fmt.Errorf("line %d, column %d: %w", line, column, err)
	}
	// The library does not say where: it is the first line from which on the file is wrong in this way.
	lines := bytes.SplitAfter(data, []byte("\n"))
	n := sort.Search(len(lines), func(n int) bool {
		part := decode(bytes.Join(lines[:n+1], nil))
		return part != nil && part.Error() == err.Error()
	})
	return fmt.Errorf("line %d: %w", n+1, err)
}

// keyOf returns the dotted key of an expression and its line.
func keyOf(p *unstable.Parser, e *unstable.Node) (key string, line int) {
	var parts []string
	for k := e.Key(); k.Next(); {
		if len(parts) == 0 {
			line = p.Shape(k.Node().Raw).Start.Line
		}
		parts = append(parts, string(k.Node().Data))
	}
	return strings.Join(parts, "."), line
}

// appendSettings appends a value, or those of an inline table.
func appendSettings(p *unstable.Parser, all []setting, key string, line int, v *unstable.Node) ([]setting, error) {
	if v.Kind != unstable.InlineTable {
		text, err := textOf(v)
		if err != nil {
			return nil, fmt.Errorf("line %d: %s: %w", line, key, err)
		}
		return append(all, setting{key, line, text}), nil
	}
	for c := v.Children(); c.Next(); {
		inner, at := keyOf(p, c.Node())
		var err error
		if all, err = appendSettings(p, all, key+"."+inner, at, c.Node().Value()); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// textOf is a value as a flag takes it.
func textOf(v *unstable.Node) (string, error) {
	switch v.Kind {
	case unstable.String, unstable.Bool:
		return string(v.Data), nil
	case unstable.Integer:
		n, err := strconv.ParseInt(string(v.Data), 0, 64) // TOML's hexadecimal and _ are Go's
		return strconv.FormatInt(n, 10), err
	case unstable.Float:
		return strings.ReplaceAll(string(v.Data), "_", ""), nil
	case unstable.Array:
		var parts []string
		for c := v.Children(); c.Next(); {
			if c.Node().Kind == unstable.Array {
				return "", errors.New("a list of lists")
			}
			text, err := textOf(c.Node())
			if err != nil {
				return "", err
			}
			parts = append(parts, text)
		}
		return strings.Join(parts, ","), nil
	}
	return "", errors.New("neither a number nor a text, true, false or a list of those")
}

// World returns the world to train in: the argument, or what the TOML file says, whose other settings are taken where no
// flag was given.
func (t *Flags) World(s *verb.IO, fs *verb.Flags, file string, args []string, example string) (string, error) {
	if file == "" {
		return verb.Argument(args, "ENV", example)
	}
	c, err := readConfig(s, file)
	if err != nil {
		return "", err
	}
	env, err := c.apply(fs, t)
	if err != nil {
		return "", err
	}
	if len(args) > 0 || env == "" {
		asked, err := verb.Argument(args, "ENV", example)
		if err != nil {
			return "", err
		}
		// What was found for one world says nothing about another.
		if env != "" && !strings.EqualFold(asked, env) {
			return "", verb.Misused(fmt.Sprintf("%s is for %s, not for %s", file, env, asked), "leave out "+asked+", or the line env of the file if its settings are meant for both")
		}
		env = asked
	}
	return env, c.checkParams(t, env)
}

// apply sets the flags of fs that were not given and returns the world, "" if the file names none. params are those of
// t that were given.
func (c *config) apply(fs *verb.Flags, t *Flags) (env string, err error) {
	flags := maps.Clone(t.params)
	for _, s := range c.settings {
		name, isFlag := configKeys[s.key]
		param, isParam := strings.CutPrefix(s.key, paramsPrefix)
		switch {
		case s.key == "env":
			env = s.text
		case isParam && !strings.Contains(param, "."):
			if _, ok := flags[param]; !ok {
				t.params[param] = paramValue(s.text)
			}
		case !isFlag || !fs.Has(name):
			return "", c.unknown(fs, s)
		case !fs.Given(name):
			if err := fs.Set(name, s.text); err != nil {
				return "", verb.Wrong(fmt.Errorf("%s: line %d: %s is %q: %w", c.name, s.line, s.key, s.text, err), "it takes what --"+name+" takes: see --help")
			}
		}
	}
	return env, nil
}

// unknown refuses a key that there is not.
func (c *config) unknown(fs *verb.Flags, s setting) error {
	keys := []string{"env", "params.NAME"}
	for key, name := range configKeys {
		if fs.Has(name) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	hint := "keys are " + strings.Join(keys, ", ")
	// A key in the wrong table, or mistyped, or a setting of the strategy outside of params.
	last := s.key[strings.LastIndexByte(s.key, '.')+1:]
	near := slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return !strings.HasSuffix(key, "."+last) })
	if len(near) == 0 {
		near = nearest.Names(s.key, keys)
	}
	if len(near) == 0 && isSetting(last) {
		near = []string{paramsPrefix + last}
	}
	if len(near) > 0 {
		hint = "did you mean " + strings.Join(near, ", ") + "? K" + hint[1:]
	}
	return verb.Wrong(fmt.Errorf("%s: line %d: unknown key %s", c.name, s.line, s.key), hint)
}

// isSetting tells whether some strategy has a setting of that name.
func isSetting(name string) bool {
	return slices.ContainsFunc(evolve.Methods(), func(m evolve.Method) bool {
		return slices.ContainsFunc(m.Settings, func(s evolve.Setting) bool { return s.Name == name })
	})
}

// checkParams refuses a setting of the file that the strategy has not or does not take, with its line.
func (c *config) checkParams(t *Flags, env string) error {
	name := t.strategy
	if world, err := catalog.Env(env); err == nil && name == "" {
		name = presets.DefaultStrategy(world.ID)
	}
	method, err := evolve.Find(name)
	if err != nil {
		return nil // said elsewhere
	}
	for _, s := range c.settings {
		param, ok := strings.CutPrefix(s.key, paramsPrefix)
		if !ok {
			continue
		}
		value := paramValue(s.text)
		if used, ok := t.params[param]; !ok || used != value {
			continue // a flag came before it
		}
		if _, err := method.Complete(evolve.Params{param: value}); err != nil {
			return verb.Wrong(fmt.Errorf("%s: line %d: %w", c.name, s.line, err), settingHint(method, param))
		}
	}
	return nil
}
