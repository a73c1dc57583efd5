package schedule

import (
	"slices"
	"sync"
	"time"
)

// Cores are the cores of a computer that works on several runs. A worker has one while it computes, and after each
// batch it goes to the run that has used the least time: all runs that have work get as much, and a run without work
// leaves its part to the others. Its methods are safe for concurrent use.
type Cores struct {
	mu      sync.Mutex
	free    int
	waiting []*Share      // runs that wait for a core, in the order of their coming
	served  time.Duration // what the run that got the last core had used until then
}

// NewCores returns n cores.
func NewCores(n int) *Cores { return &Cores{free: n} }

// Share is the part of one run in Cores, whose lock guards it.
type Share struct {
	cores *Cores
	used  time.Duration // on all cores; what is under way counts as long as the last batch took
	guess time.Duration // what the last batch took
	held  int           // cores
	turns []chan time.Duration
}

// Share returns the part of a run that begins now.
func (c *Cores) Share() *Share { return &Share{cores: c} }

// hold is the use of a core for one batch.
type hold struct {
	guess time.Duration // that is counted already
	since time.Time
}

// take waits for a core.
func (s *Share) take() hold {
	c := s.cores
	c.mu.Lock()
	if s.held == 0 && len(s.turns) == 0 { // who had no work saves nothing up: the others would wait for it later
		s.used = max(s.used, c.served)
	}
	if c.free > 0 {
		c.free--
		guess := s.serve()
		c.mu.Unlock()
		return hold{guess, time.Now()}
	}
	turn := s.queue()
	c.mu.Unlock()
	return hold{<-turn, time.Now()}
}

// again ends the use of a core by a worker that has another batch, and waits for the next. The core is not given away
// in between: a run of short batches would lose it each time to one of long batches.
func (s *Share) again(h hold) hold {
	c := s.cores
	c.mu.Lock()
	s.settle(h)
	turn := s.queue()
	c.pass()
	c.mu.Unlock()
	return hold{<-turn, time.Now()}
}

// give ends the use of a core.
func (s *Share) give(h hold) {
	c := s.cores
	c.mu.Lock()
	defer c.mu.Unlock()
	s.settle(h)
	if len(c.waiting) > 0 {
		c.pass()
		return
	}
	c.free++
}

// count adds what was computed without asking for a core, such as folds.
func (s *Share) count(took time.Duration) {
	s.cores.mu.Lock()
	defer s.cores.mu.Unlock()
	s.used += took
}

// queue has the run wait for one more core. The lock is held.
func (s *Share) queue() <-chan time.Duration {
	turn := make(chan time.Duration, 1)
	if s.turns = append(s.turns, turn); len(s.turns) == 1 {
		s.cores.waiting = append(s.cores.waiting, s)
	}
	return turn
}

// serve counts a core that the run gets now. The lock is held.
func (s *Share) serve() (guess time.Duration) {
	s.cores.served = max(s.cores.served, s.used)
	s.held++
	s.used += s.guess
	return s.guess
}

// settle counts what a batch has taken. The lock is held.
func (s *Share) settle(h hold) {
	took := time.Since(h.since)
	s.held--
	s.used += took - h.guess
	s.guess = took
}

// pass gives a core to the run that waits and has used the least, of equal ones to the one that waits longest. The lock
// is held.
func (c *Cores) pass() {
	next := 0
	for i, s := range c.waiting {
		if s.used < c.waiting[next].used {
			next = i
		}
	}
	s := c.waiting[next]
	s.turns[0] <- s.serve()
	s.turns = s.turns[1:]
	c.waiting = slices.Delete(c.waiting, next, next+1)
	if len(s.turns) > 0 {
		c.waiting = append(c.waiting, s)
	}
}
