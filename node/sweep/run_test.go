package sweep

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/evoswarm/evoswarm/internal/runspec"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/solo"
)

// specs are runs of the first n seeds.
func specs(t *testing.T, n uint64) []*seedlog.Spec {
	t.Helper()
	var all []*seedlog.Spec
	for seed := range n {
		spec, err := runspec.NewSpec(runspec.Options{Env: "CartPole-v1", Strategy: "dises", Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, spec)
	}
	return all
}

// TestRun checks that the number of jobs changes nothing but the seconds.
func TestRun(t *testing.T) {
	heads := map[uint64]string{}
	for _, jobs := range []int{1, 3, 9} {
		begun, rows := map[uint64]bool{}, 0
		cfg := Config{
			Specs: specs(t, 5), Until: solo.Until{Evaluations: 64}, Name: "evals=64", Jobs: jobs, Workers: 2, Dir: t.TempDir(),
			Before: map[uint64]float64{3: 1000},
			OnRow: func(r Row) error {
				rows++
				begun[r.Seed] = true
				if want, ok := heads[r.Seed]; ok && r.Head != want {
					t.Errorf("%d at a time: seed %d has head %s, want %s", jobs, r.Seed, r.Head, want)
				}
				heads[r.Seed] = r.Head
				if !r.Done || r.Evaluations != 64 || r.Until != "evals=64" || r.Resumed || r.Log != "" || (r.Seconds > 1000) != (r.Seed == 3) {
					t.Errorf("row %+v", r)
				}
				return nil
			},
		}
		if err := Run(t.Context(), cfg); err != nil || rows != 5 || len(begun) != 5 {
			t.Errorf("%d at a time: %d rows of %d seeds, %v", jobs, rows, len(begun), err)
		}
	}
}

// TestRunInterrupted checks that rows report an interruption, and that the runs can be resumed.
func TestRunInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	dir := t.TempDir()
	cfg := Config{Specs: specs(t, 3), Until: solo.Until{Evaluations: 1 << 40}, Jobs: 2, Workers: 1, Dir: dir, Keep: true}
	cfg.OnGeneration = func(_ uint64, p solo.Progress) {
		if p.Gen == 5 {
			cancel()
		}
	}
	var rows []Row
	cfg.OnRow = func(r Row) error { rows = append(rows, r); return nil }
	if err := Run(ctx, cfg); !errors.Is(err, context.Canceled) || len(rows) == 0 {
		t.Fatalf("got %d rows and %v, want context.Canceled", len(rows), err)
	}
	for _, r := range rows {
		if r.Done || r.Log != filepath.Join(dir, LogName(cfg.Specs[r.Seed])) {
			t.Errorf("row %+v", r)
		}
	}
	// A run that was interrupted before its first generation has nothing to resume.
	was := slices.MaxFunc(rows, func(a, b Row) int { return cmp.Compare(a.Gens, b.Gens) })
	cfg.Specs, cfg.Until, cfg.OnGeneration, rows = []*seedlog.Spec{cfg.Specs[was.Seed]}, solo.Until{Evaluations: was.Evaluations + 8}, nil, nil
	if err := Run(t.Context(), cfg); err != nil || len(rows) != 1 || !rows[0].Resumed || rows[0].Gens != was.Gens+1 {
		t.Errorf("going on after %+v gives %+v, %v", was, rows, err)
	}
}

// TestRunFails checks that the first failure ends all runs, and says which one failed.
func TestRunFails(t *testing.T) {
	dir := t.TempDir()
	cfg := Config{Specs: specs(t, 3), Until: solo.Until{Evaluations: 1 << 40}, Jobs: 3, Workers: 1, Dir: dir, OnRow: func(Row) error { return nil }}
	bad := filepath.Join(dir, LogName(cfg.Specs[1]))
	if err := os.WriteFile(bad, []byte("no log at all, and longer than the genesis block that would stand here if it were one of a run"), 0o644); err != nil {
		t.Fatal(err)
	}
	var failed *RunError
	if err := Run(t.Context(), cfg); !errors.As(err, &failed) || failed.Spec.Seed != 1 || failed.Log != bad || !errors.Is(err, seedlog.ErrNotSeedlog) {
		t.Errorf("got %v, want ErrNotSeedlog of seed 1", err)
	}
	full := errors.New("disk full")
	cfg.Specs, cfg.Until, cfg.Dir = specs(t, 3), solo.Until{Evaluations: 8}, t.TempDir()
	cfg.OnRow = func(Row) error { return full }
	if err := Run(t.Context(), cfg); !errors.Is(err, full) {
		t.Errorf("got %v, want the failure of OnRow", err)
	}
}
