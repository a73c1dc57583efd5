package exact

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// The way without branches gives the bits of the general one: reduction, then the kernel of the quadrant.
func TestBeyond(t *testing.T) {
	check := func(t rapid.TB, x float64) {
		for _, x := range []float64{x, -x} {
			if !(math.Abs(x) <= math.MaxFloat64) {
				continue
			}
			r, c, n := reducePio2(x)
			sin, cos := sinQuadrant(r, c, n), sinQuadrant(r, c, n+1)
			for name, v := range map[string][2]float64{"Sin": {Sin(x), sin}, "Cos": {Cos(x), cos}} {
				if math.Float64bits(v[0]) != math.Float64bits(v[1]) {
					t.Fatalf("%s(%x) = %x, want %x", name, x, v[0], v[1])
				}
			}
		}
	}
	for n := range 3000 {
		at := float64(n) * pio2Hi
		for _, x := range []float64{at, at + 1e-3, at - 1e-6, at + pio4Hi, math.Nextafter(at, 0), math.Nextafter(at+pio4Hi, 0), math.Nextafter(at+pio4Hi, 1e9)} {
			check(t, x)
		}
	}
	for i := range 300_000 {
		check(t, float64(i)*3.7e-5)
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t, math.Float64frombits(rapid.Uint64().Draw(t, "bits")))
		check(t, rapid.Float64Range(0, 2e6).Draw(t, "x"))
	})
}
