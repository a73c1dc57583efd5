package exact_test

import (
	"math"
	"testing"

	"github.com/evoswarm/evoswarm/internal/exact"
)

// ulps32 returns |got - want| in float32 units of the last place of want. The
// float64 Tanh as reference is wrong by 2^-29 of such a unit.
func ulps32(got float32, want float64) float64 {
	e := max(int(math.Float64bits(want)>>52&0x7ff)-1023, -126) - 23
	return math.Abs(float64(got)-want) / math.Ldexp(1, e)
}

// TestTanh32 walks up the positive float32 and bounds error and steps back. Every
// pattern is walked with -exact.full, one of 61 otherwise.
func TestTanh32(t *testing.T) {
	step := uint32(61)
	switch {
	case *full:
		step = 1
	case slow():
		step = 4099
	}
	worst, wx, back, bx := 0.0, float32(0), 0, float32(0)
	highest := uint32(0)
	for b := uint32(0); b <= math.Float32bits(10); b += step {
		x := math.Float32frombits(b)
		y := exact.Tanh32(x)
		if exact.Tanh32(-x) != -y {
			t.Fatalf("Tanh32(-%x) = %x, want %x", x, exact.Tanh32(-x), -y)
		}
		if u := ulps32(y, exact.Tanh(float64(x))); u > worst {
			worst, wx = u, x
		}
		yb := math.Float32bits(y)
		if d := int(highest) - int(yb); d > back {
			back, bx = d, x
		}
		highest = max(highest, yb)
	}
	t.Logf("worst %.4f ulp at %x, worst step back %d ulp at %x", worst, wx, back, bx)
	if worst > 3.2 || back > 1 {
		t.Errorf("%.4f ulp at %x and %d ulp back at %x, want at most 3.2 and 1", worst, wx, back, bx)
	}
	if got := exact.Tanh32(9.0503); got != 1 {
		t.Errorf("Tanh32(9.0503) = %x, want 1", got)
	}
}
