package exact_test

import (
	"fmt"

	"github.com/evoswarm/evoswarm/internal/exact"
)

func ExampleSin() {
	fmt.Println(exact.Sin(1e22))
	// Output: -0.8522008497671888
}

func ExamplePow() {
	fmt.Println(exact.Pow(2, 0.5), exact.Pow(-2, 3), exact.Pow(-2, 0.5))
	// Output: 1.4142135623730951 -8 NaN
}

func ExampleTanh32() {
	fmt.Println(exact.Tanh32(0.5), exact.Tanh32(-20))
	// Output: 0.46211717 -1
}

func ExampleSin32() {
	fmt.Println(exact.Sin32(1), exact.Cos32(1))
	// Output: 0.84147096 0.5403023
}
