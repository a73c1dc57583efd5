package linalg_test

import (
	"strconv"
	"testing"

	"github.com/evoswarm/evoswarm/internal/evolve/linalg"
)

func BenchmarkEigen(b *testing.B) {
	for _, n := range []int{10, 100, 300} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			z := normals(1, n*n)
			a := pack(n, func(i, j int) float64 { return linalg.Dot(z[i*n:(i+1)*n], z[j*n:(j+1)*n]) / float64(n) })
			values, vectors := make([]float64, n), make([]float64, n*n)
			for b.Loop() {
				linalg.Eigen(values, vectors, a)
			}
		})
	}
}
