package exact_test

import "math/big"

// prec is the working precision of the reference functions, in bits. Trigonometric
// reduction adds the bits of the argument's exponent.
const prec = 260

func bf(x float64) *big.Float { return newBig().SetFloat64(x) }

func newBig() *big.Float { return new(big.Float).SetPrec(prec) }

func bigInt(n int64) *big.Float { return newBig().SetInt64(n) }

func add(a, b *big.Float) *big.Float { return newBig().Add(a, b) }
func sub(a, b *big.Float) *big.Float { return newBig().Sub(a, b) }
func mul(a, b *big.Float) *big.Float { return newBig().Mul(a, b) }
func quo(a, b *big.Float) *big.Float { return newBig().Quo(a, b) }

func shift(a *big.Float, k int) *big.Float { return newBig().SetMantExp(a, k) }

// machinPi returns pi to the given precision: 16 atan(1/5) - 4 atan(1/239).
func machinPi(bits uint) *big.Float {
	one := new(big.Int).Lsh(big.NewInt(1), bits+32)
	atanInv := func(n int64) *big.Int {
		term := new(big.Int).Quo(one, big.NewInt(n))
		sum := new(big.Int).Set(term)
		for k := int64(1); term.Sign() != 0; k++ {
			term.Quo(term, big.NewInt(-n*n))
			sum.Add(sum, new(big.Int).Quo(term, big.NewInt(2*k+1)))
		}
		return sum
	}
	s := atanInv(5)
	s.Mul(s, big.NewInt(16))
	s.Sub(s, new(big.Int).Mul(atanInv(239), big.NewInt(4)))
	f := new(big.Float).SetPrec(bits).SetInt(s)
	return f.SetMantExp(f, -int(bits+32))
}

var (
	longPi = machinPi(1500)
	bigPi  = newBig().Set(longPi)
	bigLn2 = bigLn2Series()
)

// bigLn2Series returns 2 atanh(1/3).
func bigLn2Series() *big.Float {
	sum, term := newBig(), quo(bigInt(2), bigInt(3))
	for k := int64(1); k < 2*prec; k += 2 {
		sum.Add(sum, quo(term, bigInt(k)))
		term.Quo(term, bigInt(9))
	}
	return sum
}

// bigExp returns e^x: (e^(r/2^16))^(2^16) * 2^k with r = x - k ln 2.
func bigExp(x *big.Float) *big.Float {
	if x.Sign() == 0 {
		return bigInt(1)
	}
	q, _ := quo(x, bigLn2).Float64()
	k := int(q)
	r := shift(sub(x, mul(bigInt(int64(k)), bigLn2)), -16)
	sum, term := bigInt(1), bigInt(1)
	for n := int64(1); n < 16; n++ {
		term.Quo(term.Mul(term, r), bigInt(n))
		sum.Add(sum, term)
	}
	for i := 0; i < 16; i++ {
		sum.Mul(sum, sum)
	}
	return shift(sum, k)
}

// bigLog returns ln x: 2 atanh((m-1)/(m+1)) + k ln 2, after eight square roots of m.
func bigLog(x *big.Float) *big.Float {
	m := newBig()
	k := x.MantExp(m)
	if m.Cmp(newBig().SetFloat64(0.7)) < 0 {
		m.Mul(m, bigInt(2))
		k--
	}
	if k == 0 {
		d := sub(m, bigInt(1))
		if d.Sign() != 0 && d.MantExp(nil) < -20 {
			return bigAtanh(quo(d, add(m, bigInt(1))))
		}
	}
	for i := 0; i < 8; i++ {
		m.Sqrt(m)
	}
	v := shift(bigAtanh(quo(sub(m, bigInt(1)), add(m, bigInt(1)))), 8)
	return add(v, mul(bigInt(int64(k)), bigLn2))
}

// bigAtanh returns 2 atanh(t), |t| < 2^-9.
func bigAtanh(t *big.Float) *big.Float {
	sum, term, z := newBig(), mul(bigInt(2), t), mul(t, t)
	for k := int64(1); k < 33; k += 2 {
		sum.Add(sum, quo(term, bigInt(k)))
		term.Mul(term, z)
	}
	return sum
}

