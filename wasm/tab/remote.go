package main

import (
	"encoding/binary"
	"sync"
	"time"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/schedule"
)

const (
	// batchTime is how long a worker should need for a batch. A message there and back costs some 0.05 ms,
	// whatever it holds, which is under 1 %; and little is computed in vain when a generation ends.
	batchTime = 8 * time.Millisecond
	// batchesAhead is how many batches a worker holds at a time: the one it computes, and the one it starts
	// next without waiting.
	batchesAhead = 2
	// chunksAhead is how many chunks per worker may be requested at once: enough to fill its batches.
	chunksAhead = 16
)

// evaluator is a peer.Evaluator and peer.Validator whose work is done by Web Workers. This program computes
// nothing itself.
type evaluator struct{ *schedule.Scheduler }

// newEvaluator returns an evaluator with n workers for the run of setup, which is in the environment env. trouble is
// called, from any goroutine, when workers die again and again.
func newEvaluator(env string, setup []byte, n int, open openPort, trouble func(error)) evaluator {
	states := new(encodedState) // the scheduler calls one worker at a time
	return evaluator{schedule.New(schedule.Config{
		Start: func(answer func(uint64, schedule.Answer, error), died func(error)) schedule.Worker {
			r := &remote{states: states, answer: answer, decoders: make(map[uint64]decoder)}
			r.port = open(env, setup, r.hear, died)
			return r
		},
		BatchTime: batchTime, Ahead: batchesAhead, Trouble: trouble,
	}, n)}
}

// Slots implements peer.Evaluator.
func (e evaluator) Slots(uint64) int { return e.Workers() * chunksAhead }

// port moves bytes to a worker, which answers in the order in which it was asked. state sets what tasks are run on; no
// state given to validate or fold means the one that the worker has from the last of its kind.
type port interface {
	state(state []byte)
	task(id uint64, task []byte)
	validate(id uint64, state, seeds []byte)
	fold(id uint64, state, fold []byte)
	close()
}

// openPort starts a worker for a setup of the environment env. answer and died are called from any goroutine, but not
// before it has returned; after died or close nothing is called any more.
type openPort func(env string, setup []byte, answer func(id uint64, data []byte, err error), died func(error)) port

// remote is a [schedule.Worker] behind a port: it turns work into bytes, and bytes into answers. It moves a state once.
type remote struct {
	port   port
	answer func(id uint64, a schedule.Answer, err error)
	states *encodedState // of all workers
	state  *evolve.State // that tasks run on, as the worker has it

	mu        sync.Mutex
	decoders  map[uint64]decoder // of what is under way
	validated *evolve.State      // of the last held-out episodes, as the worker has it
	lastFold  uint64             // id of the last fold that was posted
	folded    *evolve.State      // that it gave, as the worker has it; nil: it is under way, or failed
}

// decoder makes an answer of what a worker said to a batch. The lock of its remote is held.
type decoder func(data []byte, err error) (schedule.Answer, error)

// Evaluate implements [schedule.Worker].
func (r *remote) Evaluate(id uint64, task rollout.Task) {
	data, err := rollout.MarshalTask(task)
	var state []byte
	if err == nil && r.state != task.State {
		state, err = r.states.encode(task.State)
	}
	if err != nil {
		r.refuse(id, err)
		return
	}
	if state != nil {
		r.port.state(state)
		r.state = task.State
	}
	r.mu.Lock()
	r.decoders[id] = func(data []byte, err error) (a schedule.Answer, _ error) {
		if err == nil {
			a.Results, err = rollout.UnmarshalResults(data, len(task.Seeds))
		}
		return a, err
	}
	r.mu.Unlock()
	r.port.task(id, data)
}

// Validate implements [schedule.Worker].
func (r *remote) Validate(id uint64, state *evolve.State, episodeSeeds []uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var data []byte
	if r.validated != state {
		var err error
		if data, err = r.states.encode(state); err != nil {
			r.refuse(id, err)
			return
		}
		r.validated = state
	}
	r.decoders[id] = func(data []byte, err error) (a schedule.Answer, _ error) {
		if err == nil {
			a.Returns, err = rollout.UnmarshalReturns(data, len(episodeSeeds))
		}
		if err != nil {
			r.validated = nil
		}
		return a, err
	}
	seeds := make([]byte, 0, 8*len(episodeSeeds))
	for _, s := range episodeSeeds {
		seeds = binary.LittleEndian.AppendUint64(seeds, s)
	}
	r.port.validate(id, data, seeds)
}

// Fold implements [schedule.Worker].
func (r *remote) Fold(id uint64, fold rollout.Fold) {
	r.mu.Lock()
	defer r.mu.Unlock()
	data, err := rollout.MarshalFold(fold)
	var state []byte
	if err == nil && r.folded != fold.State {
		state, err = r.states.encode(fold.State)
	}
	if err != nil {
		r.refuse(id, err)
		return
	}
	r.lastFold, r.folded = id, nil
	r.decoders[id] = func(data []byte, err error) (a schedule.Answer, _ error) {
		if err == nil {
			a.Folded, err = rollout.UnmarshalFolded(data, len(fold.Steps))
		}
		if err == nil && id == r.lastFold {
			r.folded = a.Folded[len(a.Folded)-1].State
		}
		return a, err
	}
	r.port.fold(id, state, data)
}

// Stop implements [schedule.Worker].
func (r *remote) Stop() { r.port.close() }

// refuse answers a batch that has no byte form, which no task and no state of a run is without.
func (r *remote) refuse(id uint64, err error) { go r.answer(id, schedule.Answer{}, err) }

// hear takes what the worker says to a batch.
func (r *remote) hear(id uint64, data []byte, err error) {
	r.mu.Lock()
	decode := r.decoders[id]
	if decode == nil {
		r.mu.Unlock()
		return
	}
	delete(r.decoders, id)
	a, err := decode(data, err)
	r.mu.Unlock()
	r.answer(id, a, err)
}

// encodedState keeps the bytes of the state that was encoded last, since every worker gets it.
type encodedState struct {
	state *evolve.State
	bytes []byte
}

func (e *encodedState) encode(state *evolve.State) ([]byte, error) {
	if e.state == state {
		return e.bytes, nil
	}
	data, err := state.MarshalBinary()
	if err == nil {
		e.state, e.bytes = state, data
	}
	return data, err
}
