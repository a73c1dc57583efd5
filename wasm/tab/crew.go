package main

import (
	"encoding/binary"
	"errors"
	"fmt"
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
	// maxTries is with how many deaths of workers a job is given up.
	maxTries = 3
	// maxCrashes in a row, without a result between them, are reported to the person.
	maxCrashes = 3
	// restBase is how long to wait before a worker that crashed is replaced; it doubles with every crash in a row.
	restBase = 100 * time.Millisecond
	restMax  = 30 * time.Second
	// ahead is how many batches a worker has at a time: what it is at, and what it goes on with without waiting.
	ahead = 2
	// chunksAhead is the number of chunks for each worker that may be asked for at once: enough for its batches.
	chunksAhead = 16
)

// worker is one Web Worker: it takes one batch after the other. Its answers come to the hand that it was hired with.
type worker interface {
	state(state []byte)
	task(id uint64, task []byte)
	look(id uint64, state, seeds []byte)
	fold(id uint64, state, fold []byte)
	kill()
}

// hire starts a worker for a setup. answer and crash are called from any goroutine, but not before hire has returned;
// after crash or kill nothing is called any more.
type hire func(setup []byte, answer func(id uint64, data []byte, err error), crash func(err error)) worker

// job is one thing to do: a task, or a look. Workers get it in pieces.
type job struct {
	state   *evolve.State
	task    rollout.Task              // of a task
	results []rollout.CandidateResult // of a task
	seeds   []uint64                  // of a look's episodes; nil: a task
	returns []float64                 // of a look
	left    int                       // candidates or episodes without an answer
	tries   int                       // at which a worker died
	over    bool                      // finished, failed or cancelled
	finish  func(err error)
}

// end tells who waits for j, once.
func (j *job) end(err error) {
	if !j.over {
		j.over = true
		j.finish(err)
	}
}

// hand is a place for a worker.
type hand struct {
	worker  worker
	state   *evolve.State // that the worker has
	batches []*batch      // that it is at, and that wait there; none: idle
	since   time.Time     // when the first of them was begun
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
	urgent  []*piece
	normal  []*piece
	looks   []*piece
	passed  int           // candidates of ordinary tasks given since a piece of a look was
	serial  uint64        // of batches, as workers know them
	pace    time.Duration // of a candidate, of late; 0: not known
	crashes int           // in a row
	resting bool          // no worker is hired until the rest is over
	closed  bool

	state      *evolve.State // whose encoding is stateBytes
	stateBytes []byte

	folder *folder
}

// newCrew returns a crew of n workers. trouble is called from any goroutine.
func newCrew(setup []byte, n int, hire hire, trouble func(error)) *crew {
	c := &crew{setup: setup, hire: hire, trouble: trouble, tasks: make(map[uint64]*job), folder: &folder{setup: setup, hire: hire}}
	c.SetWorkers(n)
	return c
}

// Evaluate implements peer.Evaluator.
func (c *crew) Evaluate(id uint64, task rollout.Task, urgent bool, done func([]rollout.CandidateResult, error)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(task.Seeds)
	j := &job{state: task.State, task: task, results: make([]rollout.CandidateResult, n), left: n}
	j.finish = func(err error) {
		delete(c.tasks, id)
		if err != nil {
			go done(nil, err)
			return
		}
		go done(j.results, nil)
	}
	c.tasks[id] = j
	queue := &c.normal
	if urgent {
		queue = &c.urgent
	}
	c.submit(queue, j)
}

