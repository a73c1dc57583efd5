package main

// chains is kernel.Chains.
const chains = 4

// layer is what the code of a dense layer holds in variables.
type layer struct {
	*function
	y, w, b, x, inputs local // next output, its column of weights and bias (0 for none); the inputs
	left               local // outputs not yet done
	stride, stride4    local // bytes from an input's weights to the next one's; four times that
}

// tile is a part of the outputs that is computed at once: columns of four lanes. With chains of its four sums
// in one pass over the inputs, it needs columns * chains registers and some more; V8 has 15. unroll is the
// number of groups of four inputs in the inner loop, 1 or 2.
type tile struct {
	columns, chains, unroll int
}

// Lanes run across outputs, so that each lane does what the portable code does.
var (
	wide   = tile{4, 2, 2}
	middle = tile{2, 4, 1}
	narrow = tile{1, 4, 1}
)

func (t tile) outputs() int { return 4 * t.columns }

// dense (y, w, b, x, outputs, inputs, biases), where biases is 0 if there are none: what is left of the
// outputs beyond whole vectors is done with a vector that overlaps the one before, which gives some outputs
// twice, the same.
func dense(f *function, p []local) {
	l := &layer{function: f, y: p[0], w: p[1], b: p[2], x: p[3], left: p[4], inputs: p[5]}
	f.when(i32Zero(p[6].value()), func() { f.set(l.b, number(0)) })
	l.stride = f.let(i32, i32Shl(l.left.value(), number(2)))
	l.stride4 = f.let(i32, i32Shl(l.left.value(), number(4)))
	f.block(func(done label) {
		for outputs := 1; outputs < 4; outputs++ {
			f.when(i32Equal(l.left.value(), number(int32(outputs))), func() {
				l.few(outputs)
				f.branch(done)
			})
		}
		l.repeat(wide)
		l.repeat(middle)
		l.repeat(narrow)
		f.branchIf(done, i32Zero(l.left.value()))
		l.forward(i32Sub(i32Shl(l.left.value(), number(2)), number(16)))
		l.tile(narrow)
	})
}

// repeat does the tile as often as outputs are left for it.
func (l *layer) repeat(t tile) {
	l.block(func(end label) {
		l.branchIf(end, i32LessS(l.left.value(), number(int32(t.outputs()))))
		l.loop(func(again label) {
			l.tile(t)
			l.forward(number(int32(4 * t.outputs())))
			l.add(l.left, number(int32(-t.outputs())))
			l.branchIf(again, i32Zero(i32LessS(l.left.value(), number(int32(t.outputs())))))
		})
	})
}

// forward moves to the outputs that lie some bytes on.
func (l *layer) forward(bytes expr) {
	by := l.let(i32, bytes)
	l.add(l.y, by.value())
	l.add(l.w, by.value())
	l.when(l.b.value(), func() { l.add(l.b, by.value()) })
}

// tile computes some outputs: pass after pass over the inputs, the sums of some chains in each.
func (l *layer) tile(t tile) {
	var sums [chains][]local
	for first := 0; first < chains; first += t.chains {
		for k := first; k < first+t.chains; k++ {
			for range t.columns {
				sums[k] = append(sums[k], l.let(v128, constant(0)))
			}
		}
		l.pass(t, sums[first:first+t.chains], first)
	}
	for c := range t.columns {
		low, high := plus(sums[0][c].value(), sums[1][c].value()), plus(sums[2][c].value(), sums[3][c].value())
		l.set(sums[0][c], plus(low, high))
	}
	l.when(l.b.value(), func() {
		for c := range t.columns {
			l.set(sums[0][c], plus(sums[0][c].value(), load128(l.b.value(), 16*c)))
		}
	})
	for c := range t.columns {
		l.store128(l.y.value(), 16*c, sums[0][c].value())
	}
}

// pass adds all inputs of some chains, of which the first is chain first.
func (l *layer) pass(t tile, sums [][]local, first int) {
	x := l.let(i32, l.x.value())
	var rows []local // weights of the next input of each chain
	for k := range sums {
		from := l.w.value()
		if k > 0 {
			from = i32Add(rows[k-1].value(), l.stride.value())
		} else {
			for range first {
				from = i32Add(from, l.stride.value())
			}
		}
		rows = append(rows, l.let(i32, from))
	}
	add := func(k int) {
		value := l.let(v128, loadSplat(x.value(), 4*(first+k)))
		for c, s := range sums[k] {
			l.set(s, plus(s.value(), times(value.value(), load128(rows[k].value(), 16*c))))
		}
	}
	group := func() {
		for k := range sums {
			add(k)
			l.add(rows[k], l.stride4.value())
		}
		l.add(x, number(4*chains))
	}
	groups := l.let(i32, i32ShrU(l.inputs.value(), number(int32(1+t.unroll))))
	l.when(groups.value(), func() {
		l.times(groups, func() {
			for range t.unroll {
				group()
			}
		})
	})
	if t.unroll == 2 {
		l.when(i32And(l.inputs.value(), number(chains)), group)
	}
	rest := l.let(i32, i32And(l.inputs.value(), number(chains-1)))
	for k := range sums {
		if first+k < chains-1 {
			l.when(i32MoreU(rest.value(), number(int32(first+k))), func() { add(k) })
		}
	}
}

// denseBatch (y, w, b, x, outputs, inputs, biases, n) does a layer for each of n > 0 rows.
func denseBatch(f *function, p []local) {
	y, x, outputs, inputs, n := p[0], p[3], p[4], p[5], p[7]
	f.times(n, func() {
		for _, l := range p[:7] {
			f.result(l.value())
		}
		f.result(concat(expr{0x10}, unsigned(1))) // dense
		f.add(y, i32Shl(outputs.value(), number(2)))
		f.add(x, i32Shl(inputs.value(), number(2)))
	})
}
