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
