package exact

import "math"

// Pow returns x to the power y. Error below 0.75 ulp (1.1 ulp where the result is subnormal). All special
// cases of C99 F.9.4.4 hold: Pow(x, ±0) = Pow(1, y) = 1 even for NaN, Pow(-1, ±Inf) = 1, a negative x with an
// odd y keeps the sign, with a y that is no integer gives NaN. Bit exact.
func Pow(x, y float64) float64 {
	ax, ay := math.Abs(x), math.Abs(y)
	switch {
	case y == 0 || x == 1:
		return 1
	case x != x || y != y:
		return nan()
	case ay > math.MaxFloat64:
		return powInf(ax, y > 0)
	}
	sign := 1.0
	if math.Float64bits(x)>>63 != 0 && isOdd(ay) {
		sign = -1
	}
	switch {
	case ax == 0 || ax > math.MaxFloat64:
		if (ax == 0) == (y > 0) {
			return math.Copysign(0, sign)
		}
		return inf(sign)
	case x < 0 && math.Trunc(ay) != ay:
		return nan()
	case ax == 1:
		return sign
	case ay > 0x1p70:
		return powInf(ax, y > 0)
	case y == 1:
		return x
	case y == 0.5:
		return math.Sqrt(x)
	case y == 2:
		return float64(x * x)
	}
	return float64(sign * powPositive(ax, y))
}

// powInf returns ax to the power of ±Inf.
func powInf(ax float64, positive bool) float64 {
	switch {
	case ax == 1:
		return 1
	case (ax > 1) == positive:
		return math.Inf(1)
	}
	return 0
}

// isOdd reports whether y >= 0 is an odd integer.
func isOdd(y float64) bool {
	return y < 0x1p53 && math.Trunc(y) == y && int64(y)&1 != 0
}

// powPositive returns x^y for finite x > 0, x != 1, and finite y, |y| <= 2^70.
func powPositive(x, y float64) float64 {
	t1, t2 := log2Pair(x)
	yh := chop(y)
	hi := float64(yh * t1)
	lo := float64((y-yh)*t1) + float64(y*t2)
	z := hi + lo
	switch {
	case z > 1025:
		return math.Inf(1)
	case z < -1080:
		return 0
	}
	// 2^(hi+lo) = 2^n * e^((hi-n+lo) ln 2)
	const ln2, ln2Rest float64 = 6.93147180559945286227e-01, 2.31904681384629955842e-17
	n := math.Floor(z + 0.5)
	a, b := twoSum(hi-n, lo)
	p, e := twoProd(a, ln2)
	e += float64(a*ln2Rest) + float64(b*ln2)
	h, l := expSmall(p, -e)
	return scale(h+l, int(n))
}

// log2Pair returns log2(x) = t1 + t2 for finite x > 0, t1 having 21 bits and the sum an error below 2^-67 of
// it (fdlibm: log2 of x/c for c = 1 or 3/2, from s = (x-c)/(x+c), with s and 2/(3 ln 2) in two parts each).
func log2Pair(x float64) (t1, t2 float64) {
	const (
		l1 float64 = 5.99999999999994648725e-01
		l2 float64 = 4.28571428578550184252e-01
		l3 float64 = 3.33333329818377432918e-01
		l4 float64 = 2.72728123808534006489e-01
		l5 float64 = 2.30660745775561754067e-01
		l6 float64 = 2.06975017800338417784e-01

		cp   float64 = 9.61796693925975554329e-01 // 2/(3 ln 2)
		cpHi float64 = 9.61796700954437255859e-01
		cpLo float64 = -7.02846165095275826516e-09

		log2Hi float64 = 5.84962487220764160156e-01 // log2(3/2)
		log2Lo float64 = 1.35003920212974897128e-08
	)
	m, k := split(x)
	if m < 0.8660254037844386 {
		m, k = float64(2*m), k-1
	}
	c, dHi, dLo := 1.0, 0.0, 0.0
	if m >= 1.224744871391589 {
		c, dHi, dLo = 1.5, log2Hi, log2Lo
	}
	u, v := m-c, 1/(m+c)
	s := float64(u * v)
	sh := chop(s)
	th := chop(m + c)
	tl := m - (th - c)
	sl := float64(v * ((u - float64(sh*th)) - float64(sh*tl)))

	// 3 + s^2 + (3/2)(...) in two parts, times s.
	z := float64(s * s)
	r := l5 + float64(z*l6)
	r = l4 + float64(z*r)
	r = l3 + float64(z*r)
	r = l2 + float64(z*r)
	r = float64(float64(z*z) * (l1 + float64(z*r)))
	r += float64(sl * (sh + s))
	z = float64(sh * sh)
	th = chop(3 + z + r)
	tl = r - ((th - 3) - z)
	u = float64(sh * th)
	v = float64(sl*th) + float64(tl*s)
	ph := chop(u + v)
	pl := v - (ph - u)
	zh := float64(cpHi * ph)
	zl := float64(cpLo*ph) + float64(pl*cp) + dLo
	n := float64(k)
	t1 = chop(((zh + zl) + dHi) + n)
	return t1, zl - (((t1 - n) - dHi) - zh)
}
