package exact

import "math"

// asinRational returns (asin(s)-s)/s for z = s^2 <= 1/4 (fdlibm's rational).
func asinRational(z float64) float64 {
	const (
		p0 float64 = 1.66666666666666657415e-01
		p1 float64 = -3.25565818622400915405e-01
		p2 float64 = 2.01212532134862925881e-01
		p3 float64 = -4.00555345006794114027e-02
		p4 float64 = 7.91534994289814532176e-04
		p5 float64 = 3.47933107596021167570e-05
		q1 float64 = -2.40339491173441421878e+00
		q2 float64 = 2.02094576023350569471e+00
		q3 float64 = -6.88283971605453293030e-01
		q4 float64 = 7.70381505559019352791e-02
	)
	p := p4 + float64(z*p5)
	p = p3 + float64(z*p)
	p = p2 + float64(z*p)
	p = p1 + float64(z*p)
	p = float64(z * (p0 + float64(z*p)))
	q := q3 + float64(z*q4)
	q = q2 + float64(z*q)
	q = q1 + float64(z*q)
	q = 1 + float64(z*q)
	return p / q
}

// Asin returns the arc sine of x in [-pi/2, pi/2]. Error below 0.9 ulp.
// Asin(±0) = ±0; |x| > 1 and NaN give NaN. Bit exact.
func Asin(x float64) float64 {
	a := math.Abs(x)
	switch {
	case !(a <= 1):
		return nan()
	case a < 0x1p-27:
		return x
	case a < 0.5:
		return x + float64(x*asinRational(float64(x*x)))
	}
	// asin(a) = pi/2 - 2 asin(sqrt((1-a)/2))
	z := float64((1 - a) * 0.5)
	s, tail := rootPair(z)
	r := float64(s * asinRational(z))
	// 2 (s + tail + r) is taken from pi/2 in an order that keeps what rounds off.
	d, e := twoSum(pio2Hi, -float64(2*s))
	v := d + (e + (pio2Lo - float64(2*(tail+r))))
	return math.Copysign(v, x)
}

// Acos returns the arc cosine of x in [0, pi]. Error below 0.9 ulp.
// Acos(1) = +0; |x| > 1 and NaN give NaN. Bit exact.
func Acos(x float64) float64 {
	a := math.Abs(x)
	if !(a <= 1) {
		return nan()
	}
	if a < 0.5 {
		d, e := twoSum(pio2Hi, -x)
		return d + (e + (pio2Lo - float64(x*asinRational(float64(x*x)))))
	}
	z := float64((1 - a) * 0.5)
	s, tail := rootPair(z)
	r := tail + float64(s*asinRational(z))
	if x > 0 {
		return float64(2 * (s + r))
	}
	d, e := twoSum(piHi, -float64(2*s))
	return d + (e + (piLo - float64(2*r)))
}

// rootPair returns sqrt(z) rounded and what is missing from it.
func rootPair(z float64) (s, tail float64) {
	if z == 0 {
		return 0, 0
	}
	s = math.Sqrt(z)
	p, e := twoProd(s, s)
	return s, float64(((z-p)-e)/s) * 0.5
}

// atanCoef are fdlibm's minimax coefficients of (x-atan(x))/x^3 in x^2 on [-7/16, 7/16].
var atanCoef = [11]float64{
	3.33333333333329318027e-01, -1.99999999998764832476e-01, 1.42857142725034663711e-01,
	-1.11111104054623557880e-01, 9.09088713343650656196e-02, -7.69187620504482999495e-02,
	6.66107313738753120669e-02, -5.83357013379057348645e-02, 4.97687799461593236017e-02,
	-3.65315727442169155270e-02, 1.62858201153657823623e-02,
}

