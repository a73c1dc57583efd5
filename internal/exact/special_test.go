package exact_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/evoswarm/evoswarm/internal/exact"
)

var (
	inf    = math.Inf(1)
	nan    = math.Float64frombits(0x7ff8000000000001)
	oddNaN = math.Float64frombits(0xfff8000000001234)
	minus0 = math.Copysign(0, -1)
	tiny   = math.SmallestNonzeroFloat64
	huge   = math.MaxFloat64
)

// TestSpecial holds the unary functions to C99 Annex F, bit by bit.
func TestSpecial(t *testing.T) {
	const pi, pi2 = 0x1.921fb54442d18p1, 0x1.921fb54442d18p0
	type row struct{ x, want float64 }
	for _, f := range []struct {
		name string
		f    func(float64) float64
		rows []row
	}{
		{"Sin", exact.Sin, []row{{0, 0}, {minus0, minus0}, {inf, nan}, {-inf, nan}, {tiny, tiny}, {-tiny, -tiny}}},
		{"Cos", exact.Cos, []row{{0, 1}, {minus0, 1}, {inf, nan}, {-inf, nan}, {tiny, 1}}},
		{"Tan", exact.Tan, []row{{0, 0}, {minus0, minus0}, {inf, nan}, {-inf, nan}, {tiny, tiny}, {-tiny, -tiny}}},
		{"Asin", exact.Asin, []row{{0, 0}, {minus0, minus0}, {1, pi2}, {-1, -pi2}, {1.0000000000000002, nan}, {-inf, nan}, {tiny, tiny}}},
		{"Acos", exact.Acos, []row{{0, pi2}, {minus0, pi2}, {1, 0}, {-1, pi}, {1.0000000000000002, nan}, {inf, nan}, {tiny, pi2}}},
		{"Atan", exact.Atan, []row{{0, 0}, {minus0, minus0}, {inf, pi2}, {-inf, -pi2}, {tiny, tiny}, {-huge, -pi2}}},
		{"Exp", exact.Exp, []row{{0, 1}, {minus0, 1}, {inf, inf}, {-inf, 0}, {709.782712893384, 0x1.fffffffffff2ap1023},
			{709.7827128933841, inf}, {huge, inf}, {-745.1332191019411, tiny}, {-745.1332191019412, 0}, {-huge, 0}, {tiny, 1}}},
		{"Log", exact.Log, []row{{0, -inf}, {minus0, -inf}, {1, 0}, {inf, inf}, {-1, nan}, {-tiny, nan}, {-inf, nan}}},
		{"Sinh", exact.Sinh, []row{{0, 0}, {minus0, minus0}, {inf, inf}, {-inf, -inf}, {tiny, tiny}, {710.4758600739440, inf}, {-800, -inf}}},
		{"Cosh", exact.Cosh, []row{{0, 1}, {minus0, 1}, {inf, inf}, {-inf, inf}, {tiny, 1}, {-710.4758600739440, inf}}},
		{"Tanh", exact.Tanh, []row{{0, 0}, {minus0, minus0}, {inf, 1}, {-inf, -1}, {tiny, tiny}, {-tiny, -tiny}, {huge, 1}}},
		{"Sqrt", exact.Sqrt, []row{{0, 0}, {minus0, minus0}, {4, 2}, {inf, inf}, {-1, nan}, {-inf, nan}}},
		{"Floor", exact.Floor, []row{{minus0, minus0}, {-0.5, -1}, {2.5, 2}, {-inf, -inf}}},
		{"Trunc", exact.Trunc, []row{{minus0, minus0}, {-0.5, minus0}, {-2.5, -2}, {inf, inf}}},
	} {
		for _, r := range append(f.rows, row{nan, nan}, row{oddNaN, nan}) {
			if got := f.f(r.x); math.Float64bits(got) != math.Float64bits(r.want) {
				t.Errorf("%s(%v) = %x (%x), want %x", f.name, r.x, got, math.Float64bits(got), r.want)
			}
		}
	}
	if got := exact.Abs(minus0); math.Float64bits(got) != 0 {
		t.Errorf("Abs(-0) = %v, want +0", got)
	}
	if got := exact.Copysign(2, minus0); got != -2 {
		t.Errorf("Copysign(2, -0) = %v, want -2", got)
	}
	if got := exact.Sqrt32(2); got != 0x1.6a09e6p0 {
		t.Errorf("Sqrt32(2) = %x, want 0x1.6a09e6p0", got)
	}
}

