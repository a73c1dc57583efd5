package rollout

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/evoswarm/evoswarm/internal/evolve"
)

// ErrCancelled is returned by Pool.Evaluate when its cancel function said so.
var ErrCancelled = errors.New("rollout: cancelled")

// Pool evaluates tasks on several goroutines. Each takes the next candidate when it
// has finished one, so that none idles before the last candidates; the results do
// not depend on how many there are or who took what. A Pool is safe for concurrent
// use: calls wait for each other. It holds no goroutine between calls and need not
// be closed.
type Pool struct {
	mu       sync.Mutex
	plan     Plan
	stations []station
}

// NewPool returns a pool of that many goroutines, runtime.GOMAXPROCS(0) if workers
// is 0 or less.
func NewPool(plan Plan, workers int) *Pool {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	p := &Pool{plan: plan, stations: make([]station, workers)}
	for i := range p.stations {
		p.stations[i] = newStation(plan)
	}
	return p
}

// Workers returns the number of goroutines that the pool computes on.
func (p *Pool) Workers() int { return len(p.stations) }

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
	shares := min(len(p.stations), len(episodeSeeds))
	var total atomic.Uint64
	p.each(shares, func(at *station, _ int) bool {
		total.Add(at.evaluator.share(s, b, (len(episodeSeeds)+shares-1)/shares))
		return true
	})
	return total.Load()
}

// each calls f once for each k in 0 .. n-1, on all goroutines, this one included,
// until an f returns false.
func (p *Pool) each(n int, f func(s *station, k int) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var next atomic.Int64
	work := func(s *station) {
		for {
			k := int(next.Add(1)) - 1
			if k >= n {
				return
			}
			if !f(s, k) {
				next.Store(int64(n))
				return
			}
		}
	}
	var done sync.WaitGroup
	for i := 1; i < min(len(p.stations), n); i++ {
		done.Add(1)
		go func() {
			defer done.Done()
			work(&p.stations[i])
		}()
	}
	work(&p.stations[0])
	done.Wait()
}
