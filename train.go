//go:build !js

package evoswarm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/runspec"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/solo"
	"github.com/evoswarm/evoswarm/internal/store"
)

// Options say what to train. Only World is needed: the rest is the world's preset, or for a world without one a small
// network and the strategy's defaults.
type Options struct {
	World      string   // id, without regard to case
	Strategy   string   // "": the one that learns the world in the fewest env-steps
	Params     Params   // settings that differ from the preset's
	Population int      // evaluations of a generation; 0: the preset's
	Policy     Policy   // what differs from the preset's; NoBias alone changes nothing: name Kind too
	Episodes   Episodes // what differs from the preset's
	Seed       uint64   // of everything random

	// LookEvery is the number of generations between two looks at the mean policy in LookEpisodes fresh episodes; 0: the
	// preset's. Whether the world is solved is only asked then.
	LookEvery    int
	LookEpisodes int

	// Log is the file that the run is kept in, a seed log; one that is there of the same run is gone on with. Empty: the
	// run is kept in memory, in Result.SeedLog.
	Log string
	// Workers is the number of goroutines to compute on; 0: one for each core. It changes no result.
	Workers int
	// Until says when to end; zero: when the world is solved.
	Until Until
	// OnGeneration is called after each generation, from one other goroutine, in order; nil: not.
	OnGeneration func(Progress)
}

// Until says when training ends: at the first that comes true.
type Until struct {
	Solved      bool          // the mean return of 100 test episodes of the mean policy is at least the world's SolvedReturn
	Evaluations uint64        // the run has this many; 0: no limit
	Steps       uint64        // the run's training took this many env-steps; 0: no limit
	Duration    time.Duration // so much time passed; 0: no limit
}

// Progress describes a generation that is in the log for good.
type Progress struct {
	Generation  uint64
	Evaluations uint64   // of the run so far
	Steps       uint64   // env-steps of training so far
	Best, Mean  float64  // fitness of the generation's evaluations, as returns
	Return      *float64 // of the mean policy in fresh episodes, if it was looked at; else nil
}

// Result is where training ended.
type Result struct {
	Solved          bool
	Generations     uint64   // of the run, those of a log gone on with included
	Evaluations     uint64   // likewise
	Steps           uint64   // env-steps of training, likewise
	EvaluationSteps uint64   // env-steps of looks and tests, of this call
	Tests           int      // how often the mean policy was tested for being solved, by this call
	Return          *float64 // of the last test, else of the last look; nil without either
	Run             string   // id of the run: what it depends on
	Head            string   // id of its last generation: all that came out
	Model           *Model   // the mean policy at the end
	SeedLog         []byte   // the log, if Options.Log is empty
}

// Train trains until opts.Until or the end of ctx. At the end of ctx the error is that of ctx, and the result is valid:
// nothing that was reported is lost. The same Options give the same Head, whatever Log, Workers and OnGeneration are.
//
// Errors wrap ErrWorld, ErrStrategy, ErrParams, ErrPolicy, ErrOptions, or ErrRun if the log is of a run with other options; or
// they are those of the file.
func Train(ctx context.Context, opts Options) (Result, error) {
	rules, err := opts.rules()
	if err != nil {
		return Result{}, err
	}
	cfg := solo.Config{Until: solo.Until(opts.Until), Pool: rollout.NewPool(rules.Plan, opts.Workers)}
	if opts.Until == (Until{}) {
		cfg.Until.Solved = true
	}
	if f := opts.OnGeneration; f != nil {
		cfg.OnGeneration = func(p solo.Progress) { f(Progress{p.Gen, p.Evaluations, p.Steps, p.Best, p.Mean, p.Return}) }
	}
	if opts.Log == "" {
		memory, err := newMemoryLog(rules)
		if err != nil {
			return Result{}, err
		}
		cfg.Log = memory
		r, err := solo.Train(ctx, cfg)
		result := newResult(rules, r)
		result.SeedLog = memory.data
		return result, err
	}
	log, err := store.OpenLog(opts.Log, rules, func(uint64, int64) error { return ctx.Err() })
	if err != nil {
		return Result{}, fmt.Errorf("evoswarm: opening %s: %w", opts.Log, err)
	}
	cfg.Log = log
	r, err := solo.Train(ctx, cfg)
	return newResult(rules, r), errors.Join(err, log.Close())
}

func newResult(rules *seedlog.Rules, r solo.Result) Result {
	result := Result{
		Solved: r.Solved, Generations: r.Gen, Evaluations: r.Evaluations, Steps: r.Steps, EvaluationSteps: r.EvaluationSteps,
		Tests: r.Tests, Return: r.Return, Run: rules.Run.String(), Head: r.Head.String(),
	}
	if r.State != nil {
		result.Model = newModel(rules, seedlog.Parent{Link: r.Head, Height: r.Gen}, r.State)
	}
	return result
}

// rules resolves the options.
func (o *Options) rules() (*seedlog.Rules, error) {
	given, err := o.Params.evolve()
	if err != nil {
		return nil, err
	}
	if err := checkCounts(count{"Population", o.Population}, count{"Workers", o.Workers}, count{"Policy.Bins", o.Policy.Bins},
		count{"LookEvery", o.LookEvery}, count{"LookEpisodes", o.LookEpisodes}, count{"Episodes.Count", o.Episodes.Count},
		count{"Episodes.Skip", o.Episodes.Skip}, count{"Episodes.Observations.Steps", o.Episodes.Observations.Steps},
		count{"Episodes.Observations.Episodes", o.Episodes.Observations.Episodes}); err != nil {
		return nil, err
	}
	policy := runspec.Policy{Kind: o.Policy.Kind, Activation: o.Policy.Activation, Head: o.Policy.Head, Bins: uint64(o.Policy.Bins)}
	for i, w := range o.Policy.Hidden {
		if w < 1 {
			return nil, fmt.Errorf("%w: Policy.Hidden[%d] is %d, want at least 1", ErrOptions, i, w)
		}
		policy.Hidden = append(policy.Hidden, uint64(w))
	}
	if o.Policy.Kind != "" {
		bias := !o.Policy.NoBias
		policy.Bias = &bias
	}
	asked := runspec.Options{
		Env: o.World, Strategy: o.Strategy, Params: given, Population: uint64(o.Population), Policy: policy, Seed: o.Seed,
		Every: uint64(o.LookEvery), Validate: uint64(o.LookEpisodes),
	}
	o.Episodes.set(&asked)
	spec, err := runspec.NewSpec(asked)
	if errors.Is(err, runspec.ErrPopulation) || errors.Is(err, seedlog.ErrSpec) || errors.Is(err, rollout.ErrEpisodes) {
		return nil, fmt.Errorf("%w: %w", ErrOptions, err)
	}
	if err != nil {
		return nil, err
	}
	return seedlog.NewRules(spec)
}
