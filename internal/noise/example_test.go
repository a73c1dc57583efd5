package noise_test

import (
	"fmt"

	"github.com/evoswarm/evoswarm/internal/noise"
)

func ExampleFillNormal() {
	eps := make([]float32, 4)
	noise.FillNormal(eps, 42, 0)
	tail := make([]float32, 2)
	noise.FillNormal(tail, 42, 2)
	fmt.Println(eps[2] == tail[0], eps[3] == tail[1])
	// Output: true true
}

func ExampleScripted() {
	s := noise.Scripted([]float64{0.5, 0.25})
	fmt.Println(s.UniformIn(-1, 1), s.IntN(10, 14), s.Exhausted())
	// Output: 0 11 false
}
