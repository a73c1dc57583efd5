//go:build !js

package evoswarm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/kernel"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/runspec"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/solo"
	"github.com/evoswarm/evoswarm/internal/store"
)

// Errors of Train; compare with errors.Is. The messages name what is wrong, the value and what is allowed.
var (
	// ErrEnv is wrapped for the id of an environment that is not registered.
	ErrEnv = envs.ErrUnknown
	// ErrEnvParams is wrapped for a parameter that the environment does not have or take.
	ErrEnvParams = envs.ErrParam
	// ErrOptions is wrapped for options of a run that are out of range or contradict each other.
	ErrOptions = runspec.ErrSetting
	// ErrPolicy is wrapped for a policy that does not fit its environment.
	ErrPolicy = policy.ErrSpec
	// ErrRun is wrapped where a log is of another run than the one asked for.
	ErrRun = seedlog.ErrRun
)

// The kernel is chosen once, before anything is evaluated; every kernel that passes its self-test gives the same
// bits.
func init() { _, _ = kernel.UseFastest() }

// Options say what to train. Only Env is needed: the rest is the environment's preset, or for one without a
// preset a small network and the strategy's defaults. Tags name the flags of the command.
type Options struct {
	Env      string // id, in upper or lower case
	Strategy string // "": the one that learns the environment in the fewest env-steps
	Params   Params // settings of the strategy that differ from the preset's
	// EnvParams are parameters of the environment that differ from its defaults, such as {"enable_wind": true}. A run
	// with such is one of format 2: later versions may refuse its log.
	EnvParams Params
	Seed      uint64 // of all random numbers

	Population int      `setting:"population"` // evaluations of a generation; 0: the preset's
	Policy     Policy   // what differs from the preset's
	Episodes   Episodes // what differs from the preset's

	// EvalEvery is the evaluation interval: generations between two held-out evaluations of the mean policy, in
	// EvalEpisodes fresh episodes; 0: the preset's. Only a held-out evaluation can find that the run is solved.
	EvalEvery    int `setting:"eval-every"`
	EvalEpisodes int `setting:"eval-episodes"`

	// Log is the file that keeps the run, a seed log; training resumes from one of the same run. Empty: the
	// run is kept in memory, in Result.SeedLog.
	Log string
	// Workers is the number of goroutines to compute on; 0: one for each core. It changes no result.
	Workers int
	// Until says when to end; zero: when the environment is solved.
	Until Until
	// OnGeneration is called after each generation, in order, from another goroutine; nil: no calls.
	OnGeneration func(Progress)
}

// Until says when training ends: when the first of these comes true.
type Until struct {
	Solved      bool          // the mean return of 100 test episodes of the mean policy is at least the environment's SolvedReturn
	Evaluations uint64        // the run has this many; 0: no limit
	Steps       uint64        // the run's training took this many env-steps; 0: no limit
	Duration    time.Duration // this much time passed; 0: no limit
}

// Progress describes a generation that is in the log and durable.
type Progress struct {
	Generation  uint64
	Evaluations uint64   // of the run so far
	Steps       uint64   // env-steps of training so far
	Best, Mean  float64  // fitness of the generation's evaluations, as returns
	Return      *float64 // of the mean policy in fresh episodes, where it was evaluated; else nil
}

// Result is where training ended.
type Result struct {
	Solved          bool     // the test ended training, as Until.Solved asks for
	SolvedAt        uint64   // first generation that passed the test in this call, whatever ended training; 0: none
	Generations     uint64   // of the run, those of a resumed log included
	Evaluations     uint64   // likewise
	Steps           uint64   // env-steps of training, likewise
	EvaluationSteps uint64   // env-steps of held-out evaluations and tests, of this call
	Tests           int      // how often the mean policy was tested for being solved, by this call
	Return          *float64 // of the newest held-out evaluation or test; nil without either
	Run             string   // id of the run: what it depends on
	Head            string   // id of its last generation: everything that training computed
	Model           *Model   // the mean policy at the end
	SeedLog         []byte   // the log, if Options.Log is empty
}

// Train trains until opts.Until, or until ctx ends; then the error is that of ctx, and the result is valid:
// nothing that was reported is lost. The same Options give the same Head, whatever Log, Workers and
// OnGeneration are.
//
// Errors wrap ErrEnv, ErrEnvParams, ErrStrategy, ErrParams, ErrPolicy, ErrOptions, or ErrRun if the log is of a run
// with other options; or they are those of the file.
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
		Solved: r.Solved, SolvedAt: r.SolvedAt, Generations: r.Gen, Evaluations: r.Evaluations, Steps: r.Steps, EvaluationSteps: r.EvaluationSteps,
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
	world, err := o.EnvParams.world()
	if err != nil {
		return nil, err
	}
	if o.Workers < 0 {
		return nil, fmt.Errorf("%w: Workers is %d, want at least 0", ErrOptions, o.Workers)
	}
	rules, err := runspec.New(runspec.Options{Env: o.Env, EnvParams: world, Strategy: o.Strategy, Params: given, Seed: o.Seed, Settings: settings(*o)})
	if errors.Is(err, runspec.ErrPopulation) || errors.Is(err, seedlog.ErrSpec) || errors.Is(err, rollout.ErrEpisodes) {
		err = fmt.Errorf("%w: %w", ErrOptions, err)
	}
	return rules, err
}

// memoryLog is a log in memory; it implements solo.Log.
type memoryLog struct {
	data  []byte
	start *seedlog.Replayed
}

func newMemoryLog(rules *seedlog.Rules) (*memoryLog, error) {
	data := rules.AppendBeginning(nil)
	start, err := seedlog.Replay(bytes.NewReader(data), seedlog.ReplayOptions{})
	return &memoryLog{data, start}, err
}

func (l *memoryLog) Replayed() *seedlog.Replayed { return l.start }

func (l *memoryLog) Append(entry *seedlog.Entry, seal *seedlog.Seal, claims []*seedlog.Claim) error {
	l.data = seedlog.AppendGeneration(l.data, entry, seal, claims)
	return nil
}

func (l *memoryLog) Sync() error { return nil }