// atanPair returns the arc tangent of x + dx as a sum a + b in which a carries
// no rounding error, for x >= 0 and a tail dx. The argument is first brought
// below 7/16 by atan(x) = atan(c) + atan((x-c)/(1+cx)), c = 1/2, 1, 3/2, Inf.
func atanPair(x, dx float64) (a, b float64) {
	if x > 0x1p66 {
		return pio2Hi, pio2Lo
	}
	t, lo := x, dx/(1+float64(x*x))
	switch {
	case x < 0x1p-27:
		return x, dx
	case x < 0.4375:
		s := atanSeries(t)
		return x, lo - float64(t*s)
	case x < 0.6875:
		a, lo = 4.63647609000806093515e-01, lo+2.26987774529616870924e-17
		t = (float64(2*x) - 1) / (2 + x)
	case x < 1.1875:
		a, lo = pio4Hi, lo+pio4Lo
		t = (x - 1) / (x + 1)
	case x < 2.4375:
		a, lo = 9.82793723247329054082e-01, lo+1.39033110312309984516e-17
		t = (x - 1.5) / (1 + float64(1.5*x))
	default:
		a, lo = pio2Hi, lo+pio2Lo
		t = -1 / x
	}
	return a, t - (float64(t*atanSeries(t)) - lo)
}

// atanSeries returns 1 - atan(t)/t for |t| <= 7/16.
func atanSeries(t float64) float64 {
	z := float64(t * t)
	w := float64(z * z)
	even, odd := atanCoef[10], atanCoef[9]
	for i := 8; i >= 2; i -= 2 {
		even = atanCoef[i] + float64(w*even)
		odd = atanCoef[i-1] + float64(w*odd)
	}
	even = float64(z * (atanCoef[0] + float64(w*even)))
	return even + float64(w*odd)
}

// Atan returns the arc tangent of x in [-pi/2, pi/2]. Error below 0.85 ulp.
// Atan(±0) = ±0, Atan(±Inf) = ±pi/2; NaN gives NaN. Bit exact.
func Atan(x float64) float64 {
	if x != x {
		return nan()
	}
	a, b := atanPair(math.Abs(x), 0)
	return math.Copysign(a+b, x)
}

// Atan2 returns the angle of the point (x, y) in [-pi, pi]. Error below 0.85 ulp.
// The signs of zeros and the infinities count as in C99: Atan2(±0, +0) = ±0,
// Atan2(±0, -0) = ±pi, Atan2(±Inf, +Inf) = ±pi/4. NaN gives NaN. Bit exact.
func Atan2(y, x float64) float64 {
	if x != x || y != y {
		return nan()
	}
	ax, ay := math.Abs(x), math.Abs(y)
	left := math.Float64bits(x)>>63 != 0
	switch {
	case ay == 0 || ax > math.MaxFloat64:
		v := 0.0
		switch {
		case ay > math.MaxFloat64 && left:
			v = 2.35619449019234483700e+00
		case ay > math.MaxFloat64:
			v = pio4Hi
		case left:
			v = piHi
		}
		return math.Copysign(v, y)
	case ax == 0 || ay > math.MaxFloat64:
		return math.Copysign(pio2Hi, y)
	}
	return math.Copysign(atanRatio(ay, ax, left), y)
}

// atanRatio returns atan(y/x), or pi - atan(y/x) if left, for finite positive x and y.
func atanRatio(y, x float64, left bool) float64 {
	switch d := expBits(y) - expBits(x); {
	case d > 64:
		return pio2Hi
	case d < -64 && left:
		return piHi
	case d < -64:
		return y / x
	}
	// Equal scaling keeps the parts of the quotient's remainder in range.
	if big := max(x, y); big > 0x1p800 {
		x, y = float64(x*0x1p-600), float64(y*0x1p-600)
	} else if big < 0x1p-500 {
		x, y = float64(x*0x1p520), float64(y*0x1p520)
	}
	q := y / x
	p, e := twoProd(q, x)
	a, b := atanPair(q, ((y-p)-e)/x)
	if !left {
		return a + b
	}
	s, t := twoSum(piHi, -a)
	return s + (t + (piLo - b))
}
