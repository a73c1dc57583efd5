package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/store"
	"github.com/evoswarm/evoswarm/node/model"
)

const replayHelp = `Rebuilds the model from a seed log, bit for bit, and checks the log on the way.

Usage:
    evonode replay LOG [--at H|best|solved] [--check links|digests|claims] [-o FILE] [--json]

LOG is a file, or - for standard input. A log that is still being written is replayed up to its last whole entry and
said to be truncated; that is no failure. The file is never changed.
    --at H             stop after the entry of height H; 0 is the untrained model
` + placeHelp + `    --check links      verify form, links, order, counts and signatures; the model is not rebuilt
    --check digests    and rebuild the model, and compare it with the digests in every entry (default)
    --check claims     and run every evaluation again, and compare what it gives
    -o FILE            write the model as evonode export does; FILE ends in .safetensors, .npz or .json
    --workers N        cores to use (default: all)
    --json             one JSON object: run, env, strategy, height, head, theta (digest), evaluations, steps, check,
                       checked (evaluations run again), truncated, return (of the look that best or solved found, or null)

Example:
    $ evonode replay run.seedlog --check claims -o model.safetensors
`

// replayFlags are the flags of replay.
type replayFlags struct {
	at      string
	check   string
	out     string
	workers int
	json    bool
}

func replayCommand() *command {
	return &command{name: "replay", summary: "rebuild the model from a seed log", help: replayHelp, bind: func(fs *flag.FlagSet) runner {
		var f replayFlags
		fs.StringVar(&f.at, "at", "", "")
		fs.StringVar(&f.check, "check", string(seedlog.CheckDigests), "")
		fs.StringVar(&f.out, "o", "", "")
		fs.IntVar(&f.workers, "workers", 0, "")
		fs.BoolVar(&f.json, "json", false, "")
		return func(ctx context.Context, s *IO, args []string) error {
			log, err := argument(args, "LOG", "evonode replay run.seedlog")
			if err != nil {
				return err
			}
			return f.run(ctx, s, log)
		}
	}}
}

func (f *replayFlags) run(ctx context.Context, s *IO, log string) error {
	opts, at, err := f.options()
	if err != nil {
		return err
	}
	var format model.Format
	if f.out != "" {
		if format, err = exportFormat(f.out); err != nil {
			return err
		}
	}
	r, found, err := s.replay(ctx, log, opts, at, f.workers)
	if err != nil {
		return err
	}
	if f.out != "" {
		if err := writeModel(f.out, model.Of(r), format); err != nil {
			return err
		}
	}
	if r.Truncated {
		fmt.Fprintf(s.Err, "evonode: %s is truncated (%v); what is before that was replayed\n", called(log), r.Tail)
	}
	if f.json {
		return s.printReplayJSON(r, found)
	}
	return printReplay(s.Out, r, found)
}

func (f *replayFlags) options() (seedlog.ReplayOptions, place, error) {
	opts := seedlog.ReplayOptions{Check: seedlog.Check(f.check), Workers: f.workers}
	if f.workers < 0 {
		return opts, place{}, usage(fmt.Sprintf("--workers %d", f.workers), "at least 1, or leave it out for all cores")
	}
	at, err := parsePlace(f.at)
	if err != nil {
		return opts, at, err
	}
	switch opts.Check {
	case seedlog.CheckLinks:
		if f.out != "" {
			return opts, at, usage("-o with --check links", "--check links does not rebuild the model; use --check digests")
		}
		if at.rule != "" {
			return opts, at, usage("--at "+at.rule+" with --check links", "--check links does not rebuild the model; use --check digests")
		}
	case seedlog.CheckDigests, seedlog.CheckClaims:
	default:
		return opts, at, usage(fmt.Sprintf("--check %q", f.check), "links, digests or claims")
	}
	return opts, at, nil
}

// syncedLength returns how much of a log is known to be on disk; 0 where that is not recorded.
func syncedLength(log string) (int64, error) {
	if log == "-" {
		return 0, nil
	}
	n, _, err := store.Synced(log)
	return n, err
}

// logError says which log an error is about, and what to do.
func logError(name string, err error) error {
	if errors.Is(err, context.Canceled) {
		return failed(errors.New("interrupted"), "nothing was changed; start it again")
	}
	var at *seedlog.FileError
	err = fmt.Errorf("%s: %w", name, err)
	if !errors.As(err, &at) {
		if errors.Is(err, seedlog.ErrHeight) {
			return failed(err, "leave out --at for the last entry, or name a lower height")
		}
		return err
	}
	switch {
	case errors.Is(err, seedlog.ErrNotSeedlog):
		return failed(err, "a seed log is a CAR file that begins with the genesis block of a run; is this the right file?")
	case errors.Is(err, seedlog.ErrVersion):
		return failed(err, "the run needs a newer evonode, or one of other worlds or strategies: use the one that wrote it")
	case at.Height <= 1:
		return failed(err, "the log is damaged from its beginning: get it again, from any node of the run (http://HOST:PORT/api/log)")
	}
	return failed(err, fmt.Sprintf("the log is damaged there, or not true; what is before it is good (--at %d); get the whole from any other node of the run (http://HOST:PORT/api/log)", at.Height-1))
}

func (s *IO) printReplayJSON(r *seedlog.Replayed, found *search) error {
	out := struct {
		Run         string   `json:"run"`
		Env         string   `json:"env"`
		Strategy    string   `json:"strategy"`
		Height      uint64   `json:"height"`
		Head        string   `json:"head"`
		Theta       string   `json:"theta"`
		Evaluations uint64   `json:"evaluations"`
		Steps       uint64   `json:"steps"`
		Check       string   `json:"check"`
		Checked     uint64   `json:"checked"`
		Truncated   bool     `json:"truncated"`
		Return      *float64 `json:"return"`
	}{r.Rules.Run.String(), r.Rules.Env.ID, r.Rules.Spec.Strategy.Name, r.Height, r.Link.String(), theta(r),
		r.Evaluations, r.Steps, string(r.Check), r.Checked, r.Truncated, nil}
	if found != nil {
		out.Return = &found.mean
	}
	return s.printJSON(out)
}

// theta is the digest of the model in hexadecimal, "" if it was not rebuilt.
func theta(r *seedlog.Replayed) string {
	if r.State == nil {
		return ""
	}
	return fmt.Sprintf("%x", r.State.ThetaDigest())
}

func printReplay(w io.Writer, r *seedlog.Replayed, found *search) error {
	var b strings.Builder
	fmt.Fprintf(&b, "run          %s (%s, %s)\n", r.Rules.Run, r.Rules.Env.ID, r.Rules.Spec.Strategy.Name)
	fmt.Fprintf(&b, "height       %d\n", r.Height)
	fmt.Fprintf(&b, "head         %s\n", r.Link)
	if found != nil {
		fmt.Fprintf(&b, "return       %.3f (%s of %d looks)\n", found.mean, found.rule, found.looks)
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
