package schedule

import (
	"time"

	"github.com/evoswarm/evoswarm/internal/rollout"
)

// askCancel is how often Blocking asks whether it is canceled.
const askCancel = 5 * time.Millisecond

// Blocking evaluates one task at a time and waits for it, as a rollout.Pool does. It is for one goroutine, which gives
// the scheduler no other tasks.
type Blocking struct {
	*Scheduler
	last uint64 // id
}

// Evaluate returns what rollout.Pool's Evaluate returns: the same bits. The task is checked by the workers.
func (b *Blocking) Evaluate(task rollout.Task, cancel func() bool) ([]rollout.CandidateResult, error) {
	type answer struct {
		results []rollout.CandidateResult
		err     error
	}
	answered := make(chan answer, 1)
	b.last++
	b.Scheduler.Evaluate(b.last, task, false, func(results []rollout.CandidateResult, err error) { answered <- answer{results, err} })
	ticker := time.NewTicker(askCancel)
	defer ticker.Stop()
	for {
		select {
		case a := <-answered:
			return a.results, a.err
		case <-ticker.C:
			if cancel != nil && cancel() {
				b.Cancel(b.last)
				return nil, rollout.ErrCanceled
			}
		}
	}
}
