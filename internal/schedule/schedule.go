// Package schedule decides what is computed next, and by which worker. It computes nothing itself: goroutines
// do that on a computer and Web Workers in a browser tab, both behind [Worker].
//
// Floor 4, adapters: floors 5 and 6 import it.
//
// Re-runs that others wait for come first, then urgent held-out episodes, then own tasks, which leave a share for the
// other held-out episodes. Folds have a worker to themselves, because the protocol always owes them: they run even when
// no core is lent, wait for no episode, and find the state of the previous fold already in place.
package schedule

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

var (
	// ErrClosed is the answer to work that is asked for after [Scheduler.Close].
	ErrClosed = errors.New("the workers are closed")
	// ErrWorker is wrapped by errors of work whose worker failed or died.
	ErrWorker = errors.New("a worker failed")
)

const (
	// maxTries is how many workers may die at a job before it is given up.
	maxTries = 3
	// maxDeaths is how many workers die in a row, with no answer in between, before Trouble is called.
	maxDeaths = 3
	// backoffMin is how long to wait before a worker that died is replaced; it doubles with every death in a row.
	backoffMin = 100 * time.Millisecond
	backoffMax = 30 * time.Second
)

// Worker computes one batch after the other, in the order in which it is given them, and answers each under its id. Its
// methods return at once. They are never called by two goroutines at a time, nor after Stop.
type Worker interface {
	// Evaluate runs a task. Both it and its state are read-only and stay valid.
	Evaluate(id uint64, task rollout.Task)
	// Validate runs one held-out episode of the mean policy of state for each seed. Both are read-only and stay valid.
	Validate(id uint64, state *evolve.State, episodeSeeds []uint64)
	// Fold applies generations, one after the other. It is read-only and stays valid.
	Fold(id uint64, fold rollout.Fold)
	// Stop ends the worker; what it is at may be finished or not.
	Stop()
}

// Answer is what a batch gave: the one field that belongs to its kind.
type Answer struct {
	Results []rollout.CandidateResult // one for each seed of a task
	Returns []float64                 // one for each held-out episode
	Folded  []rollout.Folded          // one for each step of a fold; the last has its state
}

// Config is what a scheduler is made of.
type Config struct {
	// Start starts a worker, which calls answer for each batch, and died at most once, from any goroutine but
	// not before Start has returned. The error of an answer is that of one batch; a worker that died is never
	// used again. Required.
	Start func(answer func(id uint64, a Answer, err error), died func(error)) Worker
	// BatchTime is how long a worker should be at one batch, for workers that take a message for each; zero:
	// a batch is one candidate.
	BatchTime time.Duration
	// Ahead is how many batches a worker holds at a time: the one it computes, and those it starts next
	// without waiting. Zero: 1.
	Ahead int
	// Trouble is called when workers die again and again, from any goroutine; may be nil.
	Trouble func(error)
}

// Scheduler gives work to workers. Its methods return at once and are safe for concurrent use.
type Scheduler struct {
	cfg Config

	mu      sync.Mutex
	want    int // workers lent
	workers []*member
	folder  *member         // the worker of folds; nil until it is started
	devices []*member       // those in use
	jobs    map[uint64]*job // tasks and folds by their id
	queues  [kinds][]*piece
	passed  int           // candidates of own tasks given since held-out episodes were
	serial  uint64        // of batches, as workers know them
	pace    time.Duration // of a candidate on a worker, of late; 0: not known
	deaths  int           // of workers, in a row
	backoff bool          // whether starting workers has to wait
	ended   []func()      // callbacks to call once the lock is released
	closed  bool
}

// member is a worker and what it has been given.
type member struct {
	worker  Worker
	batches []*batch  // the one it computes, and those that wait there; none: idle
	since   time.Time // when the first of them was begun

	device *Device       // nil: a worker
	pace   time.Duration // of a candidate on the device, of late; 0: not known
}

// New returns a scheduler with n workers, and one for folds.
func New(cfg Config, n int) *Scheduler {
	cfg.Ahead = max(cfg.Ahead, 1)
	s := &Scheduler{cfg: cfg, jobs: make(map[uint64]*job)}
	s.SetWorkers(n)
	return s
}

