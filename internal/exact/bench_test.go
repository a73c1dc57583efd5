package exact_test

import (
	"testing"

	"github.com/evoswarm/evoswarm/internal/exact"
)

var (
	sink   float64
	sink32 float32
)

func BenchmarkFloat64(b *testing.B) {
	for _, f := range []struct {
		name   string
		f      func(float64) float64
		lo, hi float64
	}{
		{"Sin", exact.Sin, -10, 10}, {"Sin/1e300", exact.Sin, 1e299, 1e300}, {"Cos", exact.Cos, -10, 10}, {"Tan", exact.Tan, -10, 10},
		{"Sincos", func(x float64) float64 { s, c := exact.Sincos(x); return s + c }, -10, 10},
		{"Asin", exact.Asin, -1, 1}, {"Acos", exact.Acos, -1, 1}, {"Atan", exact.Atan, -3, 3},
		{"Atan2", func(x float64) float64 { return exact.Atan2(x, 0.5) }, -3, 3},
		{"Exp", exact.Exp, -10, 10}, {"Log", exact.Log, 0, 10}, {"Pow", func(x float64) float64 { return exact.Pow(x, 2.4) }, 0, 10},
		{"Tanh", exact.Tanh, -3, 3}, {"Sinh", exact.Sinh, -3, 3}, {"Cosh", exact.Cosh, -3, 3}, {"Sqrt", exact.Sqrt, 0, 10},
	} {
		b.Run(f.name, func(b *testing.B) {
			m := mix(1)
			var x [1024]float64
			for i := range x {
				x[i] = m.in(f.lo, f.hi)
			}
			for i := 0; i < b.N; i++ {
				sink = f.f(x[i&1023])
			}
		})
	}
}

func BenchmarkFloat32(b *testing.B) {
	for _, f := range []struct {
		name string
		f    func(float32) float32
	}{
		{"Sin32", exact.Sin32}, {"Cos32", exact.Cos32}, {"Tanh32", exact.Tanh32}, {"Sqrt32", exact.Sqrt32},
	} {
		b.Run(f.name, func(b *testing.B) {
			m := mix(1)
			var x [1024]float32
			for i := range x {
				x[i] = float32(m.in(-4, 4))
			}
			for i := 0; i < b.N; i++ {
				sink32 = f.f(x[i&1023])
			}
		})
	}
}
