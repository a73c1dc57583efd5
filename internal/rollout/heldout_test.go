package rollout_test

import (
	"reflect"
	"testing"

	"github.com/evoswarm/evoswarm/internal/rollout"
)

// TestHeldOutTask: a held-out task gives what held-out evaluation gives, one result for each seed, whatever its seeds
// and under no conditions of training, in a pool and in a tab's worker.
func TestHeldOutTask(t *testing.T) { onEachEngine(t, testHeldOutTask) }

func testHeldOutTask(t *testing.T) {
	for _, strategy := range []string{"dises", "openai-es"} {
		setup := newRun(t, "LunarLanderContinuous-v3", strategy).setup()
		setup.Episodes.Count, setup.Episodes.Bonus, setup.Episodes.ActionNoise, setup.Episodes.Cap = 1, 1, 0.5, 1.5
		plan := planOf(t, setup)
		state := plan.Initial(7)
		task := rollout.Task{State: state, Seeds: []uint64{1, 1, 9}, Episodes: [][]uint64{{11}, {12}, {13}}, HeldOut: true}
		pool := rollout.NewPool(plan, 2)
		got, err := pool.Evaluate(task, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := make([]rollout.CandidateResult, 3)
		for i := range want {
			var returns [1]float64
			want[i].Steps = pool.Returns(state, task.Episodes[i], returns[:])
			want[i].Fitness[0] = rollout.ToFitness(returns[0])
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, want %v", strategy, got, want)
		}
		worker, err := rollout.NewWorker(setup)
		if err != nil {
			t.Fatal(err)
		}
		bytes, _ := state.MarshalBinary()
		if err := worker.SetState(bytes); err != nil {
			t.Fatal(err)
		}
		order, err := rollout.MarshalTask(task)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := worker.Evaluate(order)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := rollout.UnmarshalResults(answer, 3); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s in a worker: got %v, %v, want %v", strategy, got, err, want)
		}
	}
}
