package evolve_test

import (
	"fmt"
	"testing"

	"github.com/evoswarm/evoswarm/internal/cores"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/noise"
)

// sizes are those that every strategy without a full covariance must bear: few
// parameters and many candidates, and the reverse.
var sizes = []evolve.Size{{Dim: 1000, Population: 256}, {Dim: 1000, Population: 100_000}, {Dim: 10_000_000, Population: 16}}

// measured returns results as a generation of that size has them.
func measured(st evolve.Strategy, size evolve.Size) []evolve.Result {
	n := size.Population
	if st.Antithetic() {
		n /= 2
	}
	results := make([]evolve.Result, n)
	for i := range results {
		results[i] = evolve.Result{Seed: uint64(i), Fitness: [2]int64{int64(i*7919) % 1009, int64(i*104729) % 1013}}
	}
	return results
}

// BenchmarkApply is the bare update: the cost of replaying a generation. BenchmarkNoise
// is the part of it that generates perturbations.
func BenchmarkApply(b *testing.B) {
	for _, m := range evolve.Methods() {
		for _, size := range sizes {
			st, err := build(m.Name, nil, size)
			if err != nil { // too large for a full covariance
				continue
			}
			b.Run(fmt.Sprintf("%s/%dx%d", m.Name, size.Dim, size.Population), func(b *testing.B) {
				s := st.Init(make([]float32, size.Dim))
				results := measured(st, size)
				b.ReportAllocs()
				for b.Loop() {
					st.Apply(s, results)
				}
			})
		}
	}
}

// BenchmarkNoise makes as many perturbations as there are seeds in a generation, on
// all cores: half as many if both signs are tried.
func BenchmarkNoise(b *testing.B) {
	for _, size := range sizes {
		for _, seeds := range []int{size.Population, size.Population / 2} {
			b.Run(fmt.Sprintf("%dx%d", size.Dim, seeds), func(b *testing.B) {
				const part = 1024
				for b.Loop() {
					cores.Each((size.Dim+part-1)/part, func(k int) {
						var eps [part]float32
						n := min(part, size.Dim-k*part)
						for seed := range seeds {
							noise.FillNormal(eps[:n], uint64(seed), k*part)
						}
					})
				}
			})
		}
	}
}
