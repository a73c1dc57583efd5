package train

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/evoswarm/evoswarm/internal/cost"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/runspec"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/solo"
	"github.com/evoswarm/evoswarm/internal/store"
	"github.com/evoswarm/evoswarm/node/replay"
	"github.com/evoswarm/evoswarm/node/settings"
	"github.com/evoswarm/evoswarm/node/verb"
)

// Verb is evonode train.
func Verb() *verb.Verb {
	return &verb.Verb{
		Name: "train", Args: "ENV", Summary: "train alone, without a network",
		Intro: `Trains alone: a swarm of one, without a network. The log depends on the settings alone: it is the same on every
machine, with any number of workers, in one go or resumed.`,
		Usage:   []string{"train ENV [--strategy S] [--seed N] [--until WHEN] [-o run.seedlog] [--config FILE.toml] [flags]"},
		Details: "A log that exists is continued, if it is of the same run.",
		Notes:   settings.ConfigNotes,
		Example: "evonode train CartPole-v1 --seed 7 -o cart.seedlog",
		Bind: func(fs *verb.Flags) verb.Run {
			f := trainFlags{until: "solved"}
			f.spec.Bind(fs)
			fs.String(&f.until, "until", "WHEN", "solved (default), evals=N or steps=N (of the log as a whole), or a time such as 10m; several with "+
				"commas end at the first")
			fs.String(&f.out, "o", "FILE", "the log (default: ENV-STRATEGY-SEED.seedlog)")
			fs.String(&f.init, "init", "FILE", "begin with an exported model, of this environment or one with the same observations and actions: its "+
				"parameters, its policy and its normalization; the log holds them")
			fs.Workers(&f.workers, "cores to use")
			f.gpu.Bind(fs)
			fs.String(&f.curve, "curve", "FILE", "keep the learning curve as CSV, a line per generation: gen,evaluations,steps,seconds,best,mean,return; "+
				"a file that exists is continued. What is not known is empty: the return where there was no held-out evaluation, the seconds "+
				"(of all processes that wrote the file) of what was added from the log later")
			fs.String(&f.events, "tensorboard", "DIR", "keep the same as events for TensorBoard: return, fitness/best, fitness/mean, and what the run took")
			fs.String(&f.config, "config", "FILE", "take what no flag says from a TOML file: see below")
			fs.Bool(&f.dryRun, "dry-run", "print the run's id, its spec and what it will cost as JSON, and train nothing")
			fs.JSON(&f.json, "one JSON object per generation: gen, evaluations, steps, seconds, best, mean, return (null where there was no held-out "+
				"evaluation); and a last one: done, solved, solved_at, gens, evaluations, steps, seconds, return, log, run, head, theta, tests, evaluation_steps")
			return func(ctx context.Context, s *verb.IO, args []string) error {
				env, err := f.spec.World(s, fs, f.config, args, "evonode train CartPole-v1")
				if err != nil {
					return err
				}
				return f.run(ctx, s, env)
			}
		},
	}
}

// trainFlags are the flags of train.
type trainFlags struct {
	spec    settings.Flags
	until   string
	out     string
	init    string
	workers int
	gpu     settings.GPU
	dryRun  bool
	json    bool
	curve   string // a CSV file
	events  string // a folder for TensorBoard
	config  string // a TOML file
}

func (f *trainFlags) run(ctx context.Context, s *verb.IO, env string) error {
	until, err := settings.ParseUntil(f.until)
	if err != nil {
		return err
	}
	options, err := f.spec.Options(env)
	if err != nil {
		return err
	}
	if f.init != "" {
		if err := settings.Begin(&options, f.init); err != nil {
			return err
		}
	}
	rules, err := runspec.New(options)
	if err != nil {
		return settings.Error(err)
	}
	if err := f.gpu.Check(); err != nil {
		return err
	}
	if f.dryRun {
		return printSpec(s, rules, f.workers)
	}
	path := f.out
	if path == "" {
		path = fmt.Sprintf("%s-%s-%d.seedlog", rules.Env.ID, rules.Spec.Strategy.Name, rules.Spec.Seed)
	}
	return f.train(ctx, s, path, rules, until)
}

