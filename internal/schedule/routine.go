package schedule

import (
	"sync"
	"time"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// Routines starts workers on goroutines, one core each.
type Routines struct {
	plan    rollout.Plan
	share   *Share // nil: its workers share with nobody
	running sync.WaitGroup
}

// NewRoutines returns what starts workers for a plan.
func NewRoutines(plan rollout.Plan) *Routines { return &Routines{plan: plan} }

// SharingRoutines returns what starts workers that compute on the cores of a share, in turn with those of other runs.
func SharingRoutines(plan rollout.Plan, share *Share) *Routines {
	return &Routines{plan: plan, share: share}
}

// Start is a [Config.Start]. Its workers do not die.
func (r *Routines) Start(answer func(uint64, Answer, error), _ func(error)) Worker {
	w := &routine{plan: r.plan, share: r.share, answer: answer, orders: make(chan order, 1)}
	r.running.Go(w.work)
	return w
}

// Wait returns when all workers that were stopped have ended.
func (r *Routines) Wait() { r.running.Wait() }

// order is a batch.
type order struct {
	do   func()
	fold bool // does not wait for a core: the protocol owes it
}

// routine is a worker on a goroutine. Folds use all cores by themselves.
type routine struct {
	plan   rollout.Plan
	share  *Share
	answer func(id uint64, a Answer, err error)
	orders chan order

	// What follows is the goroutine's.
	pool    *rollout.Pool
	checked *evolve.State // the state that was found to be one of the run
}

func (r *routine) work() {
	for order := range r.orders {
		switch {
		case r.share == nil:
			order.do()
		case order.fold:
			began := time.Now()
			order.do()
			r.share.count(time.Since(began))
		default:
			r.compute(order)
		}
	}
}

// compute follows an order, and those that come meanwhile, on a core of the share.
func (r *routine) compute(order order) {
	h := r.share.take()
	for {
		order.do() // its answer brings the next one, if there is work
		select {
		case next, open := <-r.orders:
			if open {
				h, order = r.share.again(h), next
				continue
			}
		default:
		}
		r.share.give(h)
		return
	}
}

// Evaluate implements [Worker].
func (r *routine) Evaluate(id uint64, task rollout.Task) {
	r.orders <- order{do: func() {
		if task.State != r.checked { // it reads the whole state: not for every candidate
			if err := r.plan.Check(task); err != nil {
				r.answer(id, Answer{}, err)
				return
			}
			r.checked = task.State
		}
		results, err := r.own().EvaluateChecked(task, nil)
		r.answer(id, Answer{Results: results}, err)
	}}
}

// Validate implements [Worker].
func (r *routine) Validate(id uint64, state *evolve.State, episodeSeeds []uint64) {
	r.orders <- order{do: func() {
		returns := make([]float64, len(episodeSeeds))
		r.own().Returns(state, episodeSeeds, returns)
		r.answer(id, Answer{Returns: returns}, nil)
	}}
}

// Fold implements [Worker].
func (r *routine) Fold(id uint64, fold rollout.Fold) {
	r.orders <- order{do: func() { r.answer(id, Answer{Folded: r.plan.Fold(fold)}, nil) }, fold: true}
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
