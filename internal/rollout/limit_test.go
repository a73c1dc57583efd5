package rollout_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/kernel"
	"github.com/evoswarm/evoswarm/internal/noise"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// part is something to measure: f returns how many units of work it did.
type part struct {
	name string
	f    func() int
	best float64 // ns per unit, of the fastest slice
}

// measure runs a slice of at least 50 microseconds: interrupted ones do not count, since the fastest is kept.
func (p *part) measure() {
	begin, n := time.Now(), 0
	for n == 0 || time.Since(begin) < 50*time.Microsecond {
		n += p.f()
	}
	p.best = min(p.best, float64(time.Since(begin).Nanoseconds())/float64(n))
}

// BenchmarkParts measures rollouts of one candidate on one core and their two parts: env-steps with fixed actions, and
// forward passes. ratio-1 is what rollouts of one episode reach of one over the sum of both,
// ratio-16 those of sixteen, which share their forward passes. Episodes of 40 steps, so that slices are short.
func BenchmarkParts(b *testing.B) {
	defer kernel.Use(kernel.Active())
	for _, id := range []string{"CartPole-v1", "Acrobot-v1"} {
		for _, hidden := range [][]uint64{nil, {16}, {64, 64}} {
			for _, k := range kernel.All() {
				b.Run(fmt.Sprintf("%s/mlp%v/%s", id, hidden, k.Name), func(b *testing.B) {
					if err := kernel.Use(k.Name); err != nil {
						b.Fatal(err)
					}
					parts := parts(b, id, hidden)
					for b.Loop() {
						for _, p := range parts {
							p.measure()
						}
					}
					for _, p := range parts {
						b.ReportMetric(p.best, p.name+"-ns")
					}
					bare := parts[0].best + parts[1].best
					b.ReportMetric(bare/parts[2].best, "ratio-1")
					b.ReportMetric(bare/parts[3].best, "ratio-16")
				})
			}
		}
	}
}

// parts returns env-steps, forward passes, and rollouts of one and of sixteen episodes.
func parts(b *testing.B, id string, hidden []uint64) []*part {
	found, err := envs.Find(id)
	if err != nil {
		b.Fatal(err)
	}
	env := *found
	env.MaxSteps = 40
	spec := policy.Spec{Kind: "mlp", Hidden: hidden, Activation: "tanh", Bias: true, Head: "argmax"}
	if hidden == nil {
		spec.Kind, spec.Activation = "linear", ""
	}
	pol, err := policy.New(spec, &env)
	if err != nil {
		b.Fatal(err)
	}
	theta := make([]float32, pol.Dim())
	if pol.Init(theta, 1); id == "CartPole-v1" {
		theta = standing(pol)
	}
	e, s, seed := rollout.NewEvaluator(rollout.Plan{Env: &env, Policy: pol}), &evolve.State{Theta: theta}, uint64(0)
	episodes := func(n int) func() int {
		seeds := make([]uint64, n)
		return func() int {
			for i := range seeds {
				seed++
				seeds[i] = seed
			}
			return int(e.Run(s, theta, seeds).Steps)
		}
	}
	sc, obs, act := pol.Scratch(1), make([]float32, env.ObsDim), make([]float64, 1)
	noise.FillNormal(obs, 1, 0)
	return []*part{
		{"step", wanderer(&env), math.Inf(1)},
		{"forward", func() int {
			for range 64 {
				pol.Act(theta, obs, sc, act)
			}
			return 64
		}, math.Inf(1)},
		{"one", episodes(1), math.Inf(1)},
		{"sixteen", episodes(16), math.Inf(1)},
	}
}

// wanderer runs an episode at a time with actions that stay the same for eight steps, resets included.
func wanderer(env *envs.Spec) func() int {
	e, obs, act, seed := env.New(), make([]float32, env.ObsDim), make([]float64, 1), uint64(0)
	return func() int {
		seed++
		rng := envs.NewStream(seed)
		e.Reset(&rng, obs)
		for n := 1; ; n++ {
			if n%8 == 1 {
				act[0] = float64((seed + uint64(n)/8) % uint64(env.Action.N))
			}
			if _, over := e.Step(&rng, act, obs); over || n == env.MaxSteps {
				return n
			}
		}
	}
}
