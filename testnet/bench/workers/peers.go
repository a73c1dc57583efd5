package main

import "container/heap"

// peers are workers of equal speed, and the ways between them and the updates, in seconds.
type peers struct {
	size             int
	step, every, way float64
}

// together has all wait for each update. They are as many as an update needs at least.
func (c peers) together(l *learner, over func(now float64) bool) {
	for now := 0.0; !over(now); {
		longest := 0.0
		all := l.evaluate(l.newest, c.size)
		for _, r := range all {
			longest = max(longest, float64(r.Steps)*c.step)
		}
		now += max(longest+2*c.way, c.every)
		l.update(now, all)
	}
}

// apart has nobody wait.
func (c peers) apart(l *learner, over func(now float64) bool) {
	var (
		clock clock
		known = l.newest
		came  []late
		work  func()
		close func()
	)
	work = func() {
		r := l.evaluate(known, 1)[0]
		done := clock.now + float64(r.Steps)*c.step
		clock.at(done, work)
		clock.at(done+c.way, func() { came = append(came, r) })
	}
	close = func() {
		clock.at(clock.now+c.every, close)
		if l.update(clock.now, came) {
			came = came[:0]
			is := l.newest
			clock.at(clock.now+c.way, func() { known = is })
		}
	}
	for i := range c.size {
		clock.at(float64(i)/float64(c.size)*c.every, work)
	}
	clock.at(c.every, close)
	for !over(clock.now) {
		clock.next()
	}
}

// clock is virtual time: what happens when, in order.
type clock struct {
	now    float64
	events queue
	count  uint64
}

type event struct {
	at    float64
	count uint64
	do    func()
}

func (c *clock) at(when float64, do func()) {
	c.count++
	heap.Push(&c.events, event{when, c.count, do})
}

func (c *clock) next() {
	e := heap.Pop(&c.events).(event)
	c.now = e.at
	e.do()
}

// queue is a heap of events.
type queue []event

func (q queue) Len() int { return len(q) }

func (q queue) Less(i, k int) bool {
	return q[i].at < q[k].at || q[i].at == q[k].at && q[i].count < q[k].count
}

func (q queue) Swap(i, k int) { q[i], q[k] = q[k], q[i] }

func (q *queue) Push(x any) { *q = append(*q, x.(event)) }

func (q *queue) Pop() any {
	last := len(*q) - 1
	e := (*q)[last]
	*q = (*q)[:last]
	return e
}
