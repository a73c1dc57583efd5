package schedule

import (
	"slices"
	"time"
)

// Device is hardware that evaluates many candidates at a time, such as a GPU. It gets tasks only: folds and held-out
// episodes stay with the workers, and so do tasks that are too small for it.
type Device struct {
	// Start starts the worker that runs it, like Config.Start. A device whose worker died, or answered a batch with
	// an error, is not used again: its batches go to the workers.
	Start func(answer func(id uint64, a Answer, err error), died func(error)) Worker
	// Least is how many candidates are worth a batch, at least 1.
	Least int
	// BatchTime is how long a batch may take: work that becomes urgent waits for it.
	BatchTime time.Duration
	// Alone says that the workers leave all tasks to devices, however small, as long as one is in use.
	Alone bool
	// Lost is called with the reason when the device is given up, from any goroutine; may be nil.
	Lost func(error)
}

// Add starts a device and uses it next to the workers, while any of those are lent.
func (s *Scheduler) Add(d Device) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	d.Least = max(d.Least, 1)
	m := &member{device: &d}
	m.worker = d.Start(
		func(id uint64, a Answer, err error) { s.answered(m, id, a, err) },
		func(err error) { s.died(m, err) })
	s.devices = append(s.devices, m)
	s.dispatch()
}

// reserved reports whether tasks are left to devices. The lock is held.
func (s *Scheduler) reserved() bool {
	return slices.ContainsFunc(s.devices, func(m *member) bool { return m.device.Alone })
}

// Ready returns how many candidates the workers and devices take on at once. It changes as they are measured.
func (s *Scheduler) Ready() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.want
	if n > 0 {
		for _, m := range s.devices {
			n += 2 * m.limit() // the batch that it computes, and the next one
		}
	}
	return n
}

// Devices returns how many devices are in use.
func (s *Scheduler) Devices() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.devices)
}

// limit is the largest batch of a device: as many candidates as it takes for BatchTime at its pace.
func (m *member) limit() int {
	if m.pace == 0 {
		return m.device.Least
	}
	return max(int(m.device.BatchTime/m.pace), m.device.Least)
}

// nextLarge takes what device m is to do next; nil if there is too little for it. Of tasks on one state the device
// gets the share that its pace earns, so that it and the workers are done at the same time. The lock is held.
func (s *Scheduler) nextLarge(m *member) *batch {
	for _, k := range [...]kind{urgentTask, own} {
		q := &s.queues[k]
		n := min(s.share(m, front(*q)), m.limit())
		if n == 0 || n < m.device.Least && !m.device.Alone {
			continue
		}
		b := cut(q, n)
		if k == own {
			s.passed += b.size()
		}
		return b
	}
	return nil
}

// share is how many of n candidates device m should take. The lock is held.
func (s *Scheduler) share(m *member, n int) int {
	if m.pace == 0 || s.pace == 0 || m.device.Alone {
		return n
	}
	rate := 1 / float64(m.pace)
	all := float64(s.want) / float64(s.pace)
	for _, other := range s.devices {
		if other.pace != 0 && len(other.batches) == 0 {
			all += 1 / float64(other.pace)
		}
	}
	return int(float64(n) * rate / max(all, rate))
}

// front counts the candidates at the front of a queue that can be one batch of a device: held-out tasks are for
// workers.
func front(q []*piece) (n int) {
	for _, p := range q {
		if p.job.task.HeldOut || p.job.state != q[0].job.state || p.alone {
			break
		}
		n += p.n
	}
	return n
}

// lose stops using device m and gives its batches to the workers. The lock is held.
func (s *Scheduler) lose(m *member, err error) {
	s.devices = slices.DeleteFunc(s.devices, func(other *member) bool { return other == m })
	for _, b := range m.batches {
		for _, p := range b.pieces {
			s.retry(p, err)
		}
	}
	m.batches = nil
	if m.device.Lost != nil {
		go m.device.Lost(err)
	}
}
