package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/store"
	"github.com/evoswarm/evoswarm/node/model"
	"github.com/evoswarm/evoswarm/node/verb"
)

// ReplayVerb is evonode replay.
func ReplayVerb() *verb.Verb {
	return &verb.Verb{
		Name: "replay", Args: "LOG", Summary: "rebuild the model from a seed log, and check it",
		Intro: "Rebuilds the model from a seed log, bit for bit, and checks the log on the way.",
		Usage: []string{"replay LOG [--at HEIGHT|best|solved] [--check links|digests|claims] [-o FILE] [--json]"},
		Details: `LOG is a file, or - for standard input. A log that is still being written is replayed up to its last whole entry and
reported as truncated; that is no failure. The file is never changed. The log of a node that dropped its older part (--keep)
begins with a state, and what lies above is checked.

    --check links      verifies form, links, order, counts and signatures; the model is not rebuilt
    --check digests    also rebuilds the model, and compares it with the digests in every entry (default)
    --check claims     also runs every evaluation again, and compares the results`,
		Notes:   AtNotes,
		Example: "evonode replay run.seedlog --check claims -o model.safetensors",
		Bind: func(fs *verb.Flags) verb.Run {
			f := replayFlags{check: string(seedlog.CheckDigests)}
			f.source.Bind(fs)
			fs.Choice(&f.check, "check", "links|digests|claims", "how much to verify")
			fs.String(&f.out, "o", "FILE", "write the model as evonode export does; FILE ends in .safetensors, .npz or .json")
			fs.JSON(&f.json, "one JSON object: run, env, strategy, height, head, theta (digest), evaluations, steps, base (height of the state that the log begins with, 0: the genesis), check, checked "+
				"(evaluations run again), truncated, ended (what ended the run: solved, evaluations, steps or entries; or \"\"), solved (height of the "+
				"policy that passed the test and ended it, or 0), best_state (height, score and episodes of the best state by held-out episodes, as "+
				"the log says, or null), return (of the entry that best or solved found, or null)")
			return func(ctx context.Context, s *verb.IO, args []string) error {
				log, err := verb.Argument(args, "LOG", "evonode replay run.seedlog")
				if err != nil {
					return err
				}
				return f.run(ctx, s, log)
			}
		},
	}
}

// replayFlags are the flags of replay.
type replayFlags struct {
	source Source
	check  string
	out    string
	json   bool
}

func (f *replayFlags) run(ctx context.Context, s *verb.IO, log string) error {
	if err := f.checks(); err != nil {
		return err
	}
	var format model.Format
	if f.out != "" {
		var err error
		if format, err = exportFormat(f.out); err != nil {
			return err
		}
	}
	r, found, err := f.source.Log(ctx, s, log)
	if err != nil {
		return err
	}
	if f.out != "" {
		if err := writeModel(f.out, model.Of(r), format); err != nil {
			return err
		}
	}
	NoteTruncated(s, log, r)
	if f.json {
		return printReplayJSON(s, r, found)
	}
	return printReplay(s.Out, r, found)
}

// checks refuses what does not go with --check.
func (f *replayFlags) checks() error {
	f.source.Check, f.source.Quiet, f.source.Whole = seedlog.Check(f.check), f.json, true
	_, at, err := f.source.options()
	if err != nil {
		return err
	}
	const hint = "--check links does not rebuild the model; use --check digests"
	switch {
	case f.source.Check != seedlog.CheckLinks:
		return nil
	case f.out != "":
		return verb.Misused("-o with --check links", hint)
	case at.rule != "":
		return verb.Misused("--at "+at.rule+" with --check links", hint)
	}
	return nil
}

// syncedLength returns how much of a log is known to be on disk; 0 where that is not recorded.
func syncedLength(log string) (int64, error) {
	if log == "-" {
		return 0, nil
	}
	n, _, err := store.Synced(log)
	return n, err
}

// Error says which log an error is about, and what to do.
func Error(name string, err error) error {
	if errors.Is(err, context.Canceled) {
		return verb.Failed(errors.New("interrupted"), "nothing was changed; start it again")
	}
	var at *seedlog.FileError
	err = fmt.Errorf("%s: %w", name, err)
	if !errors.As(err, &at) {
		if errors.Is(err, seedlog.ErrHeight) {
			return verb.Failed(err, "leave out --at for the last entry, or name a lower height")
		}
		if errors.Is(err, seedlog.ErrBelow) {
			return verb.Failed(err, "its node dropped what lies below (--keep): name that height or a higher one, or get the whole log from a node that has it (http://HOST:PORT/api/log)")
		}
		return err
	}
	switch {
	case errors.Is(err, seedlog.ErrNotSeedlog):
		return verb.Failed(err, "a seed log is a CAR file that begins with the genesis block of a run; is this the right file?")
	case errors.Is(err, seedlog.ErrVersion):
		return verb.Failed(err, "the run needs a newer evonode, or one with other environments or strategies: use the one that wrote it")
	case at.Height <= 1:
		return verb.Failed(err, "the log is damaged from its beginning: get it again, from any node of the run (http://HOST:PORT/api/log)")
	}
	return verb.Failed(err, fmt.Sprintf("the log is damaged or false there; everything before it is good (--at %d); get the whole log from any other node of the run (http://HOST:PORT/api/log)", at.Height-1))
}

