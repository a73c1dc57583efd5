package rollout_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/kernel"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// BenchmarkPool measures generations of 100 candidates, whose episodes differ in length, on one goroutine and
// on two, in turns, and held-out episodes likewise. It tells the fastest of each: ratio is what the second
// core gives.
func BenchmarkPool(b *testing.B) {
	defer kernel.Use(kernel.Active())
	kernel.UseFastest()
	for _, c := range []struct {
		env    string
		hidden []uint64
		steps  int // of an episode at most, so that a generation is short enough to come through undisturbed
	}{{"CartPole-v1", nil, 500}, {"CartPole-v1", []uint64{64, 64}, 500}, {"Acrobot-v1", []uint64{64, 64}, 60}} {
		b.Run(fmt.Sprintf("%s/mlp%v", c.env, c.hidden), func(b *testing.B) {
			plan := poolPlan(b, c.env, c.hidden, c.steps)
			s := plan.Initial(1)
			task := rollout.Task{State: s, Seeds: seedList(50, 1), Episodes: [][]uint64{seedList(1, 2)}}
			held, returns := seedList(100, 3), make([]float64, 100)
			var rows [2][]*part
			for i := range rows {
				pool := rollout.NewPool(plan, i+1)
				rows[i] = []*part{{"generation", func() int {
					if _, err := pool.Evaluate(task, nil); err != nil {
						b.Fatal(err)
					}
					return 1
				}, math.Inf(1)}, {"held-out", func() int { pool.Returns(s, held, returns); return 1 }, math.Inf(1)}}
			}
			for b.Loop() {
				for i := range 4 {
					rows[i%2][i/2].measure()
				}
			}
			for i, p := range rows[0] {
				b.ReportMetric(p.best/1e3, p.name+"-us")
				b.ReportMetric(p.best/rows[1][i].best, p.name+"-ratio")
			}
		})
	}
}

// poolPlan is a run of openai-es with episodes of that many steps at most.
func poolPlan(b *testing.B, id string, hidden []uint64, steps int) rollout.Plan {
	b.Helper()
	found, err := envs.Find(id)
	if err != nil {
		b.Fatal(err)
	}
	env := *found
	env.MaxSteps = steps
	spec := policy.Spec{Kind: "mlp", Hidden: hidden, Activation: "tanh", Bias: true, Head: "argmax"}
	if hidden == nil {
		spec.Kind, spec.Activation = "linear", ""
	}
	pol, err := policy.New(spec, &env)
	if err != nil {
		b.Fatal(err)
	}
	method, err := evolve.Find("openai-es")
	if err != nil {
		b.Fatal(err)
	}
	params, err := method.Complete(nil)
	if err != nil {
		b.Fatal(err)
	}
	strategy, err := method.New(params, evolve.Size{Dim: pol.Dim(), Population: 100})
	if err != nil {
		b.Fatal(err)
	}
	return rollout.Plan{Env: &env, Policy: pol, Strategy: strategy}
}
