// Package outside is above floor 0, where only constants and bit casts are allowed.
package outside

import "math"

// Max is a constant.
const Max = math.MaxInt64

// F takes a root.
func F(x float64) (float64, uint64) {
	return math.Sqrt(x), math.Float64bits(x) // want: math.Sqrt
}
