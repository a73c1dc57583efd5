package curve

import (
	"context"
	"fmt"
	"io"

	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// Record is a learning curve in a file: the generations 1 to Held, in order.
type Record interface {
	Held() uint64
	// Check compares a generation that is held with the row of the log. The error wraps ErrOther.
	Check(Row) error
	// Keep leaves the first n generations and cuts what a crash tore; n is Held, or less if nothing was appended yet.
	Keep(n uint64) error
	// Append writes generation Held+1.
	Append(Row) error
	Close() error
}

// CatchUp brings records in step with a log that ends at from, before the run continues. Each must be of the
// same run. Rows beyond the log are dropped, and missing ones are added from it: their held-out evaluations
// are run again, with the same result; their time is unknown.
func CatchUp(ctx context.Context, log io.Reader, from *seedlog.Replayed, pool *rollout.Pool, records ...Record) error {
	height := from.Height
	least := height
	for _, r := range records {
		if height == 0 && r.Held() > 0 {
			return fmt.Errorf("%w: it has %d generations, and the log is new", ErrOther, r.Held())
		}
		least = min(least, r.Held())
	}
	opts := seedlog.ReplayOptions{At: height, HasAt: true, Check: seedlog.CheckLinks}
	if least < height || StepsInState(from.Rules) {
		opts.Check = seedlog.CheckDigests
	}
	// Nothing is cut before every row was found to be of this run.
	opts.Visit = func(g *seedlog.Record, at seedlog.Replayed) error {
		row := RowOf(g, at)
		for _, r := range records {
			if row.Gen <= r.Held() {
				if err := r.Check(row); err != nil {
					return err
				}
			}
		}
		if row.Gen > least {
			row.Return = heldOut(pool, at)
			if err := add(row, records); err != nil {
				return err
			}
		}
		return ctx.Err()
	}
	if _, err := seedlog.Replay(log, opts); err != nil {
		return err
	}
	for _, r := range records {
		if err := r.Keep(height); err != nil {
			return err
		}
	}
	return nil
}

// StepsInState reports whether some env-steps of a run are counted in its state, so that only a fold finds them: those
// that normalize observations and policies.
func StepsInState(rules *seedlog.Rules) bool {
	return rules.Spec.Observations != nil || rules.Policy.VBN()
}

// add appends a row to the records that lack it. What was torn is cut before the first one.
func add(row Row, records []Record) error {
	for _, r := range records {
		if r.Held() != row.Gen-1 {
			continue
		}
		if err := r.Keep(row.Gen - 1); err != nil {
			return err
		}
		if err := r.Append(row); err != nil {
			return err
		}
	}
	return nil
}

// heldOut is the mean return of the held-out evaluation of an entry, or nil where training makes none.
func heldOut(pool *rollout.Pool, at seedlog.Replayed) *float64 {
	if at.Height%at.Rules.Spec.Checks.Every != 0 {
		return nil
	}
	mean := Validate(pool, at)
	return &mean
}

// Validate is the mean return of the mean policy of an entry in its held-out episodes.
func Validate(pool *rollout.Pool, at seedlog.Replayed) float64 {
	returns := make([]float64, at.Rules.Spec.Checks.Validate)
	pool.Returns(at.State, at.Rules.ValidateSeeds(at.Link), returns)
	sum := 0.0
	for _, x := range returns {
		sum += x
	}
	return sum / float64(len(returns))
}
