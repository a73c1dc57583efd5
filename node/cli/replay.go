package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/store"
)

const replayHelp = `Rebuilds the model from a seed log, bit for bit, and checks the log on the way.

Usage:
    evonode replay LOG [--at H] [--check links|digests|claims] [-o model.safetensors] [--json]

LOG is a file, or - for standard input. A log that is still being written is replayed up to its last whole entry and
said to be truncated; that is no failure. The file is never changed.
    --at H             stop after the entry of height H; 0 is the untrained model
    --check links      verify form, links, order, counts and signatures; the model is not rebuilt
    --check digests    and rebuild the model, and compare it with the digests in every entry (default)
    --check claims     and run every evaluation again, and compare what it gives
    -o FILE            write the model as safetensors: one float32 tensor per layer and bias
    --json             one JSON object: run, env, strategy, height, head, theta (digest), evaluations, steps, check,
                       checked (evaluations run again), truncated

Example:
    $ evonode replay run.seedlog --check claims -o model.safetensors
`

// replayFlags are the flags of replay.
type replayFlags struct {
	at    string
	check string
	out   string
	json  bool
}

func replayCommand() *command {
	return &command{name: "replay", summary: "rebuild the model from a seed log", help: replayHelp, bind: func(fs *flag.FlagSet) runner {
		var f replayFlags
		fs.StringVar(&f.at, "at", "", "")
		fs.StringVar(&f.check, "check", string(seedlog.CheckDigests), "")
		fs.StringVar(&f.out, "o", "", "")
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
	opts, err := f.options()
	if err != nil {
		return err
	}
	r, err := s.replay(ctx, log, opts)
	if err != nil {
		return err
	}
	if f.out != "" {
		if err := writeModel(f.out, r); err != nil {
			return err
		}
	}
	if r.Truncated {
		fmt.Fprintf(s.Err, "evonode: %s is truncated (%v); what is before that was replayed\n", called(log), r.Tail)
	}
	if f.json {
		return s.printReplayJSON(r)
	}
	return printReplay(s.Out, r)
}

func (f *replayFlags) options() (seedlog.ReplayOptions, error) {
	opts := seedlog.ReplayOptions{Check: seedlog.Check(f.check)}
	switch opts.Check {
	case seedlog.CheckLinks:
		if f.out != "" {
			return opts, usage("-o with --check links", "--check links does not rebuild the model; use --check digests")
		}
	case seedlog.CheckDigests, seedlog.CheckClaims:
	default:
		return opts, usage(fmt.Sprintf("--check %q", f.check), "links, digests or claims")
	}
	if f.at != "" {
		h, err := strconv.ParseUint(f.at, 10, 64)
		if err != nil {
			return opts, usage(fmt.Sprintf("--at %q is no height", f.at), "a number from 0; evonode log LOG lists the entries")
		}
		opts.At, opts.HasAt = h, true
	}
	return opts, nil
}

// replay replays the named log with progress on a terminal, until ctx ends.
func (s *IO) replay(ctx context.Context, log string, opts seedlog.ReplayOptions) (*seedlog.Replayed, error) {
	synced, err := syncedLength(log)
	if err != nil {
		return nil, err
	}
	opts.Synced = synced
	in, err := s.open(log)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	line := &liveLine{w: s.Err, terminal: s.Terminal}
	defer line.clear()
	opts.Progress = func(height uint64, _ int64) error {
		line.show(time.Now(), fmt.Sprintf("replayed to height %d", height))
		return ctx.Err()
	}
	r, err := seedlog.Replay(in, opts)
	if err != nil {
		return nil, logError(called(log), err)
	}
	return r, nil
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

func (s *IO) printReplayJSON(r *seedlog.Replayed) error {
	out := struct {
		Run         string `json:"run"`
		Env         string `json:"env"`
		Strategy    string `json:"strategy"`
		Height      uint64 `json:"height"`
		Head        string `json:"head"`
		Theta       string `json:"theta"`
		Evaluations uint64 `json:"evaluations"`
		Steps       uint64 `json:"steps"`
		Check       string `json:"check"`
		Checked     uint64 `json:"checked"`
		Truncated   bool   `json:"truncated"`
	}{r.Rules.Run.String(), r.Rules.Env.ID, r.Rules.Spec.Strategy.Name, r.Height, r.Link.String(), theta(r),
		r.Evaluations, r.Steps, string(r.Check), r.Checked, r.Truncated}
	return s.printJSON(out)
}

// theta is the digest of the model in hexadecimal, "" if it was not rebuilt.
func theta(r *seedlog.Replayed) string {
	if r.State == nil {
		return ""
	}
	return fmt.Sprintf("%x", r.State.ThetaDigest())
}

func printReplay(w io.Writer, r *seedlog.Replayed) error {
	var b strings.Builder
	fmt.Fprintf(&b, "run          %s (%s, %s)\n", r.Rules.Run, r.Rules.Env.ID, r.Rules.Spec.Strategy.Name)
	fmt.Fprintf(&b, "height       %d\n", r.Height)
	fmt.Fprintf(&b, "head         %s\n", r.Link)
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

// writeModel writes the model of a replay to the named file, all of it or nothing.
func writeModel(name string, r *seedlog.Replayed) error {
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return fmt.Errorf("writing the model: %w", err)
	}
	defer os.Remove(f.Name()) // fails once it is renamed
	meta := [][2]string{
		{"run", r.Rules.Run.String()}, {"height", strconv.FormatUint(r.Height, 10)}, {"head", r.Link.String()},
		{"env", r.Rules.Env.ID}, {"theta", theta(r)}, {"layout", "weight is [inputs, outputs]"},
	}
	err = writeSafetensors(f, r.Rules.Policy.Layout(), r.State.Theta, meta)
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return fmt.Errorf("writing the model: %w", err)
	}
	return nil
}
