// Package fusion holds products that the compiler fuses; the rule that reads sources sees the first only.
package fusion

// Direct is the plain case.
func Direct(x, y, z float64) float64 {
	return x*y + z // want: fused
}

// Single is the same in float32.
func Single(x, y, z float32) float32 {
	return z + x*y // want: fused
}

func square(x float64) float64 { return x * x }

// Inlined fuses across a call.
func Inlined(x, z float64) float64 {
	return square(x) + z // want: fused
}

// Rounded is not fused.
func Rounded(x, y, z float64) float64 {
	return float64(x*y) + z
}
