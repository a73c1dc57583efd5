package main

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/solo"
	"github.com/evoswarm/evoswarm/internal/store"
)

// point is a held-out evaluation of the mean policy.
type point struct {
	seconds float64 // for which the trial had its cores
	steps   uint64  // env-steps of training
	ret     float64 // mean return
}

// trial is a run of one world with one of its settings and one seed. It computes only while it has cores from the gate
// and time of its budget left, so trials take turns and continue where they were.
type trial struct {
	world *world
	flags string
	seed  uint64
	cores int // that it computes on
	rules *seedlog.Rules
	gate  *gate
	pool  *rollout.Pool

	held time.Duration // for which it had its cores; guarded by the gate

	budget   time.Duration // of held; while the trial computes nobody writes it
	deadline time.Time     // when it rests anyway; the same holds
	begun    time.Time     // when it got its cores; zero: it has none
	ctx      context.Context
	stop     context.CancelFunc // nil before the trial began
	proceed  chan struct{}      // the next part of the budget
	rested   chan struct{}      // the budget is used up
	finished chan struct{}      // closed at the end: solved, stopped, or failed
	result   solo.Result        // once finished
	err      error              // once finished; not that it was stopped

	mu    sync.Mutex
	last  solo.Progress // the newest generation
	curve []point
}

func newTrial(w *world, g *gate, flags string, seed uint64, cores int) (*trial, error) {
	rules, err := rulesOf(w.Env, flags, seed)
	if err != nil {
		return nil, err
	}
	return &trial{world: w, flags: flags, seed: seed, cores: cores, rules: rules, gate: g, pool: rollout.NewPool(rules.Plan, cores),
		proceed: make(chan struct{}), rested: make(chan struct{}), finished: make(chan struct{})}, nil
}

// advance lets the trial compute until it had its cores for budget, the deadline is over, or the trial is. The end of
// ctx stops it forever.
func (t *trial) advance(ctx context.Context, budget time.Duration, deadline time.Time) {
	t.budget, t.deadline = budget, deadline
	if t.stop == nil {
		t.ctx, t.stop = context.WithCancel(ctx)
		go t.train()
	} else {
		select {
		case t.proceed <- struct{}{}:
		case <-t.finished:
			return
		}
	}
	select {
	case <-t.rested:
	case <-t.finished:
	}
}

// end stops the trial and waits for that.
func (t *trial) end() {
	if t.stop != nil {
		t.stop()
		<-t.finished
	}
}

// over reports whether the trial is finished.
func (t *trial) over() bool {
	select {
	case <-t.finished:
		return true
	default:
		return false
	}
}

func (t *trial) train() {
	defer close(t.finished)
	dir, err := os.MkdirTemp("", "evoswarm-tune-")
	if err != nil {
		t.err = err
		return
	}
	defer os.RemoveAll(dir)
	log, err := store.OpenLog(filepath.Join(dir, strconv.FormatUint(t.seed, 10)+".seedlog"), t.rules, nil)
	if err != nil {
		t.err = err
		return
	}
	defer log.Close()
	t.result, err = solo.Train(t.ctx, solo.Config{Log: log, Pool: t.pool, Evaluator: t, Until: solo.Until{Solved: true}, OnGeneration: t.note})
	t.leave()
	if t.ctx.Err() == nil {
		t.err = err
	}
}

// Evaluate implements seedlog.Evaluator: a generation begins, before which the trial gives its cores to who waits.
func (t *trial) Evaluate(task rollout.Task, cancel func() bool) ([]rollout.CandidateResult, error) {
	t.leave()
	if t.gate.hadOf(t) >= t.budget || time.Now().After(t.deadline) {
		select {
		case t.rested <- struct{}{}:
		case <-t.ctx.Done():
			return nil, rollout.ErrCanceled
		}
		select {
		case <-t.proceed:
		case <-t.ctx.Done():
			return nil, rollout.ErrCanceled
		}
	}
	if !t.gate.enter(t.ctx, t) {
		return nil, rollout.ErrCanceled
	}
	t.begun = time.Now()
	return t.pool.Evaluate(task, cancel)
}

// leave gives back the cores, if the trial has them.
func (t *trial) leave() {
	if !t.begun.IsZero() {
		t.gate.leave(t, time.Since(t.begun))
		t.begun = time.Time{}
	}
}

// note keeps where the trial is, and each held-out evaluation.
func (t *trial) note(p solo.Progress) {
	seconds := t.gate.hadOf(t).Seconds()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = p
	if p.Return != nil {
		t.curve = append(t.curve, point{seconds, p.Steps, *p.Return})
	}
}

// soFar returns the newest generation and the held-out evaluations.
func (t *trial) soFar() (solo.Progress, []point) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last, append([]point(nil), t.curve...)
}

// solved reports whether the mean policy passed the test.
func (t *trial) solved() bool { return t.over() && t.result.Solved }

// smooth is how many successive held-out evaluations are averaged: the best of many single ones would be chance.
const smooth = 3

// best is the highest mean return of successive held-out evaluations; fewer than smooth count as all there are. It
// reports whether there is any.
func best(points []point) (ret float64, ok bool) {
	for i := range points {
		first := max(0, i-smooth+1)
		if i < smooth-1 && i < len(points)-1 {
			continue
		}
		sum := 0.0
		for _, p := range points[first : i+1] {
			sum += p.ret
		}
		if mean := sum / float64(i+1-first); !ok || mean > ret {
			ret, ok = mean, true
		}
	}
	return ret, ok
}
