//go:build !js

package evoswarm

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/internal/runspec"
)

// small is a short run.
var small = Options{Env: "cartpole-V1", Strategy: "openai-es", Population: 16, Seed: 5, Until: Until{Evaluations: 64}}

// train trains and fails the test if that fails.
func train(t *testing.T, o Options) Result {
	t.Helper()
	r, err := Train(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestTrainIsOneRun checks that memory, a file, workers and resuming change nothing.
func TestTrainIsOneRun(t *testing.T) {
	var seen []Progress
	o := small
	o.OnGeneration = func(p Progress) { seen = append(seen, p) }
	want := train(t, o)
	if len(seen) != 4 || seen[3].Evaluations != 64 || seen[3].Generation != 4 || seen[3].Return == nil || want.Return == nil || want.Generations != 4 {
		t.Errorf("got %+v and progress %+v", want, seen)
	}
	path := filepath.Join(t.TempDir(), "run.seedlog")
	for i, evaluations := range []uint64{32, 64, 64} {
		o := small
		o.Log, o.Workers, o.Until = path, i+1, Until{Evaluations: evaluations}
		r := train(t, o)
		if same := r.Head == want.Head; same != (i > 0) || r.Run != want.Run || r.SeedLog != nil {
			t.Errorf("call %d gives head %s of %s, want %s of %s at the end", i, r.Head, r.Run, want.Head, want.Run)
		}
	}
	data, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(data, want.SeedLog) {
		t.Errorf("the file has %d bytes (%v), want the %d in memory", len(data), err, len(want.SeedLog))
	}
	got, err := ReplayFile(t.Context(), path, ReplayOptions{Check: CheckClaims})
	if err != nil || got.Head != want.Head || got.Checked != 64 || got.Height != 4 || got.Truncated || got.Strategy != "openai-es" || !slices.Equal(got.Model.Theta(), want.Model.Theta()) {
		t.Errorf("replay gives %+v, %v", got, err)
	}
	if a, _ := got.Model.Evaluate(20); a.Episodes != 20 || a.Min > a.Mean || a.Max < a.Mean || a.StdErr < 0 {
		t.Errorf("evaluation %+v", a)
	} else if b, _ := want.Model.Evaluate(20); a != b {
		t.Errorf("the replayed model gives %+v, want %+v", a, b)
	}
}

// TestNormalized checks that a model acts as it was trained: with the statistics of observations.
func TestNormalized(t *testing.T) {
	o := Options{Env: "Pendulum-v1", Strategy: "openai-es", Population: 16, Seed: 1, Until: Until{Evaluations: 64}, EvalEvery: 2, EvalEpisodes: 3,
		Episodes: Episodes{Count: 2, Shared: new(false), ActionNoise: new(0.1), FrameSkip: 2, Observations: Observations{Kind: "running", Episodes: 2}}}
	r := train(t, o)
	plain := o
	plain.Episodes.Observations = Observations{Kind: "none"}
	if p := train(t, plain); p.Run == r.Run || p.Head == r.Head || r.Steps <= p.Steps {
		t.Errorf("with statistics %d env-steps, without %d: those of statistics count", r.Steps, p.Steps)
	}
	got, err := Replay(t.Context(), bytes.NewReader(r.SeedLog), ReplayOptions{Check: CheckClaims})
	if err != nil || got.Head != r.Head || got.Steps != r.Steps {
		t.Fatalf("replay gives %+v, %v, want %d env-steps", got, err, r.Steps)
	}
	obs := []float32{0.5, 0.5, 3}
	if a, b := got.Model.Act(obs), r.Model.Act(obs); !slices.Equal(a, b) {
		t.Errorf("the replayed model does %v, want %v", a, b)
	}
}

func TestTrainUntilTheContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o := small
	o.Until = Until{Evaluations: 1 << 40}
	o.OnGeneration = func(p Progress) {
		if p.Generation == 3 {
			cancel()
		}
	}
	r, err := Train(ctx, o)
	if !errors.Is(err, context.Canceled) || r.Generations < 3 || r.Model == nil {
		t.Fatalf("got %d generations and %v, want 3 or more and context.Canceled", r.Generations, err)
	}
	got, err := Replay(t.Context(), bytes.NewReader(r.SeedLog), ReplayOptions{})
	if err != nil || got.Head != r.Head {
		t.Errorf("the log gives %v, %v, want head %s", got, err, r.Head)
	}
	if _, err := Replay(ctx, bytes.NewReader(r.SeedLog), ReplayOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("replay in an ended context gives %v", err)
	}
}

func TestTrainRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.seedlog")
	o := small
	o.Log = path
	train(t, o)
	for _, c := range []struct {
		want   error
		text   string
		change func(*Options)
	}{
		{ErrEnv, "nearest: CartPole-v1", func(o *Options) { o.Env = "CartPole" }},
		{ErrStrategy, "unknown strategy", func(o *Options) { o.Strategy = "adam" }},
		{ErrEnvParams, `CartPole-v1 has no "x"`, func(o *Options) { o.EnvParams = Params{"x": 1} }},
		{ErrEnvParams, "sutton_barto_reward is 2", func(o *Options) { o.EnvParams = Params{"sutton_barto_reward": 2} }},
		{ErrEnvParams, "sutton_barto_reward is yes, want a number or a bool", func(o *Options) { o.EnvParams = Params{"sutton_barto_reward": "yes"} }},
		{ErrEnvParams, "sutton_barto_reward is <nil>", func(o *Options) { o.EnvParams = Params{"sutton_barto_reward": nil} }},
		{ErrParams, `has no "x"`, func(o *Options) { o.Params = Params{"x": 1} }},
		{ErrParams, "sigma is a bool", func(o *Options) { o.Params = Params{"sigma": true} }},
		{ErrPolicy, "head", func(o *Options) { o.Policy.Head = "clip" }},
		{ErrOptions, "policy is tree, want linear or mlp", func(o *Options) { o.Policy.Kind = "tree" }},
		{ErrOptions, "hidden is [3 0], want whole numbers from 1 to 4096", func(o *Options) { o.Policy.Hidden = []int{3, 0} }},
		{ErrOptions, "population is -2, want a whole number from 1 to 131072", func(o *Options) { o.Population = -2 }},
		{ErrOptions, "Workers is -1", func(o *Options) { o.Workers = -1 }},
		{ErrOptions, "eval-every is -1", func(o *Options) { o.EvalEvery = -1 }},
		{ErrOptions, "action_noise is 1", func(o *Options) { o.Episodes.ActionNoise = new(1.0) }},
		{ErrOptions, "subtract-alive-bonus is NaN", func(o *Options) { o.Episodes.SubtractAliveBonus = new(math.NaN()) }},
		{ErrOptions, "frame-skip is 99", func(o *Options) { o.Episodes.FrameSkip = 99 }},
		{ErrOptions, "observations is some, want none, frozen or running", func(o *Options) { o.Episodes.Observations.Kind = "some" }},
		{ErrOptions, "from 1 to 131072", func(o *Options) { o.Population = math.MaxInt }},
		{ErrRun, "another run", func(o *Options) { o.Seed = 6 }},
		{os.ErrNotExist, "none", func(o *Options) { o.Log = filepath.Join(t.TempDir(), "none", "x") }},
	} {
		o := small
		o.Log = path
		c.change(&o)
		r, err := Train(t.Context(), o)
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) || r.Model != nil {
			t.Errorf("Train gives %v, want %q", err, c.text)
		}
	}
	if _, err := Train(t.Context(), Options{Env: "CartPole-v1", Strategy: "openai-es", Population: 7}); err == nil || !strings.Contains(err.Error(), "7") {
		t.Errorf("7 candidates of pairs give %v", err)
	}
}