// Look implements peer.Looker.
func (c *crew) Look(state *evolve.State, episodeSeeds []uint64, done func(returns []float64, err error)) {
	n := len(episodeSeeds)
	j := &job{state: state, seeds: episodeSeeds, returns: make([]float64, n), left: n}
	j.finish = func(err error) {
		if err != nil {
			go done(nil, err)
			return
		}
		go done(j.returns, nil)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.submit(&c.looks, j)
}

// Fold implements peer.Evaluator.
func (c *crew) Fold(id uint64, fold rollout.Fold, done func([]rollout.Folded, error)) {
	c.folder.add(&folding{id: id, fold: fold, done: done})
}

// Cancel implements peer.Evaluator. Pieces that a worker has run to their end; their answers are dropped.
func (c *crew) Cancel(id uint64) {
	c.folder.cancel(id)
	c.mu.Lock()
	defer c.mu.Unlock()
	if j := c.tasks[id]; j != nil {
		j.over = true
		delete(c.tasks, id)
	}
}

// Slots implements peer.Evaluator.
func (c *crew) Slots(uint64) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.want * chunksAhead
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
	c.folder.close()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for _, h := range c.hands {
		h.worker.kill()
	}
	c.hands, c.urgent, c.normal, c.looks = nil, nil, nil, nil
}

// submit queues j. The lock is held.
func (c *crew) submit(queue *[]*piece, j *job) {
	if c.closed {
		j.end(errClosed)
		return
	}
	*queue = append(*queue, &piece{job: j, queue: queue, n: j.left})
	c.work()
}

// work brings the number of workers to what is wanted and gives them something to do: all something before any has more.
// The lock is held.
func (c *crew) work() {
	if c.closed {
		return
	}
	for i := len(c.hands) - 1; i >= 0 && len(c.hands) > c.want; i-- {
		if h := c.hands[i]; len(h.batches) == 0 {
			h.worker.kill()
			c.hands = append(c.hands[:i], c.hands[i+1:]...)
		}
	}
	for len(c.hands) < c.want && !c.resting {
		c.hands = append(c.hands, c.newHand())
	}
	for depth := range ahead {
		for _, h := range c.hands[:min(len(c.hands), c.want)] {
			for len(h.batches) == depth {
				b := c.next()
				if b == nil {
					return
				}
				c.give(h, b)
			}
		}
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

// give posts b to h, or ends its jobs if that cannot be. The lock is held.
func (c *crew) give(h *hand, b *batch) {
	first := b.pieces[0]
	look := first.job.seeds != nil
	state, err := c.encoded(first.job)
	var task []byte
	if err == nil && !look {
		task, err = rollout.MarshalTask(b.task())
	}
	if err != nil {
		c.failed(b, err)
		return
	}
	c.serial++
	b.id = c.serial
	if len(h.batches) == 0 {
		h.since = time.Now()
	}
	h.batches = append(h.batches, b)
	if look {
		h.worker.look(b.id, state, wordBytes(first.job.seeds[first.first:first.first+first.n]))
		return
	}
	if h.state != first.job.state {
		h.worker.state(state)
		h.state = first.job.state
	}
	h.worker.task(b.id, task)
}

// encoded returns the bytes of the state of j; those of the newest are kept, since every worker gets them. The lock is
// held.
func (c *crew) encoded(j *job) ([]byte, error) {
	if c.state == j.state {
		return c.stateBytes, nil
	}
	data, err := j.state.MarshalBinary()
	if err == nil && j.seeds == nil {
		c.state, c.stateBytes = j.state, data
	}
	return data, err
}

// answered takes the answer of h to the batch id.
func (c *crew) answered(h *hand, id uint64, data []byte, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || len(h.batches) == 0 || h.batches[0].id != id {
		return
	}
	b := h.batches[0]
	h.batches = h.batches[1:]
	c.crashes = 0
	now := time.Now()
	c.measure(b, now.Sub(h.since))
	h.since = now
	if err != nil {
		c.failed(b, fmt.Errorf("%w: %w", errWorker, err))
	} else {
		c.finished(b, data)
	}
	c.work()
}

// crashed replaces h and repeats what it had.
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
	for i, b := range h.batches {
		for _, p := range b.pieces {
			if i == 0 { // what it was at
				p.job.tries++
				p.alone = true
			}
			c.retry(p, fmt.Errorf("%w: %w", errWorker, err))
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

// retry queues p again, if it is wanted and was not tried too often. The lock is held.
func (c *crew) retry(p *piece, err error) {
	if p.job.tries < maxTries {
		*p.queue = append(*p.queue, p)
		return
	}
	p.job.end(err)
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
