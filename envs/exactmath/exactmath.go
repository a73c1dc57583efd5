// Package exactmath has the functions of package math that environments need, with the same bits on every
// machine. With it, logs of environments outside of this module can be replayed anywhere.
//
// Package math does not guarantee that: its sine and logarithm, for example, differ between machines in the
// last bits. There are two more sources of differences. Compilers may fuse a product and a sum into one
// operation that rounds once; write float64(a*b) + c, which they must not fuse. And sums over a map have a
// different order each time.
//
// All functions are bit exact. Special cases are those of package math unless said otherwise in docs/spec/numerics.md.
package exactmath

import "github.com/evoswarm/evoswarm/internal/exact"

// Sqrt returns the square root of x.
func Sqrt(x float64) float64 { return exact.Sqrt(x) }

// Abs returns the absolute value of x.
func Abs(x float64) float64 { return exact.Abs(x) }

// Copysign returns x with the sign of sign.
func Copysign(x, sign float64) float64 { return exact.Copysign(x, sign) }

// Floor returns the largest integer not above x.
func Floor(x float64) float64 { return exact.Floor(x) }

// Trunc returns x without its fraction.
func Trunc(x float64) float64 { return exact.Trunc(x) }

// Exp returns e to the power x.
func Exp(x float64) float64 { return exact.Exp(x) }

// Log returns the natural logarithm of x.
func Log(x float64) float64 { return exact.Log(x) }

// Pow returns x to the power y.
func Pow(x, y float64) float64 { return exact.Pow(x, y) }

// Sin returns the sine of x [rad].
func Sin(x float64) float64 { return exact.Sin(x) }

// Cos returns the cosine of x [rad].
func Cos(x float64) float64 { return exact.Cos(x) }

// Sincos returns the sine and the cosine of x [rad].
func Sincos(x float64) (sin, cos float64) { return exact.Sincos(x) }

// Tan returns the tangent of x [rad].
func Tan(x float64) float64 { return exact.Tan(x) }

// Asin returns the arc sine of x [rad].
func Asin(x float64) float64 { return exact.Asin(x) }

// Acos returns the arc cosine of x [rad].
func Acos(x float64) float64 { return exact.Acos(x) }

// Atan returns the arc tangent of x [rad].
func Atan(x float64) float64 { return exact.Atan(x) }

// Atan2 returns the angle of the point (x, y) [rad], from -Pi to Pi.
func Atan2(y, x float64) float64 { return exact.Atan2(y, x) }

// Sinh returns the hyperbolic sine of x.
func Sinh(x float64) float64 { return exact.Sinh(x) }

// Cosh returns the hyperbolic cosine of x.
func Cosh(x float64) float64 { return exact.Cosh(x) }

// Tanh returns the hyperbolic tangent of x.
func Tanh(x float64) float64 { return exact.Tanh(x) }
