package cli

import (
	"context"
	"flag"
	"fmt"
	"math"
	"strings"

	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

const evalHelp = `Runs held-out episodes of the model at the end of a seed log.

Usage:
    evonode eval LOG [--episodes N] [--at H] [--workers N] [--json]

The episodes are of the run's test stream, which training never sees; the same log gives the same figures everywhere.
    --episodes N    how many (default: what the run's spec tests with, 100)
    --at H          the model after the entry of height H
    --workers N     cores to use (default: all)
    --json          one JSON object: run, env, height, episodes, mean, stderr, min, max, threshold, solved, steps

Example:
    $ evonode eval run.seedlog --episodes 1000
`

// maxEvalEpisodes bounds --episodes.
const maxEvalEpisodes = 1 << 20

func evalCommand() *command {
	return &command{name: "eval", summary: "held-out episodes of the model", help: evalHelp, bind: func(fs *flag.FlagSet) runner {
		var f replayFlags
		fs.StringVar(&f.at, "at", "", "")
		episodes := fs.Uint64("episodes", 0, "")
		workers := fs.Int("workers", 0, "")
		fs.BoolVar(&f.json, "json", false, "")
		f.check = string(seedlog.CheckDigests)
		return func(ctx context.Context, s *IO, args []string) error {
			log, err := argument(args, "LOG", "evonode eval run.seedlog")
			if err != nil {
				return err
			}
			given := false
			fs.Visit(func(x *flag.Flag) { given = given || x.Name == "episodes" })
			if *episodes > maxEvalEpisodes || given && *episodes == 0 {
				return usage(fmt.Sprintf("--episodes %d", *episodes), fmt.Sprintf("1 to %d", maxEvalEpisodes))
			}
			opts, err := f.options()
			if err != nil {
				return err
			}
			r, err := s.replay(ctx, log, opts)
			if err != nil {
				return err
			}
			n := *episodes
			if n == 0 {
				n = r.Rules.Spec.Checks.Test
			}
			return s.eval(r, n, *workers, f.json)
		}
	}}
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

// eval runs n episodes of the replayed model and prints what they gave.
func (s *IO) eval(r *seedlog.Replayed, n uint64, workers int, asJSON bool) error {
	rules := r.Rules
	pool := rollout.NewPool(rules.Plan, workers)
	returns := make([]float64, n)
	steps := pool.Returns(r.State, rules.TestSeeds(r.Link, n), returns)
	e := evaluation{Run: rules.Run.String(), Env: rules.Env.ID, Height: r.Height, Episodes: n, Threshold: rules.Env.SolvedReturn, Steps: steps}
	e.Mean, e.StdErr, e.Min, e.Max = summary(returns)
	e.Solved = e.Mean >= e.Threshold
	if asJSON {
		return s.printJSON(e)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "model     height %d of %s (%s)\n", e.Height, e.Run, e.Env)
	fmt.Fprintf(&b, "episodes  %d\n", e.Episodes)
	fmt.Fprintf(&b, "mean      %.3f ± %.3f\n", e.Mean, e.StdErr)
	fmt.Fprintf(&b, "range     %.3f to %.3f\n", e.Min, e.Max)
	fmt.Fprintf(&b, "solved    %s (threshold %s)\n", yesNo(e.Solved), threshold(rules.Env))
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
