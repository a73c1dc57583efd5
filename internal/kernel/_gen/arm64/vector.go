package main

// Coefficients of exact.Tanh32.
var (
	tanhS = floatBits(-0.3333329800270817, 0.13331924140889598, -0.05378383137129256, 0.020795975056447147, -0.005895161758277414)
	tanhG = floatBits(0.99998247271092, 0.5001049616218158, 0.1247427398903457, 0.02116817587078882, 0.0023528801369724992, 0.00037066512730138705, -5.399028755380395e-06, 4.775740185683241e-06)
)

// each writes a function that replaces every element of y by what f makes of it. f sets d from x and may overwrite
// vectors below 8, among them x; begin sets others, from 9 on.
func each(a *asm, name string, begin func(), f func(d, x vec)) {
	const (
		y, n, end reg = 0, 1, 2
		x, d      vec = 0, 1
		last      vec = 8 // the last vector, made before what it overlaps is replaced
	)
	a.function(name+"NEON", 0, "y []float32", "works like "+name+"Portable.")
	a.load("y_base", y)
	a.load("y_len", n)
	a.op("CBZ", n, "done")
	begin()
	a.op("ADD", n.String()+"<<2", y, end)
	made := func(d vec, w int, p reg) {
		a.loadMany(move{x, 1, w, p})
		f(d, x)
	}
	a.op("CMP", lanes, n)
	a.op("BLT", "small")
	a.op("SUB", 4*lanes, end, end)
	a.op("TST", lanes-1, n)
	a.op("BEQ", "whole")
	made(last, lanes, end)
	a.here("whole")
	made(d, lanes, y)
	a.storeMany(move{d, 1, lanes, y})
	a.op("ADD", 4*lanes, y, y)
	a.op("SUB", lanes, n, n)
	a.op("CMP", lanes, n)
	a.op("BGE", "whole")
	a.op("CBZ", n, "done")
	a.storeMany(move{last, 1, lanes, end})
	a.op("B", "done")

	a.here("small")
	a.op("CMP", 2, n)
	a.op("BLT", "one")
	a.op("SUB", 4*2, end, end)
	made(last, 2, end)
	made(d, 2, y)
	a.storeMany(move{d, 1, 2, y})
	a.storeMany(move{last, 1, 2, end})
	a.op("B", "done")
	a.here("one")
	made(d, 1, y)
	a.storeMany(move{d, 1, 1, y})
	a.here("done")
	a.op("RET")
}

// relu keeps what is above zero, bit by bit.
func relu(a *asm) {
	each(a, "relu", func() {}, func(d, x vec) {
		const mask vec = 7
		a.positive(mask, x)
		a.do("and.16b", d, x, mask)
	})
}

// tanh does the operations of exact.Tanh32 in its order. The sign is put on at the end: both branches have
// the sign of x or are positive, and the lower one gives +0 for either zero.
func tanh(a *asm) {
	const (
		two, sign vec = 14, 15
		s         vec = 16 // five coefficients
		g         vec = 21 // eight
		seam      vec = 29
		end       vec = 30
		one       vec = 31
	)
	each(a, "tanh", func() {
		const p reg = 3
		a.table("tanh", append(append(append([]uint32(nil), tanhS...), tanhG...), floatBits(0.6, 12, 1)...), p)
		for v := s; v <= one; v += 4 {
			a.spread(v, p)
		}
		a.two(two)
		a.signs(sign)
	}, func(d, x vec) {
		const abs, high, square, low vec = 2, 3, 4, 5
		a.do("fabs.4s", abs, x)
		a.do("fmin.4s", abs, abs, end) // NaN stays
		a.horner(high, abs, g, len(tanhG))
		a.do("fmul.4s", high, high, high)
		a.do("fmul.4s", high, high, high)
		a.do("fadd.4s", high, high, one)
		a.do("fdiv.4s", high, two, high)
		a.do("fsub.4s", high, one, high)

		a.do("fmul.4s", square, abs, abs)
		a.horner(low, square, s, len(tanhS))
		a.do("fmul.4s", low, square, low)
		a.do("fmul.4s", low, x, low)
		a.do("fadd.4s", low, x, low)
		a.do("fcmgt.4s", d, seam, abs)
		a.do("bsl.16b", d, low, high) // low where that is all ones
		a.do("bit.16b", d, x, sign)   // the sign of x
	})
}

// horner sets p = c[0] + x (c[1] + x (c[2] + ...)) with n coefficients in vectors from c on, each operation rounded.
func (a *asm) horner(p, x, c vec, n int) {
	top := c + vec(n-1)
	a.do("fmul.4s", p, x, top)
	for v := top - 1; v > c; v-- {
		a.do("fadd.4s", p, p, v)
		a.do("fmul.4s", p, x, p)
	}
	a.do("fadd.4s", p, p, c)
}

// multiplyAdd: more sums than hide the latency of an addition, each waiting only for itself.
func multiplyAdd(a *asm) {
	const (
		rounds reg = 0
		sums       = 16
		x      vec = sums
	)
	a.function("multiplyAddNEON", 0, "rounds int", "does rounds of 16 independent multiplications and additions of whole vectors.")
	a.load("rounds", rounds)
	for v := vec(0); v <= x; v++ {
		a.zero(v)
	}
	a.op("CMP", 0, rounds)
	a.op("BLE", "done")
	a.here("round")
	for v := vec(0); v < sums; v++ {
		product := x + 1 + v%15
		a.do("fmul.4s", product, x, x)
		a.do("fadd.4s", v, v, product)
	}
	a.op("SUBS", 1, rounds, rounds)
	a.op("BNE", "round")
	a.here("done")
	a.op("RET")
}

// read loads vectors and drops them.
func read(a *asm) {
	const x, n reg = 0, 1
	a.function("readNEON", 0, "x []float32", "loads x, all but what is beyond a multiple of eight vectors.")
	a.load("x_base", x)
	a.load("x_len", n)
	a.op("SUBS", 8*lanes, n, n)
	a.op("BLT", "done")
	a.here("vectors")
	for range 2 {
		a.loadMany(move{0, 4, lanes, x})
		a.op("ADD", 4*4*lanes, x, x)
	}
	a.op("SUBS", 8*lanes, n, n)
	a.op("BGE", "vectors")
	a.here("done")
	a.op("RET")
}
