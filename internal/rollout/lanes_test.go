package rollout_test

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// apart runs each episode on its own, with an evaluator of its own: as a candidate of s with parameters theta, and held
// out with the mean policy.
func apart(plan rollout.Plan, s *evolve.State, theta []float32, seeds []uint64) (trained, held []float64, steps [2]uint64) {
	for i, seed := range seeds {
		e := rollout.NewEvaluator(plan)
		steps[0] += e.Run(s, theta, seeds[i:i+1]).Steps
		trained = append(trained, e.RunReturns(1)...)
		ret := make([]float64, 1)
		steps[1] += rollout.NewEvaluator(plan).Returns(s, []uint64{seed}, ret)
		held = append(held, ret[0])
	}
	return trained, held, steps
}

// short is a plan with episodes that end after some steps in worlds that are slow to step.
func short(plan rollout.Plan) rollout.Plan {
	if len(plan.Env.State) > 16 {
		env := *plan.Env
		env.MaxSteps = 30
		plan.Env = &env
	}
	return plan
}

// fitness is that of a candidate whose episodes had those returns.
func fitness(returns []float64) int64 {
	sum := 0.0
	for _, x := range returns {
		sum += x
	}
	return rollout.ToFitness(sum / float64(len(returns)))
}

// TestSideBySide holds episodes that run side by side to the same run one after the other: all worlds, also more
// episodes than lanes, of different lengths, under all conditions.
func TestSideBySide(t *testing.T) {
	for _, env := range envs.All() {
		plan := short(mustPlan(t, everything(t, env.ID, "openai-es", rollout.Frozen)))
		s := advance(t, plan, rollout.NewPool(plan, 0), plan.Initial(5), 1)
		theta := make([]float32, plan.Policy.Dim())
		plan.Strategy.Candidate(theta, s, 77, -1)
		seeds := seedList(40, 9, 9)
		trained, held, _ := apart(plan, s, theta, seeds)
		e := rollout.NewEvaluator(plan)
		for _, n := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 40} {
			returns := make([]float64, n)
			e.Returns(s, seeds[:n], returns)
			if !reflect.DeepEqual(returns, held[:n]) {
				t.Errorf("%s, %d episodes held out: got %v, want %v", env.ID, n, returns, held[:n])
			}
			e.Run(s, theta, seeds[40-n:])
			if got := e.RunReturns(n); !reflect.DeepEqual(got, trained[40-n:]) {
				t.Errorf("%s, %d episodes: got %v, want %v", env.ID, n, got, trained[40-n:])
			}
		}
	}
}

// TestSideBySideAnyPlan is TestSideBySide for random plans, training episodes included.
func TestSideBySideAnyPlan(t *testing.T) {
	worlds := envs.All()
	rapid.Check(t, func(rt *rapid.T) {
		setup := everything(t, rapid.SampledFrom(worlds).Draw(rt, "world").ID, "openai-es", rapid.SampledFrom([]string{rollout.Frozen, rollout.Running}).Draw(rt, "kind"))
		setup.Policy.Hidden = rapid.SliceOfN(rapid.Uint64Range(1, 40), 1, 3).Draw(rt, "hidden")
		setup.Policy.Activation = rapid.SampledFrom([]string{"tanh", "relu"}).Draw(rt, "activation")
		setup.Policy.VBN = rapid.Bool().Draw(rt, "vbn")
		if rapid.Bool().Draw(rt, "linear") {
			setup.Policy = policy.Spec{Kind: "linear", Head: setup.Policy.Head, Bias: rapid.Bool().Draw(rt, "bias")}
		}
		setup.Episodes.Skip = rapid.SampledFrom([]uint64{0, 2, 5}).Draw(rt, "skip")
		setup.Episodes.Cap = rapid.SampledFrom([]float64{0, 1.5}).Draw(rt, "cap")
		if rapid.Bool().Draw(rt, "as they are") {
			setup.Episodes.Observations = nil
		}
		setup.Episodes.ActionNoise *= float64(rapid.IntRange(0, 1).Draw(rt, "noise"))
		setup.Episodes.Bonus *= float64(rapid.IntRange(0, 1).Draw(rt, "bonus"))
		plan := short(mustPlan(t, setup))
		s := plan.Initial(rapid.Uint64().Draw(rt, "first"))
		if setup.Episodes.Cap != 0 {
			s = plan.Apply(s, []evolve.Result{{Seed: 1, Steps: 400}}, seedList(plan.ObserveEpisodes(), 3, 0))
		}
		theta := make([]float32, plan.Policy.Dim())
		plan.Strategy.Candidate(theta, s, rapid.Uint64().Draw(rt, "candidate"), 1)
		seeds := rapid.SliceOfN(rapid.Uint64(), 1, 20).Draw(rt, "seeds")

		trained, held, steps := apart(plan, s, theta, seeds)
		e := rollout.NewEvaluator(plan)
		want := rollout.Outcome{Fitness: fitness(trained), Steps: steps[0]}
		if got := e.Run(s, theta, seeds); got != want || !reflect.DeepEqual(e.RunReturns(len(seeds)), trained) {
			rt.Errorf("Run gives %+v of %v, want %+v of %v", got, e.RunReturns(len(seeds)), want, trained)
		}
		got := make([]float64, len(seeds))
		if n := e.Returns(s, seeds, got); n != steps[1] || !reflect.DeepEqual(got, held) {
			rt.Errorf("Returns gives %v in %d steps, want %v in %d", got, n, held, steps[1])
		}
		pool := rollout.NewPool(plan, rapid.IntRange(1, 5).Draw(rt, "workers"))
		clear(got)
		if n := pool.Returns(s, seeds, got); n != steps[1] || !reflect.DeepEqual(got, held) {
			rt.Errorf("a pool of %d gives %v in %d steps, want %v in %d", pool.Workers(), got, n, held, steps[1])
		}
	})
}

// TestSideBySideDoesNotAllocate: after the first time, also with more episodes than lanes. AllocsPerRun counts what the
// whole process allocates and rounds down, so that ten runs leave room for the runtime's own.
func TestSideBySideDoesNotAllocate(t *testing.T) {
	for _, env := range envs.All() {
		plan := short(mustPlan(t, everything(t, env.ID, "openai-es", rollout.Running)))
		s, e := plan.Initial(5), rollout.NewEvaluator(plan)
		seeds, returns := seedList(19, 1, 1), make([]float64, 19)
		if n := testing.AllocsPerRun(10, func() { e.Run(s, s.Theta, seeds); e.Returns(s, seeds, returns) }); n != 0 {
			t.Errorf("%s: allocates %v times, want none", env.ID, n)
		}
	}
}
