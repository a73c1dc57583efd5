package exact

import "math"

// sincosPoly holds the polynomials of one half turn: sine is
// x + s1 x^3 + s2 x^5 + s3 x^7, cosine is c0 + c1 x^2 + ... + c4 x^8.
type sincosPoly struct {
	c0, c1, c2, c3, c4 float64
	s1, s2, s3         float64
}

// sincosPolys[1] is for the half turn in which the cosine is negated. The sine's
// sign is brought in by its argument, so its coefficients stay.
var sincosPolys = [2]sincosPoly{
	{
		0x1p0, -0x1.ffffffd0c621cp-2, 0x1.55553e1068f19p-5, -0x1.6c087e89a359dp-10, 0x1.99343027bf8c3p-16,
		-0x1.555545995a603p-3, 0x1.1107605230bc4p-7, -0x1.994eb3774cf24p-13,
	},
	{
		-0x1p0, 0x1.ffffffd0c621cp-2, -0x1.55553e1068f19p-5, 0x1.6c087e89a359dp-10, -0x1.99343027bf8c3p-16,
		-0x1.555545995a603p-3, 0x1.1107605230bc4p-7, -0x1.994eb3774cf24p-13,
	},
}

// quadrantSign is the sign of the polynomial's argument in quadrant n mod 4.
var quadrantSign = [4]float64{1, -1, -1, 1}

// invPio4 holds the bits of 4/pi: word i ends at bit 8i+8, so that any argument's
// exponent finds its 96 bits with a shift of less than 8.
var invPio4 = [24]uint32{
	0x000000a2, 0x0000a2f9, 0x00a2f983, 0xa2f9836e, 0xf9836e4e, 0x836e4e44,
	0x6e4e4415, 0x4e441529, 0x441529fc, 0x1529fc27, 0x29fc2757, 0xfc2757d1,
	0x2757d1f5, 0x57d1f534, 0xd1f534dd, 0xf534ddc0, 0x34ddc0db, 0xddc0db62,
	0xc0db6295, 0xdb629599, 0x6295993c, 0x95993c43, 0x993c4390, 0x3c439041,
}

// Top 12 bits, without the sign, of the float32 arguments where the method changes.
const (
	topPio4 = 0x3f4 // pi/4, hence in effect 0.75
	topTiny = 0x398 // 2^-12
	top120  = 0x42f // 120
	topInf  = 0x7f8
)

// Sin32 returns the sine of x radians: the bits that glibc 2.36's sinf returns where it does not use fused
// multiply-add, for every float32 argument (NaN and ±Inf give NaN). Error at most 0.56 ulp. Bit exact.
func Sin32(x float32) float32 {
	b := math.Float32bits(x)
	top := b >> 20 & 0x7ff
	d := float64(x)
	switch {
	case top < topTiny:
		return x
	case top < topPio4:
		return float32(evalQuadrant(d, float64(d*d), &sincosPolys[0], 0))
	case top < top120:
		r, n := reduceFast(d)
		s := quadrantSign[n&3]
		return float32(evalQuadrant(float64(r*s), float64(r*r), &sincosPolys[n>>1&1], n))
	case top < topInf:
		r, n := reduceLarge(b)
		m := n + int32(b>>31)
		s := quadrantSign[m&3]
		return float32(evalQuadrant(float64(r*s), float64(r*r), &sincosPolys[m>>1&1], n))
	}
	return nan32()
}

// Cos32 returns the cosine of x radians: the bits that glibc 2.36's cosf returns where it does not use fused
// multiply-add, for every float32 argument (NaN and ±Inf give NaN). Error at most 0.56 ulp. Bit exact.
func Cos32(x float32) float32 {
	b := math.Float32bits(x)
	top := b >> 20 & 0x7ff
	d := float64(x)
	switch {
	case top < topTiny:
		return 1
	case top < topPio4:
		return float32(evalQuadrant(d, float64(d*d), &sincosPolys[0], 1))
	case top < top120:
		r, n := reduceFast(d)
		s := quadrantSign[n&3]
		return float32(evalQuadrant(float64(r*s), float64(r*r), &sincosPolys[n>>1&1], n^1))
	case top < topInf:
		r, n := reduceLarge(b)
		m := n + int32(b>>31)
		s := quadrantSign[m&3]
		return float32(evalQuadrant(float64(r*s), float64(r*r), &sincosPolys[m>>1&1], n^1))
	}
	return nan32()
}

