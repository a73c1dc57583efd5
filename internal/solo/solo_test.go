//go:build !js

package solo

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/runspec"
	"github.com/evoswarm/evoswarm/internal/schedule"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/store"
)

func soloRules(t testing.TB, o runspec.Options) *seedlog.Rules {
	t.Helper()
	rules, err := runspec.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

func openLog(t testing.TB, path string, rules *seedlog.Rules) *store.Log {
	t.Helper()
	log, err := store.OpenLog(path, rules, nil)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// train opens the log, trains until u and closes the log.
func train(t testing.TB, path string, rules *seedlog.Rules, workers int, u Until) (Result, []Progress) {
	t.Helper()
	return trainOn(t, path, rules, workers, nil, u)
}

// trainOn is train with an evaluator of candidates.
func trainOn(t testing.TB, path string, rules *seedlog.Rules, workers int, evaluator seedlog.Evaluator, u Until) (Result, []Progress) {
	t.Helper()
	log := openLog(t, path, rules)
	var all []Progress
	result, err := Train(t.Context(), Config{
		Log: log, Pool: rollout.NewPool(rules.Plan, workers), Evaluator: evaluator, Until: u,
		OnGeneration: func(p Progress) { all = append(all, p) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return result, all
}

// The head and every byte of the log depend on the spec alone, for every strategy: not on the number of workers, nor on
// where a run was resumed; and replaying the log gives the model that training gave.
func TestTrainSameWhateverHappens(t *testing.T) {
	runs := map[string]runspec.Options{
		"dises-linear": {Strategy: "dises", Params: evolve.Params{"selection": "linear"}},
		"dises-group":  {Strategy: "dises", Params: evolve.Params{"selection": "group", "exchange": 2.0}},
	}
	for _, m := range evolve.Methods() {
		runs[m.Name] = runspec.Options{Strategy: m.Name}
	}
	// With every setting of episodes too.
	all := runspec.Options{
		Strategy: "ars", Settings: runspec.Settings{"hidden": []uint64{5}, "vbn": true, "episodes": uint64(2), "subtract-alive-bonus": 0.5,
			"frame-skip": uint64(2), "cap": 2.0, "observations": rollout.Running, "observe-episodes": uint64(2)},
	}
	runs["conditions"] = all
	all.Env, all.Strategy, all.Settings = "Pendulum-v1", "openai-es", maps.Clone(all.Settings)
	all.Settings["action-noise"], all.Settings["observations"] = 0.1, rollout.Frozen
	delete(all.Settings, "observe-episodes")
	runs["conditions-frozen"] = all
	for name, o := range runs {
		t.Run(name, func(t *testing.T) {
			o.Seed = 5
			settings := runspec.Settings{"population": uint64(16)}
			maps.Copy(settings, o.Settings)
			o.Settings = settings
			if o.Env == "" {
				o.Env = "CartPole-v1"
			}
			sameWhateverHappens(t, soloRules(t, o))
		})
	}
}

func sameWhateverHappens(t *testing.T, rules *seedlog.Rules) {
	dir := t.TempDir()
	const generations = 5
	whole, progress := train(t, filepath.Join(dir, "7"), rules, 7, Until{Evaluations: 16 * generations})
	if whole.Gen != generations || len(progress) != generations || whole.Evaluations != 16*generations {
		t.Fatalf("got %d generations, %d reports, %d evaluations; want %d, %[4]d, %d", whole.Gen, len(progress), whole.Evaluations, generations, 16*generations)
	}
	want := readFile(t, filepath.Join(dir, "7"))
	train(t, filepath.Join(dir, "2"), rules, 2, Until{Evaluations: 16 * generations})
	if !bytes.Equal(readFile(t, filepath.Join(dir, "2")), want) {
		t.Errorf("the log of two workers differs from that of seven")
	}
	routines := schedule.NewRoutines(rules.Plan)
	scheduler := schedule.New(schedule.Config{Start: routines.Start}, 1)
	scheduler.Add(schedule.Device{Start: routines.Start, Least: 3, BatchTime: time.Second})
	trainOn(t, filepath.Join(dir, "device"), rules, 1, &schedule.Blocking{Scheduler: scheduler}, Until{Evaluations: 16 * generations})
	scheduler.Close()
	routines.Wait()
	if !bytes.Equal(readFile(t, filepath.Join(dir, "device")), want) {
		t.Errorf("the log of a core and a device differs from that of seven workers")
	}
	for gen := uint64(1); gen <= generations; gen++ {
		part, progress := train(t, filepath.Join(dir, "1"), rules, 1, Until{Evaluations: 16 * gen})
		if len(progress) != 1 || part.Gen != gen {
			t.Fatalf("got %d generations up to %d, want 1 up to %d", len(progress), part.Gen, gen)
		}
	}
	if !bytes.Equal(readFile(t, filepath.Join(dir, "1")), want) {
		t.Errorf("the log resumed at every generation by one worker differs from that of seven workers in one go")
	}
	replayed, err := seedlog.Replay(bytes.NewReader(want), seedlog.ReplayOptions{Check: seedlog.CheckClaims})
	if err != nil {
		t.Fatal(err)
	}
	if replayed.Link != whole.Head || replayed.State.Digest() != whole.State.Digest() || replayed.Checked != whole.Evaluations || replayed.Steps != whole.Steps {
		t.Errorf("replay gives %s after %d steps with %d evaluations checked, training gave %s after %d", replayed.Link, replayed.Steps, replayed.Checked, whole.Head, whole.Steps)
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestTrainUntilSolved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.seedlog")
	rules := soloRules(t, runspec.Options{Env: "cartpole-v1", Seed: 1000})
	first, progress := train(t, path, rules, 0, Until{Solved: true})
	if !first.Solved || first.Tests == 0 || first.Return == nil || *first.Return < 475 {
		t.Fatalf("got %+v, want a solved run", first)
	}
	for i, p := range progress {
		if p.Gen != uint64(i)+1 || p.Mean > p.Best || p.Return == nil {
			t.Errorf("report %d: %+v", i, p)
		}
	}
	again, progress := train(t, path, rules, 0, Until{Solved: true})
	if !again.Solved || len(progress) != 0 || again.Head != first.Head || again.Steps != first.Steps {
		t.Errorf("a solved log was continued: %d generations, %+v", len(progress), again)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	replayed, err := seedlog.Replay(file, seedlog.ReplayOptions{Check: seedlog.CheckClaims})
	if err != nil {
		t.Fatal(err)
	}
	if replayed.Link != first.Head || replayed.State.Digest() != first.State.Digest() || replayed.Checked != first.Evaluations {
		t.Errorf("replay gives %s, training %s", replayed.Link, first.Head)
	}
}

// A run that ends for another reason says since when it is solved, and tests no more once it is.
func TestTrainSolvedOnTheWay(t *testing.T) {
	rules := soloRules(t, runspec.Options{Env: "CartPole-v1", Seed: 2})
	dir := t.TempDir()
	until, _ := train(t, filepath.Join(dir, "solved"), rules, 2, Until{Solved: true})
	r, _ := train(t, filepath.Join(dir, "on"), rules, 2, Until{Evaluations: until.Evaluations + 20*rules.Spec.Generation.Evaluations})
	if until.SolvedAt != until.Gen || r.SolvedAt != until.Gen || r.Solved || r.Tests != until.Tests {
		t.Errorf("solved at %d after %d tests, ended by that: %t; want %d after %d", r.SolvedAt, r.Tests, r.Solved, until.Gen, until.Tests)
	}
}

func TestTrainCancelled(t *testing.T) {
	rules := soloRules(t, runspec.Options{Env: "CartPole-v1"})
	path := filepath.Join(t.TempDir(), "run.seedlog")
	log := openLog(t, path, rules)
	ctx, cancel := context.WithCancel(t.Context())
	result, err := Train(ctx, Config{Log: log, OnGeneration: func(p Progress) {
		if p.Gen == 3 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || result.Gen < 3 {
		t.Fatalf("got %v at generation %d, want cancelled at 3 or later", err, result.Gen)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	log = openLog(t, path, rules)
	defer log.Close()
	if got := log.Replayed(); got.Link != result.Head {
		t.Errorf("the log ends at %d, the result at %d", got.Height, result.Gen)
	}
}

func TestTrainFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Fatal("this test needs /dev/full: ", err)
	}
	path := filepath.Join(t.TempDir(), "run.seedlog")
	if err := os.Symlink("/dev/full", path); err != nil {
		t.Fatal(err)
	}
	_, err := store.OpenLog(path, soloRules(t, runspec.Options{Env: "CartPole-v1"}), nil)
	if !errors.Is(err, store.ErrFull) {
		t.Errorf("got %v, want %v", err, store.ErrFull)
	}
}

func TestTrainRefusesSwarm(t *testing.T) {
	rules := soloRules(t, runspec.Options{Env: "CartPole-v1", Nonce: [16]byte{1}})
	log := openLog(t, filepath.Join(t.TempDir(), "run.seedlog"), rules)
	defer log.Close()
	if _, err := Train(t.Context(), Config{Log: log}); !errors.Is(err, ErrNotSolo) {
		t.Errorf("got %v, want %v", err, ErrNotSolo)
	}
}

func BenchmarkTrainCartPole(b *testing.B) {
	rules := soloRules(b, runspec.Options{Env: "CartPole-v1", Seed: 1000})
	for b.Loop() {
		path := filepath.Join(b.TempDir(), "run.seedlog")
		train(b, path, rules, 0, Until{Solved: true})
	}
}
