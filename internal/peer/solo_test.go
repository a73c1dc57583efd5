//go:build !js

package peer

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/store"
)

func soloRules(t testing.TB, o SpecOptions) *seedlog.Rules {
	t.Helper()
	spec, err := NewSpec(o)
	if err != nil {
		t.Fatal(err)
	}
	rules, err := seedlog.NewRules(spec)
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

// train opens the log, goes on until u and closes the log.
func train(t testing.TB, path string, rules *seedlog.Rules, workers int, u Until) (Result, []Progress) {
	t.Helper()
	log := openLog(t, path, rules)
	var all []Progress
	result, err := Train(t.Context(), TrainConfig{
		Log: log, Pool: rollout.NewPool(rules.Plan, workers), Until: u,
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
	runs := map[string]SpecOptions{
		"dises-linear": {Strategy: "dises", Params: evolve.Params{"selection": "linear"}},
		"dises-group":  {Strategy: "dises", Params: evolve.Params{"selection": "group", "exchange": 2.0}},
	}
	for _, m := range evolve.Methods() {
		runs[m.Name] = SpecOptions{Strategy: m.Name}
	}
	// With everything that can be asked of episodes too.
	all := SpecOptions{
		Strategy: "ars", Policy: PolicyOptions{Hidden: []uint64{5}, VBN: new(true)}, Episodes: 2, Bonus: new(0.5), Skip: 2, Cap: new(2.0),
		Observations: rollout.Observations{Kind: rollout.Running, Episodes: 2},
	}
	runs["conditions"] = all
	all.Env, all.Strategy, all.ActionNoise, all.Observations = "Pendulum-v1", "openai-es", new(0.1), rollout.Observations{Kind: rollout.Frozen}
	runs["conditions-frozen"] = all
	for name, o := range runs {
		t.Run(name, func(t *testing.T) {
			o.Seed, o.Population = 5, 16
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
	rules := soloRules(t, SpecOptions{Env: "cartpole-v1", Seed: 1000})
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
		t.Errorf("a solved log went on: %d generations, %+v", len(progress), again)
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

func TestTrainCancelled(t *testing.T) {
	rules := soloRules(t, SpecOptions{Env: "CartPole-v1"})
	path := filepath.Join(t.TempDir(), "run.seedlog")
	log := openLog(t, path, rules)
	ctx, cancel := context.WithCancel(t.Context())
	result, err := Train(ctx, TrainConfig{Log: log, OnGeneration: func(p Progress) {
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
	_, err := store.OpenLog(path, soloRules(t, SpecOptions{Env: "CartPole-v1"}), nil)
	if !errors.Is(err, store.ErrFull) {
		t.Errorf("got %v, want %v", err, store.ErrFull)
	}
}

func TestTrainRefusesSwarm(t *testing.T) {
	rules := soloRules(t, SpecOptions{Env: "CartPole-v1", Nonce: [16]byte{1}})
	log := openLog(t, filepath.Join(t.TempDir(), "run.seedlog"), rules)
	defer log.Close()
	if _, err := Train(t.Context(), TrainConfig{Log: log}); !errors.Is(err, ErrNotSolo) {
		t.Errorf("got %v, want %v", err, ErrNotSolo)
	}
}

func TestNewSpec(t *testing.T) {
	for _, c := range []struct {
		name                     string
		o                        SpecOptions
		evaluations, chunk, most uint64
		err                      error
	}{
		{"preset", SpecOptions{Env: "CARTPOLE-V1", Strategy: "dises"}, 8, 8, 1, nil},
		{"pairs", SpecOptions{Env: "CartPole-v1", Strategy: "openai-es"}, 8, 4, 1, nil},
		{"swarm", SpecOptions{Env: "CartPole-v1", Strategy: "dises", Nonce: [16]byte{9}}, 32, 32, 2, nil},
		{"swarm of long episodes", SpecOptions{Env: "BipedalWalker-v3", Nonce: [16]byte{9}}, 40, 5, 16, nil},
		{"odd population", SpecOptions{Env: "CartPole-v1", Strategy: "dises", Population: 7}, 7, 7, 1, nil},
		{"prime population", SpecOptions{Env: "CartPole-v1", Strategy: "dises", Population: 1009}, 1009, 1, 1009, nil},
		{"many", SpecOptions{Env: "CartPole-v1", Strategy: "dises", Population: 1 << 17}, 1 << 17, 256, 512, nil},
		{"odd pairs", SpecOptions{Env: "CartPole-v1", Strategy: "openai-es", Population: 7}, 0, 0, 0, evolve.ErrParams},
		{"large prime", SpecOptions{Env: "CartPole-v1", Strategy: "dises", Population: 1031}, 0, 0, 0, ErrPopulation},
		{"too many", SpecOptions{Env: "CartPole-v1", Strategy: "dises", Population: 1<<17 + 1}, 0, 0, 0, ErrPopulation},
		{"setting", SpecOptions{Env: "CartPole-v1", Strategy: "dises", Params: evolve.Params{"sigmas": 1.0}}, 0, 0, 0, evolve.ErrParams},
		{"strategy", SpecOptions{Env: "CartPole-v1", Strategy: "des"}, 0, 0, 0, evolve.ErrMethod},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec, err := NewSpec(c.o)
			if !errors.Is(err, c.err) {
				t.Fatalf("got %v, want %v", err, c.err)
			}
			if err != nil {
				return
			}
			g := spec.Generation
			if g.Evaluations != c.evaluations || g.Chunk != c.chunk || g.Quota != c.most {
				t.Errorf("got %+v, want %d evaluations in chunks of %d, at most %d per peer", g, c.evaluations, c.chunk, c.most)
			}
		})
	}
}

func BenchmarkTrainCartPole(b *testing.B) {
	rules := soloRules(b, SpecOptions{Env: "CartPole-v1", Seed: 1000})
	for b.Loop() {
		path := filepath.Join(b.TempDir(), "run.seedlog")
		train(b, path, rules, 0, Until{Solved: true})
	}
}