// train opens the log, trains, and says where it ended.
func (f *trainFlags) train(ctx context.Context, s *verb.IO, path string, rules *seedlog.Rules, until solo.Until) error {
	log, err := store.OpenLog(path, rules, nil)
	if err != nil {
		return OpenLogError(path, rules.Spec, err)
	}
	for _, note := range log.Notes() {
		s.Note("%s", note)
	}
	if !f.json {
		s.Note("%s with %s: %v", rules.Spec.Env, rules.Spec.Strategy.Name, cost.Of(rules, workersOf(f.workers)))
	}
	pool := rollout.NewPool(rules.Plan, f.workers)
	rec, err := openRecording(f.curve, f.events, rules.Run.String())
	if err == nil {
		err = rec.catchUp(ctx, s, path, log.Replayed(), pool)
	}
	if err != nil {
		return errors.Join(err, rec.close(), log.Close())
	}
	line := s.Line(f.json)
	fleet := newFleet(ctx, pool, rules.Plan, &f.gpu, func(_ bool, text string) { fmt.Fprintln(line, "evonode: "+text) })
	defer fleet.close()
	shown := &progress{line: line, until: until, goal: rules.Env.SolvedReturn, begin: time.Now()}
	result, err := solo.Train(ctx, solo.Config{Log: log, Until: until, Pool: pool, Evaluator: fleet, OnGeneration: func(p solo.Progress) {
		rec.add(p, s.Seconds())
		shown.show(time.Now(), p)
		if f.json {
			printGeneration(s, p)
		}
	}})
	line.Clear()
	interrupted := errors.Is(err, context.Canceled)
	if interrupted {
		err = nil
	}
	if err = errors.Join(err, log.Close()); err != nil {
		return err
	}
	kept := rec.close()
	if err := printTrained(s, result, path, rules, f.json, !interrupted); err != nil {
		return err
	}
	if interrupted {
		return verb.Failed(fmt.Errorf("interrupted after generation %d", result.Gen), "everything up to there is in "+path+"; the same command continues")
	}
	return kept
}

// OpenLogError explains why a log cannot be continued.
func OpenLogError(path string, asked *seedlog.Spec, err error) error {
	if errors.Is(err, seedlog.ErrRun) {
		if others := difference(path, asked); others != "" {
			err = fmt.Errorf("%w: there %s", err, others)
		}
		return verb.Failed(err, "give the settings of the log, or another file with -o")
	}
	var at *seedlog.FileError
	if errors.As(err, &at) {
		return replay.Error(path, err)
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

func printGeneration(s *verb.IO, p solo.Progress) {
	// An error here is one of standard output; the last line meets it again.
	_ = s.PrintJSON(generationLine{p.Gen, p.Evaluations, p.Steps, s.Seconds(), p.Best, p.Mean, p.Return})
}

// trainedLine is the last line of train --json.
type trainedLine struct {
	Done            bool     `json:"done"` // false if it was interrupted
	Solved          bool     `json:"solved"`
	SolvedAt        *uint64  `json:"solved_at"` // generation that passed the test first; null: none of this process
	Gens            uint64   `json:"gens"`
	Evaluations     uint64   `json:"evaluations"`
	Steps           uint64   `json:"steps"`
	Seconds         float64  `json:"seconds"` // of the whole process
	Return          *float64 `json:"return"`  // of the newest held-out evaluation or test; null without either
	Log             string   `json:"log"`
	Run             string   `json:"run"`
	Head            string   `json:"head"`
	Theta           string   `json:"theta"`
	Tests           int      `json:"tests"`
	EvaluationSteps uint64   `json:"evaluation_steps"`
}

func printTrained(s *verb.IO, r solo.Result, path string, rules *seedlog.Rules, asJSON, done bool) error {
	if asJSON {
		line := trainedLine{Done: done, Solved: r.SolvedAt > 0, Gens: r.Gen, Evaluations: r.Evaluations, Steps: r.Steps, Seconds: s.Seconds(),
			Return: r.Return, Log: path, Run: rules.Run.String(), Head: r.Head.String(), Theta: fmt.Sprintf("%x", r.State.ThetaDigest()),
			Tests: r.Tests, EvaluationSteps: r.EvaluationSteps}
		if r.SolvedAt > 0 {
			line.SolvedAt = &r.SolvedAt
		}
		return s.PrintJSON(line)
	}
	_, err := fmt.Fprintf(s.Out, "%s: %s after %d generations, %d evaluations, %d env-steps, %.2f s; return %s\nlog %s\n",
		rules.Spec.Env, verdict(r), r.Gen, r.Evaluations, r.Steps, s.Seconds(), verb.Number(r.Return), path)
	if err == nil && r.SolvedAt != r.Gen && r.Return != nil {
		_, err = fmt.Fprint(s.Out, elsewhere(r, path))
	}
	return err
}

// verdict says whether a run solved its environment.
func verdict(r solo.Result) string {
	switch {
	case r.SolvedAt > 0 && r.SolvedAt == r.Gen:
		return "solved"
	case r.SolvedAt > 0:
		return fmt.Sprintf("solved at generation %d; ended", r.SolvedAt)
	case r.HeldOut > 0:
		return "not solved"
	}
	return "not evaluated"
}

// elsewhere names the commands for an entry that may be better than the last one.
func elsewhere(r solo.Result, path string) string {
	if r.SolvedAt > 0 {
		return fmt.Sprintf("evonode eval %s --at solved takes generation %d, --at best the best one; so do export, replay, watch and film\n", path, r.SolvedAt)
	}
	return fmt.Sprintf("evonode eval %s --at best takes the best generation instead of the last; so do export, replay, watch and film\n", path)
}

// printSpec prints what a run would be and cost.
func printSpec(s *verb.IO, rules *seedlog.Rules, workers int) error {
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
