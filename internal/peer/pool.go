package peer

import (
	"runtime"
	"sync"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/schedule"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// PoolEvaluator is the Evaluator of a computer: each worker is a goroutine that takes the next candidate of the most
// urgent task, so that a single chunk keeps all cores busy. The results do not depend on the number of workers.
type PoolEvaluator struct {
	*schedule.Scheduler
	routines *sync.WaitGroup
}

var (
	_ Evaluator = (*PoolEvaluator)(nil)
	_ Validator = (*PoolEvaluator)(nil)
)

// NewPoolEvaluator returns an evaluator for a run on that many cores (0 or less: all) and these devices.
func NewPoolEvaluator(rules *seedlog.Rules, workers int, devices ...schedule.Device) *PoolEvaluator {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	routines := new(sync.WaitGroup)
	start := func(answer func(uint64, schedule.Answer, error), _ func(error)) schedule.Worker {
		r := &routine{plan: rules.Plan, answer: answer, orders: make(chan func(), 1)}
		routines.Go(r.work)
		return r
	}
	return &PoolEvaluator{schedule.New(schedule.Config{Start: start, Devices: devices}, workers), routines}
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

// routine is a worker on a goroutine. Folds use all cores by themselves.
type routine struct {
	plan   rollout.Plan
	answer func(id uint64, a schedule.Answer, err error)
	orders chan func()

	// What follows is the goroutine's.
	pool    *rollout.Pool
	checked *evolve.State // the state that was found to be one of the run
}

func (r *routine) work() {
	for order := range r.orders {
		order()
	}
}

// Evaluate implements [schedule.Worker].
func (r *routine) Evaluate(id uint64, task rollout.Task) {
	r.orders <- func() {
		if task.State != r.checked { // it reads the whole state: not for every candidate
			if err := r.plan.Check(task); err != nil {
				r.answer(id, schedule.Answer{}, err)
				return
			}
			r.checked = task.State
		}
		results, err := r.own().EvaluateChecked(task, nil)
		r.answer(id, schedule.Answer{Results: results}, err)
	}
}

// Validate implements [schedule.Worker].
func (r *routine) Validate(id uint64, state *evolve.State, episodeSeeds []uint64) {
	r.orders <- func() {
		returns := make([]float64, len(episodeSeeds))
		r.own().Returns(state, episodeSeeds, returns)
		r.answer(id, schedule.Answer{Returns: returns}, nil)
	}
}

// Fold implements [schedule.Worker].
func (r *routine) Fold(id uint64, fold rollout.Fold) {
	r.orders <- func() { r.answer(id, schedule.Answer{Folded: r.plan.Fold(fold)}, nil) }
}

// Stop implements [schedule.Worker].
func (r *routine) Stop() { close(r.orders) }

// own returns the pool of this goroutine, made when it is first needed: folds need none.
func (r *routine) own() *rollout.Pool {
	if r.pool == nil {
		r.pool = rollout.NewPool(r.plan, 1)
	}
	return r.pool
}
