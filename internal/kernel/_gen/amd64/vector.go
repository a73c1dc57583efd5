package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Constants of exact.Tanh32.
var (
	tanhS    = bits(-0.3333329800270817, 0.13331924140889598, -0.05378383137129256, 0.020795975056447147, -0.005895161758277414)
	tanhG    = bits(0.99998247271092, 0.5001049616218158, 0.1247427398903457, 0.02116817587078882, 0.0023528801369724992, 0.00037066512730138705, -5.399028755380395e-06, 4.775740185683241e-06)
	tanhSeam = math.Float32bits(0.6)
	tanhEnd  = math.Float32bits(12)
)

func bits(v ...float32) (b []uint32) {
	for _, x := range v {
		b = append(b, math.Float32bits(x))
	}
	return b
}

// each writes a function that replaces every element of y by what f makes of it. f is given some vectors at a time, and
// does each step for all of them before the next one: their results wait for each other less than those of one vector.
func each(s isa, name, doc string, f func(x, y []VecVirtual)) {
	TEXT(name+s.name, NOSPLIT, "func(y []float32)")
	Pragma("noescape")
	Doc(name + s.name + " works like " + name + "Portable" + doc)
	y, n, end := GP64(), GP64(), GP64()
	Load(Param("y").Base(), y)
	Load(Param("y").Len(), n)
	LEAQ(Mem{Base: y, Index: n, Scale: 4}, end)
	made := func(count, lanes int, m Mem) []VecVirtual {
		x, r := vectors(count, lanes), vectors(count, lanes)
		for i := range x {
			load(lanes, m.Offset(4*lanes*i), x[i])
		}
		f(x, r)
		return r
	}
	loop := func(label string, count int) {
		CMPQ(n, I32(count*s.lanes))
		JL(LabelRef(label + "done"))
		Label(label)
		for i, v := range made(count, s.lanes, at(y, 0)) {
			store(s.lanes, v, at(y, 4*s.lanes*i))
		}
		ADDQ(I32(4*count*s.lanes), y)
		SUBQ(I32(count*s.lanes), n)
		CMPQ(n, I32(count*s.lanes))
		JGE(LabelRef(label))
		Label(label + "done")
	}
	whole := func(label string) {
		loop(label+"several", s.abreast)
		loop(label+"one", 1)
	}
	CMPQ(n, I32(s.lanes))
	JL(LabelRef("small"))
	TESTQ(U32(s.lanes-1), n)
	JNZ(LabelRef("overlap"))
	whole("even")
	JMP(LabelRef("done"))

	Label("overlap") // the last vector is made before what it overlaps is replaced
	last := made(1, s.lanes, at(end, -4*s.lanes))[0]
	whole("odd")
	store(s.lanes, last, at(end, -4*s.lanes))
	JMP(LabelRef("done"))

	Label("small")
	for _, lanes := range append(s.narrower(), 2, 1) {
		next := fmt.Sprintf("below%d", lanes)
		CMPQ(n, I32(lanes))
		JL(LabelRef(next))
		first := made(1, lanes, at(y, 0))[0]
		if lanes > 1 {
			store(lanes, made(1, lanes, at(end, -4*lanes))[0], at(end, -4*lanes))
		}
		store(lanes, first, at(y, 0))
		JMP(LabelRef("done"))
		Label(next)
	}
	Label("done")
	finish()
}

// vectors are some registers for that many float32 each.
func vectors(count, lanes int) (v []VecVirtual) {
	for range count {
		v = append(v, vector(lanes))
	}
	return v
}

// relu: of a NaN or two zeros the instruction gives its second operand, +0.
func relu(s isa) {
	each(s, "relu", ".", func(x, y []VecVirtual) {
		nought := like(x[0])
		zero(nought)
		for i := range x {
			maximum(nought, x[i], y[i])
		}
	})
}

