package exact_test

import (
	"flag"
	"math"
	"math/big"
	"testing"

	"github.com/evoswarm/evoswarm/internal/exact"
)

var ulpArgs = flag.Int("exact.ulp", 3000, "random arguments per range in TestUlp")

// mix is SplitMix64: the arguments of the tests are the same on every target.
type mix uint64

func (m *mix) next() uint64 {
	*m += 0x9e3779b97f4a7c15
	z := uint64(*m)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// in returns a number in [lo, hi).
func (m *mix) in(lo, hi float64) float64 {
	return lo + float64((hi-lo)*float64(float64(m.next()>>11)*0x1p-53))
}

// exp returns ±2^e * [1, 2) with e uniform in [lo, hi].
func (m *mix) exp(lo, hi int) float64 {
	b := m.next()
	e := lo + int(m.next()%uint64(hi-lo+1))
	if e < -1022 {
		return math.Float64frombits(b&(1<<63) | (b&(1<<52-1)|1<<52)>>uint(-1022-e))
	}
	return math.Float64frombits(b&^(0x7ff<<52) | uint64(e+1023)<<52)
}

// ulps returns |got - want| in units of the last place of want, and 0 where both
// are beyond the greatest float64.
func ulps(got float64, want *big.Float) float64 {
	if math.IsInf(got, 0) {
		if v, _ := want.Float64(); v == got {
			return 0
		}
		return math.Inf(1)
	}
	if want.Sign() == 0 {
		if got == 0 {
			return 0
		}
		return math.Inf(1)
	}
	e := max(want.MantExp(nil)-1, -1022) - 52
	d, _ := shift(sub(bf(got), want), -e).Float64()
	return math.Abs(d)
}

// function is one function of the package with its reference and its bound.
type function struct {
	name  string
	f     func(x, y float64) float64
	ref   func(x, y *big.Float) *big.Float
	bound float64
	args  []func(m *mix) (x, y float64)
}

func one(f func(float64) float64) func(x, y float64) float64 {
	return func(x, _ float64) float64 { return f(x) }
}

func oneBig(f func(*big.Float) *big.Float) func(x, y *big.Float) *big.Float {
	return func(x, _ *big.Float) *big.Float { return f(x) }
}

func in(lo, hi float64) func(m *mix) (x, y float64) {
	return func(m *mix) (x, y float64) { return m.in(lo, hi), 0 }
}

func exps(lo, hi int) func(m *mix) (x, y float64) {
	return func(m *mix) (x, y float64) { return m.exp(lo, hi), 0 }
}

// nearQuarter returns the float64 nearest to n*pi/2 or one of its neighbors.
func nearQuarter(m *mix) (x, y float64) {
	n := int64(m.next()>>4) >> (m.next() % 60)
	p := new(big.Float).SetPrec(300).SetMantExp(longPi, -1)
	x, _ = p.Mul(p, new(big.Float).SetInt64(n)).Float64()
	if x == 0 {
		return 0, 0
	}
	return math.Float64frombits(math.Float64bits(x) + m.next()%3 - 1), 0
}

func positive(f func(m *mix) (x, y float64)) func(m *mix) (x, y float64) {
	return func(m *mix) (x, y float64) {
		x, y = f(m)
		return math.Abs(x), y
	}
}

func functions() []function {
	type args = []func(m *mix) (x, y float64)
	sin := func(x *big.Float) *big.Float { s, _ := bigSincos(x); return s }
	cos := func(x *big.Float) *big.Float { _, c := bigSincos(x); return c }
	tan := func(x *big.Float) *big.Float { s, c := bigSincos(x); return quo(s, c) }
	trig := args{in(-0.8, 0.8), in(-10, 10), in(-1e5, 1e5), in(-2e6, 2e6), exps(-1074, 1023), exps(20, 1023), nearQuarter}
	unit := args{in(-1, 1), exps(-1074, -1), func(m *mix) (x, y float64) {
		return math.Copysign(1-math.Abs(m.exp(-53, -1)), m.in(-1, 1)), 0
	}}
	power := args{
		func(m *mix) (x, y float64) { return m.in(0, 10), m.in(-20, 20) },
		func(m *mix) (x, y float64) { return math.Abs(m.exp(-1074, 1023)), m.exp(-12, 1) },
		func(m *mix) (x, y float64) { // all sizes of result
			x = math.Abs(m.exp(-40, 40))
			return x, m.in(-1080, 1030) / (math.Abs(math.Log2(x)) + 1e-9)
		},
		func(m *mix) (x, y float64) { // near one, large exponent
			d := m.exp(-52, -5)
			return 1 + d, m.in(-700, 700) / math.Abs(d)
		},
	}
	return []function{
		{"Sin", one(exact.Sin), oneBig(sin), 0.85, trig},
		{"Cos", one(exact.Cos), oneBig(cos), 0.85, trig},
		{"Tan", one(exact.Tan), oneBig(tan), 1.1, trig},
		{"Asin", one(exact.Asin), oneBig(bigAsin), 0.9, unit},
		{"Acos", one(exact.Acos), oneBig(bigAcos), 0.9, unit},
		{"Atan", one(exact.Atan), oneBig(func(x *big.Float) *big.Float { return bigAtan2(x, bigInt(1)) }), 0.85,
			args{in(-1, 1), in(-5, 5), exps(-1074, 1023), exps(-30, 60)}},
		{"Atan2", exact.Atan2, bigAtan2, 0.85, args{
			func(m *mix) (x, y float64) { return m.in(-1, 1), m.in(-1, 1) },
			func(m *mix) (x, y float64) { return m.exp(-1074, 1023), m.exp(-1074, 1023) },
			func(m *mix) (x, y float64) { return m.exp(-1074, -1000), m.exp(-1074, -1000) },
			func(m *mix) (x, y float64) { return m.exp(960, 1023), m.exp(960, 1023) },
			func(m *mix) (x, y float64) { return m.exp(-66, 66), -m.in(1, 2) },
		}},
		{"Exp", one(exact.Exp), oneBig(bigExp), 0.7, args{in(-1, 1), in(-708, 709.78), exps(-60, 9)}},
		{"Exp/subnormal", one(exact.Exp), oneBig(bigExp), 1, args{in(-746, -708)}},
		{"Log", one(exact.Log), oneBig(bigLog), 0.85, args{in(0, 2), in(0.9, 1.1), positive(exps(-1074, 1023)),
			func(m *mix) (x, y float64) { return 1 + m.exp(-52, -3), 0 }}},
		{"Pow", exact.Pow, func(x, y *big.Float) *big.Float { return bigExp(mul(y, bigLog(x))) }, 1.1, power},
		{"Sinh", one(exact.Sinh), oneBig(bigSinh), 0.85, args{in(-1.1, 1.1), in(-25, 25), in(-710.47, 710.47), exps(-1074, 8)}},
		{"Cosh", one(exact.Cosh), oneBig(bigCosh), 0.7, args{in(-1.1, 1.1), in(-25, 25), in(-710.47, 710.47), exps(-100, 8)}},
		{"Tanh", one(exact.Tanh), oneBig(bigTanh), 0.9, args{in(-0.7, 0.7), in(-3, 3), in(-25, 25), exps(-1074, 4)}},
	}
}

// TestUlp holds every function to the bound of its doc comment. Pow is held to the
// subnormal bound where the result is subnormal.
func TestUlp(t *testing.T) {
	n := *ulpArgs
	if slow() {
		n = min(n, 200)
	}
	for _, f := range functions() {
		t.Run(f.name, func(t *testing.T) {
			for i, args := range f.args {
				m := mix(i)
				worst, wx, wy := 0.0, 0.0, 0.0
				for j := 0; j < n; j++ {
					x, y := args(&m)
					got := f.f(x, y)
					want := f.ref(bf(x), bf(y))
					u := ulps(got, want)
					if f.name == "Pow" && want.MantExp(nil) > -1021 && u > 0.75 {
						t.Errorf("%s(%x, %x) = %x: %.3f ulp, bound 0.75", f.name, x, y, got, u)
					}
					if u > worst {
						worst, wx, wy = u, x, y
					}
				}
				t.Logf("range %d: %.4f ulp at (%x, %x)", i, worst, wx, wy)
				if !(worst <= f.bound) {
					t.Errorf("%s(%x, %x) = %x: %.3f ulp, bound %g", f.name, wx, wy, f.f(wx, wy), worst, f.bound)
				}
			}
		})
	}
}
