//go:build !js

package peer_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/peer"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

func TestPoolEvaluatorAgreesWithThePool(t *testing.T) {
	rules := cartPole(t)
	self := [32]byte{1}
	task := rules.Task(rules.Initial(), rules.Run, self, 0)
	want, err := rollout.NewPool(rules.Plan, 1).Evaluate(task, nil)
	if err != nil {
		t.Fatal(err)
	}
	seeds := rules.TestSeeds(rules.Run, 7)
	wantReturns := make([]float64, len(seeds))
	rollout.NewPool(rules.Plan, 1).Returns(rules.Initial(), seeds, wantReturns)
	for _, workers := range []int{1, 3, 16} {
		e := peer.NewPoolEvaluator(rules, workers)
		results := make(chan []rollout.CandidateResult, 8)
		returns := make(chan []float64, 1)
		for i := range 8 {
			e.Evaluate(uint64(i), task, i%2 == 0, func(r []rollout.CandidateResult, err error) {
				if err != nil {
					t.Error(err)
				}
				results <- r
			})
		}
		e.Look(rules.Initial(), seeds, func(r []float64, err error) { returns <- r })
		for range 8 {
			if diff := cmp.Diff(<-results, want); diff != "" {
				t.Errorf("%d workers: %s", workers, diff)
			}
		}
		if diff := cmp.Diff(<-returns, wantReturns); diff != "" {
			t.Errorf("%d workers: %s", workers, diff)
		}
		e.Close()
	}
}

func TestPoolEvaluatorRefuses(t *testing.T) {
	rules := cartPole(t)
	e := peer.NewPoolEvaluator(rules, 2)
	defer e.Close()
	longer := rules.Task(rules.Initial(), rules.Run, [32]byte{1}, 0)
	longer.State = longer.State.Clone()
	longer.State.Theta = append(longer.State.Theta, 1)
	for name, c := range map[string]struct {
		task rollout.Task
		err  error
	}{"no candidates": {rollout.Task{State: rules.Initial()}, rollout.ErrTask}, "another shape": {longer, evolve.ErrState}} {
		done := make(chan error, 1)
		e.Evaluate(1, c.task, false, func(_ []rollout.CandidateResult, err error) { done <- err })
		if err := <-done; !errors.Is(err, c.err) {
			t.Errorf("%s: %v, want %v", name, err, c.err)
		}
	}
}

func TestPoolEvaluatorOrderCancelAndWorkers(t *testing.T) {
	rules := cartPole(t)
	e := peer.NewPoolEvaluator(rules, 1)
	defer e.Close()
	e.SetWorkers(0)
	if got := e.Workers(); got != 0 {
		t.Errorf("got %d workers", got)
	}
	time.Sleep(10 * time.Millisecond) // the worker leaves
	task := rules.Task(rules.Initial(), rules.Run, [32]byte{1}, 0)
	order := make(chan string, 3)
	var cancelled atomic.Bool
	e.Evaluate(1, task, false, func([]rollout.CandidateResult, error) { order <- "own" })
	e.Evaluate(2, task, false, func([]rollout.CandidateResult, error) { cancelled.Store(true) })
	e.Evaluate(3, task, true, func([]rollout.CandidateResult, error) { order <- "urgent" })
	e.Evaluate(4, rollout.Task{}, true, func(_ []rollout.CandidateResult, err error) {
		if err == nil {
			t.Error("an empty task was evaluated")
		}
		order <- "refused"
	})
	if got := <-order; got != "refused" {
		t.Errorf("got %s while no worker is there", got)
	}
	e.Cancel(2)
	e.Cancel(99)
	e.SetWorkers(1)
	for _, want := range []string{"urgent", "own"} {
		if got := <-order; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if cancelled.Load() {
		t.Error("a cancelled task was answered")
	}
	if got, want := e.Slots(4), 2; got != want {
		t.Errorf("got %d slots, want %d", got, want)
	}
}

// Where own tasks never end, looks come all the same, after them.
func TestPoolEvaluatorLeavesLooksTheirShare(t *testing.T) {
	rules := cartPole(t)
	e := peer.NewPoolEvaluator(rules, 1)
	defer e.Close()
	e.SetWorkers(0)
	time.Sleep(10 * time.Millisecond) // the worker leaves
	task := rules.Task(rules.Initial(), rules.Run, [32]byte{1}, 0)
	const tasks = 100
	var own atomic.Int64
	ended := make(chan struct{}, tasks)
	for id := range tasks {
		e.Evaluate(uint64(id), task, false, func([]rollout.CandidateResult, error) {
			own.Add(1)
			ended <- struct{}{}
		})
	}
	looked := make(chan int64, 1)
	e.Look(rules.Initial(), []uint64{1, 2, 3, 4}, func([]float64, error) { looked <- own.Load() })
	e.SetWorkers(1)
	for range tasks {
		<-ended
	}
	select {
	case n := <-looked:
		if n == 0 {
			t.Error("the look came before all own tasks")
		}
	default:
		t.Errorf("%d own tasks ended before the look", tasks)
	}
}

// TestPoolEvaluatorFoldsWithoutWorkers folds while no core is lent, and drops what was cancelled.
func TestPoolEvaluatorFoldsWithoutWorkers(t *testing.T) {
	rules := cartPole(t)
	e := peer.NewPoolEvaluator(rules, 1)
	defer e.Close()
	e.SetWorkers(0)
	fold := rollout.Fold{State: rules.Initial()}
	for gen := range uint64(3) {
		var step rollout.FoldStep
		for seed := range uint64(16) {
			step.Results = append(step.Results, evolve.Result{Seed: 16*gen + seed, Fitness: [2]int64{int64(seed) << 20}, Steps: 1})
		}
		fold.Steps = append(fold.Steps, step)
	}
	state := fold.State
	for _, s := range fold.Steps {
		state = rules.Plan.Apply(state, s.Results, s.Observe)
	}
	answers := make(chan []rollout.Folded, 2)
	for id := range uint64(2) {
		e.Fold(id, fold, func(f []rollout.Folded, err error) {
			if err != nil {
				t.Error(err)
			}
			answers <- f
		})
	}
	for range 2 {
		if got := <-answers; len(got) != 3 || got[2].Digest != state.Digest() || got[2].State.Digest() != state.Digest() {
			t.Errorf("got %d steps, want the state after 3 generations", len(got))
		}
	}
	failed := make(chan error, 1)
	e.Fold(3, rollout.Fold{State: fold.State}, func(_ []rollout.Folded, err error) { failed <- err })
	if err := <-failed; !errors.Is(err, rollout.ErrTask) {
		t.Errorf("a fold of nothing: %v, want ErrTask", err)
	}
}
