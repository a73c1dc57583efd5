package exact

import "math"

// Sinh returns the hyperbolic sine of x. Error below 0.85 ulp. Sinh(±0) = ±0, Sinh(±Inf) = ±Inf; overflow
// from |x| = 710.475860073944 on; NaN gives NaN. Bit exact.
func Sinh(x float64) float64 {
	a := math.Abs(x)
	switch {
	case x != x:
		return nan()
	case a < 0x1p-28:
		return x
	case a < 1:
		return sinhSeries(x)
	case a > 720:
		return inf(x)
	}
	h, l, k := expPair(a)
	if a > 22 {
		return math.Copysign(scale(h+l, k-1), x)
	}
	h, l = float64(h*pow2(k)), float64(l*pow2(k))
	q, ql := reciprocal(h, l)
	s, t := twoSum(h, -q)
	return math.Copysign(float64(0.5*(s+(t+(l-ql)))), x)
}

// sinhSeries returns sinh(x) for |x| < 1 by its Taylor series up to x^19.
func sinhSeries(x float64) float64 {
	z := float64(x * x)
	p := 1.0/355687428096000 + float64(z*(1.0/121645100408832000))
	p = 1.0/1307674368000 + float64(z*p)
	p = 1.0/6227020800 + float64(z*p)
	p = 1.0/39916800 + float64(z*p)
	p = 1.0/362880 + float64(z*p)
	p = 1.0/5040 + float64(z*p)
	p = 1.0/120 + float64(z*p)
	p = 1.0/6 + float64(z*p)
	return x + float64(x*float64(z*p))
}

// Cosh returns the hyperbolic cosine of x. Error below 0.7 ulp.
// Cosh(±Inf) = +Inf; overflow from |x| = 710.475860073944 on; NaN gives NaN. Bit exact.
func Cosh(x float64) float64 {
	a := math.Abs(x)
	switch {
	case x != x:
		return nan()
	case a > 720:
		return math.Inf(1)
	}
	h, l, k := expPair(a)
	if a > 22 {
		return scale(h+l, k-1)
	}
	h, l = float64(h*pow2(k)), float64(l*pow2(k))
	q, ql := reciprocal(h, l)
	s, t := twoSum(h, q)
	return float64(0.5 * (s + (t + (l + ql))))
}

// reciprocal returns 1/(h+l) as a rounded quotient and its remainder.
func reciprocal(h, l float64) (q, ql float64) {
	q = 1 / h
	p, e := twoProd(q, h)
	return q, float64(q * (((1 - p) - e) - float64(q*l)))
}

// Tanh returns the hyperbolic tangent of x. Error below 0.9 ulp.
// Tanh(±0) = ±0, Tanh(±Inf) = ±1; NaN gives NaN. Bit exact.
func Tanh(x float64) float64 {
	a := math.Abs(x)
	switch {
	case x != x:
		return nan()
	case a < 0x1p-28:
		return x
	case a < 0.625:
		return tanhRational(x)
	case a > 22:
		return math.Copysign(1, x)
	}
	// tanh(a) = 1 - 2/(e^2a + 1)
	h, l, k := expPair(float64(2 * a))
	d, dl := twoSum(float64(h*pow2(k)), 1)
	dl += float64(l * pow2(k))
	t := 2 / d
	p, e := twoProd(t, d)
	tl := (((2 - p) - e) - float64(t*dl)) / d
	s, r := twoSum(1, -t)
	return math.Copysign(s+(r-tl), x)
}

// tanhRational returns tanh(x) for |x| < 0.625 (Cephes).
func tanhRational(x float64) float64 {
	const (
		p0 float64 = -9.64399179425052238628e-1
		p1 float64 = -9.92877231001918586564e1
		p2 float64 = -1.61468768441708447952e3
		q0 float64 = 1.12811678491632931402e2
		q1 float64 = 2.23548839060100448583e3
		q2 float64 = 4.84406305325125486048e3
	)
	z := float64(x * x)
	p := p2 + float64(z*(p1+float64(z*p0)))
	q := q2 + float64(z*(q1+float64(z*(q0+z))))
	return x + float64(x*(float64(z*p)/q))
}
