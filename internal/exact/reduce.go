package exact

import "math"

// pi/2 in three parts of 33 bits, each with what is left below it (fdlibm).
const (
	pio2A     float64 = 1.57079632673412561417e+00
	pio2ATail float64 = 6.07710050650619224932e-11
	pio2B     float64 = 6.07710050630396597660e-11
	pio2BTail float64 = 2.02226624879595063154e-21
	pio2C     float64 = 2.02226624871116645580e-21
	pio2CTail float64 = 8.47842766036889956997e-32
)

// pi and pi/2 as float64 and the remainder.
const (
	piHi   float64 = 3.14159265358979311600e+00
	piLo   float64 = 1.22464679914735317720e-16
	pio2Hi float64 = 1.57079632679489655800e+00
	pio2Lo float64 = 6.12323399573676603587e-17
	pio4Hi float64 = 7.85398163397448278999e-01
	pio4Lo float64 = 3.06161699786838301793e-17
)

// twoOverPi holds 1248 bits of 2/pi after the point, most significant word first.
var twoOverPi = [39]uint32{
	0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041,
	0xfe5163ab, 0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c,
	0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41,
	0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
	0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d,
	0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08,
	0x56033046, 0xfc7b6bab, 0xf0cfbc20,
}

// reducePio2 returns x = n*pi/2 + (r+c) for finite x, with |r+c| <= pi/4 (a hair more when the quotient
// rounds at the boundary), |c| <= ulp(r)/2 and n mod 4. Its error is below 2^-66 relative to r.
func reducePio2(x float64) (r, c float64, n int) {
	ax := math.Abs(x)
	if ax <= pio4Hi {
		return x, 0, 0
	}
	if ax < 0x1p20 {
		r, c, n = reduceMedium(ax)
	} else {
		r, c, n = reduceHuge(ax)
	}
	if x < 0 {
		return -r, -c, -n & 3
	}
	return r, c, n & 3
}

// reduceMedium is reducePio2 for 0 < x < 2^20: n*pio2A is exact there. The more
// x cancels, the more parts of pi/2 are taken (Cody and Waite).
func reduceMedium(x float64) (r, c float64, n int) {
	const inv = 6.36619772367581382433e-01
	fn := math.Floor(float64(x*inv) + 0.5)
	t := x - float64(fn*pio2A)
	w := float64(fn * pio2ATail)
	r = t - w
	lost := expBits(x) - expBits(r)
	if lost > 16 {
		u := t
		w = float64(fn * pio2B)
		t = u - w
		w = float64(fn*pio2BTail) - ((u - t) - w)
		r = t - w
		if expBits(x)-expBits(r) > 49 {
			u = t
			w = float64(fn * pio2C)
			t = u - w
			w = float64(fn*pio2CTail) - ((u - t) - w)
			r = t - w
		}
	}
	return r, (t - r) - w, int(fn)
}

func expBits(x float64) int { return int(math.Float64bits(x) >> expShift & expMask) }

// reduceHuge is reducePio2 for x >= 2^20 (Payne and Hanek): the significand
// times those bits of 2/pi that decide the quotient mod 4 and 190 bits below.
func reduceHuge(x float64) (r, c float64, n int) {
	// x = m * 2^e with a 53-bit m. Bits of 2/pi of weight 2^(2-e) and more only add multiples of 4.
	b := math.Float64bits(x)
	m := b&fracMask | 1<<expShift
	e := int(b>>expShift) - expBias - 52

	// win[0..7] are 256 bits of 2/pi whose first bit has weight 2^(1-e), so that
	// m*win has the point after its bit 2+53 ... hence 64 bits of product first.
	var win [8]uint32
	for i := range win {
		win[i] = piBits(e - 2 + 32*i)
	}
	// prod = m * win mod 2^256, in eight words: the point is two bits from the top.
	var prod [8]uint32
	m0, m1 := m&0xffffffff, m>>32
	var carry uint64
	for i := 7; i >= 0; i-- {
		low := uint64(win[i]) * m0
		sum := carry&0xffffffff + low&0xffffffff
		next := carry>>32 + low>>32
		if i < 7 {
			high := uint64(win[i+1]) * m1
			sum += high & 0xffffffff
			next += high >> 32
		}
		prod[i] = uint32(sum)
		carry = next + sum>>32
	}
	n = int(prod[0] >> 30)
	prod[0] &= 1<<30 - 1
	negative := prod[0]>>29 != 0
	if negative {
		n++
		negate(&prod)
		prod[0] &= 1<<30 - 1
	}
	hi, lo := leadingPair(&prod)
	// (hi+lo) * pi/2
	p, q := twoProd(hi, pio2Hi)
	q += float64(hi*pio2Lo) + float64(lo*pio2Hi)
	r = p + q
	c = (p - r) + q
	if negative {
		return -r, -c, n
	}
	return r, c, n
}

// piBits returns the 32 bits of 2/pi from bit at (0 is the first after the point).
func piBits(at int) uint32 {
	if at < 0 {
		if at <= -32 {
			return 0
		}
		return twoOverPi[0] >> uint(-at)
	}
	i, s := at>>5, uint(at&31)
	if i >= len(twoOverPi)-1 {
		return 0
	}
	return uint32((uint64(twoOverPi[i])<<32 | uint64(twoOverPi[i+1])) << s >> 32)
}

// negate replaces the 256-bit number by its two's complement.
func negate(p *[8]uint32) {
	carry := uint64(1)
	for i := 7; i >= 0; i-- {
		carry += uint64(^p[i])
		p[i] = uint32(carry)
		carry >>= 32
	}
}

// leadingPair returns the first 106 significant bits, or a few fewer, of the
// 254-bit fraction p (point after the top two bits) as two float64.
func leadingPair(p *[8]uint32) (hi, lo float64) {
	lead := 0
	for lead < 254 && p[lead>>5]>>uint(31-lead&31)&1 == 0 {
		lead++
	}
	a, b := bits53(p, lead), bits53(p, lead+53)
	return float64(float64(a) * pow2(2-lead-53)), float64(float64(b) * pow2(2-lead-106))
}

// bits53 returns the 53 bits of p from bit at (0 is the top), zeros below the end.
func bits53(p *[8]uint32, at int) uint64 {
	v := uint64(0)
	for i := at; i < at+53; i++ {
		v <<= 1
		if i < 256 {
			v |= uint64(p[i>>5] >> uint(31-i&31) & 1)
		}
	}
	return v
}
