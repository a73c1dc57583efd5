package peer

import (
	"runtime"

	"github.com/evoswarm/evoswarm/internal/schedule"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// PoolEvaluator is the Evaluator of a computer: each worker is a goroutine that takes the next candidate of the most
// urgent task, so that a single chunk keeps all cores busy. The results do not depend on the number of workers.
type PoolEvaluator struct {
	*schedule.Scheduler
	routines *schedule.Routines
}

var (
	_ Evaluator = (*PoolEvaluator)(nil)
	_ Validator = (*PoolEvaluator)(nil)
)

// NewPoolEvaluator returns an evaluator for a run on that many cores (0 or less: all).
func NewPoolEvaluator(rules *seedlog.Rules, workers int) *PoolEvaluator {
	return newPoolEvaluator(schedule.NewRoutines(rules.Plan), workers)
}

// NewSharingEvaluator returns an evaluator for one of the runs that share cores; workers is how many cores those are (0
// or less: all of the computer).
func NewSharingEvaluator(rules *seedlog.Rules, workers int, share *schedule.Share) *PoolEvaluator {
	return newPoolEvaluator(schedule.SharingRoutines(rules.Plan, share), workers)
}

func newPoolEvaluator(routines *schedule.Routines, workers int) *PoolEvaluator {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	return &PoolEvaluator{schedule.New(schedule.Config{Start: routines.Start}, workers), routines}
}

// Slots implements [Evaluator]: enough chunks for all workers and devices, and one more so that none waits for the
// loop.
func (e *PoolEvaluator) Slots(chunk uint64) int {
	n := int(max(chunk, 1))
	return (e.Ready()+n-1)/n + 1
}

// Close implements [Evaluator].
func (e *PoolEvaluator) Close() {
	e.Scheduler.Close()
	e.routines.Wait()
}
