package exact_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/evoswarm/evoswarm/internal/exact"
)

func same(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }

// TestSymmetry: odd functions are odd and even ones even in every bit, and Sincos is Sin and Cos.
func TestSymmetry(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := math.Float64frombits(rapid.Uint64().Draw(t, "bits"))
		if x != x {
			return
		}
		for name, f := range map[string]func(float64) float64{
			"Sin": exact.Sin, "Tan": exact.Tan, "Atan": exact.Atan, "Sinh": exact.Sinh, "Tanh": exact.Tanh,
		} {
			if got, want := f(-x), -f(x); !same(got, want) && want == want {
				t.Errorf("%s(-%x) = %x, want %x", name, x, got, want)
			}
		}
		for name, f := range map[string]func(float64) float64{"Cos": exact.Cos, "Cosh": exact.Cosh} {
			if got, want := f(-x), f(x); !same(got, want) {
				t.Errorf("%s(-%x) = %x, want %x", name, x, got, want)
			}
		}
		if s, c := exact.Sincos(x); !same(s, exact.Sin(x)) || !same(c, exact.Cos(x)) {
			t.Errorf("Sincos(%x) = %x, %x, want %x, %x", x, s, c, exact.Sin(x), exact.Cos(x))
		}
	})
}

// TestSincosSmall: up to pi/4 Sincos takes a path of its own, which must give the bits of Sin and Cos.
func TestSincosSmall(t *testing.T) {
	check := func(x float64) {
		if s, c := exact.Sincos(x); !same(s, exact.Sin(x)) || !same(c, exact.Cos(x)) {
			t.Fatalf("Sincos(%x) = %x, %x, want %x, %x", x, s, c, exact.Sin(x), exact.Cos(x))
		}
	}
	for exp := -1074; exp <= 2; exp++ { // zeros, subnormals and all of the range, with neighbors
		for _, m := range []float64{1, 1.25, 1.5707963267948966, 1.75} {
			x := math.Ldexp(m, exp)
			for _, y := range []float64{x, -x, math.Nextafter(x, 9), -math.Nextafter(x, 0), 0 * x, -1 / math.Inf(1)} {
				check(y)
			}
		}
	}
	for i := range 1_000_000 {
		check((float64(i) - 499_999.5) * (2 * math.Pi / 4 / 1_000_000))
	}
}

// TestIdentities: relations that hold up to a few roundings.
func TestIdentities(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(-700, 700).Draw(t, "x")
		near := func(name string, got, want, rel float64) {
			t.Helper()
			if math.Abs(got-want) > rel*math.Abs(want) {
				t.Errorf("%s at %x: %v, want %v", name, x, got, want)
			}
		}
		s, c := exact.Sincos(x)
		near("sin^2+cos^2", float64(s*s)+float64(c*c), 1, 4e-16)
		near("tan", exact.Tan(x), s/c, 1e-15)
		near("log(exp)", exact.Log(exact.Exp(x))+1000, x+1000, 1e-15)
		near("sinh+cosh", exact.Sinh(math.Abs(x))+exact.Cosh(x), exact.Exp(math.Abs(x)), 1e-15)
		near("pow", exact.Pow(exact.Exp(1), x/100), exact.Exp(x/100), 1e-14)
		near("atan2", exact.Atan2(s, c), math.Remainder(x, 2*math.Pi), 1e-9)
	})
}

// TestMonotone: a step of one ulp up never gives less.
func TestMonotone(t *testing.T) {
	m := mix(7)
	n := 200000
	if slow() {
		n = 5000
	}
	for name, f := range map[string]func(float64) float64{"Exp": exact.Exp, "Tanh": exact.Tanh, "Atan": exact.Atan, "Sinh": exact.Sinh} {
		for i := 0; i < n; i++ {
			x := m.exp(-8, 8)
			if up := math.Nextafter(x, inf); f(up) < f(x) {
				t.Fatalf("%s(%x) = %x > %s of the next = %x", name, x, f(x), name, f(up))
			}
		}
	}
}
