package replay

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/node/catalog"
	"github.com/evoswarm/evoswarm/node/verb"
)

// EvalVerb is evonode eval.
func EvalVerb() *verb.Verb {
	return &verb.Verb{
		Name: "eval", Args: "LOG|MODEL", Summary: "run held-out episodes of the model",
		Intro: "Runs held-out episodes of a model: that of a seed log, or one that evonode export wrote.",
		Usage: []string{"eval LOG|MODEL [--episodes N] [--at HEIGHT|best|solved] [--env-param NAME=VALUE] [--workers N] [--json]"},
		Details: `LOG or MODEL is a file (the model as .safetensors, .npz or .json), or - for standard input; its content says which.
The episodes are from the run's test stream, which training never sees. The same log gives the same figures everywhere,
and so does a model exported from it. --env-param tries the policy elsewhere, such as in wind.`,
		Notes:   AtNotes,
		Example: "evonode eval run.seedlog --episodes 1000",
		Bind: func(fs *verb.Flags) verb.Run {
			var source Source
			episodes := uint64(0)
			fs.Uint(&episodes, "episodes", "N", "how many (default: what the run's spec tests with, 100)", 1)
			source.Bind(fs)
			world := map[string]string{}
			catalog.BindParams(fs, world, "a parameter of the environment, in place of the run's, as env show lists them; may be repeated")
			fs.JSON(&source.Quiet, "one JSON object: run, env, env_params (those that are no defaults), height, episodes, mean, stderr, min, max, threshold, solved, steps")
			return func(ctx context.Context, s *verb.IO, args []string) error {
				name, err := verb.Argument(args, "LOG or MODEL", "evonode eval run.seedlog")
				if err != nil {
					return err
				}
				if episodes > maxEvalEpisodes {
					return verb.Misused(fmt.Sprintf("--episodes %d", episodes), fmt.Sprintf("1 to %d", maxEvalEpisodes))
				}
				p, err := source.Policy(ctx, s, name)
				if err != nil {
					return err
				}
				if err := p.Adjust(world); err != nil {
					return err
				}
				if p.Log != nil {
					episodes = cmp.Or(episodes, p.Log.Rules.Spec.Checks.Test)
				}
				return eval(ctx, s, p, cmp.Or(episodes, defaultEvalEpisodes), source.Workers, source.Quiet)
			}
		},
	}
}

// maxEvalEpisodes bounds --episodes.
const maxEvalEpisodes = 1 << 20

// evalAtOnce is how many episodes are run before eval shows its progress and listens to Ctrl-C.
const evalAtOnce = 1024

// defaultEvalEpisodes are those of a model, which does not say how many its run tests with.
const defaultEvalEpisodes = 100

// evaluation is what held-out episodes gave.
type evaluation struct {
	Run       string      `json:"run"`
	Env       string      `json:"env"`
	EnvParams envs.Params `json:"env_params,omitempty"`
	Height    uint64      `json:"height"`
	Episodes  uint64      `json:"episodes"`
	Mean      float64     `json:"mean"`
	StdErr    float64     `json:"stderr"` // of the mean; 0 for a single episode
	Min       float64     `json:"min"`
	Max       float64     `json:"max"`
	Threshold float64     `json:"threshold"`
	Solved    bool        `json:"solved"` // mean >= threshold
	Steps     uint64      `json:"steps"`
}

// eval runs n episodes of a policy and prints what they gave.
func eval(ctx context.Context, s *verb.IO, p *Policy, n uint64, workers int, asJSON bool) error {
	m, env := p.Model, p.Plan.Env
	pool := rollout.NewPool(p.Plan, workers)
	seeds, returns, steps := m.TestSeeds(n), make([]float64, n), uint64(0)
	line := s.Line(asJSON)
	for from := uint64(0); from < n; from += evalAtOnce {
		if ctx.Err() != nil {
			line.Clear()
			return verb.Failed(fmt.Errorf("interrupted after %d of %d episodes", from, n), "fewer --episodes take less time")
		}
		to := min(n, from+evalAtOnce)
		steps += pool.Returns(m.State(), seeds[from:to], returns[from:to])
		line.Show(time.Now(), verb.Items(fmt.Sprintf("%d of %d episodes", to, n))...)
	}
	line.Clear()
	e := evaluation{Run: m.Run, Env: env.ID, EnvParams: env.Given(), Height: m.Height, Episodes: n, Threshold: env.SolvedReturn, Steps: steps}
	e.Mean, e.StdErr, e.Min, e.Max = summarize(returns)
	e.Solved = e.Mean >= e.Threshold
	if asJSON {
		return s.PrintJSON(e)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "model     height %d of %s (%s)\n", e.Height, cmp.Or(e.Run, "an unknown run"), envs.Label(e.Env, e.EnvParams))
	fmt.Fprintf(&b, "episodes  %d\n", e.Episodes)
	fmt.Fprintf(&b, "mean      %.3f ± %.3f\n", e.Mean, e.StdErr)
	fmt.Fprintf(&b, "range     %.3f to %.3f\n", e.Min, e.Max)
	fmt.Fprintf(&b, "solved    %s (threshold %s)\n", verb.YesNo(e.Solved), catalog.Threshold(env))
	_, err := fmt.Fprint(s.Out, b.String())
	return err
}

// summarize returns the mean, its standard error, and the range of x, which is not empty.
func summarize(x []float64) (mean, stderr, low, high float64) {
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
