package exactmath

import (
	"fmt"
	"math"
	"testing"
)

// TestNear checks that each name is the right function: package math has the same values except for the last bits.
func TestNear(t *testing.T) {
	for name, f := range map[string][2]func(float64) float64{
		"Sqrt": {Sqrt, math.Sqrt}, "Abs": {Abs, math.Abs}, "Floor": {Floor, math.Floor}, "Trunc": {Trunc, math.Trunc},
		"Exp": {Exp, math.Exp}, "Log": {Log, math.Log}, "Sin": {Sin, math.Sin}, "Cos": {Cos, math.Cos}, "Tan": {Tan, math.Tan},
		"Asin": {Asin, math.Asin}, "Acos": {Acos, math.Acos}, "Atan": {Atan, math.Atan}, "Sinh": {Sinh, math.Sinh},
		"Cosh": {Cosh, math.Cosh}, "Tanh": {Tanh, math.Tanh},
		"Pow":      {func(x float64) float64 { return Pow(x, 3.7) }, func(x float64) float64 { return math.Pow(x, 3.7) }},
		"Atan2":    {func(x float64) float64 { return Atan2(x, -2) }, func(x float64) float64 { return math.Atan2(x, -2) }},
		"Copysign": {func(x float64) float64 { return Copysign(3, -x) }, func(x float64) float64 { return math.Copysign(3, -x) }},
	} {
		for _, x := range []float64{0.1, 0.5, 0.93} {
			if got, want := f[0](x), f[1](x); math.Abs(got-want) > 1e-14*math.Abs(want) {
				t.Errorf("%s(%v) = %v, want %v", name, x, got, want)
			}
		}
	}
}

func ExampleSincos() {
	sin, cos := Sincos(1)
	fmt.Println(sin, cos)
	// Output: 0.8414709848078965 0.5403023058681398
}
