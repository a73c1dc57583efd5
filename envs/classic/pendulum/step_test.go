package pendulum

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestRemainder holds remainder to the C library's fmod, which is exact too.
func TestRemainder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(-1e9, 1e9).Draw(t, "x")
		m := rapid.Float64Range(1e-3, 1e3).Draw(t, "m")
		if got, want := remainder(x, m), math.Mod(x, m); got != want {
			t.Errorf("remainder(%v, %v) = %v, want %v", x, m, got, want)
		}
	})
}

func TestNormalize(t *testing.T) {
	for _, tt := range []struct{ x, want float64 }{
		{0, 0}, {1, 1}, {-1, -1}, {pi, -pi}, {-pi, -pi}, {2 * pi, 0}, {-2 * pi, 0}, {4, 4 - 2*pi}, {-4, 2*pi - 4},
	} {
		if got := normalize(tt.x); math.Abs(got-tt.want) > 1e-15 {
			t.Errorf("normalize(%v) = %v, want %v", tt.x, got, tt.want)
		}
	}
}