func TestReplayRefuses(t *testing.T) {
	r := train(t, small)
	replay := func(data []byte, o ReplayOptions) (*Replayed, error) {
		return Replay(t.Context(), bytes.NewReader(data), o)
	}
	if _, err := replay([]byte("no log"), ReplayOptions{}); !errors.Is(err, ErrLog) {
		t.Errorf("no log gives %v", err)
	}
	if _, err := replay(r.SeedLog, ReplayOptions{Check: "all"}); !errors.Is(err, ErrOptions) {
		t.Errorf("an unknown check gives %v", err)
	}
	if _, err := replay(r.SeedLog, ReplayOptions{Height: 9}); !errors.Is(err, ErrHeight) {
		t.Errorf("height 9 of 4 gives %v", err)
	}
	if got, err := replay(r.SeedLog, ReplayOptions{Height: 2, Check: CheckLinks}); err != nil || got.Height != 2 || got.Model != nil {
		t.Errorf("links to height 2 give %+v, %v", got, err)
	}
	if got, err := replay(r.SeedLog[:len(r.SeedLog)-1], ReplayOptions{}); err != nil || got.Height != 3 || !got.Truncated {
		t.Errorf("a cut log gives %+v, %v", got, err)
	}
	flipped := slices.Clone(r.SeedLog)
	flipped[len(flipped)/2] ^= 1
	if _, err := replay(flipped, ReplayOptions{}); err == nil || !strings.Contains(err.Error(), "height") {
		t.Errorf("a flipped bit gives %v, want an error that names the height", err)
	}
	if _, err := r.Model.Evaluate(0); !errors.Is(err, ErrOptions) {
		t.Errorf("0 episodes give %v", err)
	}
}