// bigSincos returns sin x and cos x: reduction with 1500 bits of pi, then Taylor
// at r/2^10 and ten doublings of (sin, 1-cos), which keeps small sines relative.
func bigSincos(x *big.Float) (s, c *big.Float) {
	half := new(big.Float).SetPrec(1500).SetMantExp(longPi, -1)
	q := new(big.Float).SetPrec(1500).Quo(x, half)
	q.Add(q, new(big.Float).SetFloat64(0.5))
	n, _ := q.Int(nil)
	if q.Sign() < 0 {
		n.Sub(n, big.NewInt(1))
	}
	r := new(big.Float).SetPrec(1500).SetInt(n)
	r.Sub(new(big.Float).SetPrec(1500).Set(x), r.Mul(r, half))
	t := shift(newBig().Set(r), -10)
	z := mul(t, t)
	sin, term := newBig(), newBig().Set(t)
	for k := int64(1); k < 28; k += 2 {
		sin.Add(sin, term)
		term.Neg(quo(mul(term, z), bigInt((k+1)*(k+2))))
	}
	ver, term := newBig(), shift(z, -1)
	for k := int64(2); k < 28; k += 2 {
		ver.Add(ver, term)
		term.Neg(quo(mul(term, z), bigInt((k+1)*(k+2))))
	}
	for i := 0; i < 10; i++ {
		// 1-cos 2t = 2 sin^2 t, sin 2t = 2 sin t (1 - (1-cos t))
		next := shift(mul(sin, sin), 1)
		sin = shift(mul(sin, sub(bigInt(1), ver)), 1)
		ver = next
	}
	s, c = sin, sub(bigInt(1), ver)
	switch new(big.Int).And(n, big.NewInt(3)).Int64() {
	case 1:
		return c, s.Neg(s)
	case 2:
		return s.Neg(s), c.Neg(c)
	case 3:
		return c.Neg(c), s
	}
	return s, c
}

// bigAtan returns atan x for x >= 0: halved twelve times by x/(1+sqrt(1+x^2)).
func bigAtan(x *big.Float) *big.Float {
	if x.Sign() == 0 {
		return newBig()
	}
	one := bigInt(1)
	if x.Cmp(one) > 0 {
		return sub(shift(bigPi, -1), bigAtan(quo(one, x)))
	}
	t := newBig().Set(x)
	for i := 0; i < 12; i++ {
		t = quo(t, add(one, newBig().Sqrt(add(one, mul(t, t)))))
	}
	sum, term, z := newBig(), newBig().Set(t), mul(t, t)
	z.Neg(z)
	for k := int64(1); k < 25; k += 2 {
		sum.Add(sum, quo(term, bigInt(k)))
		term.Mul(term, z)
	}
	return shift(sum, 12)
}

// bigAtan2 returns the angle of (x, y) for finite numbers, not both zero.
func bigAtan2(y, x *big.Float) *big.Float {
	var v *big.Float
	ay, ax := newBig().Abs(y), newBig().Abs(x)
	if ax.Sign() == 0 {
		v = shift(bigPi, -1)
	} else {
		v = bigAtan(quo(ay, ax))
	}
	if x.Sign() < 0 {
		v = sub(bigPi, v)
	}
	if y.Sign() < 0 {
		v.Neg(v)
	}
	return v
}

// bigSinh returns sinh x; small arguments take the series.
func bigSinh(x *big.Float) *big.Float {
	if x.Sign() == 0 {
		return newBig()
	}
	if x.MantExp(nil) < -10 {
		sum, term, z := newBig(), newBig().Set(x), mul(x, x)
		for k := int64(1); k < 28; k += 2 {
			sum.Add(sum, term)
			term.Quo(term.Mul(term, z), bigInt((k+1)*(k+2)))
		}
		return sum
	}
	e := bigExp(x)
	return shift(sub(e, quo(bigInt(1), e)), -1)
}

func bigCosh(x *big.Float) *big.Float {
	e := bigExp(x)
	return shift(add(e, quo(bigInt(1), e)), -1)
}

func bigTanh(x *big.Float) *big.Float { return quo(bigSinh(x), bigCosh(x)) }

// bigAsin returns asin x = atan2(x, sqrt((1-x)(1+x))).
func bigAsin(x *big.Float) *big.Float {
	one := bigInt(1)
	return bigAtan2(x, newBig().Sqrt(mul(sub(one, x), add(one, x))))
}

func bigAcos(x *big.Float) *big.Float {
	one := bigInt(1)
	return bigAtan2(newBig().Sqrt(mul(sub(one, x), add(one, x))), x)
}
