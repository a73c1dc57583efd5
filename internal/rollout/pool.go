package rollout

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/evoswarm/evoswarm/internal/evolve"
)

// ErrCancelled is returned by Pool.Evaluate when its cancel function said so.
var ErrCancelled = errors.New("rollout: cancelled")

// Pool evaluates tasks on several goroutines. Each takes the next candidate when it
// has finished one, so that none idles before the last candidates; the results do
// not depend on how many there are or who took what. A Pool is safe for concurrent
// use: calls share the goroutines, which begin with what was asked for first and turn
// to the next call while the last candidates of one are under way. It holds no
// goroutine between calls and need not be closed.
type Pool struct {
	plan    Plan
	workers int

	mu    sync.Mutex
	idle  []station
	calls []*call // in the order of their coming, those of which items are left to take
}

// call is work that is cut into items.
type call struct {
	run   func(s *station, k int) bool // runs item k; false: no further item is to be begun
	items int
	next  int           // first item that nobody took
	left  int           // items that are not finished
	done  chan struct{} // closed when none is left
}

// NewPool returns a pool of that many goroutines, runtime.GOMAXPROCS(0) if workers
// is 0 or less.
func NewPool(plan Plan, workers int) *Pool {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	p := &Pool{plan: plan, workers: workers, idle: make([]station, workers)}
	for i := range p.idle {
		p.idle[i] = newStation(plan)
	}
	return p
}

// Workers returns the number of goroutines that the pool computes on.
func (p *Pool) Workers() int { return p.workers }

// Evaluate returns the result of each seed of t, in t's order. It reads t until it
// returns. If cancel is not nil it is called before each candidate, from several
// goroutines; once it returns true no further candidate is begun and the error is
// ErrCancelled. Other errors wrap ErrTask or evolve.ErrState. Bit exact.
func (p *Pool) Evaluate(t Task, cancel func() bool) ([]CandidateResult, error) {
	if err := p.plan.Check(t); err != nil {
		return nil, err
	}
	return p.EvaluateChecked(t, cancel)
}

// EvaluateChecked is Evaluate for a task that Plan.Check has passed, or a part of its
// candidates: a look at the whole state for each candidate would take longer than to
// make it. The only error is ErrCancelled. Bit exact.
func (p *Pool) EvaluateChecked(t Task, cancel func() bool) ([]CandidateResult, error) {
	outcomes := make([]Outcome, items(&t, p.plan.Strategy))
	var cancelled atomic.Bool
	p.each(len(outcomes), func(s *station, k int) bool {
		if cancel != nil && cancel() {
			cancelled.Store(true)
			return false
		}
		outcomes[k] = s.run(&t, p.plan.Strategy, k)
		return true
	})
	if cancelled.Load() {
		return nil, ErrCancelled
	}
	return join(outcomes, p.plan.Strategy.Antithetic()), nil
}

// Returns is Evaluator.Returns on all goroutines, each of which takes the next episode
// when one of its own is over. Bit exact.
func (p *Pool) Returns(s *evolve.State, episodeSeeds []uint64, dst []float64) (steps uint64) {
	b := &batch{seeds: episodeSeeds, limit: p.plan.Env.MaxSteps, returns: dst}
	shares := min(p.workers, len(episodeSeeds))
	var total atomic.Uint64
	p.each(shares, func(at *station, _ int) bool {
		total.Add(at.evaluator.share(s, b, (len(episodeSeeds)+shares-1)/shares))
		return true
	})
	return total.Load()
}

// each calls f once for each k in 0 .. n-1, on the pool's goroutines, until an f returns
// false.
func (p *Pool) each(n int, f func(s *station, k int) bool) {
	if n == 0 {
		return
	}
	c := &call{run: f, items: n, left: n, done: make(chan struct{})}
	p.mu.Lock()
	p.calls = append(p.calls, c)
	for range min(n, len(p.idle)) {
		last := len(p.idle) - 1
		go p.work(p.idle[last])
		p.idle = p.idle[:last]
	}
	p.mu.Unlock()
	<-c.done
}

// work runs items on s until there is none to take.
func (p *Pool) work(s station) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.calls) > 0 {
		c := p.calls[0]
		k := c.next
		p.skip(c, 1)
		p.mu.Unlock()
		more := c.run(&s, k)
		p.mu.Lock()
		c.left--
		if !more {
			c.left -= c.items - c.next
			p.skip(c, c.items-c.next)
		}
		if c.left == 0 {
			close(c.done)
		}
	}
	p.idle = append(p.idle, s)
}

// skip counts n items of c as taken. The lock is held.
func (p *Pool) skip(c *call, n int) {
	if n == 0 {
		return
	}
	if c.next += n; c.next == c.items {
		p.calls = slices.DeleteFunc(p.calls, func(other *call) bool { return other == c })
	}
}