// TestSolvedAt checks that a run which another limit ends says when it was solved.
func TestSolvedAt(t *testing.T) {
	o := Options{Env: "CartPole-v1", Strategy: "dises", Seed: 7}
	solved := train(t, o)
	o.Until = Until{Evaluations: solved.Evaluations + 1}
	if r := train(t, o); r.Solved || r.SolvedAt != solved.Generations || solved.SolvedAt != solved.Generations {
		t.Errorf("solved at generation %d; limited by evaluations: %t, at %d", solved.Generations, r.Solved, r.SolvedAt)
	}
}

// TestOptionsAreSettings checks that each setting of runs is a field of Options, but for how work is cut into
// claims, which concerns swarms and the size of logs.
// TestEnvParams: a run with parameters of its environment is another run, and its log has them.
func TestEnvParams(t *testing.T) {
	plain := train(t, small)
	o := small
	o.EnvParams = Params{"sutton_barto_reward": false}
	if r := train(t, o); r.Head != plain.Head {
		t.Errorf("with a default the head is %s, want %s", r.Head, plain.Head)
	}
	o.EnvParams = Params{"sutton_barto_reward": true}
	r := train(t, o)
	if r.Run == plain.Run || r.Return == nil || *r.Return < -1 || *r.Return > 0 {
		t.Errorf("the return of run %s is %v, want -1 to 0", r.Run, r.Return)
	}
	o.EnvParams = Params{"sutton_barto_reward": uint8(1)}
	if again := train(t, o); again.Head != r.Head {
		t.Errorf("the head is %s with 1, %s with true", again.Head, r.Head)
	}
	got, err := Replay(t.Context(), bytes.NewReader(r.SeedLog), ReplayOptions{Check: CheckClaims})
	if err != nil {
		t.Fatal(err)
	}
	if a, _ := got.Model.Evaluate(20); a.Mean < -1 || a.Mean > 0 {
		t.Errorf("its model has a mean return of %v, want -1 to 0", a.Mean)
	}
}

func TestOptionsAreSettings(t *testing.T) {
	fields := map[string]int{"chunk": 1}
	eachSetting(reflect.ValueOf(Options{}), func(name string, _ reflect.Value) { fields[name]++ })
	for _, s := range runspec.All() {
		if fields[s.Name] != 1 {
			t.Errorf("setting %s is %d fields of Options, want 1", s.Name, fields[s.Name])
		}
		delete(fields, s.Name)
	}
	for name := range fields {
		t.Errorf("the tag %q names no setting", name)
	}
}

// TestLists checks that what is listed can be trained.
func TestLists(t *testing.T) {
	if len(Envs()) < 5 || len(Presets()) < 5 {
		t.Fatalf("%d worlds, %d presets", len(Envs()), len(Presets()))
	}
	defaults := map[string]int{}
	for _, p := range Presets() {
		if p.Default {
			defaults[p.Env]++
		}
		if p.Env == "Humanoid-v5" && (p.Strategy == "cma-es" || p.Strategy == "xnes") {
			continue // 5,916 parameters are more than a full covariance may have
		}
		policy := p.Policy
		policy.Hidden = slices.Clone(policy.Hidden)
		a, err := (&Options{Env: p.Env, Strategy: p.Strategy}).rules()
		if err != nil {
			t.Fatal(err)
		}
		b, err := (&Options{Env: p.Env, Strategy: p.Strategy, Params: p.Params, Population: p.Population, Episodes: p.Episodes, Policy: policy, EvalEvery: p.EvalEvery, EvalEpisodes: p.EvalEpisodes}).rules()
		if err != nil || a.Run != b.Run {
			t.Errorf("%s, %s: the preset written out is another run (%v)", p.Env, p.Strategy, err)
		}
	}
	for world, n := range defaults {
		if n != 1 {
			t.Errorf("%s has %d default presets", world, n)
		}
	}
}