// SinCos32 returns Sin32(x) and Cos32(x) for little more than the price of one. Bit exact.
func SinCos32(x float32) (sin, cos float32) {
	b := math.Float32bits(x)
	top := b >> 20 & 0x7ff
	d := float64(x)
	switch {
	case top < topTiny:
		return x, 1
	case top < topPio4:
		d2 := float64(d * d)
		p := &sincosPolys[0]
		return float32(evalSine(d, d2, p)), float32(evalCosine(d2, p))
	case top < top120:
		r, n := reduceFast(d)
		return bothInQuadrant(r, n, n)
	case top < topInf:
		r, n := reduceLarge(b)
		return bothInQuadrant(r, n, n+int32(b>>31))
	}
	return nan32(), nan32()
}

// bothInQuadrant returns sine and cosine of r after a reduction to quadrant n; m is the quadrant with the sign of the
// argument.
func bothInQuadrant(r float64, n, m int32) (sin, cos float32) {
	x, x2 := float64(r*quadrantSign[m&3]), float64(r*r)
	p := &sincosPolys[m>>1&1]
	s, c := float32(evalSine(x, x2, p)), float32(evalCosine(x2, p))
	if n&1 == 0 {
		return s, c
	}
	return c, s
}

// evalQuadrant returns the sine polynomial at x for even n and the cosine polynomial for odd n; x2 is x*x.
func evalQuadrant(x, x2 float64, p *sincosPoly, n int32) float64 {
	if n&1 == 0 {
		return evalSine(x, x2, p)
	}
	return evalCosine(x2, p)
}

// evalSine returns the sine polynomial at x. The order of operations is glibc's.
func evalSine(x, x2 float64, p *sincosPoly) float64 {
	x3 := float64(x * x2)
	hi := p.s2 + float64(x2*p.s3)
	x5 := float64(x3 * x2)
	lo := x + float64(x3*p.s1)
	return lo + float64(x5*hi)
}

// evalCosine returns the cosine polynomial. The order of operations is glibc's.
func evalCosine(x2 float64, p *sincosPoly) float64 {
	x4 := float64(x2 * x2)
	hi := p.c3 + float64(x2*p.c4)
	lo := p.c0 + float64(x2*p.c1)
	x6 := float64(x4 * x2)
	mid := lo + float64(x4*p.c2)
	return mid + float64(x6*hi)
}

// reduceFast returns r and n with x = r + n*pi/2, for |x| < 120. The quotient is
// scaled by 2^24 so that an integer shift rounds it.
func reduceFast(x float64) (r float64, n int32) {
	const (
		twoOverPi = 0x1.45F306DC9C883p+23
		halfPi    = 0x1.921FB54442D18p0
	)
	n = (int32(float64(x*twoOverPi)) + 0x800000) >> 24
	return x - float64(float64(n)*halfPi), n
}

// reduceLarge returns r and n with |x| = r + n*pi/2 up to multiples of 2*pi, for
// the finite float32 of bits b, |x| >= 120: the 24-bit significand times 96 bits
// of 4/pi leaves two bits of quadrant and 62 of fraction (Payne and Hanek).
func reduceLarge(b uint32) (r float64, n int32) {
	const piOver2p63 = 0x1.921FB54442D18p-62
	i := b >> 26 & 15
	m := (b&0xffffff | 0x800000) << (b >> 23 & 7)

	top := uint64(m * invPio4[i])
	mid := uint64(m) * uint64(invPio4[i+4])
	low := uint64(m) * uint64(invPio4[i+8])
	f := (low>>32 | top<<32) + mid

	q := (f + 1<<61) >> 62
	f -= q << 62
	return float64(float64(int64(f)) * piOver2p63), int32(q)
}
