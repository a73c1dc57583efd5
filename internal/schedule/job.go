package schedule

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// kind is what a job asks for; each kind has a queue.
type kind int

const (
	folding kind = iota
	urgentTask
	urgentHeldOut
	own
	heldOut
	kinds
)

// episodes reports whether a job of the kind asks for held-out episodes.
func (k kind) episodes() bool { return k == heldOut || k == urgentHeldOut }

const (
	// heldOutUnit is how many held-out episodes a worker takes at a time: running together makes them
	// cheaper, but everything else waits for the longest of them.
	heldOutUnit = 4
	// heldOutAfter is how many candidates of own tasks run before waiting held-out episodes get a turn: with
	// long episodes no worker is ever idle, and the return that people see would never change.
	heldOutAfter = 32
)

// job is one thing to do. Workers get it in pieces.
type job struct {
	id     uint64 // of a task or a fold
	kind   kind
	state  *evolve.State
	task   rollout.Task // of a task
	seeds  []uint64     // of held-out episodes
	fold   rollout.Fold // of a fold
	answer Answer       // as far as it is there
	left   int          // candidates, episodes or folds without an answer
	tries  int          // workers that died at it
	over   bool         // finished, failed or dropped
	done   func(Answer, error)
}

// piece is a part of a job: some of its candidates or episodes, or its fold.
type piece struct {
	job      *job
	first, n int
	alone    bool // not to be batched with others: it failed in such a batch
}

// joins reports whether p can be in a batch with first.
func (p *piece) joins(first *piece) bool {
	return p.job.state == first.job.state && p.job.task.HeldOut == first.job.task.HeldOut && !p.alone && !first.alone
}

// batch is what a worker gets at a time: pieces of tasks on one state, joined to one task, or one piece of
// another kind.
type batch struct {
	id     uint64
	pieces []*piece // one at least
}

// size is the number of its candidates, or episodes.
func (b *batch) size() (n int) {
	for _, p := range b.pieces {
		n += p.n
	}
	return n
}

// task joins its pieces.
func (b *batch) task() rollout.Task {
	head := b.pieces[0].job.task
	all := rollout.Task{State: head.State, Episodes: head.Episodes[:1], HeldOut: head.HeldOut}
	shared := true
	for _, p := range b.pieces {
		t := &p.job.task
		all.Seeds = append(all.Seeds, t.Seeds[p.first:p.first+p.n]...)
		shared = shared && len(t.Episodes) == 1 && slices.Equal(t.Episodes[0], all.Episodes[0])
	}
	if shared {
		return all
	}
	all.Episodes = nil
	for _, p := range b.pieces {
		episodes := p.job.task.Episodes
		for i := range p.n {
			all.Episodes = append(all.Episodes, episodes[min(p.first+i, len(episodes)-1)])
		}
	}
	return all
}

// check reports whether a has the form of an answer to b.
func (b *batch) check(a Answer) error {
	got, want := 0, b.size()
	switch first := b.pieces[0].job; first.kind {
	case folding:
		got, want = len(a.Folded), len(first.fold.Steps)
		if got == want && a.Folded[got-1].State == nil {
			return errors.New("a fold without its last state")
		}
	case heldOut, urgentHeldOut:
		got = len(a.Returns)
	default:
		got = len(a.Results)
	}
	if got != want {
		return fmt.Errorf("%d answers to a batch of %d", got, want)
	}
	return nil
}

// nextFold takes the fold that is to be done next; nil if there is none. The lock is held.
func (s *Scheduler) nextFold() *batch {
	if q := &s.queues[folding]; len(*q) > 0 {
		return cut(q, 1)
	}
	return nil
}

