package cli

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"runtime"
	"time"

	"github.com/evoswarm/evoswarm/internal/cost"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/runspec"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/solo"
	"github.com/evoswarm/evoswarm/internal/store"
)

var trainHelp = `Trains alone: a swarm of one, without a network. The log depends on the settings alone: it is the same on every
machine, with any number of workers, in one go or resumed.

Usage:
    evonode train ENV [--strategy S] [--seed N] [--until WHEN] [-o run.seedlog] [--config FILE.toml] [flags]

A log that exists is gone on with, if it is of the same run.
` + specFlagsHelp + `    --until WHEN          solved (default), evals=N or steps=N (of the log as a whole), or a time such as 10m; several
                          with commas end at the first
    -o FILE               the log (default: ENV-STRATEGY-SEED.seedlog)
    --init FILE           begin with an exported model, of this world or one with the same observations and actions: its
                          parameters, its policy and its normalisation; the log holds them
    --workers N           cores to use (default: all)
    --curve FILE.csv      keep a line per generation: gen,evaluations,steps,seconds,best,mean,return; a file that exists
                          is gone on with. What is not known is empty: the return where there was no look at the mean
                          policy, the seconds (of all processes that wrote the file) of what was added from the log later
    --tensorboard DIR     keep the same as events for TensorBoard: return, fitness/best, fitness/mean, run/...
    --config FILE.toml    take what no flag says from a file: see below
    --dry-run             print the run's id, its spec and what it will cost as JSON, and train nothing
    --json                one JSON object per generation: gen, evaluations, steps, seconds, best, mean, return (null
                          where the mean policy was not looked at); and a last one: done, solved, gens, evaluations,
                          steps, seconds, return, log, run, head, theta, tests, evaluation_steps
` + configHelp + `
Example:
    $ evonode train CartPole-v1 --seed 7 -o cart.seedlog
`

// trainFlags are the flags of train.
type trainFlags struct {
	spec    trainSpec
	until   string
	out     string
	init    string
	workers int
	dryRun  bool
	json    bool
	curve   string // a CSV file
	events  string // a folder for TensorBoard
	config  string // a TOML file
}

func trainCommand() *command {
	return &command{name: "train", summary: "train alone, without a network", help: trainHelp, bind: func(fs *flag.FlagSet) runner {
		var f trainFlags
		f.spec.bind(fs)
		fs.StringVar(&f.until, "until", "solved", "")
		fs.StringVar(&f.out, "o", "", "")
		fs.IntVar(&f.workers, "workers", 0, "")
		fs.BoolVar(&f.dryRun, "dry-run", false, "")
		fs.StringVar(&f.config, "config", "", "")
		fs.StringVar(&f.init, "init", "", "")
		fs.StringVar(&f.curve, "curve", "", "")
		fs.StringVar(&f.events, "tensorboard", "", "")
		fs.BoolVar(&f.json, "json", false, "")
		return func(ctx context.Context, s *IO, args []string) error {
			env, err := f.spec.world(s, fs, f.config, args, "evonode train CartPole-v1")
			if err != nil {
				return err
			}
			return f.run(ctx, s, env)
		}
	}}
}

func (f *trainFlags) run(ctx context.Context, s *IO, env string) error {
	until, err := parseUntil(f.until)
	if err != nil {
		return err
	}
	if f.workers < 0 {
		return usage(fmt.Sprintf("--workers %d", f.workers), "at least 1, or leave it out for all cores")
	}
	options, err := f.spec.options(env)
	if err != nil {
		return err
	}
	if f.init != "" {
		if err := begin(&options, f.init); err != nil {
			return err
		}
	}
	rules, err := runspec.New(options)
	if err != nil {
		return specError(err)
	}
	if f.dryRun {
		return s.printSpec(rules, f.workers)
	}
	path := f.out
	if path == "" {
		path = fmt.Sprintf("%s-%s-%d.seedlog", rules.Env.ID, rules.Spec.Strategy.Name, rules.Spec.Seed)
	}
	return f.train(ctx, s, path, rules, until)
}

