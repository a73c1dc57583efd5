package exact

import "math"

// ln 2 in two parts: the products of the first, of 33 bits, with an exponent are exact.
const (
	ln2Hi float64 = 6.93147180369123816490e-01
	ln2Lo float64 = 1.90821492927058770002e-10
	log2e float64 = 1.44269504088896338700e+00
)

// expCoef are fdlibm's coefficients of r*(e^r+1)/(e^r-1) = 2 + c1 r^2 + ... .
const (
	expC1 float64 = 1.66666666666666019037e-01
	expC2 float64 = -2.77777777770155933842e-03
	expC3 float64 = 6.61375632143793436117e-05
	expC4 float64 = -1.65339022054652515390e-06
	expC5 float64 = 4.13813679705723846039e-08
)

// expPair returns e^x = (h + l) * 2^k with h in [0.7, 1.42] and an error below 2^-55 of it, for |x| < 800.
func expPair(x float64) (h, l float64, k int) {
	n := math.Floor(float64(x*log2e) + 0.5)
	h, l = expSmall(x-float64(n*ln2Hi), float64(n*ln2Lo))
	return h, l, int(n)
}

// expSmall returns e^(hi-lo) = h + l for |hi-lo| < 0.35 and small lo, with the
// error of expPair: e^r - 1 = r + r*c/(2-c), and nothing that rounds off is lost.
func expSmall(hi, lo float64) (h, l float64) {
	r := hi - lo
	z := float64(r * r)
	p := expC4 + float64(z*expC5)
	p = expC3 + float64(z*p)
	p = expC2 + float64(z*p)
	p = expC1 + float64(z*p)
	c := r - float64(z*p)
	t, e := twoSum(hi, float64(r*c)/(2-c)-lo)
	h, l = twoSum(1, t)
	return h, l + e
}

// Exp returns e^x. Error below 0.7 ulp (1 ulp where the result is subnormal). Exp(+Inf) = +Inf, Exp(-Inf) =
// +0; overflow from 709.782712893384 on; NaN gives NaN. Bit exact.
func Exp(x float64) float64 {
	switch {
	case x != x:
		return nan()
	case x > 7.09782712893383973096e+02:
		return math.Inf(1)
	case x < -7.45133219101941108420e+02:
		return 0
	}
	h, l, k := expPair(x)
	return scale(h+l, k)
}

// Log returns the natural logarithm of x. Error below 0.85 ulp.
// Log(±0) = -Inf, Log(1) = +0, Log(+Inf) = +Inf; x < 0 and NaN give NaN. Bit exact.
func Log(x float64) float64 {
	switch {
	case !(x >= 0):
		return nan()
	case x == 0:
		return math.Inf(-1)
	case x > math.MaxFloat64:
		return x
	}
	m, k := split(x)
	// log(1+f) = f - f^2/2 + s*(f^2/2 + R(s^2)), s = f/(2+f) (fdlibm)
	const (
		l1 float64 = 6.666666666666735130e-01
		l2 float64 = 3.999999999940941908e-01
		l3 float64 = 2.857142874366239149e-01
		l4 float64 = 2.222219843214978396e-01
		l5 float64 = 1.818357216161805012e-01
		l6 float64 = 1.531383769920937332e-01
		l7 float64 = 1.479819860511658591e-01
	)
	f := m - 1
	s := f / (2 + f)
	z := float64(s * s)
	w := float64(z * z)
	odd := l5 + float64(w*l7)
	odd = l3 + float64(w*odd)
	odd = float64(z * (l1 + float64(w*odd)))
	even := l4 + float64(w*l6)
	even = float64(w * (l2 + float64(w*even)))
	half := float64(float64(0.5*f) * f)
	tail := float64(s * (half + (odd + even)))
	if k == 0 {
		return f - (half - tail)
	}
	n := float64(k)
	return float64(n*ln2Hi) - ((half - (tail + float64(n*ln2Lo))) - f)
}

// split returns m in [sqrt(1/2), sqrt(2)) and k with x = m * 2^k, for finite x > 0.
func split(x float64) (m float64, k int) {
	if x < 0x1p-1022 {
		x = float64(x * 0x1p54)
		k = -54
	}
	b := math.Float64bits(x)
	// sqrt(2) has the fraction 0x6a09e667f3bcd: from there on the sum carries into the exponent.
	const up = 1<<expShift - 0x6a09e667f3bcd
	e := int((b + up) >> expShift)
	return math.Float64frombits(b - uint64(e-expBias)<<expShift), k + e - expBias
}
