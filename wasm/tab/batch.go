package main

import (
	"slices"
	"time"

	"github.com/evoswarm/evoswarm/internal/rollout"
)

// batchTime is how long a worker should be at a batch. A message there and back takes it some 0.05 ms, whatever is in it,
// so that it is under 1 %; and what is computed in vain when a generation ends stays little.
const batchTime = 8 * time.Millisecond

// batch is what a worker gets in one message: a look, or tasks on one state, joined to one.
type batch struct {
	jobs []*job // one at least; its first one's id is the message's
}

// candidates is the number of those of its tasks.
func (b *batch) candidates() (n int) {
	for _, j := range b.jobs {
		n += len(j.task.Seeds)
	}
	return n
}

// task joins its tasks.
func (b *batch) task() rollout.Task {
	all := b.jobs[0].task
	if len(b.jobs) == 1 {
		return all
	}
	all.Seeds = slices.Clone(all.Seeds)
	shared := len(all.Episodes) == 1
	for _, j := range b.jobs[1:] {
		all.Seeds = append(all.Seeds, j.task.Seeds...)
		shared = shared && len(j.task.Episodes) == 1 && slices.Equal(j.task.Episodes[0], all.Episodes[0])
	}
	if shared {
		return all
	}
	all.Episodes = nil
	for _, j := range b.jobs {
		for i := range j.task.Seeds {
			all.Episodes = append(all.Episodes, j.task.Episodes[min(i, len(j.task.Episodes)-1)])
		}
	}
	return all
}

// next takes what is to be done next from the queues; nil if there is nothing. The lock is held.
func (c *crew) next() *batch {
	queues := []*[]*job{&c.urgent, &c.normal, &c.looks}
	if len(c.looks) > 0 && time.Since(c.looks[0].since) > lookWait {
		queues = []*[]*job{&c.urgent, &c.looks, &c.normal}
	}
	for _, q := range queues {
		*q = slices.DeleteFunc(*q, func(j *job) bool { return j.dropped })
		if n := c.fitting(*q); n > 0 {
			b := &batch{slices.Clone((*q)[:n])}
			*q = slices.Delete(*q, 0, n)
			return b
		}
	}
	return nil
}

// fitting is how many of the first jobs of a queue make a batch: as many as take batchTime at the present pace, but no
// more than one worker's share. The lock is held.
func (c *crew) fitting(q []*job) int {
	if len(q) == 0 {
		return 0
	}
	first, n := q[0], 1
	if c.pace == 0 || first.seeds != nil || first.alone {
		return n
	}
	share := (len(q) + c.want - 1) / max(c.want, 1)
	took := c.pace * time.Duration(len(first.task.Seeds))
	for ; n < min(share, len(q)); n++ {
		j := q[n]
		took += c.pace * time.Duration(len(j.task.Seeds))
		if j.state != first.state || j.alone || took > batchTime {
			break
		}
	}
	return n
}

// measure notes how long b took. The lock is held.
func (c *crew) measure(b *batch, took time.Duration) {
	n := b.candidates()
	if n == 0 {
		return // a look
	}
	each := took / time.Duration(n)
	if c.pace != 0 {
		each = (each + c.pace) / 2
	}
	c.pace = each
}

// finished hands the jobs of b what they asked for. The lock is held.
func (c *crew) finished(b *batch, data []byte) {
	if first := b.jobs[0]; first.seeds != nil {
		first.finish(nil, data, nil)
		return
	}
	results, err := rollout.UnmarshalResults(data, b.candidates())
	if err != nil {
		c.failed(b, err)
		return
	}
	for _, j := range b.jobs {
		n := len(j.task.Seeds)
		if !j.dropped {
			j.finish(results[:n:n], nil, nil)
		}
		results = results[n:]
	}
}

// failed ends the job of b with err; several are tried again, each alone. The lock is held.
func (c *crew) failed(b *batch, err error) {
	for _, j := range b.jobs {
		switch {
		case j.dropped:
		case len(b.jobs) > 1:
			j.alone = true
			c.queue(j)
		default:
			j.finish(nil, nil, err)
		}
	}
}
