package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

var (
	errWorker = errors.New("tab: a worker failed")
	errClosed = errors.New("tab: the workers are closed")
)

const (
	// maxTries is how often a job is begun before it is given up: a worker that dies with it is replaced.
	maxTries = 3
	// maxCrashes in a row, without a result between them, are reported to the person.
	maxCrashes = 3
	// restBase is how long to wait before a worker that crashed is replaced; it doubles with every crash in a row.
	restBase = 100 * time.Millisecond
	restMax  = 30 * time.Second
	// lookWait is how long a look waits for idle workers before it goes ahead of ordinary tasks.
	lookWait = time.Second
)

// worker is one Web Worker: it takes one job at a time. Its answers come to the hand that it was hired with.
type worker interface {
	state(state []byte)
	task(id uint64, task []byte)
	look(id uint64, state, seeds []byte)
	kill()
}

// hire starts a worker for a setup. answer and crash are called from any goroutine, but not before hire has returned;
// after crash or kill nothing is called any more.
type hire func(setup []byte, answer func(id uint64, data []byte, err error), crash func(err error)) worker

// job is one thing for a worker to do.
type job struct {
	id      uint64
	task    []byte        // of a task
	state   *evolve.State // of a task or look
	seeds   []byte        // of a look
	urgent  bool
	since   time.Time
	tries   int
	dropped bool
	finish  func(data []byte, err error)
}

// hand is a place for a worker.
type hand struct {
	worker worker
	state  *evolve.State // that the worker has
	job    *job          // that it is at; nil: idle
}

// crew is a peer.Evaluator and peer.Looker whose work is done by Web Workers. This program computes nothing itself.
type crew struct {
	mu      sync.Mutex
	setup   []byte
	hire    hire
	trouble func(error) // told when workers keep crashing
	want    int         // workers to have
	hands   []*hand
	tasks   map[uint64]*job
	urgent  []*job
	normal  []*job
	looks   []*job
	serial  uint64 // of jobs, as workers know them
	crashes int    // in a row
	resting bool   // no worker is hired until the rest is over
	closed  bool

	state      *evolve.State // whose encoding is stateBytes
	stateBytes []byte
}

// newCrew returns a crew of n workers. trouble is called from any goroutine.
func newCrew(setup []byte, n int, hire hire, trouble func(error)) *crew {
	c := &crew{setup: setup, hire: hire, trouble: trouble, tasks: make(map[uint64]*job)}
	c.SetWorkers(n)
	return c
}

// Evaluate implements peer.Evaluator.
func (c *crew) Evaluate(id uint64, task rollout.Task, urgent bool, done func([]rollout.CandidateResult, error)) {
	data, err := rollout.MarshalTask(task)
	if err != nil {
		go done(nil, err)
		return
	}
	n := len(task.Seeds)
	c.mu.Lock()
	defer c.mu.Unlock()
	j := &job{task: data, state: task.State, urgent: urgent}
	j.finish = func(data []byte, err error) {
		delete(c.tasks, id)
		if err != nil {
			go done(nil, err)
			return
		}
		results, err := rollout.UnmarshalResults(data, n)
		go done(results, err)
	}
	c.tasks[id] = j
	c.submit(j)
}

// Look implements peer.Looker.
func (c *crew) Look(state *evolve.State, episodeSeeds []uint64, done func(returns []float64, err error)) {
	j := &job{state: state, seeds: wordBytes(episodeSeeds)}
	n := len(episodeSeeds)
	j.finish = func(data []byte, err error) {
		if err == nil && len(data) != 8*n {
			err = fmt.Errorf("%w: %d bytes of returns for %d episodes", errWorker, len(data), n)
		}
		if err != nil {
			go done(nil, err)
			return
		}
		returns := make([]float64, n)
		for i := range returns {
			returns[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
		}
		go done(returns, nil)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.submit(j)
}

// Cancel implements peer.Evaluator. A task that a worker is at runs to its end; its answer is dropped.
func (c *crew) Cancel(id uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if j := c.tasks[id]; j != nil {
		j.dropped = true
		delete(c.tasks, id)
	}
}

// Slots implements peer.Evaluator: one task for each worker, and one more so that none waits for a message.
func (c *crew) Slots(uint64) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.want + 1
}

// Workers implements peer.Evaluator.
func (c *crew) Workers() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.want
}

// SetWorkers implements peer.Evaluator. A worker that is too many goes when it has finished.
func (c *crew) SetWorkers(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.want = max(n, 0)
	c.work()
}

// Close implements peer.Evaluator. Web Workers end at once, in the middle of what they do.
func (c *crew) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for _, h := range c.hands {
		h.worker.kill()
	}
	c.hands, c.urgent, c.normal, c.looks = nil, nil, nil, nil
}

