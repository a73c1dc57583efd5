package rollout_test

import (
	"fmt"
	"testing"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// standing returns parameters that keep the pole up: one path through unit 0 of
// every layer carries angle + angular velocity to the output for right, and left
// wins the tie. The other units are as in a fresh network, and feed nothing.
func standing(pol *policy.Policy) []float32 {
	theta := make([]float32, pol.Dim())
	pol.Init(theta, 1)
	first := true
	for _, l := range pol.Layout() {
		if l.Rows == 1 {
			continue // a bias
		}
		w := theta[l.Offset : l.Offset+l.Rows*l.Cols]
		out := l.Cols == pol.Outputs()
		for i := range l.Rows {
			if out {
				clear(w[i*l.Cols : (i+1)*l.Cols])
			}
			w[i*l.Cols] = 0
		}
		to := 0
		if out {
			to = 1
		}
		if first {
			w[2*l.Cols+to], w[3*l.Cols+to] = 1, 1
		} else {
			w[to] = 1
		}
		first = false
	}
	return theta
}

// BenchmarkRun measures one core with long episodes: 484 steps on average.
func BenchmarkRun(b *testing.B) {
	for _, spec := range []policy.Spec{
		{Kind: "linear", Head: "argmax"},
		{Kind: "mlp", Hidden: []uint64{16}, Activation: "tanh", Bias: true, Head: "argmax"},
		{Kind: "mlp", Hidden: []uint64{64, 64}, Activation: "tanh", Bias: true, Head: "argmax"},
		{Kind: "mlp", Hidden: []uint64{64, 64}, Activation: "relu", Bias: true, Head: "argmax"},
	} {
		b.Run(fmt.Sprintf("CartPole-v1/%s%v%s", spec.Kind, spec.Hidden, spec.Activation), func(b *testing.B) {
			env, err := envs.Find("CartPole-v1")
			if err != nil {
				b.Fatal(err)
			}
			pol, err := policy.New(spec, env)
			if err != nil {
				b.Fatal(err)
			}
			theta := standing(pol)
			e := rollout.NewEvaluator(rollout.Plan{Env: env, Policy: pol})
			seeds, steps := make([]uint64, 1), uint64(0)
			for b.Loop() {
				seeds[0]++
				steps += e.Run(&evolve.State{Theta: theta}, theta, seeds).Steps
			}
			if steps < 400*uint64(b.N) {
				b.Errorf("%d steps in %d episodes: the pole falls", steps, b.N)
			}
			b.ReportMetric(float64(steps)/b.Elapsed().Seconds(), "env-steps/s")
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "evaluations/s")
		})
	}
}

// BenchmarkConditions measures one core with each condition of training, on the mean policy of a fresh run, whose
// episodes are short.
func BenchmarkConditions(b *testing.B) {
	mlp := policy.Spec{Kind: "mlp", Hidden: []uint64{16}, Activation: "tanh", Bias: true, Head: "argmax"}
	vbn := mlp
	vbn.VBN = true
	method, err := evolve.Find("dises")
	if err != nil {
		b.Fatal(err)
	}
	params, err := method.Complete(nil)
	if err != nil {
		b.Fatal(err)
	}
	frozen := rollout.Episodes{Observations: &rollout.Observations{Kind: rollout.Frozen, Steps: 1000, Clip: 10}}
	for _, c := range []struct {
		name     string
		policy   policy.Spec
		episodes rollout.Episodes
	}{
		{"mlp[16]", mlp, rollout.Episodes{}}, {"mlp[16]/observations", mlp, frozen},
		{"mlp[16]/vbn", vbn, rollout.Episodes{}}, {"mlp[16]/skip4", mlp, rollout.Episodes{Conditions: rollout.Conditions{Skip: 4}}},
	} {
		b.Run("CartPole-v1/"+c.name, func(b *testing.B) {
			plan, err := rollout.NewPlan(rollout.Setup{EnvID: "CartPole-v1", Policy: c.policy, Strategy: method.Name,
				StrategyRevision: method.Revision, Params: params, Population: 8, Episodes: c.episodes})
			if err != nil {
				b.Fatal(err)
			}
			s, e, steps := plan.Initial(1), rollout.NewEvaluator(plan), uint64(0)
			seeds := make([]uint64, 16)
			for i := range seeds {
				seeds[i] = uint64(i)
			}
			for b.Loop() {
				steps += e.Run(s, s.Theta, seeds).Steps
			}
			b.ReportMetric(float64(steps)/b.Elapsed().Seconds(), "env-steps/s")
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "evaluations/s")
		})
	}
}
