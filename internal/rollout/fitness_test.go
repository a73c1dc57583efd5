package rollout_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"pgregory.net/rapid"
)

func TestToFitness(t *testing.T) {
	const ulp = 1.0 / (1 << 20)
	for _, test := range []struct {
		x    float64
		want int64
	}{
		{0, 0}, {math.Copysign(0, -1), 0}, {1, 1 << 20}, {-1, -1 << 20}, {475, 475 << 20},
		{0.5 * ulp, 0}, {1.5 * ulp, 2}, {2.5 * ulp, 2}, {-0.5 * ulp, 0}, {-1.5 * ulp, -2}, {-2.5 * ulp, -2},
		{0.75 * ulp, 1}, {-0.25 * ulp, 0}, {5e-324, 0},
		{1 << 42, 1 << 62}, {-(1 << 42), -1 << 62}, {1e300, 1 << 62}, {-math.MaxFloat64, -1 << 62},
		{math.NaN(), evolve.InvalidFitness}, {math.Inf(1), evolve.InvalidFitness}, {math.Inf(-1), evolve.InvalidFitness},
	} {
		if got := rollout.ToFitness(test.x); got != test.want {
			t.Errorf("ToFitness(%v) = %d, want %d", test.x, got, test.want)
		}
	}
}

// TestToFitnessTwin rounds with math/big.
func TestToFitnessTwin(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		x := rapid.OneOf(
			rapid.Float64(),
			rapid.Float64Range(-1000, 1000),
			rapid.Custom(func(r *rapid.T) float64 { return float64(rapid.Int32().Draw(r, "halves")) / (1 << 21) }),
		).Draw(r, "x")
		y := new(big.Float).SetPrec(2000).SetFloat64(x)
		y.SetMantExp(y, 20)
		// Round half to even: the floor of y + 1/2, one less where that was a tie and odd.
		y.Add(y, big.NewFloat(0.5))
		want, accuracy := y.Int(nil)
		if accuracy == big.Above {
			want.Sub(want, big.NewInt(1))
		}
		if accuracy == big.Exact && want.Bit(0) == 1 {
			want.Sub(want, big.NewInt(1))
		}
		if limit := big.NewInt(rollout.FitnessMax); want.CmpAbs(limit) > 0 {
			if want.Sign() > 0 {
				want = limit
			} else {
				want = limit.Neg(limit)
			}
		}
		if got := rollout.ToFitness(x); got != want.Int64() {
			r.Fatalf("ToFitness(%v) = %d, want %d", x, got, want)
		}
		if math.Float64bits(x) != 1<<63 && rollout.ToFitness(-x) != -rollout.ToFitness(x) {
			r.Fatalf("ToFitness(%v) is not minus ToFitness(%v)", -x, x)
		}
	})
}

func TestFitnessRoundTrip(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		f := rapid.Int64Range(-1<<53, 1<<53).Draw(r, "f")
		if got := rollout.ToFitness(rollout.FromFitness(f)); got != f {
			r.Fatalf("%d became %d", f, got)
		}
		a, b := rapid.Float64().Draw(r, "a"), rapid.Float64().Draw(r, "b")
		if a <= b && rollout.ToFitness(a) > rollout.ToFitness(b) {
			r.Fatalf("ToFitness(%v) > ToFitness(%v)", a, b)
		}
	})
	if got := rollout.FromFitness(evolve.InvalidFitness); got >= rollout.FromFitness(-rollout.FitnessMax) || math.IsInf(got, 0) {
		t.Errorf("FromFitness(InvalidFitness) = %v, want finite and below all others", got)
	}
}
