package schedule

import (
	"sync"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// Routines starts workers on goroutines, one core each.
type Routines struct {
	plan    rollout.Plan
	running sync.WaitGroup
}

// NewRoutines returns what starts workers for a plan.
func NewRoutines(plan rollout.Plan) *Routines { return &Routines{plan: plan} }

// Start is a [Config.Start]. Its workers do not die.
func (r *Routines) Start(answer func(uint64, Answer, error), _ func(error)) Worker {
	w := &routine{plan: r.plan, answer: answer, orders: make(chan func(), 1)}
	r.running.Go(w.work)
	return w
}

// Wait returns when all workers that were stopped have ended.
func (r *Routines) Wait() { r.running.Wait() }

// routine is a worker on a goroutine. Folds use all cores by themselves.
type routine struct {
	plan   rollout.Plan
	answer func(id uint64, a Answer, err error)
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

// Evaluate implements [Worker].
func (r *routine) Evaluate(id uint64, task rollout.Task) {
	r.orders <- func() {
		if task.State != r.checked { // it reads the whole state: not for every candidate
			if err := r.plan.Check(task); err != nil {
				r.answer(id, Answer{}, err)
				return
			}
			r.checked = task.State
		}
		results, err := r.own().EvaluateChecked(task, nil)
		r.answer(id, Answer{Results: results}, err)
	}
}

// Validate implements [Worker].
func (r *routine) Validate(id uint64, state *evolve.State, episodeSeeds []uint64) {
	r.orders <- func() {
		returns := make([]float64, len(episodeSeeds))
		r.own().Returns(state, episodeSeeds, returns)
		r.answer(id, Answer{Returns: returns}, nil)
	}
}

// Fold implements [Worker].
func (r *routine) Fold(id uint64, fold rollout.Fold) {
	r.orders <- func() { r.answer(id, Answer{Folded: r.plan.Fold(fold)}, nil) }
}

// Stop implements [Worker].
func (r *routine) Stop() { close(r.orders) }

// own returns the pool of this goroutine, made when it is first needed: folds need none.
func (r *routine) own() *rollout.Pool {
	if r.pool == nil {
		r.pool = rollout.NewPool(r.plan, 1)
	}
	return r.pool
}
