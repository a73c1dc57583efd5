//go:build !js

package solo

import (
	"slices"
	"testing"

	"github.com/evoswarm/evoswarm/internal/kernel"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/runspec"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// BenchmarkTwoCores computes what two cores gain over one in the first generations of training, from the
// env-steps of candidates and held-out evaluations: sequential, where the evaluation of a generation begins
// when its last candidate is done and ends before the next one begins, and concurrent, as Train does it. The
// work between generations is left out. The figures do not depend on the load of the machine.
func BenchmarkTwoCores(b *testing.B) {
	defer kernel.Use(kernel.Active())
	kernel.UseFastest()
	for _, o := range []runspec.Options{
		{Env: "CartPole-v1", Strategy: "dises"}, {Env: "CartPole-v1", Strategy: "openai-es"}, {Env: "Acrobot-v1"}, {Env: "MountainCar-v0"},
		{Env: "LunarLander-v3", Strategy: "dises"}, {Env: "LunarLander-v3", Strategy: "pgpe"},
	} {
		rules := soloRules(b, o)
		b.Run(o.Env+"/"+rules.Spec.Strategy.Name, func(b *testing.B) {
			for b.Loop() {
				var sum, sequential, concurrent uint64
				for _, g := range lengths(b, rules, 40) {
					for _, n := range slices.Concat(g.candidates, g.heldOut[:]) {
						sum += n
					}
					sequential += slices.Max(g.heldOut[:]) + finish([2]uint64{}, g.candidates)
					concurrent += finish(g.heldOut, g.candidates)
				}
				b.ReportMetric(float64(sum)/float64(sequential), "sequential")
				b.ReportMetric(float64(sum)/float64(concurrent), "concurrent")
			}
		})
	}
}

// finish returns when the last of two workers is done, where each takes the next candidate as soon as it is free.
func finish(free [2]uint64, candidates []uint64) uint64 {
	for _, n := range candidates {
		first := 0
		if free[1] < free[0] {
			first = 1
		}
		free[first] += n
	}
	return slices.Max(free[:])
}

// generationLengths are the env-steps of what is computed concurrently.
type generationLengths struct {
	candidates []uint64
	heldOut    [2]uint64 // of the generation before, by the worker that takes one half
}

// lengths runs n generations. Both signs of a pair count as equally long.
func lengths(b *testing.B, rules *seedlog.Rules, n int) (all []generationLengths) {
	pool, key := rollout.NewPool(rules.Plan, 0), seedlog.SoloKey(rules.Spec)
	state, parent := rules.Initial(), seedlog.Parent{Link: rules.Run}
	var g generationLengths
	for range n {
		claims, err := rules.Measure(pool, state, parent.Link, key, rules.Spec.Generation.Evaluations/rules.EvaluationsPerChunk(), nil)
		if err != nil {
			b.Fatal(err)
		}
		for _, c := range claims {
			for _, steps := range c.Steps {
				for range rules.Signs() {
					g.candidates = append(g.candidates, steps/uint64(rules.Signs()))
				}
			}
		}
		all, g = append(all, g), generationLengths{}
		entry, next := rules.NewEntry(state, parent, 1, rules.Origin, claims)
		_, link := entry.Encode()
		parent, state = seedlog.Parent{Link: link, Height: entry.Height, Term: 1}, next
		seeds := rules.ValidateSeeds(link)
		half := len(seeds) / 2
		for i, part := range [][]uint64{seeds[:half], seeds[half:]} {
			g.heldOut[i] = pool.Returns(state, part, make([]float64, len(part)))
		}
	}
	return all
}
