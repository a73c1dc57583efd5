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

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/nearest"
	"github.com/evoswarm/evoswarm/internal/presets"
	"github.com/evoswarm/evoswarm/internal/runspec"
	"github.com/evoswarm/evoswarm/node/catalog"
	"github.com/evoswarm/evoswarm/node/verb"
)

// key is what a configuration file can say.
type key struct {
	name string   // such as "policy.hidden"
	old  []string // names that earlier versions had: still accepted, not shown
	flag string   // that says the same
}

// keys are all of them but env and the strategy's settings.
var keys = func() []key {
	all := []key{{name: "strategy", flag: "strategy"}, {name: "seed", flag: "seed"}, {name: "until", flag: "until"}, {name: "workers", flag: "workers"},
		{name: "log", flag: "o"}, {name: "init", flag: "init"}, {name: "curve", flag: "curve"}, {name: "tensorboard", flag: "tensorboard"}}
	for _, s := range runspec.All() {
		all = append(all, key{s.Key, s.OldKeys, s.Name})
	}
	return all
}()

// flagOf returns the flag of a key; ok is false if there is no such key.
func flagOf(name string) (flag string, ok bool) {
	for _, k := range keys {
		if k.name == name || slices.Contains(k.old, name) {
			return k.flag, true
		}
	}
	return "", false
}

// examples are lines of a configuration file: the first of each table.
var examples = []struct{ table, line string }{
	{"", `strategy = "openai-es"`}, {"policy", "hidden = [16, 16]"}, {"episodes", "count = 4"}, {"observations", `kind = "running"`}, {"evaluation", "every = 10"},
}

// ConfigNotes is what the verbs with --config say about it.
var ConfigNotes = func() string {
	var b strings.Builder
	b.WriteString("A TOML file can say the same as flags; flags take precedence:\n    env = \"Pendulum-v1\"        # the argument ENV\n")
	for _, e := range examples {
		if e.table == "" {
			b.WriteString("    params = { sigma = 0.05 }  # --param\n    env_params = { g = 9.81 }  # --env-param\n")
		} else {
			fmt.Fprintf(&b, "    [%s]\n", e.table)
		}
		line := fmt.Sprintf("    %-27s# ", e.line)
		for i, note := range notes(e.table, e.line) {
			if i > 0 {
				note = ", " + note
			}
			if len(line)+len(note) > 110 {
				b.WriteString(line + ",\n")
				line, note = strings.Repeat(" ", 31)+"# ", strings.TrimPrefix(note, ", ")
			}
			line += note
		}
		b.WriteString(line + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}()

// notes lists the keys of a table, with the flag that each one is: first that of the line, then the others.
func notes(table, line string) []string {
	shown, _, _ := strings.Cut(line, " ")
	first, also := "", []string(nil)
	for _, k := range keys {
		in, name, ok := strings.Cut(k.name, ".")
		if !ok {
			in, name = "", k.name
		}
		flag := "--" + k.flag
		if len(k.flag) == 1 {
			flag = "-" + k.flag
		}
		switch {
		case in != table:
		case name == shown:
			first = flag
		case name == strings.ReplaceAll(k.flag, "-", "_"):
			also = append(also, name)
		default:
			also = append(also, name+" ("+flag+")")
		}
	}
	also[0] = "also " + also[0]
	return append([]string{first}, also...)
}

// paramsPrefix begins the keys of the strategy's settings, and worldPrefix those of the environment's parameters.
const (
	paramsPrefix = "params."
	worldPrefix  = "env_params."
)

// maxConfig bounds a file.
const maxConfig = 1 << 20

// setting is a value of a TOML file, in the form that a flag takes.
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
			err = fmt.Errorf("line %d: [[%s]]: lists of tables are not supported", line, key)
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

// textOf is a value in the form that a flag takes.
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
	return "", errors.New("neither a number nor a string, true, false or a list of those")
}

// World returns the environment to train in: the argument, or what the configuration file says, whose other
// settings are taken where no flag was given.
func (f *Flags) World(s *verb.IO, fs *verb.Flags, file string, args []string, example string) (string, error) {
	if file == "" {
		return verb.Argument(args, "ENV", example)
	}
	c, err := readConfig(s, file)
	if err != nil {
		return "", err
	}
	env, err := c.apply(fs, f)
	if err != nil {
		return "", err
	}
	if len(args) > 0 || env == "" {
		asked, err := verb.Argument(args, "ENV", example)
		if err != nil {
			return "", err
		}
		// Settings that were found for one environment say nothing about another.
		if env != "" && !strings.EqualFold(asked, env) {
			return "", verb.Misused(fmt.Sprintf("%s is for %s, not for %s", file, env, asked), "leave out "+asked+", or the line env of the file if its settings are meant for both")
		}
		env = asked
	}
	return env, c.checkParams(f, env)
}

// apply sets the flags that were not given and returns the environment, "" if the file names none.
func (c *config) apply(fs *verb.Flags, f *Flags) (env string, err error) {
	params, world := maps.Clone(f.params), maps.Clone(f.world) // that flags gave
	was := map[string]bool{}                                   // flags that were given
	for _, name := range Names {
		was[name] = given(fs, name)
	}
	for _, s := range c.settings {
		flag, isFlag := flagOf(s.key)
		param, isParam := strings.CutPrefix(s.key, paramsPrefix)
		own, isOwn := strings.CutPrefix(s.key, worldPrefix)
		switch {
		case s.key == "env":
			env = s.text
		case isParam && !strings.Contains(param, "."):
			if _, ok := params[param]; !ok {
				f.params[param] = paramValue(s.text)
			}
		case isOwn && !strings.Contains(own, "."):
			if _, ok := world[own]; !ok {
				f.world[own] = s.text
			}
		case !isFlag || !fs.Has(flag):
			return "", c.unknown(fs, s)
		case !was[flag] && !fs.Given(flag):
			if err := fs.Set(flag, s.text); err != nil {
				return "", verb.Wrong(fmt.Errorf("%s: line %d: %s is %q: %w", c.name, s.line, s.key, s.text, err), "it takes what --"+flag+" takes: see --help")
			}
		}
	}
	return env, nil
}

// unknown refuses a key that does not exist.
func (c *config) unknown(fs *verb.Flags, s setting) error {
	names := []string{"env", "env_params.NAME", "params.NAME"}
	for _, k := range keys {
		if fs.Has(k.flag) {
			names = append(names, k.name)
		}
	}
	slices.Sort(names)
	hint := "keys are " + strings.Join(names, ", ")
	// A key in the wrong table, or mistyped, or a setting of the strategy outside of params.
	last := s.key[strings.LastIndexByte(s.key, '.')+1:]
	near := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !strings.HasSuffix(name, "."+last) })
	if len(near) == 0 {
		near = nearest.Names(s.key, names)
	}
	if len(near) == 0 && isSetting(last) {
		near = []string{paramsPrefix + last}
	}
	if len(near) == 0 && isParam(last) {
		near = []string{worldPrefix + last}
	}
	if len(near) > 0 {
		hint = "did you mean " + strings.Join(near, ", ") + "? K" + hint[1:]
	}
	return verb.Wrong(fmt.Errorf("%s: line %d: unknown key %s", c.name, s.line, s.key), hint)
}

