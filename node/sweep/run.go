package sweep

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/solo"
	"github.com/evoswarm/evoswarm/internal/store"
)

// Config says what Run does.
type Config struct {
	Specs   []*seedlog.Spec // of runs on one machine, one for each seed; read-only
	Until   solo.Until      // what ends each run
	Name    string          // of Until, for the rows
	Jobs    int             // runs at a time, at least 1
	Workers int             // goroutines that each run computes on, at least 1
	Dir     string          // for the logs; it exists
	Keep    bool            // whether the rows name the logs
	// Before holds the seconds that the run of a seed took before it was interrupted; nil: none.
	Before map[uint64]float64

	OnGeneration func(seed uint64, p solo.Progress) // nil: none; from several goroutines
	OnRow        func(Row) error                    // for each run that ended or was interrupted, one at a time
}

// RunError says which run failed.
type RunError struct {
	Spec *seedlog.Spec
	Log  string // its file
	Err  error
}

// Error implements error.
func (e *RunError) Error() string { return fmt.Sprintf("seed %d: %v", e.Spec.Seed, e.Err) }

// Unwrap returns Err.
func (e *RunError) Unwrap() error { return e.Err }

// LogName is what the log of a run is called.
func LogName(spec *seedlog.Spec) string {
	return fmt.Sprintf("%s-%s-%d.seedlog", spec.Env.ID, spec.Strategy.Name, spec.Seed)
}

// Run trains all specs in order, cfg.Jobs at a time. Each run is the one that `evonode train` makes of its
// seed, with the same head: the number of jobs changes only the seconds. When ctx ends, the runs that were
// begun are reported as not done, and the error is that of ctx. The first other error ends all runs; it is a
// [*RunError].
func Run(ctx context.Context, cfg Config) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	todo := make(chan *seedlog.Spec)
	var mu sync.Mutex
	var done sync.WaitGroup
	for range min(cfg.Jobs, len(cfg.Specs)) {
		done.Go(func() {
			for spec := range todo {
				if ctx.Err() != nil {
					continue
				}
				row, err := cfg.run(ctx, spec)
				mu.Lock()
				if err == nil {
					err = cfg.OnRow(row)
				}
				mu.Unlock()
				if err != nil {
					cancel(&RunError{spec, filepath.Join(cfg.Dir, LogName(spec)), err})
				}
			}
		})
	}
	for _, spec := range cfg.Specs {
		select {
		case todo <- spec:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(todo)
	done.Wait()
	return context.Cause(ctx)
}

// run trains one seed. An interruption is no error: the row says that it is not done.
func (cfg *Config) run(ctx context.Context, spec *seedlog.Spec) (Row, error) {
	start := time.Now()
	rules, err := seedlog.NewRules(spec)
	if err != nil {
		return Row{}, err
	}
	path := filepath.Join(cfg.Dir, LogName(spec))
	log, err := store.OpenLog(path, rules, func(uint64, int64) error { return ctx.Err() })
	if err != nil {
		return Row{}, err
	}
	row := Row{Env: spec.Env.ID, Strategy: spec.Strategy.Name, Seed: spec.Seed, Until: cfg.Name, Run: rules.Run.String(), Resumed: log.Replayed().Height > 0}
	train := solo.Config{Log: log, Until: cfg.Until, Pool: rollout.NewPool(rules.Plan, cfg.Workers)}
	if cfg.OnGeneration != nil {
		train.OnGeneration = func(p solo.Progress) { cfg.OnGeneration(spec.Seed, p) }
	}
	r, err := solo.Train(ctx, train)
	row.Done = err == nil
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	if err = errors.Join(err, log.Close()); err != nil {
		return Row{}, err
	}
	row.Solved, row.Gens, row.Evaluations, row.Steps, row.Return = r.Solved, r.Gen, r.Evaluations, r.Steps, r.Return
	row.Tests, row.EvaluationSteps = r.Tests, r.EvaluationSteps
	row.Head, row.Theta = r.Head.String(), fmt.Sprintf("%x", r.State.ThetaDigest())
	if cfg.Keep {
		row.Log = path
	}
	row.Seconds = cfg.Before[spec.Seed] + time.Since(start).Round(time.Microsecond).Seconds()
	return row, nil
}
