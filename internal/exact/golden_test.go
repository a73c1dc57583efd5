package exact_test

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"testing"

	"github.com/evoswarm/evoswarm/internal/exact"
	"github.com/evoswarm/evoswarm/internal/golden"
)

const goldenArgs = 200000

// goldenArg draws from four kinds in turn: any bit pattern, a wide range of exponents, [-10, 10) and [-1, 1).
func goldenArg(m *mix, i int) float64 {
	switch i & 3 {
	case 0:
		return math.Float64frombits(m.next())
	case 1:
		return m.exp(-30, 30)
	case 2:
		return m.in(-10, 10)
	}
	return m.in(-1, 1)
}

// TestGolden holds the bits of every function: SHA-256 over the little-endian
// results, NaN included as it comes.
func TestGolden(t *testing.T) {
	sin, cos := func(x float64) float64 { s, _ := exact.Sincos(x); return s }, func(x float64) float64 { _, c := exact.Sincos(x); return c }
	for _, f := range []struct {
		name string
		f    func(float64) float64
	}{
		{"Sin", exact.Sin}, {"Cos", exact.Cos}, {"Sincos.sin", sin}, {"Sincos.cos", cos}, {"Tan", exact.Tan},
		{"Asin", exact.Asin}, {"Acos", exact.Acos}, {"Atan", exact.Atan}, {"Exp", exact.Exp}, {"Log", exact.Log},
		{"Tanh", exact.Tanh}, {"Sinh", exact.Sinh}, {"Cosh", exact.Cosh},
		{"Sqrt", exact.Sqrt}, {"Abs", exact.Abs}, {"Floor", exact.Floor}, {"Trunc", exact.Trunc},
	} {
		check64(t, f.name, func(m *mix, i int) float64 { return f.f(goldenArg(m, i)) })
	}
	for _, f := range []struct {
		name string
		f    func(x, y float64) float64
	}{
		{"Atan2", exact.Atan2}, {"Pow", exact.Pow}, {"Copysign", exact.Copysign},
	} {
		check64(t, f.name, func(m *mix, i int) float64 {
			x := goldenArg(m, i)
			if i&64 != 0 {
				x = exact.Abs(x)
			}
			return f.f(x, goldenArg(m, i>>2))
		})
	}
	for _, f := range []struct {
		name string
		f    func(float32) float32
	}{
		{"Sin32", exact.Sin32}, {"Cos32", exact.Cos32}, {"Tanh32", exact.Tanh32}, {"Sqrt32", exact.Sqrt32},
	} {
		m, sum := mix(1), sha256.New()
		var b [4]byte
		for i := 0; i < goldenArgs; i++ {
			x := float32(m.in(-10, 10))
			if i&1 == 0 {
				x = math.Float32frombits(uint32(m.next()))
			}
			binary.LittleEndian.PutUint32(b[:], math.Float32bits(f.f(x)))
			sum.Write(b[:])
		}
		golden.Check(t, f.name, sum.Sum(nil))
	}
}

func check64(t *testing.T, name string, result func(m *mix, i int) float64) {
	t.Helper()
	m, sum := mix(1), sha256.New()
	var b [8]byte
	for i := 0; i < goldenArgs; i++ {
		binary.LittleEndian.PutUint64(b[:], math.Float64bits(result(&m, i)))
		sum.Write(b[:])
	}
	golden.Check(t, name, sum.Sum(nil))
}
