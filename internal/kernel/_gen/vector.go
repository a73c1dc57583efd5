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

// each writes a function that replaces every element of y by what f makes of it.
func each(s isa, name, doc string, f func(x, y VecVirtual)) {
	TEXT(name+s.name, NOSPLIT, "func(y []float32)")
	Pragma("noescape")
	Doc(name + s.name + " works like " + name + "Portable" + doc)
	y, n, end := GP64(), GP64(), GP64()
	Load(Param("y").Base(), y)
	Load(Param("y").Len(), n)
	LEAQ(Mem{Base: y, Index: n, Scale: 4}, end)
	made := func(lanes int, m Mem) VecVirtual {
		x, r := vector(lanes), vector(lanes)
		load(lanes, m, x)
		f(x, r)
		return r
	}
	whole := func(label string) {
		Label(label)
		store(s.lanes, made(s.lanes, at(y, 0)), at(y, 0))
		ADDQ(I32(4*s.lanes), y)
		SUBQ(I32(s.lanes), n)
		CMPQ(n, I32(s.lanes))
		JGE(LabelRef(label))
	}
	CMPQ(n, I32(s.lanes))
	JL(LabelRef("small"))
	TESTQ(U32(s.lanes-1), n)
	JNZ(LabelRef("overlap"))
	whole("even")
	JMP(LabelRef("done"))

	Label("overlap") // the last vector is made before what it overlaps is replaced
	last := made(s.lanes, at(end, -4*s.lanes))
	whole("odd")
	store(s.lanes, last, at(end, -4*s.lanes))
	JMP(LabelRef("done"))

	Label("small")
	for _, lanes := range append(s.narrower(), 2, 1) {
		next := fmt.Sprintf("below%d", lanes)
		CMPQ(n, I32(lanes))
		JL(LabelRef(next))
		first, last := made(lanes, at(y, 0)), VecVirtual(nil)
		if lanes > 1 {
			last = made(lanes, at(end, -4*lanes))
			store(lanes, last, at(end, -4*lanes))
		}
		store(lanes, first, at(y, 0))
		JMP(LabelRef("done"))
		Label(next)
	}
	Label("done")
	finish()
}

// relu: of a NaN or two zeros the instruction gives its second operand, +0.
func relu(s isa) {
	each(s, "relu", ".", func(x, y VecVirtual) {
		nought := like(x)
		zero(nought)
		maximum(nought, x, y)
	})
}

// tanh does the operations of exact.Tanh32 in its order. The sign is put on at the end: both branches have the sign of x
// or are positive, and the lower one gives +0 for either zero.
func tanh(s isa) {
	each(s, "tanh", ".", func(x, y VecVirtual) {
		a, end := like(x), like(x)
		absolute(x, a)
		broadcast(constant(tanhEnd), end)
		minimum(a, end, end) // NaN stays
		a = end
		g := like(x)
		horner(tanhG, a, g)
		mul(g, g, g)
		mul(g, g, g)
		addConst(math.Float32bits(1), g, g)
		one, two := like(x), like(x)
		broadcast(constant(math.Float32bits(2)), two)
		div(g, two, two)
		broadcast(constant(math.Float32bits(1)), one)
		sub(two, one, one)

		z, low := like(x), like(x)
		mul(a, a, z)
		horner(tanhS, z, low)
		mul(z, low, low)
		mul(x, low, low)
		add(x, low, low)
		choose(a, tanhSeam, low, one, x, y)
	})
}

// horner sets p = c[0] + x (c[1] + x (c[2] + ...)), each operation rounded.
func horner(c []uint32, x, p VecVirtual) {
	last := len(c) - 1
	mulConst(c[last], x, p)
	addConst(c[last-1], p, p)
	for i := last - 2; i >= 0; i-- {
		mul(x, p, p)
		addConst(c[i], p, p)
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