// Evaluate begins task under an id that is not in use, urgent ones before others, and calls done once, from
// any goroutine, unless Cancel or Close came first. task is read-only and must stay valid.
func (s *Scheduler) Evaluate(id uint64, task rollout.Task, urgent bool, done func([]rollout.CandidateResult, error)) {
	if err := task.Check(); err != nil {
		go done(nil, err)
		return
	}
	j := &job{id: id, kind: own, state: task.State, task: task, left: len(task.Seeds),
		done: func(a Answer, err error) { done(a.Results, err) }}
	if urgent {
		j.kind = urgentTask
	}
	j.answer.Results = make([]rollout.CandidateResult, j.left)
	s.submit(j)
}

// Validate runs one held-out episode of the mean policy of state for each seed, urgent ones before own tasks, and calls
// done once with the returns, in order, unless Close came first. state and seeds are read-only and must stay valid.
func (s *Scheduler) Validate(state *evolve.State, episodeSeeds []uint64, urgent bool, done func([]float64, error)) {
	n, k := len(episodeSeeds), heldOut
	if urgent {
		k = urgentHeldOut
	}
	s.submit(&job{kind: k, state: state, seeds: episodeSeeds, left: n, answer: Answer{Returns: make([]float64, n)},
		done: func(a Answer, err error) { done(a.Returns, err) }})
}

// Fold begins a fold under an id that is not in use, folds in the order of their coming, and calls done once
// with what its steps gave, of which the last has its state, unless Cancel or Close came first. It does so
// whether workers are lent or not. fold is read-only and must stay valid.
func (s *Scheduler) Fold(id uint64, fold rollout.Fold, done func([]rollout.Folded, error)) {
	if err := fold.Check(); err != nil {
		go done(nil, err)
		return
	}
	s.submit(&job{id: id, kind: folding, state: fold.State, fold: fold, left: 1,
		done: func(a Answer, err error) { done(a.Folded, err) }})
}

// Cancel drops a task or a fold. A batch that is already under way finishes, and its answer is ignored. Unknown ids are
// ignored.
func (s *Scheduler) Cancel(id uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j := s.jobs[id]; j != nil {
		s.drop(j)
	}
}

// Workers is how many workers are lent.
func (s *Scheduler) Workers() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.want
}

// SetWorkers changes how many workers are lent; with 0 everything but folds waits. A surplus worker stops once it has
// finished its batches.
func (s *Scheduler) SetWorkers(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.want = max(n, 0)
	s.dispatch()
}

// Close ends all work.
func (s *Scheduler) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.closed = true
	for _, m := range s.members() {
		m.worker.Stop()
	}
	s.workers, s.folder, s.devices, s.queues = nil, nil, nil, [kinds][]*piece{}
}

// members are all workers. The lock is held.
func (s *Scheduler) members() []*member {
	all := append(slices.Clone(s.devices), s.workers...)
	if s.folder != nil {
		all = append(all, s.folder)
	}
	return all
}

// submit queues j.
func (s *Scheduler) submit(j *job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		go j.done(Answer{}, ErrClosed)
		return
	}
	if !j.kind.episodes() {
		s.jobs[j.id] = j
	}
	s.enqueue(&piece{job: j, n: j.left})
	s.dispatch()
}

func (s *Scheduler) enqueue(p *piece) {
	q := &s.queues[p.job.kind]
	*q = append(*q, p)
}

// dispatch adjusts the number of workers and gives them batches: every worker gets one before any gets a
// second. The lock is held.
func (s *Scheduler) dispatch() {
	if s.closed {
		return
	}
	s.staff()
	if s.want > 0 {
		for _, m := range s.devices {
			if len(m.batches) == 0 {
				s.give(m, s.nextLarge(m))
			}
		}
	}
	for depth := range s.cfg.Ahead {
		if m := s.folder; m != nil && len(m.batches) == depth {
			s.give(m, s.nextFold())
		}
		for _, m := range s.workers[:min(len(s.workers), s.want)] {
			if len(m.batches) == depth {
				s.give(m, s.next())
			}
		}
	}
}

