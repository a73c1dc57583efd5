package main

import (
	"fmt"
	"sync"

	"github.com/evoswarm/evoswarm/internal/rollout"
)

// folder folds, one fold after the other, on a worker of its own: folds must not wait for workers that are lent, and there
// may be none.
type folder struct {
	setup []byte
	hire  hire

	mu     sync.Mutex
	worker worker // nil: none needed so far, or the last one crashed
	queue  []*folding
	posted bool // whether the worker is at the first of queue
	closed bool
}

// folding is a fold that waits.
type folding struct {
	id    uint64
	fold  rollout.Fold
	tries int
	done  func([]rollout.Folded, error)
}

func (f *folder) add(j *folding) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closed {
		f.queue = append(f.queue, j)
		f.work()
	}
}

// cancel drops a fold. One that is under way ends; its answer is dropped.
func (f *folder) cancel(id uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, j := range f.queue {
		if j.id == id && (i > 0 || !f.posted) {
			f.queue = append(f.queue[:i], f.queue[i+1:]...)
			return
		}
		if j.id == id {
			j.done = func([]rollout.Folded, error) {}
		}
	}
}

func (f *folder) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed, f.queue = true, nil
	if f.worker != nil {
		f.worker.kill()
	}
}

// work posts the first fold, if the worker is free. The lock is held.
func (f *folder) work() {
	if f.closed || f.posted || len(f.queue) == 0 {
		return
	}
	j := f.queue[0]
	state, err := j.fold.State.MarshalBinary()
	var fold []byte
	if err == nil {
		fold, err = rollout.MarshalFold(j.fold)
	}
	f.posted = true
	if err != nil {
		f.end(nil, err)
		return
	}
	if f.worker == nil {
		f.worker = f.hire(f.setup, f.answered, f.crashed)
	}
	f.worker.fold(j.id, state, fold)
}

// end answers the first fold. The lock is held.
func (f *folder) end(folded []rollout.Folded, err error) {
	j := f.queue[0]
	f.queue, f.posted = f.queue[1:], false
	go j.done(folded, err)
	f.work()
}

func (f *folder) answered(_ uint64, data []byte, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed || !f.posted {
		return
	}
	var folded []rollout.Folded
	if err == nil {
		folded, err = rollout.UnmarshalFolded(data, len(f.queue[0].fold.Steps))
	}
	if err != nil {
		f.end(nil, fmt.Errorf("%w: %w", errWorker, err))
		return
	}
	f.end(folded, nil)
}

// crashed gives the fold to another worker, a few times.
func (f *folder) crashed(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.worker = nil
	if f.closed || !f.posted {
		return
	}
	if j := f.queue[0]; j.tries < maxTries {
		j.tries++
		f.posted = false
		f.work()
		return
	}
	f.end(nil, fmt.Errorf("%w: %w", errWorker, err))
}