// next takes what a worker is to do next; nil if there is nothing. The lock is held.
func (s *Scheduler) next() *batch {
	order := [...]kind{urgentTask, urgentHeldOut, own, heldOut}
	if s.passed >= heldOutAfter {
		order = [...]kind{urgentTask, urgentHeldOut, heldOut, own}
	}
	for _, k := range order {
		q := &s.queues[k]
		if len(*q) == 0 || !k.episodes() && !(*q)[0].alone && !(*q)[0].job.task.HeldOut && s.reserved() {
			continue
		}
		b := cut(q, s.budget(k))
		switch k {
		case own:
			s.passed += b.size()
		case heldOut:
			s.passed = 0
		}
		return b
	}
	return nil
}

// budget is how many candidates or episodes of a queue go into one batch: as many as take BatchTime at the
// present pace, but no more than one worker's share. The lock is held.
func (s *Scheduler) budget(k kind) int {
	if k.episodes() {
		return heldOutUnit
	}
	if s.pace == 0 {
		return 1
	}
	total := 0
	for _, p := range s.queues[k] {
		total += p.n
	}
	share := (total + s.want - 1) / max(s.want, 1)
	return max(min(int(s.cfg.BatchTime/s.pace), share), 1)
}

// cut takes a batch of at most n candidates or episodes from the front of a queue.
func cut(q *[]*piece, n int) *batch {
	first := *(*q)[0]
	b := new(batch)
	for len(*q) > 0 && n > 0 {
		p := (*q)[0]
		if len(b.pieces) > 0 && (!p.joins(&first) || p.job.kind.episodes()) {
			break
		}
		part := *p
		part.n = min(p.n, n)
		b.pieces = append(b.pieces, &part)
		n -= part.n
		p.first += part.n
		p.n -= part.n
		if p.n == 0 {
			*q = (*q)[1:]
		}
	}
	return b
}

// measure notes how long m took for b. The lock is held.
func (s *Scheduler) measure(m *member, b *batch, took time.Duration) {
	if k := b.pieces[0].job.kind; k != urgentTask && k != own {
		return
	}
	pace := &s.pace
	if m.device != nil {
		pace = &m.pace
	}
	each := max(took/time.Duration(b.size()), 1)
	if *pace != 0 {
		each = (each + *pace) / 2
	}
	*pace = each
}

// finished copies the answer to b into its jobs and ends those that are complete. The lock is held.
func (s *Scheduler) finished(b *batch, a Answer) {
	at := 0
	for _, p := range b.pieces {
		j := p.job
		switch j.kind {
		case folding:
			j.answer.Folded = a.Folded
		case heldOut, urgentHeldOut:
			copy(j.answer.Returns[p.first:], a.Returns)
		default:
			copy(j.answer.Results[p.first:], a.Results[at:at+p.n])
		}
		at += p.n
		if j.left -= p.n; j.left == 0 {
			s.end(j, nil)
		}
	}
}

// failed ends the job of b with err; if b has several pieces, each is tried again alone. The lock is held.
func (s *Scheduler) failed(b *batch, err error) {
	if len(b.pieces) == 1 {
		s.end(b.pieces[0].job, err)
		return
	}
	for _, p := range b.pieces {
		p.alone = true
		s.retry(p, err)
	}
}

// retry queues p again unless its job is over or was tried too often. The lock is held.
func (s *Scheduler) retry(p *piece, err error) {
	switch {
	case p.job.over:
	case p.job.tries < maxTries:
		s.enqueue(p)
	default:
		s.end(p.job, err)
	}
}

// end answers j, once. The lock is held.
func (s *Scheduler) end(j *job, err error) {
	if j.over {
		return
	}
	s.drop(j)
	if err != nil {
		j.answer = Answer{}
	}
	s.ended = append(s.ended, func() { j.done(j.answer, err) })
}

// drop forgets j. The lock is held.
func (s *Scheduler) drop(j *job) {
	j.over = true
	if !j.kind.episodes() {
		delete(s.jobs, j.id)
	}
	if j.left > 0 {
		q := &s.queues[j.kind]
		*q = slices.DeleteFunc(*q, func(p *piece) bool { return p.job == j })
	}
}
