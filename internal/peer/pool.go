package peer

import (
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// PoolEvaluator is the Evaluator of a computer: each worker is a goroutine that takes the next candidate of the most
// urgent task, so that a single chunk keeps all cores busy. The results do not depend on the number of workers.
type PoolEvaluator struct {
	rules *seedlog.Rules
	wg    sync.WaitGroup

	mu      sync.Mutex
	work    sync.Cond // there is work, or the number of workers changed
	queues  [3][]*job // urgent, own, looks
	passed  int       // units of own tasks taken while a look waited
	target  int       // workers wanted
	running []bool    // by number
	folds   []*folding
	folder  bool // whether a goroutine works on folds
	closed  bool
}

// folding is a fold that waits.
type folding struct {
	id   uint64
	fold rollout.Fold
	done func([]rollout.Folded, error)
}

// Queues of a PoolEvaluator, in the order in which they are served; but see lookAfter.
const (
	queueUrgent = iota
	queueOwn
	queueLook
)

// lookUnit is how many held-out episodes a worker takes at a time: they run side by side, which makes them cheaper, but an
// urgent task waits for the longest of them.
const lookUnit = 4

// lookAfter is how many units of own tasks go before a unit of a look that waits: with long episodes no worker is ever idle, and
// the return that people see would stay that of the beginning.
const lookAfter = 32

// job is a task that is cut into units, one per candidate or few held-out episodes.
type job struct {
	id       uint64
	units    int
	next     int // first unit that nobody took
	left     int // units not finished
	err      error
	dropped  bool
	run      func(pool *rollout.Pool, unit int) error
	finished func(error)
}

var (
	_ Evaluator = (*PoolEvaluator)(nil)
	_ Looker    = (*PoolEvaluator)(nil)
)

// NewPoolEvaluator returns an evaluator for a run on that many cores; 0 or less: all.
func NewPoolEvaluator(rules *seedlog.Rules, workers int) *PoolEvaluator {
	e := &PoolEvaluator{rules: rules}
	e.work.L = &e.mu
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	e.SetWorkers(workers)
	return e
}

// Evaluate implements [Evaluator].
func (e *PoolEvaluator) Evaluate(id uint64, task rollout.Task, urgent bool, done func([]rollout.CandidateResult, error)) {
	results := make([]rollout.CandidateResult, len(task.Seeds))
	queue := queueOwn
	if urgent {
		queue = queueUrgent
	}
	if err := task.Check(); err != nil {
		go done(nil, err)
		return
	}
	// It reads the whole state: once, and not in the caller's loop.
	check := sync.OnceValue(func() error { return e.rules.Plan.Check(task) })
	e.add(queue, &job{
		id: id, units: len(task.Seeds),
		run: func(pool *rollout.Pool, i int) error {
			if err := check(); err != nil {
				return err
			}
			one := rollout.Task{State: task.State, Seeds: task.Seeds[i : i+1], Episodes: task.Episodes}
			if len(task.Episodes) > 1 {
				one.Episodes = task.Episodes[i : i+1]
			}
			r, err := pool.EvaluateChecked(one, nil)
			if err == nil {
				results[i] = r[0]
			}
			return err
		},
		finished: func(err error) {
			if err != nil {
				done(nil, err)
				return
			}
			done(results, nil)
		},
	})
}

// Look implements [Looker].
func (e *PoolEvaluator) Look(state *evolve.State, episodeSeeds []uint64, done func([]float64, error)) {
	returns := make([]float64, len(episodeSeeds))
	e.add(queueLook, &job{
		units: (len(episodeSeeds) + lookUnit - 1) / lookUnit,
		run: func(pool *rollout.Pool, i int) error {
			first, last := lookUnit*i, min(lookUnit*(i+1), len(episodeSeeds))
			pool.Returns(state, episodeSeeds[first:last], returns[first:last])
			return nil
		},
		finished: func(err error) { done(returns, err) },
	})
}

// Fold implements [Evaluator]: on a goroutine of its own, which the workers need not be lent for. A fold uses all cores by
// itself.
func (e *PoolEvaluator) Fold(id uint64, fold rollout.Fold, done func([]rollout.Folded, error)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return
	}
	e.folds = append(e.folds, &folding{id, fold, done})
	if !e.folder {
		e.folder = true
		e.wg.Add(1)
		go e.foldAll()
	}
}

