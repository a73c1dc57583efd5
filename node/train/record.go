package train

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/solo"
	"github.com/evoswarm/evoswarm/node/curve"
	"github.com/evoswarm/evoswarm/node/tensorboard"
	"github.com/evoswarm/evoswarm/node/verb"
)

// recording keeps the learning curve of a run next to its log: --curve and --tensorboard.
type recording struct {
	records []curve.Record
	names   []string // of records
	before  float64  // seconds of the processes before this one
	failed  error    // what ended it; training continues
}

// openRecording opens what was asked for.
func openRecording(csv, events, run string) (r *recording, err error) {
	r = new(recording)
	if csv != "" {
		c, err := curve.OpenCSV(csv)
		if err != nil {
			return r, recordError(err)
		}
		r.before = c.Seconds()
		r.records, r.names = append(r.records, c), append(r.names, csv)
	}
	if events != "" {
		f, err := tensorboard.Open(events, run, time.Now)
		if err != nil {
			return r, recordError(errors.Join(err, r.close()))
		}
		r.records, r.names = append(r.records, f), append(r.names, events)
	}
	return r, nil
}

// catchUp brings the records in step with the log at path, and says what it dropped.
func (r *recording) catchUp(ctx context.Context, s *verb.IO, path string, log *seedlog.Replayed, pool *rollout.Pool) error {
	if len(r.records) == 0 {
		return nil
	}
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	for i, record := range r.records {
		if held := record.Held(); held > log.Height && log.Height > 0 {
			s.Note("%s reaches generation %d, the log only %d; the rest of the file is dropped", r.names[i], held, log.Height)
		}
	}
	return recordError(curve.CatchUp(ctx, in, log, pool, r.records...))
}

// add records a generation. After a failure it does nothing: the same command adds later what is missing.
func (r *recording) add(p solo.Progress, seconds float64) {
	seconds += r.before
	row := curve.Row{Gen: p.Gen, Evaluations: p.Evaluations, Steps: p.Steps, Seconds: &seconds, Best: p.Best, Mean: p.Mean, Return: p.Return}
	for i, record := range r.records {
		if r.failed != nil {
			return
		}
		if err := record.Append(row); err != nil {
			r.failed = verb.Failed(fmt.Errorf("%s: %w", r.names[i], err), "the log has every generation; the same command adds to the curve what is missing")
		}
	}
}

// close closes the records and returns what went wrong.
func (r *recording) close() error {
	for _, record := range r.records {
		if err := record.Close(); r.failed == nil {
			r.failed = err
		}
	}
	r.records = nil
	return r.failed
}

// recordError says what to do about a record that cannot be continued.
func recordError(err error) error {
	switch {
	case errors.Is(err, curve.ErrOther), errors.Is(err, tensorboard.ErrOther):
		return verb.Failed(err, "name another file with --curve or another folder with --tensorboard, or remove that one")
	case errors.Is(err, curve.ErrFormat), errors.Is(err, tensorboard.ErrFormat):
		return verb.Failed(err, "it was not changed; name another place with --curve or --tensorboard")
	}
	return err
}