// TestSpecial2 holds Pow and Atan2 to C99 Annex F.
func TestSpecial2(t *testing.T) {
	const pi, pi2, pi4 = 0x1.921fb54442d18p1, 0x1.921fb54442d18p0, 0x1.921fb54442d18p-1
	type row struct{ x, y, want float64 }
	pow := []row{
		{nan, 0, 1}, {inf, minus0, 1}, {0, 0, 1}, {1, nan, 1}, {1, inf, 1}, {1, -huge, 1},
		{nan, 1, nan}, {2, nan, nan}, {oddNaN, oddNaN, nan},
		{0, -1, inf}, {minus0, -1, -inf}, {minus0, -3, -inf}, {minus0, -2, inf}, {minus0, -0.5, inf}, {0, -inf, inf},
		{minus0, -inf, inf}, {0, 3, 0}, {minus0, 3, minus0}, {minus0, 2, 0}, {minus0, 0.5, 0}, {minus0, inf, 0},
		{-1, inf, 1}, {-1, -inf, 1}, {-1, 0x1p53, 1}, {-1, 0x1p53 - 1, -1}, {-1, huge, 1}, {-1, 3, -1}, {-1, 2, 1}, {-1, 0.5, nan},
		{-8, 1.0 / 3, nan}, {-2, 3, -8}, {-2, 4, 16}, {-2, -3, -0.125},
		{0.5, -inf, inf}, {2, -inf, 0}, {0.5, inf, 0}, {-2, inf, inf}, {-0.5, inf, 0},
		{-inf, -3, minus0}, {-inf, -2, 0}, {-inf, 3, -inf}, {-inf, 2, inf}, {-inf, 0.5, inf}, {inf, -0.5, 0}, {inf, 0.5, inf},
		{2, 1023, 0x1p1023}, {2, 1024, inf}, {-2, 1025, -inf}, {2, -1074, tiny}, {2, -1075, 0}, {-2, -1077, minus0}, {2, -2000, 0},
		{huge, 2, inf}, {huge, 1.0000000000000002, inf}, {tiny, 2, 0}, {0x1p-1074, -0.5, 0x1p537}, {10, 22, 1e22},
		{1.0000000000000002, huge, inf}, {0.9999999999999999, huge, 0}, {0.9999999999999999, -huge, inf}, {3, tiny, 1}, {-3, huge, inf},
	}
	for _, r := range pow {
		if got := exact.Pow(r.x, r.y); math.Float64bits(got) != math.Float64bits(r.want) {
			t.Errorf("Pow(%v, %v) = %v, want %v", r.x, r.y, got, r.want)
		}
	}
	atan2 := []row{ // y, x
		{0, 0, 0}, {minus0, 0, minus0}, {0, minus0, pi}, {minus0, minus0, -pi}, {0, -1, pi}, {minus0, -1, -pi}, {0, 1, 0}, {minus0, 1, minus0},
		{-1, 0, -pi2}, {-1, minus0, -pi2}, {1, 0, pi2}, {1, minus0, pi2},
		{1, -inf, pi}, {-1, -inf, -pi}, {1, inf, 0}, {-1, inf, minus0}, {inf, 1, pi2}, {-inf, -1, -pi2},
		{inf, -inf, 0x1.2d97c7f3321d2p1}, {-inf, -inf, -0x1.2d97c7f3321d2p1}, {inf, inf, pi4}, {-inf, inf, -pi4},
		{nan, 0, nan}, {0, oddNaN, nan}, {inf, nan, nan}, {tiny, huge, 0}, {-tiny, huge, minus0}, {tiny, -huge, pi}, {huge, tiny, pi2},
		{tiny, tiny, pi4}, {huge, huge, pi4}, {1, 1, pi4}, {-1, -1, -0x1.2d97c7f3321d2p1},
	}
	for _, r := range atan2 {
		if got := exact.Atan2(r.x, r.y); math.Float64bits(got) != math.Float64bits(r.want) {
			t.Errorf("Atan2(%v, %v) = %x, want %x", r.x, r.y, got, r.want)
		}
	}
}

// TestSpecial32 covers what has no reference in glibc's hashes.
func TestSpecial32(t *testing.T) {
	f := func(b uint32) float32 { return math.Float32frombits(b) }
	for _, r := range []struct{ x, want uint32 }{
		{0, 0}, {1 << 31, 1 << 31}, {1, 1}, {0x80000001, 0x80000001}, {0x7f800000, 0x3f800000}, {0xff800000, 0xbf800000},
		{0x7f7fffff, 0x3f800000}, {0x7fc00000, 0x7fc00000}, {0xffc12345, 0x7fc00000}, {0x7f800001, 0x7fc00000},
	} {
		if got := math.Float32bits(exact.Tanh32(f(r.x))); got != r.want {
			t.Errorf("Tanh32(%08x) = %08x, want %08x", r.x, got, r.want)
		}
	}
	for _, g := range []func(float32) float32{exact.Sin32, exact.Cos32, exact.Sqrt32} {
		if got := math.Float32bits(g(f(0xffc12345))); got != 0x7fc00000 {
			t.Errorf("NaN gives %08x, want 7fc00000", got)
		}
	}
}

// TestTwoOverPi proves the stored digits from which Payne and Hanek's reduction
// reads: the hardest float64 arguments known, and one at every exponent.
func TestTwoOverPi(t *testing.T) {
	args := []float64{0x1.d9eddf3a15ad1p849, 0x1.6ac5b262ca1ffp849, 0x1.f80d7e9f2e1b1p400, 1e22, 1e300, huge}
	m := mix(1)
	for e := 20; e < 1024; e++ {
		args = append(args, m.exp(e, e))
	}
	for _, x := range args {
		s, c := exact.Sincos(x)
		ws, wc := bigSincos(new(big.Float).SetFloat64(x))
		if us, uc := ulps(s, ws), ulps(c, wc); us > 0.85 || uc > 0.85 {
			t.Errorf("Sincos(%x) = %x, %x: %.3f and %.3f ulp", x, s, c, us, uc)
		}
	}
}
