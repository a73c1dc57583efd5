package evoswarm

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// Errors of Replay. The messages name the height and the place in the file.
var (
	// ErrLog is wrapped for data that is not a seed log.
	ErrLog = seedlog.ErrNotSeedlog
	// ErrHeight is wrapped if a log ends below the requested height.
	ErrHeight = seedlog.ErrHeight
)

// Check says how much of a log is verified. Each level includes those before it.
type Check string

// The levels.
const (
	CheckLinks   = Check(seedlog.CheckLinks)   // form, links, order, counts, signatures; no model is built
	CheckDigests = Check(seedlog.CheckDigests) // and rebuilds the model and compares it with the digest in every entry
	CheckClaims  = Check(seedlog.CheckClaims)  // and runs every evaluation again
)

// ReplayOptions say what Replay does. The zero value rebuilds the model at the end of the log.
type ReplayOptions struct {
	// Height is where to stop; 0: the end of the log.
	Height uint64
	// Check is how much is verified; empty: CheckDigests.
	Check Check
}

// Replayed is the result of Replay.
type Replayed struct {
	Run         string // id of the run
	Strategy    string
	Height      uint64 // generations folded
	Head        string // id of the last of them
	Evaluations uint64
	Steps       uint64 // env-steps of training
	Checked     uint64 // evaluations that were run again and gave the claimed fitness
	Truncated   bool   // the log ends within a generation: it is being written, or was cut; everything before that was replayed
	Model       *Model // nil for CheckLinks
}

// Replay rebuilds a model from a seed log, bit for bit, until ctx ends. r may be a pipe. Errors wrap ErrLog,
// ErrHeight, or ErrOptions for an unknown Check; others name the height and the place in the file where
// something is wrong.
func Replay(ctx context.Context, r io.Reader, opts ReplayOptions) (*Replayed, error) {
	switch opts.Check {
	case "", CheckLinks, CheckDigests, CheckClaims:
	default:
		return nil, fmt.Errorf("%w: Check is %q, want links, digests or claims", ErrOptions, opts.Check)
	}
	got, err := seedlog.Replay(bufio.NewReader(r), seedlog.ReplayOptions{
		At: opts.Height, HasAt: opts.Height > 0, Check: seedlog.Check(opts.Check),
		Progress: func(uint64, int64) error { return ctx.Err() },
	})
	if err != nil {
		return nil, fmt.Errorf("evoswarm: replaying: %w", err)
	}
	out := &Replayed{
		Run: got.Rules.Run.String(), Strategy: got.Rules.Spec.Strategy.Name, Height: got.Height, Head: got.Link.String(),
		Evaluations: got.Evaluations, Steps: got.Steps, Checked: got.Checked, Truncated: got.Truncated,
	}
	if got.State != nil {
		out.Model = newModel(got.Rules, got.Parent, got.State)
	}
	return out, nil
}

// ReplayFile is Replay of the named file.
func ReplayFile(ctx context.Context, name string, opts ReplayOptions) (*Replayed, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	r, err := Replay(ctx, f, opts)
	return r, errors.Join(err, f.Close())
}
