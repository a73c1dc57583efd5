package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"strings"

	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/node/model"
)

const evalHelp = `Runs held-out episodes of a model: that of a seed log, or one that evonode export wrote.

Usage:
    evonode eval LOG|MODEL [--episodes N] [--at H|best|solved] [--workers N] [--json]

LOG or MODEL is a file (the model as .safetensors, .npz or .json), or - for standard input; what is in it tells which.
The episodes are of the run's test stream, which training never sees; the same log gives the same figures everywhere,
and so does a model exported from it.
    --episodes N       how many (default: what the run's spec tests with, 100)
    --at H             the model after the entry of height H of a log
` + placeHelp + `    --workers N        cores to use (default: all)
    --json             one JSON object: run, env, height, episodes, mean, stderr, min, max, threshold, solved, steps

Example:
    $ evonode eval run.seedlog --episodes 1000
`

// maxEvalEpisodes bounds --episodes.
const maxEvalEpisodes = 1 << 20

// defaultEvalEpisodes are those of a model, which does not say how many its run tests with.
const defaultEvalEpisodes = 100

func evalCommand() *command {
	return &command{name: "eval", summary: "held-out episodes of the model", help: evalHelp, bind: func(fs *flag.FlagSet) runner {
		f := replayFlags{check: string(seedlog.CheckDigests)}
		fs.StringVar(&f.at, "at", "", "")
		episodes := fs.Uint64("episodes", 0, "")
		fs.IntVar(&f.workers, "workers", 0, "")
		fs.BoolVar(&f.json, "json", false, "")
		return func(ctx context.Context, s *IO, args []string) error {
			name, err := argument(args, "LOG or MODEL", "evonode eval run.seedlog")
			if err != nil {
				return err
			}
			given := false
			fs.Visit(func(x *flag.Flag) { given = given || x.Name == "episodes" })
			if *episodes > maxEvalEpisodes || given && *episodes == 0 {
				return usage(fmt.Sprintf("--episodes %d", *episodes), fmt.Sprintf("1 to %d", maxEvalEpisodes))
			}
			return f.eval(ctx, s, name, *episodes)
		}
	}}
}

// eval evaluates what is in the named file.
func (f *replayFlags) eval(ctx context.Context, s *IO, name string, episodes uint64) error {
	t, err := f.readPolicy(ctx, s, name)
	if err != nil {
		return err
	}
	if t.log != nil {
		episodes = cmp.Or(episodes, t.log.Rules.Spec.Checks.Test)
	}
	return s.eval(t.plan, t.model, cmp.Or(episodes, defaultEvalEpisodes), f.workers, f.json)
}

// policyFile is a trained policy from a file.
type policyFile struct {
	plan  rollout.Plan // what plays it
	model *model.Model
	log   *seedlog.Replayed // nil: the file is a model
}

// readPolicy reads the named file: the policy at --at of a seed log, or a model.
func (f *replayFlags) readPolicy(ctx context.Context, s *IO, name string) (*policyFile, error) {
	opts, at, err := f.options()
	if err != nil {
		return nil, err
	}
	in, err := s.open(name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	b := bufio.NewReader(in)
	start, _ := b.Peek(16) // its error comes again when the file is read
	if _, ok := model.Sniff(start); ok {
		if f.at != "" {
			return nil, usage("--at with a model", "a model is that of one entry: name the log, or leave out --at")
		}
		m, err := model.Read(b)
		if err != nil {
			return nil, modelError(called(name), err)
		}
		plan, err := m.Plan()
		if err != nil {
			return nil, modelError(called(name), err)
		}
		return &policyFile{plan, m, nil}, nil
	}
	r, _, err := s.replayAt(ctx, name, b, opts, at, f.workers)
	if errors.Is(err, seedlog.ErrNotSeedlog) {
		return nil, failed(fmt.Errorf("%s: neither a seed log nor a model: %w", called(name), seedlog.ErrNotSeedlog), "is this the right file? evonode train writes logs, evonode export models")
	}
	if err != nil {
		return nil, err
	}
	return &policyFile{r.Rules.Plan, model.Of(r), r}, nil
}

// modelError says which model an error is about, and what to do.
func modelError(name string, err error) error {
	err = fmt.Errorf("%s: %w", name, err)
	switch {
	case errors.Is(err, model.ErrForeign):
		return failed(err, "evonode takes models that evonode export wrote, for worlds of this build; docs/spec/model.md says what must be in them")
	case errors.Is(err, model.ErrDamaged), errors.Is(err, model.ErrTooLarge):
		return failed(err, "the file is damaged or not a model of evonode: export it again from its log")
	case errors.Is(err, model.ErrFormat):
		return failed(err, "is this the right file? evonode export writes models")
	}
	return err
}

// evaluation is what held-out episodes gave.
type evaluation struct {
	Run       string  `json:"run"`
	Env       string  `json:"env"`
	Height    uint64  `json:"height"`
	Episodes  uint64  `json:"episodes"`
	Mean      float64 `json:"mean"`
	StdErr    float64 `json:"stderr"` // of the mean; 0 for a single episode
	Min       float64 `json:"min"`
	Max       float64 `json:"max"`
	Threshold float64 `json:"threshold"`
	Solved    bool    `json:"solved"` // mean >= threshold
	Steps     uint64  `json:"steps"`
}

// eval runs n episodes of a model and prints what they gave.
func (s *IO) eval(plan rollout.Plan, m *model.Model, n uint64, workers int, asJSON bool) error {
	env := plan.Env
	pool := rollout.NewPool(plan, workers)
	returns := make([]float64, n)
	steps := pool.Returns(m.State(), m.TestSeeds(n), returns)
	e := evaluation{Run: m.Run, Env: env.ID, Height: m.Height, Episodes: n, Threshold: env.SolvedReturn, Steps: steps}
	e.Mean, e.StdErr, e.Min, e.Max = summary(returns)
	e.Solved = e.Mean >= e.Threshold
	if asJSON {
		return s.printJSON(e)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "model     height %d of %s (%s)\n", e.Height, cmp.Or(e.Run, "an unknown run"), e.Env)
	fmt.Fprintf(&b, "episodes  %d\n", e.Episodes)
	fmt.Fprintf(&b, "mean      %.3f ± %.3f\n", e.Mean, e.StdErr)
	fmt.Fprintf(&b, "range     %.3f to %.3f\n", e.Min, e.Max)
	fmt.Fprintf(&b, "solved    %s (threshold %s)\n", yesNo(e.Solved), threshold(env))
	_, err := fmt.Fprint(s.Out, b.String())
	return err
}

// summary returns the mean, its standard error, and the range of x, which is not empty.
func summary(x []float64) (mean, stderr, low, high float64) {
	low, high = x[0], x[0]
	for _, v := range x {
		mean += v
		low, high = min(low, v), max(high, v)
	}
	mean /= float64(len(x))
	if len(x) < 2 {
		return mean, 0, low, high
	}
	var squares float64
	for _, v := range x {
		squares += float64((v - mean) * (v - mean)) // not fused: the same figures everywhere
	}
	return mean, math.Sqrt(squares / float64(len(x)-1) / float64(len(x))), low, high
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
