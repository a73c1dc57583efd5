package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// placeHelp is what the commands with --at say about it.
const placeHelp = `    --at best          the entry whose mean policy did best: of the entries that training looks at (every k-th, k in the
                       run's spec), the one with the highest mean return of its validate episodes; of equal ones the last
    --at solved        the first of those entries that is solved: its look reached the world's threshold, and so did the
                       mean over its test episodes
`

// place says which entry of a log is meant: --at.
type place struct {
	rule   string // "", "best" or "solved"
	height uint64 // if has
	has    bool
}

// parsePlace reads --at; empty: the last entry.
func parsePlace(text string) (place, error) {
	switch text {
	case "":
		return place{}, nil
	case "best", "solved":
		return place{rule: text}, nil
	}
	h, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return place{}, usage(fmt.Sprintf("--at %q is no height", text), "a number from 0, best, or solved; evonode log LOG lists the entries")
	}
	return place{height: h, has: true}, nil
}

// errSolved ends a replay at the entry that was looked for.
var errSolved = errors.New("solved")

// search finds the entry that best or solved means while a log is folded.
type search struct {
	rule    string
	workers int
	pool    *rollout.Pool
	looks   int
	found   *seedlog.Replayed
	mean    float64 // of the look at found
}

// visit looks at an entry as training does.
func (f *search) visit(_ *seedlog.Record, at seedlog.Replayed) error {
	rules := at.Rules
	if at.Height%rules.Spec.Checks.Every != 0 {
		return nil
	}
	if f.pool == nil {
		f.pool = rollout.NewPool(rules.Plan, f.workers)
	}
	f.looks++
	mean := f.returns(&at, rules.ValidateSeeds(at.Link))
	switch {
	case f.rule == "best" && (f.found == nil || mean >= f.mean):
		f.found, f.mean = &at, mean
	case f.rule == "solved" && mean >= rules.Env.SolvedReturn && f.returns(&at, rules.TestSeeds(at.Link, rules.Spec.Checks.Test)) >= rules.Env.SolvedReturn:
		f.found, f.mean = &at, mean
		return errSolved
	}
	return nil
}

// returns is the mean return of the mean policy in the given episodes.
func (f *search) returns(at *seedlog.Replayed, seeds []uint64) float64 {
	each := make([]float64, len(seeds))
	f.pool.Returns(at.State, seeds, each)
	mean, _, _, _ := summary(each)
	return mean
}

// replayAt replays a log read from in up to the place that was asked for.
func (s *IO) replayAt(ctx context.Context, log string, in io.Reader, opts seedlog.ReplayOptions, at place, workers int) (*seedlog.Replayed, *search, error) {
	if at.rule == "" {
		opts.At, opts.HasAt = at.height, at.has
		r, err := s.replayFrom(ctx, log, in, opts)
		return r, nil, err
	}
	f := &search{rule: at.rule, workers: workers}
	opts.Visit = f.visit
	r, err := s.replayFrom(ctx, log, in, opts)
	if err != nil && !errors.Is(err, errSolved) {
		return nil, nil, err
	}
	if f.found == nil {
		return nil, nil, f.missing(called(log), r)
	}
	if r != nil { // the whole log was read
		f.found.Checked, f.found.Truncated, f.found.Tail = r.Checked, r.Truncated, r.Tail
	}
	return f.found, f, nil
}

// missing says why no entry was found in a log that was read to its end.
func (f *search) missing(name string, r *seedlog.Replayed) error {
	if f.looks == 0 {
		return failed(fmt.Errorf("%s: no entry was looked at: the run looks every %d entries, and the log ends at height %d", name, r.Rules.Spec.Checks.Every, r.Height),
			"leave out --at for the last entry")
	}
	return failed(fmt.Errorf("%s: none of the %d entries that were looked at is solved", name, f.looks), "--at best takes the best of them; evonode train goes on")
}

// replay replays the named log up to a place.
func (s *IO) replay(ctx context.Context, log string, opts seedlog.ReplayOptions, at place, workers int) (*seedlog.Replayed, *search, error) {
	in, err := s.open(log)
	if err != nil {
		return nil, nil, err
	}
	defer in.Close()
	return s.replayAt(ctx, log, in, opts, at, workers)
}

// replayFrom replays the log of that name, which is read from in, with progress on a terminal, until ctx ends.
func (s *IO) replayFrom(ctx context.Context, log string, in io.Reader, opts seedlog.ReplayOptions) (*seedlog.Replayed, error) {
	synced, err := syncedLength(log)
	if err != nil {
		return nil, err
	}
	opts.Synced = synced
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
