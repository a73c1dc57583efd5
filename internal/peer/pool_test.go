//go:build !js

package peer_test

import (
	"errors"
	"testing"

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
		e.Validate(rules.Initial(), seeds, false, func(r []float64, err error) { returns <- r })
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

func TestPoolEvaluatorFolds(t *testing.T) {
	rules := cartPole(t)
	e := peer.NewPoolEvaluator(rules, 1)
	fold := rollout.Fold{State: rules.Initial()}
	state := fold.State
	for gen := range uint64(3) {
		var step rollout.FoldStep
		for seed := range uint64(16) {
			step.Results = append(step.Results, evolve.Result{Seed: 16*gen + seed, Fitness: [2]int64{int64(seed) << 20}, Steps: 1})
		}
		fold.Steps = append(fold.Steps, step)
		state = rules.Plan.Apply(state, step.Results, step.Observe)
	}
	e.SetWorkers(0)
	answer := make(chan []rollout.Folded, 1)
	e.Fold(1, fold, func(f []rollout.Folded, err error) {
		if err != nil {
			t.Error(err)
		}
		answer <- f
	})
	if got := <-answer; len(got) != 3 || got[2].Digest != state.Digest() || got[2].State.Digest() != state.Digest() {
		t.Errorf("got %d steps, want the state after 3 generations", len(got))
	}
	e.Close()
}

func TestPoolEvaluatorSlots(t *testing.T) {
	e := peer.NewPoolEvaluator(cartPole(t), 5)
	defer e.Close()
	for chunk, want := range map[uint64]int{0: 6, 1: 6, 4: 3, 8: 2} {
		if got := e.Slots(chunk); got != want {
			t.Errorf("chunks of %d: got %d slots, want %d", chunk, got, want)
		}
	}
}
