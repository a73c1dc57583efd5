package exact

import "math"

// Sin returns the sine of x radians, for |x| up to the greatest float64.
// Error below 0.85 ulp. Sin(±0) = ±0; ±Inf and NaN give NaN. Bit exact.
func Sin(x float64) float64 {
	if math.Abs(x) <= pio4Hi {
		return sinKernel(x, 0)
	}
	s, _ := beyond(x)
	return s
}

// Cos returns the cosine of x radians, for |x| up to the greatest float64.
// Error below 0.85 ulp. ±Inf and NaN give NaN. Bit exact.
func Cos(x float64) float64 {
	if math.Abs(x) <= pio4Hi {
		return cosKernel(x, 0)
	}
	_, c := beyond(x)
	return c
}

// Sincos returns Sin(x) and Cos(x), the same bits, with one reduction. Bit exact.
func Sincos(x float64) (sin, cos float64) {
	if !(math.Abs(x) <= pio4Hi) {
		return beyond(x)
	}
	// Both kernels with the tail 0, side by side. A sum of negated terms is the negated sum, and where x is
	// so small that sinKernel returns it the other terms vanish: the same bits.
	z := float64(x * x)
	v := float64(z * x)
	p := -sin5 - float64(z*sin6)
	q := cos5 + float64(z*cos6)
	p = -sin4 + float64(z*p)
	q = cos4 + float64(z*q)
	p = -sin3 + float64(z*p)
	q = cos3 + float64(z*q)
	p = -sin2 + float64(z*p)
	q = cos2 + float64(z*q)
	q = float64(z * (cos1 + float64(z*q)))
	half := float64(0.5 * z)
	w := 1 - half
	return x - (float64(z*float64(v*p)) - float64(v*sin1)), w + (((1 - w) - half) + float64(z*q))
}

// beyond returns sine and cosine of x where |x| > pi/4, or of NaN. It does what reducePio2 and sinQuadrant
// do, the usual way without a branch: processors guess the quadrant wrong, and in Go's code for WebAssembly a
// branch costs as much as a call. Both kernels are computed, side by side, and take their places by masks.
func beyond(x float64) (sin, cos float64) {
	const inv = 6.36619772367581382433e-01
	ax := math.Abs(x)
	fn := math.Floor(float64(ax*inv) + 0.5)
	t := ax - float64(fn*pio2A)
	w := float64(fn * pio2ATail)
	r := t - w
	if !(ax < 0x1p20) || expBits(ax)-expBits(r) > 16 {
		return beyondFar(x)
	}
	c := (t - r) - w

	// sinKernel and cosKernel; |r| is at least 2^-18.
	z := float64(r * r)
	v := float64(z * r)
	p := sin5 + float64(z*sin6)
	q := cos5 + float64(z*cos6)
	p = sin4 + float64(z*p)
	q = cos4 + float64(z*q)
	p = sin3 + float64(z*p)
	q = cos3 + float64(z*q)
	p = sin2 + float64(z*p)
	q = cos2 + float64(z*q)
	q = float64(z * (cos1 + float64(z*q)))
	half := float64(0.5 * z)
	one := 1 - half
	tail := float64(z*(float64(0.5*c)-float64(v*p))) - c
	s := math.Float64bits(r - (tail - float64(v*sin1)))
	k := math.Float64bits(one + (((1 - one) - half) + (float64(z*q) - float64(r*c))))

	n := uint64(int64(fn))
	swap := (s ^ k) & -(n & 1)
	s ^= swap ^ n>>1<<63 ^ math.Float64bits(x)>>63<<63 // the sine is odd in every bit
	k ^= swap ^ (n+1)>>1<<63
	return math.Float64frombits(s), math.Float64frombits(k)
}

// beyondFar is beyond where x is large or close to a multiple of pi/2, or NaN.
//
//go:noinline
func beyondFar(x float64) (sin, cos float64) {
	if !(math.Abs(x) <= math.MaxFloat64) {
		return nan(), nan()
	}
	r, c, n := reducePio2(x)
	return sinQuadrant(r, c, n), sinQuadrant(r, c, n+1)
}

// sinQuadrant returns sin(r + c + n*pi/2).
func sinQuadrant(r, c float64, n int) float64 {
	v := 0.0
	if n&1 == 0 {
		v = sinKernel(r, c)
	} else {
		v = cosKernel(r, c)
	}
	if n&2 != 0 {
		return -v
	}
	return v
}