// tanh does the operations of exact.Tanh32 in its order. The sign is put on at the end: both branches have
// the sign of x or are positive, and the lower one gives +0 for either zero.
func tanh(s isa) {
	each(s, "tanh", ".", func(x, y []VecVirtual) {
		fresh := func() []VecVirtual { return vectors(len(x), int(x[0].Size())/4) }
		each := func(f func(i int)) {
			for i := range x {
				f(i)
			}
		}
		held, a, g := fresh(), fresh(), fresh()
		each(func(i int) { absolute(x[i], held[i]) })
		each(func(i int) { broadcast(constant(tanhEnd), a[i]) })
		each(func(i int) { minimum(held[i], a[i], a[i]) }) // NaN stays
		horner(tanhG, a, g)
		each(func(i int) { mul(g[i], g[i], g[i]) })
		each(func(i int) { mul(g[i], g[i], g[i]) })
		each(func(i int) { addConst(math.Float32bits(1), g[i], g[i]) })
		one, two := fresh(), fresh()
		each(func(i int) { broadcast(constant(math.Float32bits(2)), two[i]) })
		each(func(i int) { div(g[i], two[i], two[i]) })

		z, low := fresh(), fresh()
		each(func(i int) { mul(a[i], a[i], z[i]) })
		horner(tanhS, z, low)
		each(func(i int) { mul(z[i], low[i], low[i]) })
		each(func(i int) { mul(x[i], low[i], low[i]) })
		each(func(i int) { add(x[i], low[i], low[i]) })
		each(func(i int) { broadcast(constant(math.Float32bits(1)), one[i]) })
		each(func(i int) { sub(two[i], one[i], one[i]) })
		each(func(i int) { choose(a[i], tanhSeam, low[i], one[i], x[i], y[i]) })
	})
}

// horner sets p = c[0] + x (c[1] + x (c[2] + ...)), each operation rounded.
func horner(c []uint32, x, p []VecVirtual) {
	last := len(c) - 1
	for i := range x {
		mulConst(c[last], x[i], p[i])
	}
	for i := range x {
		addConst(c[last-1], p[i], p[i])
	}
	for k := last - 2; k >= 0; k-- {
		for i := range x {
			mul(x[i], p[i], p[i])
		}
		for i := range x {
			addConst(c[k], p[i], p[i])
		}
	}
}

// multiplyAdd: as many sums as registers hold, each waiting only for itself.
func multiplyAdd(s isa) {
	TEXT("multiplyAdd"+s.name, NOSPLIT, "func(rounds int)")
	sums := s.registers/2 - 2
	Doc(fmt.Sprintf("multiplyAdd%s does rounds of %d independent multiplications and additions of whole vectors.", s.name, sums))
	n := GP64()
	Load(Param("rounds"), n)
	x := s.vec()
	zero(x)
	var acc []VecVirtual
	for range sums {
		v := s.vec()
		zero(v)
		acc = append(acc, v)
	}
	TESTQ(n, n)
	JLE(LabelRef("done"))
	Label("round")
	for _, a := range acc {
		product := s.vec()
		mul(x, x, product)
		add(product, a, a)
	}
	DECQ(n)
	JNZ(LabelRef("round"))
	Label("done")
	finish()
}

// read loads vectors and drops them.
func read(s isa) {
	TEXT("read"+s.name, NOSPLIT, "func(x []float32)")
	Pragma("noescape")
	Doc("read" + s.name + " loads x, all but what is beyond a multiple of eight vectors.")
	x, n := GP64(), GP64()
	Load(Param("x").Base(), x)
	Load(Param("x").Len(), n)
	SUBQ(I32(8*s.lanes), n)
	JL(LabelRef("done"))
	Label("vectors")
	for i := range 8 {
		load(s.lanes, at(x, 4*s.lanes*i), s.vec())
	}
	ADDQ(I32(32*s.lanes), x)
	SUBQ(I32(8*s.lanes), n)
	JGE(LabelRef("vectors"))
	Label("done")
	finish()
}