// foldAll works on folds until none is left.
func (e *PoolEvaluator) foldAll() {
	defer e.wg.Done()
	e.mu.Lock()
	defer e.mu.Unlock()
	for len(e.folds) > 0 && !e.closed {
		f := e.folds[0]
		e.mu.Unlock()
		folded, err := e.fold(f.fold)
		e.mu.Lock()
		if len(e.folds) > 0 && e.folds[0] == f && !e.closed {
			e.folds = e.folds[1:]
			e.mu.Unlock()
			f.done(folded, err)
			e.mu.Lock()
		}
	}
	e.folder = false
}

func (e *PoolEvaluator) fold(f rollout.Fold) ([]rollout.Folded, error) {
	if err := f.Check(); err != nil {
		return nil, fmt.Errorf("peer: folding: %w", err)
	}
	return e.rules.Plan.Fold(f), nil
}

func (e *PoolEvaluator) add(queue int, j *job) {
	j.left = j.units
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return
	}
	e.queues[queue] = append(e.queues[queue], j)
	e.work.Broadcast()
}

// Cancel implements [Evaluator]. Candidates that run are finished and forgotten.
func (e *PoolEvaluator) Cancel(id uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.folds = slices.DeleteFunc(e.folds, func(f *folding) bool { return f.id == id })
	for q := range queueLook {
		e.queues[q] = slices.DeleteFunc(e.queues[q], func(j *job) bool {
			if j.id == id {
				j.dropped = true
			}
			return j.id == id
		})
	}
}

// Slots implements [Evaluator]: enough chunks for all workers, and one more so that none waits for the loop.
func (e *PoolEvaluator) Slots(chunk uint64) int {
	n := int(max(chunk, 1))
	return (e.Workers()+n-1)/n + 1
}

// Workers implements [Evaluator].
func (e *PoolEvaluator) Workers() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.target
}

// SetWorkers implements [Evaluator].
func (e *PoolEvaluator) SetWorkers(n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return
	}
	e.target = max(n, 0)
	for len(e.running) < e.target {
		e.running = append(e.running, false)
	}
	for i := range e.target {
		if !e.running[i] {
			e.running[i] = true
			e.wg.Add(1)
			go e.labour(i)
		}
	}
	e.work.Broadcast()
}

// Close implements [Evaluator].
func (e *PoolEvaluator) Close() {
	e.mu.Lock()
	e.closed = true
	e.work.Broadcast()
	e.mu.Unlock()
	e.wg.Wait()
}

// labour is one worker.
func (e *PoolEvaluator) labour(number int) {
	defer e.wg.Done()
	pool := rollout.NewPool(e.rules.Plan, 1)
	for {
		j, unit := e.take(number)
		if j == nil {
			return
		}
		err := j.run(pool, unit)
		if e.finish(j, err) {
			j.finished(j.err)
		}
	}
}

// take waits for the next unit; nil: this worker is no longer wanted.
func (e *PoolEvaluator) take(number int) (*job, int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for {
		if e.closed || number >= e.target {
			e.running[number] = false
			return nil, 0
		}
		if q := e.queue(); q >= 0 {
			j := e.queues[q][0]
			j.next++
			if j.next == j.units {
				e.queues[q] = e.queues[q][1:]
			}
			return j, j.next - 1
		}
		e.work.Wait()
	}
}

// queue says which queue to take the next unit from: the first with work, but own tasks leave looks a share. -1: none.
func (e *PoolEvaluator) queue() int {
	q := slices.IndexFunc(e.queues[:], func(jobs []*job) bool { return len(jobs) > 0 })
	if q == queueOwn && len(e.queues[queueLook]) > 0 {
		if e.passed < lookAfter {
			e.passed++
			return queueOwn
		}
		q = queueLook
	}
	if q == queueLook {
		e.passed = 0
	}
	return q
}

// finish notes a unit and reports whether it was the job's last and somebody waits for it.
func (e *PoolEvaluator) finish(j *job, err error) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	j.left--
	if err != nil && j.err == nil {
		j.err = fmt.Errorf("peer: evaluating: %w", err)
	}
	return j.left == 0 && !j.dropped && !e.closed
}