// fdlibm's minimax coefficients of sin(x)/x and cos(x) in x^2.
const (
	sin1 float64 = -1.66666666666666324348e-01
	sin2 float64 = 8.33333333332248946124e-03
	sin3 float64 = -1.98412698298579493134e-04
	sin4 float64 = 2.75573137070700676789e-06
	sin5 float64 = -2.50507602534068634195e-08
	sin6 float64 = 1.58969099521155010221e-10

	cos1 float64 = 4.16666666666666019037e-02
	cos2 float64 = -1.38888888888741095749e-03
	cos3 float64 = 2.48015872894767294178e-05
	cos4 float64 = -2.75573143513906633035e-07
	cos5 float64 = 2.08757232129817482790e-09
	cos6 float64 = -1.13596475577881948265e-11
)

// sinKernel returns sin(x+y) for |x| <= pi/4 and a tail y (fdlibm's minimax polynomial of degree 13).
func sinKernel(x, y float64) float64 {
	if math.Abs(x) < 0x1p-27 {
		return x
	}
	z := float64(x * x)
	v := float64(z * x)
	p := sin5 + float64(z*sin6)
	p = sin4 + float64(z*p)
	p = sin3 + float64(z*p)
	p = sin2 + float64(z*p)
	tail := float64(z*(float64(0.5*y)-float64(v*p))) - y
	return x - (tail - float64(v*sin1))
}

// cosKernel returns cos(x+y) for |x| <= pi/4 and a tail y. The rounding of
// 1 - x^2/2 is put back into the small terms.
func cosKernel(x, y float64) float64 {
	z := float64(x * x)
	p := cos5 + float64(z*cos6)
	p = cos4 + float64(z*p)
	p = cos3 + float64(z*p)
	p = cos2 + float64(z*p)
	p = float64(z * (cos1 + float64(z*p)))
	half := float64(0.5 * z)
	w := 1 - half
	return w + (((1 - w) - half) + (float64(z*p) - float64(x*y)))
}

// Tan returns the tangent of x radians, for |x| up to the greatest float64.
// Error below 1.1 ulp. Tan(±0) = ±0; ±Inf and NaN give NaN. Bit exact.
func Tan(x float64) float64 {
	if !(math.Abs(x) <= math.MaxFloat64) {
		return nan()
	}
	r, c, n := reducePio2(x)
	return tanKernel(r, c, n&1 != 0)
}

// tanCoef are fdlibm's minimax coefficients of (tan(x)-x)/x^3 in x^2.
var tanCoef = [13]float64{
	3.33333333333334091986e-01, 1.33333333333201242699e-01, 5.39682539762260521377e-02,
	2.18694882948595424599e-02, 8.86323982359930005737e-03, 3.59207910759131235356e-03,
	1.45620945432529025516e-03, 5.88041240820264096874e-04, 2.46463134818469906812e-04,
	7.81794442939557092300e-05, 7.14072491382608190305e-05, -1.85586374855275456654e-05,
	2.59073051863633712884e-05,
}

// tanKernel returns tan(x+y), or -1/tan(x+y) if inverted, for |x| <= pi/4 and a
// tail y. From 0.674 on it uses tan(x) = (1-t)/(1+t), t = tan(pi/4-x).
func tanKernel(x, y float64, inverted bool) float64 {
	negative := x < 0
	big := math.Abs(x) >= 0.67434
	if big {
		if negative {
			x, y = -x, -y
		}
		x = (pio4Hi - x) + (pio4Lo - y)
		y = 0
	}
	if math.Abs(x) < 0x1p-27 && !big && !inverted {
		return x
	}
	z := float64(x * x)
	w := float64(z * z)
	odd, even := tanCoef[11], tanCoef[12]
	for i := 9; i >= 1; i -= 2 {
		odd = tanCoef[i] + float64(w*odd)
		even = tanCoef[i+1] + float64(w*even)
	}
	even = float64(z * even)
	s := float64(z * x)
	r := y + float64(z*(float64(s*(odd+even))+y))
	r += float64(tanCoef[0] * s)
	t := x + r
	if big {
		v := 1.0
		if inverted {
			v = -1
		}
		t = v - float64(2*(x-(float64(t*t)/(t+v)-r)))
		if negative {
			return -t
		}
		return t
	}
	if !inverted {
		return t
	}
	// -1/(x+r), with the rounding of x+r and of the quotient put back.
	hi := chop(t)
	lo := r - (hi - x)
	a := -1 / t
	ah := chop(a)
	e := 1 + float64(ah*hi)
	return ah + float64(a*(e+float64(ah*lo)))
}