func printReplayJSON(s *verb.IO, r *seedlog.Replayed, found *Found) error {
	out := struct {
		Run         string      `json:"run"`
		Env         string      `json:"env"`
		EnvParams   envs.Params `json:"env_params,omitempty"`
		Strategy    string      `json:"strategy"`
		Height      uint64      `json:"height"`
		Head        string      `json:"head"`
		Theta       string      `json:"theta"`
		Evaluations uint64      `json:"evaluations"`
		Steps       uint64      `json:"steps"`
		Base        uint64      `json:"base"` // height of the state that the log begins with; 0: the genesis
		Check       string      `json:"check"`
		Checked     uint64      `json:"checked"`
		Truncated   bool        `json:"truncated"`
		Ended       string      `json:"ended"`      // what ended the run; "": nothing
		Solved      uint64      `json:"solved"`     // height of the policy that passed the test and ended it; 0: none
		BestState   *bestState  `json:"best_state"` // by held-out episodes, as the log says; null: none
		Return      *float64    `json:"return"`
	}{r.Rules.Run.String(), r.Rules.Env.ID, r.Rules.Spec.Env.Params, r.Rules.Spec.Strategy.Name, r.Height, r.Link.String(), theta(r),
		r.Evaluations, r.Steps, r.Base, string(r.Check), r.Checked, r.Truncated, string(r.Rules.Ended(r.Parent)), r.Solved, bestStateOf(r.Marks), nil}
	if found != nil {
		out.Return = &found.Return
	}
	return s.PrintJSON(out)
}

// bestState is the best state of a run as JSON has it.
type bestState struct {
	Height   uint64  `json:"height"`
	Score    float64 `json:"score"`    // mean return
	Episodes uint64  `json:"episodes"` // held-out ones
}

func bestStateOf(m seedlog.Marks) *bestState {
	if m.Best.Height == 0 {
		return nil
	}
	return &bestState{m.Best.Height, rollout.FromFitness(m.Best.Score), m.Best.Results}
}

// theta is the digest of the model in hexadecimal, "" if it was not rebuilt.
func theta(r *seedlog.Replayed) string {
	if r.State == nil {
		return ""
	}
	return fmt.Sprintf("%x", r.State.ThetaDigest())
}

func printReplay(w io.Writer, r *seedlog.Replayed, found *Found) error {
	var b strings.Builder
	fmt.Fprintf(&b, "run          %s (%s, %s)\n", r.Rules.Run, r.Rules.Spec.Env, r.Rules.Spec.Strategy.Name)
	fmt.Fprintf(&b, "height       %d\n", r.Height)
	fmt.Fprintf(&b, "head         %s\n", r.Link)
	if r.Base > 0 {
		fmt.Fprintf(&b, "begins       with the state of height %d, which was not checked: what lies below is not in this log\n", r.Base)
	}
	if r.Solved > 0 {
		fmt.Fprintf(&b, "ended        solved: the policy of generation %d passed the test\n", r.Solved)
	} else if end := r.Rules.Ended(r.Parent); end != seedlog.Open {
		fmt.Fprintf(&b, "ended        by its number of %s\n", end)
	}
	if best := r.Marks.Best; best.Height > 0 {
		fmt.Fprintf(&b, "best         %s\n", bestText(best))
	}
	if found != nil {
		fmt.Fprintf(&b, "return       %.3f (%s of %s)\n", found.Return, found.Rule, verb.Plural(found.Seen, "held-out evaluation"))
	}
	if r.State != nil {
		fmt.Fprintf(&b, "theta        %s\n", theta(r))
	}
	fmt.Fprintf(&b, "evaluations  %d (%d env-steps)\n", r.Evaluations, r.Steps)
	fmt.Fprintf(&b, "links        good\n")
	if r.State != nil {
		fmt.Fprintf(&b, "digests      good\n")
	}
	if r.Check == seedlog.CheckClaims {
		fmt.Fprintf(&b, "claims       good: %d evaluations run again\n", r.Checked)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