// submit queues j. The lock is held.
func (c *crew) submit(j *job) {
	if c.closed {
		j.finish(nil, errClosed)
		return
	}
	c.serial++
	j.id, j.since = c.serial, time.Now()
	c.queue(j)
	c.work()
}

func (c *crew) queue(j *job) {
	switch {
	case j.task == nil:
		c.looks = append(c.looks, j)
	case j.urgent:
		c.urgent = append(c.urgent, j)
	default:
		c.normal = append(c.normal, j)
	}
}

// work brings the number of workers to what is wanted and gives idle ones something to do. The lock is held.
func (c *crew) work() {
	if c.closed {
		return
	}
	for i := len(c.hands) - 1; i >= 0 && len(c.hands) > c.want; i-- {
		if h := c.hands[i]; h.job == nil {
			h.worker.kill()
			c.hands = append(c.hands[:i], c.hands[i+1:]...)
		}
	}
	for len(c.hands) < c.want && !c.resting {
		c.hands = append(c.hands, c.newHand())
	}
	for _, h := range c.hands {
		if h.job != nil {
			continue
		}
		j := c.next()
		if j == nil {
			return
		}
		c.give(h, j)
	}
}

// newHand hires a worker. The lock is held.
func (c *crew) newHand() *hand {
	h := new(hand)
	h.worker = c.hire(c.setup,
		func(id uint64, data []byte, err error) { c.answered(h, id, data, err) },
		func(err error) { c.crashed(h, err) })
	return h
}

// next takes what is to be done next from the queues; nil if there is nothing. The lock is held.
func (c *crew) next() *job {
	queues := []*[]*job{&c.urgent, &c.normal, &c.looks}
	if len(c.looks) > 0 && time.Since(c.looks[0].since) > lookWait {
		queues = []*[]*job{&c.urgent, &c.looks, &c.normal}
	}
	for _, q := range queues {
		for len(*q) > 0 {
			j := (*q)[0]
			*q = (*q)[1:]
			if !j.dropped {
				return j
			}
		}
	}
	return nil
}

// give posts j to h. The lock is held.
func (c *crew) give(h *hand, j *job) {
	h.job = j
	j.tries++
	if j.task == nil {
		if data, ok := c.encoded(h, j); ok {
			h.worker.look(j.id, data, j.seeds)
		}
		return
	}
	if h.state != j.state {
		data, ok := c.encoded(h, j)
		if !ok {
			return
		}
		h.worker.state(data)
		h.state = j.state
	}
	h.worker.task(j.id, j.task)
}

// encoded returns the bytes of the state of j; those of the newest are kept, since every worker gets them. A state that
// cannot be encoded ends the job of h. The lock is held.
func (c *crew) encoded(h *hand, j *job) (data []byte, ok bool) {
	if c.state == j.state {
		return c.stateBytes, true
	}
	data, err := j.state.MarshalBinary()
	if err != nil {
		h.job = nil
		j.finish(nil, err)
		return nil, false
	}
	if j.task != nil {
		c.state, c.stateBytes = j.state, data
	}
	return data, true
}

// answered takes the answer of h to the job id.
func (c *crew) answered(h *hand, id uint64, data []byte, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	j := h.job
	if c.closed || j == nil || j.id != id {
		return
	}
	h.job = nil
	c.crashes = 0
	if !j.dropped {
		if err != nil {
			err = fmt.Errorf("%w: %w", errWorker, err)
		}
		j.finish(data, err)
	}
	c.work()
}

// crashed replaces h and repeats what it was at.
func (c *crew) crashed(h *hand, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || !c.remove(h) {
		return
	}
	c.crashes++
	if c.crashes == maxCrashes {
		go c.trouble(fmt.Errorf("%w %d times in a row: %w", errWorker, c.crashes, err))
	}
	if j := h.job; j != nil && !j.dropped {
		if j.tries < maxTries {
			c.queue(j)
		} else {
			j.finish(nil, fmt.Errorf("%w: %w", errWorker, err))
		}
	}
	c.rest()
}

// rest keeps from hiring for a while. The lock is held.
func (c *crew) rest() {
	if c.resting {
		return
	}
	c.resting = true
	time.AfterFunc(min(restBase<<min(c.crashes-1, 10), restMax), func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.resting = false
		c.work()
	})
}

func (c *crew) remove(h *hand) bool {
	for i := range c.hands {
		if c.hands[i] == h {
			c.hands = append(c.hands[:i], c.hands[i+1:]...)
			return true
		}
	}
	return false
}

// wordBytes returns the little-endian bytes of x.
func wordBytes(x []uint64) []byte {
	b := make([]byte, 0, 8*len(x))
	for _, v := range x {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}