// staff stops surplus workers that are idle and starts missing ones. The lock is held.
func (s *Scheduler) staff() {
	for i := len(s.workers) - 1; i >= 0 && len(s.workers) > s.want; i-- {
		if m := s.workers[i]; len(m.batches) == 0 {
			m.worker.Stop()
			s.workers = slices.Delete(s.workers, i, i+1)
		}
	}
	if s.backoff {
		return
	}
	if s.folder == nil {
		s.folder = s.start()
	}
	for len(s.workers) < s.want {
		s.workers = append(s.workers, s.start())
	}
}

// start starts a worker. The lock is held.
func (s *Scheduler) start() *member {
	m := new(member)
	m.worker = s.cfg.Start(
		func(id uint64, a Answer, err error) { s.answered(m, id, a, err) },
		func(err error) { s.died(m, err) })
	return m
}

// give hands b to m; a nil b is ignored. The lock is held.
func (s *Scheduler) give(m *member, b *batch) {
	if b == nil {
		return
	}
	s.serial++
	b.id = s.serial
	if len(m.batches) == 0 {
		m.since = time.Now()
	}
	m.batches = append(m.batches, b)
	switch first := b.pieces[0]; first.job.kind {
	case folding:
		m.worker.Fold(b.id, first.job.fold)
	case heldOut, urgentHeldOut:
		m.worker.Validate(b.id, first.job.state, first.job.seeds[first.first:first.first+first.n])
	default:
		m.worker.Evaluate(b.id, b.task())
	}
}

// answered takes the answer of m to the batch id.
func (s *Scheduler) answered(m *member, id uint64, a Answer, err error) {
	s.mu.Lock()
	defer s.leave()
	i := slices.IndexFunc(m.batches, func(b *batch) bool { return b.id == id })
	if s.closed || i < 0 {
		return
	}
	b := m.batches[i]
	m.batches = slices.Delete(m.batches, i, i+1)
	now := time.Now()
	s.measure(m, b, now.Sub(m.since))
	m.since = now
	if err == nil {
		err = b.check(a)
	}
	switch {
	case err != nil && m.device != nil:
		m.batches = append(m.batches, b)
		m.worker.Stop()
		s.lose(m, fmt.Errorf("%w: %w", ErrWorker, err))
	case err != nil:
		s.deaths = 0
		s.failed(b, fmt.Errorf("%w: %w", ErrWorker, err))
	default:
		s.deaths = 0
		s.finished(b, a)
	}
	s.dispatch()
}

// died replaces m and repeats its batches.
func (s *Scheduler) died(m *member, err error) {
	s.mu.Lock()
	defer s.leave()
	if s.closed {
		return
	}
	if m.device != nil {
		s.lose(m, fmt.Errorf("%w: %w", ErrWorker, err))
		s.dispatch()
		return
	}
	if !s.remove(m) {
		return
	}
	s.deaths++
	if s.deaths == maxDeaths && s.cfg.Trouble != nil {
		go s.cfg.Trouble(fmt.Errorf("%w %d times in a row: %w", ErrWorker, s.deaths, err))
	}
	for i, b := range m.batches {
		for _, p := range b.pieces {
			if i == 0 { // the one it was computing
				p.job.tries++
				p.alone = true
			}
			s.retry(p, fmt.Errorf("%w: %w", ErrWorker, err))
		}
	}
	s.wait()
}

// wait postpones starting workers. The lock is held.
func (s *Scheduler) wait() {
	if s.backoff {
		return
	}
	s.backoff = true
	time.AfterFunc(min(backoffMin<<min(s.deaths-1, 10), backoffMax), func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.backoff = false
		s.dispatch()
	})
}

// remove forgets m and reports whether it was known. The lock is held.
func (s *Scheduler) remove(m *member) bool {
	if m == s.folder {
		s.folder = nil
		return true
	}
	n := len(s.workers)
	s.workers = slices.DeleteFunc(s.workers, func(other *member) bool { return other == m })
	return len(s.workers) < n
}

// leave releases the lock, then calls the callbacks of the jobs that ended.
func (s *Scheduler) leave() {
	ended := s.ended
	s.ended = nil
	s.mu.Unlock()
	for _, tell := range ended {
		tell()
	}
}
