package settings

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evoswarm/evoswarm/internal/runspec"
	"github.com/evoswarm/evoswarm/node/verb"
)

func TestParseConfig(t *testing.T) {
	const text = `# a comment
env = "Pendulum-v1" # another
seed = 0x1_0
params.sigma = 5e-2
params = 3
`
	if _, err := parseConfig([]byte(text)); err == nil || !strings.Contains(err.Error(), "line 5") {
		t.Errorf("a key that is there twice: %v", err)
	}
	got, err := parseConfig([]byte(`env = "Pendulum-v1" # a comment
seed = 0x1_0
params = { sigma = 5e-2, "l2" = 1_0.5, shaping = 'ranks' }

[policy]
hidden = [
  16, # wide
  8,
]
bias = false
[episodes]
'count' = 4
`))
	if err != nil {
		t.Fatal(err)
	}
	want := []setting{
		{"env", 1, "Pendulum-v1"}, {"seed", 2, "16"}, {"params.sigma", 3, "5e-2"}, {"params.l2", 3, "10.5"}, {"params.shaping", 3, "ranks"},
		{"policy.hidden", 6, "16,8"}, {"policy.bias", 10, "false"}, {"episodes.count", 12, "4"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(setting{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, c := range []struct{ text, want string }{
		{"seed = ", "line 1"},
		{"[[episodes]]\ncount = 1", "lists of tables"},
		{"when = 2026-01-01", "line 1: when"},
		{"a = [[1]]", "list of lists"},
		{"a = 99999999999999999999", "line 1"},
		{"\x00", "line 1"},
	} {
		if _, err := parseConfig([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q in it", c.text, err, c.want)
		}
	}
}

// specOf is the spec of a run with these arguments, as JSON gives it.
func specOf(t *testing.T, args ...string) (spec any) {
	t.Helper()
	var errs bytes.Buffer
	v := &verb.Verb{Name: "spec", Bind: func(fs *verb.Flags) verb.Run {
		var f Flags
		file := ""
		f.Bind(fs)
		fs.String(&file, "config", "FILE", "")
		return func(_ context.Context, s *verb.IO, args []string) error {
			env, err := f.World(s, fs, file, args, "")
			if err != nil {
				return err
			}
			options, err := f.Options(env)
			if err != nil {
				return err
			}
			made, err := runspec.NewSpec(options)
			if err != nil {
				return err
			}
			data, err := json.Marshal(made)
			if err != nil {
				return err
			}
			return json.Unmarshal(data, &spec)
		}
	}}
	p := &verb.Program{Groups: []verb.Group{{Verbs: []*verb.Verb{v}}}}
	if status := p.Main(t.Context(), append([]string{"spec"}, args...), &verb.IO{Err: &errs}); status != 0 {
		t.Fatalf("status %d: %s", status, errs.String())
	}
	return spec
}

// everything is a file that uses every key which says what a run is, but for frozen observations and other heads.
const everything = `
env = "Pendulum-v1"
strategy = "openai-es"
seed = 7
population = 32
chunk = 4
params = { sigma = 0.25, shaping = "ranks" }
env_params = { g = 9.5 }
[policy]
kind = "mlp"
hidden = [8, 4]
activation = "relu"
bias = false
head = "bins"
bins = 5
vbn = false
[episodes]
count = 3
shared = false
action_noise = 0.25
subtract_alive_bonus = 0.5
max_penalty = 3
frame_skip = 2
cap = 2.5
horizon = 150
horizon_growth = 1.5
[observations]
kind = "running"
episodes = 2
clip = 5
[evaluation]
every = 2
episodes = 9
`

// flagsOfEverything say the same.
var flagsOfEverything = []string{"Pendulum-v1", "--strategy", "openai-es", "--seed", "7", "--population", "32", "--chunk", "4", "--param", "sigma=0.25", "--param", "shaping=ranks", "--env-param", "g=9.5",
	"--policy", "mlp", "--hidden", "8,4", "--activation", "relu", "--bias=false", "--head", "bins", "--bins", "5", "--vbn=false", "--episodes", "3", "--shared=false",
	"--eval-every", "2", "--eval-episodes", "9", "--action-noise", "0.25", "--subtract-alive-bonus", "0.5", "--max-penalty", "3", "--frame-skip", "2", "--cap", "2.5", "--horizon", "150", "--horizon-growth", "1.5",
	"--observations", "running", "--observe-episodes", "2", "--observe-clip", "5"}

// file returns the name of a new file with that text.
func file(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "run.toml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// A file gives the spec that the flags give, and flags take precedence.
func TestConfigIsFlags(t *testing.T) {
	name, flags := file(t, everything), flagsOfEverything
	if diff := cmp.Diff(specOf(t, flags...), specOf(t, "--config", name)); diff != "" {
		t.Errorf("the file gives another spec than the flags (-flags +file):\n%s", diff)
	}
	over := []string{"--seed", "8", "--param", "sigma=0.5", "--hidden", "3", "--eval-every", "6"}
	if diff := cmp.Diff(specOf(t, append(flags, over...)...), specOf(t, append([]string{"--config", name}, over...)...)); diff != "" {
		t.Errorf("flags do not take precedence over the file (-flags +file):\n%s", diff)
	}
	if diff := cmp.Diff(specOf(t, append(flags, over...)...), specOf(t, append([]string{"--config", name, "pendulum-v1"}, over...)...)); diff != "" {
		t.Errorf("with the environment as an argument too (-flags +file):\n%s", diff)
	}
}

// Names of earlier versions mean the same, as flags and in files; an old flag takes precedence over a new key.
func TestOldNames(t *testing.T) {
	old := strings.NewReplacer("subtract_alive_bonus", "bonus", "max_penalty", "penalty", "frame_skip", "skip", "[evaluation]", "[checks]", "episodes = 9", "validate = 9").Replace(everything)
	want := specOf(t, flagsOfEverything...)
	if diff := cmp.Diff(want, specOf(t, "--config", file(t, old))); diff != "" {
		t.Errorf("keys of earlier versions give another spec (-new +old):\n%s", diff)
	}
	flags := strings.Fields(strings.NewReplacer("--eval-", "--look-", "--subtract-alive-bonus", "--alive-bonus").Replace(strings.Join(flagsOfEverything, " ")))
	if diff := cmp.Diff(want, specOf(t, flags...)); diff != "" {
		t.Errorf("flags of earlier versions give another spec (-new +old):\n%s", diff)
	}
	changed := strings.Replace(everything, "every = 2", "every = 5", 1)
	if diff := cmp.Diff(want, specOf(t, "--config", file(t, changed), "--look-every", "2")); diff != "" {
		t.Errorf("--look-every does not take precedence over evaluation.every (-want +got):\n%s", diff)
	}
}

// Every flag that says what a run is has a key in a file, and everything has them all but one.
func TestConfigKeysAreComplete(t *testing.T) {
	flags := map[string]bool{"param": true, "env-param": true}
	for _, k := range keys {
		flags[k.flag] = true
	}
	var f Flags
	fs := verb.NewFlags()
	f.Bind(fs)
	used := strings.Join(flagsOfEverything, " ") + " "
	for _, row := range fs.List() {
		if !flags[row.Name] {
			t.Errorf("no key of a TOML file is --%s", row.Name)
		}
		if !slices.Contains(Names, row.Name) {
			t.Errorf("Names lacks %s", row.Name)
		}
		if row.Name != "observe-steps" && !strings.Contains(used, "--"+row.Name+" ") && !strings.Contains(used, "--"+row.Name+"=") {
			t.Errorf("the tests of files lack --%s", row.Name)
		}
	}
}

// What is out of range is refused with the flag, the value and the range.
func TestRangesOfFlags(t *testing.T) {
	for _, c := range []struct{ flag, value, want string }{
		{"hidden", "100000", "whole numbers from 1 to 4096"},
		{"chunk", "-3", "a whole number from 1 to 256"},
		{"population", "100000000000000000000", "a whole number from 1 to 131072"},
		{"cap", "NaN", "0 for never, or a number from 1.1 to 1000"},
		{"look-every", "0", "a whole number from 1 to 1048576"},
		{"seed", "-1", "a whole number from 0"},
	} {
		var f Flags
		fs := verb.NewFlags()
		f.Bind(fs)
		if err := fs.Set(c.flag, c.value); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("--%s %s: %v, want %q", c.flag, c.value, err, c.want)
		}
	}
}

// Whatever a file holds, each value is found with its line, or the file is refused.
func FuzzParseConfig(f *testing.F) {
	f.Add([]byte("env = 'a'\n[params]\nsigma = 1\n"))
	f.Add([]byte("a = {b = {c = [1, 2.5, true]}}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := parseConfig(data)
		if err != nil {
			return
		}
		lines := bytes.Count(data, []byte("\n")) + 1
		for _, s := range all {
			if s.line < 1 || s.line > lines {
				t.Errorf("%q is said to be in line %d of %d", s.key, s.line, lines)
			}
		}
	})
}

// What the help shows is a file that works.
func TestConfigOfTheHelp(t *testing.T) {
	_, text, _ := strings.Cut(ConfigNotes, ":\n")
	spec, err := json.Marshal(specOf(t, "--config", file(t, text)))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"id":"Pendulum-v1"`, `"name":"openai-es"`, `"sigma":0.05`, `"hidden":[16,16]`, `"kind":"running"`, `"every":10`} {
		if !strings.Contains(string(spec), want) {
			t.Errorf("the spec lacks %s: %s", want, spec)
		}
	}
}
