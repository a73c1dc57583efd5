package rollout

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/evoswarm/evoswarm/internal/episode"
	"github.com/evoswarm/evoswarm/internal/evolve"
)

// ErrCanceled is returned by Pool.Evaluate once its cancel function has returned true.
var ErrCanceled = errors.New("rollout: canceled")

// Pool evaluates tasks on several goroutines. Each takes the next candidate when it has finished one, so that
// none idles before the last candidates; results do not depend on the number of goroutines or on which of
// them computes what. A Pool is safe for concurrent use: calls share the goroutines, which serve the oldest
// call first and turn to the next one while the last candidates of the oldest are running. Between calls it
// has no goroutines, and it need not be closed.
type Pool struct {
	plan    Plan
	workers int

	mu    sync.Mutex
	idle  []runner
	calls []*call // those with items left to take, oldest first
}

// call is work that consists of items.
type call struct {
	run   func(s *runner, k int) bool // runs item k; false: start no further item
	items int
	next  int           // first item not taken yet
	left  int           // unfinished items
	done  chan struct{} // closed when no item is left
}

// NewPool returns a pool of workers goroutines, or of runtime.GOMAXPROCS(0) if workers is 0 or less.
func NewPool(plan Plan, workers int) *Pool {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	p := &Pool{plan: plan, workers: workers, idle: make([]runner, workers)}
	for i := range p.idle {
		p.idle[i] = newRunner(plan)
	}
	return p
}

// Workers returns the number of goroutines that the pool computes on.
func (p *Pool) Workers() int { return p.workers }

// Evaluate returns one result per seed of t, in the order of the seeds. It reads t until it returns. A cancel
// function that is not nil is called before each candidate, from several goroutines; once it returns true no
// further candidate is started, and the error is ErrCanceled. Other errors wrap ErrTask or evolve.ErrState.
// Bit exact.
func (p *Pool) Evaluate(t Task, cancel func() bool) ([]CandidateResult, error) {
	if err := p.plan.Check(t); err != nil {
		return nil, err
	}
	return p.EvaluateChecked(t, cancel)
}

// EvaluateChecked is Evaluate for a task that has passed Plan.Check, or for some of its candidates: checking
// the whole state takes longer than generating a candidate. The only error is ErrCanceled. Bit exact.
func (p *Pool) EvaluateChecked(t Task, cancel func() bool) ([]CandidateResult, error) {
	outcomes := make([]Outcome, items(&t, p.plan.Strategy))
	var canceled atomic.Bool
	p.each(len(outcomes), func(s *runner, k int) bool {
		if cancel != nil && cancel() {
			canceled.Store(true)
			return false
		}
		outcomes[k] = s.run(&t, p.plan.Strategy, k)
		return true
	})
	if canceled.Load() {
		return nil, ErrCanceled
	}
	return join(outcomes, signs(&t, p.plan.Strategy)), nil
}

// Returns is Evaluator.Returns on all goroutines. Bit exact.
func (p *Pool) Returns(s *evolve.State, episodeSeeds []uint64, dst []float64) (steps uint64) {
	shares := shares(len(episodeSeeds), p.workers)
	taken := make([]uint64, len(shares))
	p.each(len(shares), func(at *runner, k int) bool {
		first, end := shares[k].first, shares[k].end
		taken[k] = at.evaluator.held(s, episodeSeeds[first:end], dst[first:end], nil)
		return true
	})
	for _, n := range taken {
		steps += n
	}
	return steps
}

// share is a range of a list.
type share struct{ first, end int }

// shares splits a list of n episodes into shares for workers: two for each of them, so that none is idle for long at
// the end, but no smaller than what runs in lockstep if that leaves one for each.
func shares(n, workers int) []share {
	if n == 0 {
		return nil
	}
	count := min(n, max(workers, min(2*workers, n/episode.MaxLanes)))
	list := make([]share, count)
	for k := range list {
		list[k] = share{k * n / count, (k + 1) * n / count}
	}
	return list
}

// each calls f once for each k in 0 .. n-1 on the pool's goroutines, until a call of f returns false.
func (p *Pool) each(n int, f func(s *runner, k int) bool) {
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

// work runs items on s until no item is left to take.
func (p *Pool) work(s runner) {
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

// skip counts n items of c as taken. The caller holds the lock.
func (p *Pool) skip(c *call, n int) {
	if n == 0 {
		return
	}
	if c.next += n; c.next == c.items {
		p.calls = slices.DeleteFunc(p.calls, func(other *call) bool { return other == c })
	}
}
