package exact

import "math"

// Bits of the only NaN that this package returns.
const (
	nanBits   = 0x7ff8000000000001
	nanBits32 = 0x7fc00000
)

// Bit fields of a float64.
const (
	signBit  = 1 << 63
	expShift = 52
	expMask  = 0x7ff
	expBias  = 1023
	fracMask = 1<<52 - 1
)

func nan() float64   { return math.Float64frombits(nanBits) }
func nan32() float32 { return math.Float32frombits(nanBits32) }

func inf(sign float64) float64 { return math.Copysign(math.Inf(1), sign) }

// Sqrt returns the square root of x, correctly rounded (0.5 ulp).
// Sqrt(-0) is -0; Sqrt of a negative number is NaN. Bit exact.
func Sqrt(x float64) float64 {
	r := math.Sqrt(x)
	if r != r {
		return nan()
	}
	return r
}

// Sqrt32 returns the square root of x, correctly rounded (0.5 ulp): the float64 root has more than twice the
// digits, so rounding it again is harmless. Special values are as for Sqrt. Bit exact.
func Sqrt32(x float32) float32 {
	r := float32(math.Sqrt(float64(x)))
	if r != r {
		return nan32()
	}
	return r
}

// Abs returns |x| by clearing the sign bit, also of NaN. Exact.
func Abs(x float64) float64 { return math.Abs(x) }

// Copysign returns x with the sign bit of sign, also for NaN. Exact.
func Copysign(x, sign float64) float64 { return math.Copysign(x, sign) }

// Floor returns the greatest integer not above x. Floor of ±0, ±Inf is x. Exact.
func Floor(x float64) float64 {
	r := math.Floor(x)
	if r != r {
		return nan()
	}
	return r
}

// Trunc returns x without its fraction, keeping the sign of x, also for a zero
// result. Trunc of ±Inf is x. Exact.
func Trunc(x float64) float64 {
	r := math.Trunc(x)
	if r != r {
		return nan()
	}
	return r
}

// pow2 returns 2^k for -1022 <= k <= 1023.
func pow2(k int) float64 {
	return math.Float64frombits(uint64(k+expBias) << expShift)
}

// scale returns x * 2^k for x of ordinary size and any |k| < 2500. Only a result
// below the normal range is rounded, and it is rounded once.
func scale(x float64, k int) float64 {
	if k > expBias {
		return float64(float64(x*pow2(expBias)) * pow2(min(k-expBias, expBias)))
	}
	if k < -1000 {
		// x is at least 2^-22 here in every use, so the first product is exact.
		return float64(float64(x*pow2(-1000)) * pow2(max(k+1000, -1022)))
	}
	return float64(x * pow2(k))
}

// chop returns x with the low half of its bits cleared: 21 significant bits.
// The product of two chopped numbers is exact.
func chop(x float64) float64 {
	return math.Float64frombits(math.Float64bits(x) &^ 0xffffffff)
}

// twoSum returns s = a+b rounded and e with s+e = a+b exactly (Knuth).
func twoSum(a, b float64) (s, e float64) {
	s = a + b
	t := s - a
	return s, (a - (s - t)) + (b - t)
}

// twoProd returns p = a*b rounded and e with p+e = a*b exactly (Dekker), when
// neither the halves overflow (|a|, |b| < 2^990) nor e underflows.
func twoProd(a, b float64) (p, e float64) {
	const split = 1<<27 + 1
	p = float64(a * b)
	t := float64(split * a)
	ah := t - (t - a)
	al := a - ah
	t = float64(split * b)
	bh := t - (t - b)
	bl := b - bh
	e = float64(ah*bh) - p
	e += float64(ah * bl)
	e += float64(al * bh)
	e += float64(al * bl)
	return p, e
}

// RoundEven returns the integer nearest to x; ties round to the even one. |x| must be below 2^62. Bit exact.
func RoundEven(x float64) int64 {
	low := Floor(x)
	n := int64(low)
	rest := x - low // exact: a difference of x and its floor
	if rest > 0.5 || rest == 0.5 && n&1 != 0 {
		n++
	}
	return n
}