// isSetting reports whether some strategy has a setting of that name.
func isSetting(name string) bool {
	return slices.ContainsFunc(evolve.Methods(), func(m evolve.Method) bool {
		return slices.ContainsFunc(m.Settings, func(s evolve.Setting) bool { return s.Name == name })
	})
}

// isParam reports whether some environment has a parameter of that name.
func isParam(name string) bool {
	return slices.ContainsFunc(envs.All(), func(s *envs.Spec) bool {
		_, err := s.Param(name)
		return err == nil
	})
}

// checkParams refuses a setting of the file that the strategy does not have or take, and a parameter that the
// environment does not, with its line.
func (c *config) checkParams(f *Flags, env string) error {
	if err := c.checkWorld(f, env); err != nil {
		return err
	}
	name := f.strategy
	if spec, err := catalog.Env(env); err == nil && name == "" {
		name = presets.DefaultStrategy(spec.ID)
	}
	method, err := evolve.Find(name)
	if err != nil {
		return nil // reported elsewhere
	}
	for _, s := range c.settings {
		param, ok := strings.CutPrefix(s.key, paramsPrefix)
		if !ok {
			continue
		}
		value := paramValue(s.text)
		if used, ok := f.params[param]; !ok || used != value {
			continue // a flag takes precedence
		}
		if _, err := method.Complete(evolve.Params{param: value}); err != nil {
			return verb.Wrong(fmt.Errorf("%s: line %d: %w", c.name, s.line, err), settingHint(method, param))
		}
	}
	return nil
}

func (c *config) checkWorld(f *Flags, env string) error {
	spec, err := catalog.Env(env)
	if err != nil {
		return nil // reported elsewhere
	}
	for _, s := range c.settings {
		name, ok := strings.CutPrefix(s.key, worldPrefix)
		if used, given := f.world[name]; !ok || !given || used != s.text {
			continue // a flag takes precedence
		}
		p, err := spec.Param(name)
		if err == nil {
			_, err = p.Parse(s.text)
		}
		if err != nil {
			return verb.Wrong(fmt.Errorf("%s: line %d: %w", c.name, s.line, err), catalog.ParamHint(spec))
		}
	}
	return nil
}
