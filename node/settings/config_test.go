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

// A file gives the spec that the flags give, and flags come before it.
func TestConfigIsFlags(t *testing.T) {
	name := filepath.Join(t.TempDir(), "run.toml")
	if err := os.WriteFile(name, []byte(`
env = "Pendulum-v1"
strategy = "openai-es"
seed = 7
population = 32
chunk = 4
params = { sigma = 0.25, shaping = "ranks" }
[policy]
kind = "mlp"
hidden = [8, 4]
activation = "relu"
bias = false
head = "bins"
bins = 5
[episodes]
count = 3
shared = false
action_noise = 0.25
bonus = 0
penalty = 3
skip = 2
cap = 2.5
[observations]
kind = "frozen"
steps = 500
clip = 5
[checks]
every = 2
validate = 9
`), 0o600); err != nil {
		t.Fatal(err)
	}
	flags := []string{"Pendulum-v1", "--strategy", "openai-es", "--seed", "7", "--population", "32", "--chunk", "4", "--param", "sigma=0.25", "--param", "shaping=ranks",
		"--policy", "mlp", "--hidden", "8,4", "--activation", "relu", "--bias=false", "--head", "bins", "--bins", "5", "--episodes", "3", "--shared=false",
		"--look-every", "2", "--look-episodes", "9", "--action-noise", "0.25", "--alive-bonus", "0", "--max-penalty", "3", "--frame-skip", "2", "--cap", "2.5",
		"--observations", "frozen", "--observe-steps", "500", "--observe-clip", "5"}
	if diff := cmp.Diff(specOf(t, flags...), specOf(t, "--config", name)); diff != "" {
		t.Errorf("the file gives another spec than the flags (-flags +file):\n%s", diff)
	}
	over := []string{"--seed", "8", "--param", "sigma=0.5", "--hidden", "3"}
	if diff := cmp.Diff(specOf(t, append(flags, over...)...), specOf(t, append([]string{"--config", name}, over...)...)); diff != "" {
		t.Errorf("flags do not come before the file (-flags +file):\n%s", diff)
	}
	if diff := cmp.Diff(specOf(t, append(flags, over...)...), specOf(t, append([]string{"--config", name, "pendulum-v1"}, over...)...)); diff != "" {
		t.Errorf("with the world as an argument too (-flags +file):\n%s", diff)
	}
}

// Every flag that says what a run is has a key in a file.
func TestConfigKeysAreComplete(t *testing.T) {
	keys := map[string]bool{"param": true}
	for _, name := range configKeys {
		keys[name] = true
	}
	var t0 Flags
	fs := verb.NewFlags()
	t0.Bind(fs)
	for _, f := range fs.List() {
		if !keys[f.Name] {
			t.Errorf("no key of a TOML file is --%s", f.Name)
		}
		if !slices.Contains(Names, f.Name) {
			t.Errorf("Names lacks %s", f.Name)
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
	_, file, _ := strings.Cut(ConfigNotes, ":\n")
	name := filepath.Join(t.TempDir(), "help.toml")
	if err := os.WriteFile(name, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	spec, err := json.Marshal(specOf(t, "--config", name))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"id":"Pendulum-v1"`, `"name":"openai-es"`, `"sigma":0.05`, `"hidden":[16,16]`, `"kind":"running"`, `"every":10`} {
		if !strings.Contains(string(spec), want) {
			t.Errorf("the spec lacks %s: %s", want, spec)
		}
	}
}
