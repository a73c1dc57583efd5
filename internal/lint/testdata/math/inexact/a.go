// Package inexact takes the part of internal/exact and calls what differs between targets.
package inexact

import "math"

// F is fine up to Sin.
func F(x float64) float64 {
	x = math.Sqrt(math.Abs(x)) / math.Pi
	x = math.Float64frombits(math.Float64bits(x))
	f := math.Exp         // want: math.Exp
	return f(math.Sin(x)) // want: math.Sin
}