// train opens the log, trains, and says where it ended.
func (f *trainFlags) train(ctx context.Context, s *IO, path string, rules *seedlog.Rules, until solo.Until) error {
	log, err := store.OpenLog(path, rules, nil)
	if err != nil {
		return openLogError(path, rules.Spec, err)
	}
	for _, note := range log.Notes() {
		fmt.Fprintf(s.Err, "evonode: %s\n", note)
	}
	if !f.json {
		fmt.Fprintf(s.Err, "evonode: %s with %s: %v\n", rules.Env.ID, rules.Spec.Strategy.Name, cost.Of(rules, workersOf(f.workers)))
	}
	pool := rollout.NewPool(rules.Plan, f.workers)
	rec, err := openRecording(f.curve, f.events, rules.Run.String())
	if err == nil {
		err = rec.catchUp(ctx, s, path, log.Replayed(), pool)
	}
	if err != nil {
		return errors.Join(err, rec.close(), log.Close())
	}
	line := &liveLine{w: s.Err, terminal: s.Terminal}
	result, err := solo.Train(ctx, solo.Config{Log: log, Until: until, Pool: pool, OnGeneration: func(p solo.Progress) {
		rec.add(p, s.seconds())
		s.printGeneration(p, line, f.json)
	}})
	line.clear()
	interrupted := errors.Is(err, context.Canceled)
	if interrupted {
		err = nil
	}
	if err = errors.Join(err, log.Close()); err != nil {
		return err
	}
	kept := rec.close()
	if err := s.printTrained(result, path, rules, f.json, !interrupted); err != nil {
		return err
	}
	if interrupted {
		return failed(fmt.Errorf("interrupted after generation %d", result.Gen), "everything up to there is in "+path+"; the same command goes on")
	}
	return kept
}

// openLogError explains why a log cannot be gone on with.
func openLogError(path string, asked *seedlog.Spec, err error) error {
	if errors.Is(err, seedlog.ErrRun) {
		if others := difference(path, asked); others != "" {
			err = fmt.Errorf("%w: there %s", err, others)
		}
		return failed(err, "give the settings of the log, or another file with -o")
	}
	var at *seedlog.FileError
	if errors.As(err, &at) {
		return logError(path, err)
	}
	return err
}

// generationLine is a generation of train --json.
type generationLine struct {
	Gen         uint64   `json:"gen"`
	Evaluations uint64   `json:"evaluations"`
	Steps       uint64   `json:"steps"`
	Seconds     float64  `json:"seconds"`
	Best        float64  `json:"best"`
	Mean        float64  `json:"mean"`
	Return      *float64 `json:"return"`
}

func (s *IO) printGeneration(p solo.Progress, line *liveLine, asJSON bool) {
	if asJSON {
		// An error here is one of standard output; the last line meets it again.
		_ = s.printJSON(generationLine{p.Gen, p.Evaluations, p.Steps, s.seconds(), p.Best, p.Mean, p.Return})
		return
	}
	line.show(time.Now(), fmt.Sprintf("generation %d  evaluations %d  steps %d  best %.1f  mean %.1f  policy %s", p.Gen, p.Evaluations, p.Steps, p.Best, p.Mean, number(p.Return)))
}

// seconds is how long the process runs.
func (s *IO) seconds() float64 { return time.Since(s.Start).Seconds() }

// trainedLine is the last line of train --json.
type trainedLine struct {
	Done            bool     `json:"done"` // false if it was interrupted
	Solved          bool     `json:"solved"`
	Gens            uint64   `json:"gens"`
	Evaluations     uint64   `json:"evaluations"`
	Steps           uint64   `json:"steps"`
	Seconds         float64  `json:"seconds"` // of the whole process
	Return          *float64 `json:"return"`  // of the last test, else of the last look; null without either
	Log             string   `json:"log"`
	Run             string   `json:"run"`
	Head            string   `json:"head"`
	Theta           string   `json:"theta"`
	Tests           int      `json:"tests"`
	EvaluationSteps uint64   `json:"evaluation_steps"`
}

func (s *IO) printTrained(r solo.Result, path string, rules *seedlog.Rules, asJSON, done bool) error {
	if asJSON {
		return s.printJSON(trainedLine{done, r.Solved, r.Gen, r.Evaluations, r.Steps, s.seconds(), r.Return, path,
			rules.Run.String(), r.Head.String(), fmt.Sprintf("%x", r.State.ThetaDigest()), r.Tests, r.EvaluationSteps})
	}
	verdict := "not tested"
	switch {
	case r.Solved:
		verdict = "solved"
	case r.Tests > 0:
		verdict = "not solved"
	}
	_, err := fmt.Fprintf(s.Out, "%s: %s after %d generations, %d evaluations, %d env-steps, %.2f s; return %s\nlog %s\n",
		rules.Env.ID, verdict, r.Gen, r.Evaluations, r.Steps, s.seconds(), number(r.Return), path)
	return err
}

// printSpec prints what a run would be and cost.
func (s *IO) printSpec(rules *seedlog.Rules, workers int) error {
	return json.NewEncoder(s.Out).Encode(struct {
		Run  string        `json:"run"`
		Spec *seedlog.Spec `json:"spec"`
		Cost cost.Estimate `json:"cost"`
	}{rules.Run.String(), rules.Spec, cost.Of(rules, workersOf(workers))})
}

// workersOf is the number of cores that --workers means.
func workersOf(flag int) int {
	if flag > 0 {
		return flag
	}
	return runtime.GOMAXPROCS(0)
}
