package linalg_test

import (
	"fmt"

	"github.com/evoswarm/evoswarm/internal/evolve/linalg"
)

func ExampleEigen() {
	a := []float64{
		2,
		1, 2,
	}
	values, vectors := make([]float64, 2), make([]float64, 4)
	ok := linalg.Eigen(values, vectors, a)
	fmt.Println(ok)
	for k, x := range values {
		fmt.Printf("%.3f: %.3f\n", x, vectors[2*k:2*k+2])
	}
	// Output:
	// true
	// 1.000: [0.707 -0.707]
	// 3.000: [0.707 0.707]
}
