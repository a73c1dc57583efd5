package main

import (
	"errors"
	"testing"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// TestCrewFolds has folds done while no worker is lent, also after crashes, and given up after too many.
func TestCrewFolds(t *testing.T) {
	for _, crashes := range []int{0, 2, 8} {
		a := new(agency)
		a.crashes.Store(int32(crashes))
		c, task, _ := newTestCrew(t, 0, a, func(error) {})
		fold := rollout.Fold{State: task.State}
		for gen := range uint64(3) {
			var step rollout.FoldStep
			for i := range uint64(4) {
				step.Results = append(step.Results, evolve.Result{Seed: 4*gen + i, Fitness: [2]int64{int64(i) << 20, 0}, Steps: 2})
			}
			fold.Steps = append(fold.Steps, step)
		}
		plan, err := rollout.NewPlan(setup(t))
		if err != nil {
			t.Fatal(err)
		}
		want := plan.Fold(fold)
		answers, failed := make(chan []rollout.Folded, 2), make(chan error, 2)
		for id := range uint64(2) {
			c.Fold(id, fold, func(f []rollout.Folded, err error) { answers <- f; failed <- err })
		}
		for i := range 2 {
			got, err := <-answers, <-failed
			if crashes > 2*maxTries && i == 0 || crashes > maxTries && err != nil {
				if !errors.Is(err, errWorker) {
					t.Errorf("%d crashes: got %v, want errWorker", crashes, err)
				}
				continue
			}
			if err != nil || len(got) != 3 || got[2].Digest != want[2].Digest || got[2].State.Digest() != want[2].Digest {
				t.Errorf("%d crashes: got %d steps, %v, want the plan's", crashes, len(got), err)
			}
		}
		c.Close()
	}
}
