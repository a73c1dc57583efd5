package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/evoswarm/evoswarm/internal/rollout"
)

const (
	// batchTime is how long a worker should be at a batch. A message there and back takes it some 0.05 ms, whatever is in
	// it, so that it is under 1 %; and what is computed in vain when a generation ends stays little.
	batchTime = 8 * time.Millisecond
	// lookUnit is how many held-out episodes a worker takes at a time: they run side by side, which makes them cheaper, but
	// all else waits for the longest of them.
	lookUnit = 4
	// lookAfter is how many candidates of ordinary tasks go before a piece of a look that waits.
	lookAfter = 32
)

// piece is a part of a job: some of its candidates, or of its episodes.
type piece struct {
	job      *job
	queue    *[]*piece // that it came from
	first, n int
	alone    bool // not in one batch with others: it failed in one
}

// batch is what a worker gets in one message: a piece of a look, or pieces of tasks on one state, joined to one.
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
	all := rollout.Task{State: head.State, Episodes: head.Episodes[:1]}
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

// next takes what is to be done next from the queues; nil if there is nothing. The lock is held.
func (c *crew) next() *batch {
	queues := []*[]*piece{&c.urgent, &c.normal, &c.looks}
	if c.passed >= lookAfter {
		queues = []*[]*piece{&c.urgent, &c.looks, &c.normal}
	}
	for _, q := range queues {
		*q = slices.DeleteFunc(*q, func(p *piece) bool { return p.job.over })
		if len(*q) == 0 {
			continue
		}
		b := cut(q, c.budget(*q))
		switch q {
		case &c.normal:
			c.passed += b.size()
		case &c.looks:
			c.passed = 0
		}
		return b
	}
	return nil
}

// budget is how many candidates or episodes of a queue go into a batch: as many as take batchTime at the present pace, but
// no more than one worker's share. The lock is held.
func (c *crew) budget(q []*piece) int {
	if q[0].job.seeds != nil {
		return lookUnit
	}
	if c.pace == 0 {
		return 1
	}
	total := 0
	for _, p := range q {
		total += p.n
	}
	share := (total + c.want - 1) / max(c.want, 1)
	return max(min(int(batchTime/c.pace), share), 1)
}

// cut takes a batch of at most n candidates or episodes from the front of a queue.
func cut(q *[]*piece, n int) *batch {
	first := *(*q)[0]
	b := new(batch)
	for len(*q) > 0 && n > 0 {
		p := (*q)[0]
		if len(b.pieces) > 0 && (p.job.state != first.job.state || p.job.seeds != nil || p.alone || first.alone) {
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

// measure notes how long b took. The lock is held.
func (c *crew) measure(b *batch, took time.Duration) {
	if b.pieces[0].job.seeds != nil {
		return
	}
	each := max(took/time.Duration(b.size()), 1)
	if c.pace != 0 {
		each = (each + c.pace) / 2
	}
	c.pace = each
}

// finished puts the answer to b where its jobs want it. The lock is held.
func (c *crew) finished(b *batch, data []byte) {
	if first := b.pieces[0]; first.job.seeds != nil {
		c.looked(b, first, data)
		return
	}
	results, err := rollout.UnmarshalResults(data, b.size())
	if err != nil {
		c.failed(b, fmt.Errorf("%w: %w", errWorker, err))
		return
	}
	for _, p := range b.pieces {
		copy(p.job.results[p.first:], results[:p.n])
		results = results[p.n:]
		p.done()
	}
}

// looked takes the returns of a look's episodes. The lock is held.
func (c *crew) looked(b *batch, p *piece, data []byte) {
	if len(data) != 8*p.n {
		c.failed(b, fmt.Errorf("%w: %d bytes of returns for %d episodes", errWorker, len(data), p.n))
		return
	}
	for i := range p.n {
		p.job.returns[p.first+i] = math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
	}
	p.done()
}

// done notes that p is answered, and ends its job if that was all.
func (p *piece) done() {
	p.job.left -= p.n
	if p.job.left == 0 {
		p.job.end(nil)
	}
}

// failed ends the job of b with err; several pieces are tried again, each alone. The lock is held.
func (c *crew) failed(b *batch, err error) {
	for _, p := range b.pieces {
		if len(b.pieces) == 1 {
			p.job.end(err)
			return
		}
		p.alone = true
		*p.queue = append(*p.queue, p)
	}
}
