package main

import "math"

// Constants of exact.Tanh32.
var (
	tanhS = []float32{-0.3333329800270817, 0.13331924140889598, -0.05378383137129256, 0.020795975056447147, -0.005895161758277414}
	tanhG = []float32{0.99998247271092, 0.5001049616218158, 0.1247427398903457, 0.02116817587078882, 0.0023528801369724992, 0.00037066512730138705, -5.399028755380395e-06, 4.775740185683241e-06}

	tanhSeam float32 = 0.6
	tanhEnd  float32 = 12
)

const signBit = 1 << 31

// each writes the body of a function (y, n) that replaces every element of y by what made leaves of it: as many vectors
// side by side as wide says, then one by one; the last three elements are vectors of their own.
func each(f *function, p []local, wide int, made func(x []local) []expr) {
	y, n := p[0], p[1]
	loaded := func(count int) (x []local) {
		for i := range count {
			x = append(x, f.let(v128, load128(y.value(), 16*i)))
		}
		return x
	}
	steps := func(count int) {
		f.block(func(end label) {
			f.branchIf(end, i32LessS(n.value(), number(int32(4*count))))
			f.loop(func(again label) {
				for i, v := range made(loaded(count)) {
					f.store128(y.value(), 16*i, v)
				}
				f.add(y, number(int32(16*count)))
				f.add(n, number(int32(-4*count)))
				f.branchIf(again, i32Zero(i32LessS(n.value(), number(int32(4*count)))))
			})
		})
	}
	steps(wide)
	steps(1)
	f.when(n.value(), func() {
		f.times(n, func() {
			x := f.let(v128, loadSplat(y.value(), 0))
			f.storeLane(storeLane32, y.value(), 0, made([]local{x})[0], 0)
			f.add(y, number(4))
		})
	})
}

// relu: a comparison with NaN fails, and so does that of zeros.
func relu(f *function, p []local) {
	zero := f.let(v128, constant(0))
	each(f, p, 4, func(x []local) (y []expr) {
		for _, v := range x {
			y = append(y, and(v.value(), more(v.value(), zero.value())))
		}
		return y
	})
}

// tanh does the operations of exact.Tanh32 in its order. The sign is put on at the end: both branches have
// the sign of x or are positive, and the lower one gives +0 for either zero.
func tanh(f *function, p []local) {
	known := map[float32]local{}
	number := func(x float32) expr {
		if _, ok := known[x]; !ok {
			known[x] = f.let(v128, splat(real(x)))
		}
		return known[x].value()
	}
	for _, x := range append(append([]float32{1, 2, tanhSeam, tanhEnd}, tanhS...), tanhG...) {
		number(x)
	}
	sign := f.let(v128, constant(signBit))
	each(f, p, 2, func(x []local) (y []expr) {
		var a, g, low []local
		forAll := func(v *[]local, made func(i int) expr) {
			fresh := *v == nil
			for i := range x {
				if fresh {
					*v = append(*v, f.local(v128))
				}
				f.set((*v)[i], made(i))
			}
		}
		// horner sets v = c[0] + at (c[1] + at (c[2] + ...)), each operation rounded, in all vectors side by side.
		horner := func(v *[]local, c []float32, at []local) {
			last := len(c) - 1
			forAll(v, func(i int) expr { return plus(number(c[last-1]), times(at[i].value(), number(c[last]))) })
			for k := last - 2; k >= 0; k-- {
				forAll(v, func(i int) expr { return plus(number(c[k]), times(at[i].value(), (*v)[i].value())) })
			}
		}
		forAll(&a, func(i int) expr { return lesser(magnitude(x[i].value()), number(tanhEnd)) })
		horner(&g, tanhG, a)
		for range 2 {
			forAll(&g, func(i int) expr { return times(g[i].value(), g[i].value()) })
		}
		forAll(&g, func(i int) expr {
			return minus(number(1), divide(number(2), plus(number(1), g[i].value())))
		})
		var z []local
		forAll(&z, func(i int) expr { return times(a[i].value(), a[i].value()) })
		horner(&low, tanhS, z)
		forAll(&low, func(i int) expr {
			return plus(a[i].value(), times(a[i].value(), times(z[i].value(), low[i].value())))
		})
		for i := range x {
			v := choose(less(a[i].value(), number(tanhSeam)), low[i].value(), g[i].value())
			y = append(y, or(v, and(x[i].value(), sign.value())))
		}
		return y
	})
}

// multiplyAdd (v, rounds) does rounds of eight independent multiplications and additions of vectors. Two of the factors
// come from the 128 values at v, so that no product is known before.
func multiplyAdd(f *function, p []local) {
	v, rounds := p[0], p[1]
	var sums, factors []local
	for range 8 {
		sums = append(sums, f.let(v128, constant(0)))
	}
	for i := range 4 {
		factors = append(factors, f.let(v128, constant(math.Float32bits(float32(i+1)))))
	}
	at := f.local(i32)
	f.when(rounds.value(), func() {
		f.times(rounds, func() {
			f.set(at, i32Add(v.value(), i32And(i32Shl(rounds.value(), number(4)), number(0xf0))))
			x, y := f.let(v128, load128(at.value(), 0)), f.let(v128, load128(at.value(), 256))
			for i, s := range sums {
				by := x
				if i >= 4 {
					by = y
				}
				f.set(s, plus(s.value(), times(by.value(), factors[i%4].value())))
			}
		})
	})
	total := sums[0].value()
	for _, s := range sums[1:] {
		total = plus(total, s.value())
	}
	f.result(append(total, append(vector(31), 0)...))
}

// read (x, n) loads whole vectors, eight at a time, and drops them.
func read(f *function, p []local) {
	x, n := p[0], p[1]
	var all []local
	for range 4 {
		all = append(all, f.let(v128, constant(0)))
	}
	f.block(func(end label) {
		f.branchIf(end, i32LessS(n.value(), number(32)))
		f.loop(func(again label) {
			for i := range 8 {
				f.set(all[i%4], or(all[i%4].value(), load128(x.value(), 16*i)))
			}
			f.add(x, number(128))
			f.add(n, number(-32))
			f.branchIf(again, i32Zero(i32LessS(n.value(), number(32))))
		})
	})
	any := or(or(all[0].value(), all[1].value()), or(all[2].value(), all[3].value()))
	f.result(append(any, append(vector(27), 0)...))
}
