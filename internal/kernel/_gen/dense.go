package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// chains is kernel.Chains.
const chains = 4

// layer is what a dense layer's code holds in registers.
type layer struct {
	isa
	y, w, b, x      GPVirtual // next output, its column of weights and bias (0 for none); the inputs
	inputs, left    GPVirtual // number of inputs; outputs not yet done
	stride, stride3 GPVirtual // bytes from an input's weights to the next one's; three times that
	tiles           int       // tiles written so far, for labels
}

// dense: lanes run across outputs, so that each lane does what the portable code does. A tile is some columns of one
// vector of outputs each, with four chains each.
func dense(s isa) {
	TEXT("dense"+s.name(), NOSPLIT, "func(y, w, b, x []float32)")
	Pragma("noescape")
	Doc("dense" + s.name() + " works like densePortable, but checks no lengths.")
	l := &layer{isa: s, y: GP64(), w: GP64(), b: GP64(), x: GP64(), inputs: GP64(), left: GP64(), stride: GP64(), stride3: GP64()}
	Load(Param("y").Base(), l.y)
	Load(Param("y").Len(), l.left)
	Load(Param("w").Base(), l.w)
	Load(Param("x").Base(), l.x)
	Load(Param("x").Len(), l.inputs)
	XORQ(l.b, l.b)
	biased := GP64()
	Load(Param("b").Len(), biased)
	TESTQ(biased, biased)
	JZ(LabelRef("unbiased"))
	Load(Param("b").Base(), l.b)
	Label("unbiased")
	LEAQ(Mem{Base: l.left, Index: l.left, Scale: 1}, l.stride)
	ADDQ(l.stride, l.stride)
	LEAQ(Mem{Base: l.stride, Index: l.stride, Scale: 2}, l.stride3)

	Label("wide")
	CMPQ(l.left, I32(s.columns()*s.lanes()))
	JL(LabelRef("narrow"))
	l.tile(s.columns(), nil)
	l.forward(4 * s.columns() * s.lanes())
	SUBQ(I32(s.columns()*s.lanes()), l.left)
	JMP(LabelRef("wide"))

	Label("narrow")
	TESTQ(l.left, l.left)
	JZ(LabelRef("done"))
	for c := 1; c <= s.columns(); c++ {
		Label(fmt.Sprintf("columns%d", c))
		if c < s.columns() {
			CMPQ(l.left, I32(c*s.lanes()))
			JG(LabelRef(fmt.Sprintf("columns%d", c+1)))
		}
		l.last(c)
		JMP(LabelRef("done"))
	}
	Label("done")
	VZEROUPPER()
	RET()
}

// last does the outputs that are left, which c columns hold.
func (l *layer) last(c int) {
	n := GP64()
	MOVQ(l.left, n)
	if c > 1 {
		SUBQ(I32((c-1)*l.lanes()), n)
	}
	if l.lanes() == 16 { // masks cost nothing
		l.tile(c, l.tail(n))
		return
	}
	masked, whole := fmt.Sprintf("masked%d", c), fmt.Sprintf("whole%d", c)
	CMPQ(n, I32(l.lanes()))
	JE(LabelRef(whole))
	// The last c whole columns, if there are as many outputs: some are computed twice, with the same result.
	all := GP64()
	Load(Param("y").Len(), all)
	CMPQ(all, I32(c*l.lanes()))
	JL(LabelRef(masked))
	SUBQ(I32(l.lanes()), n)
	SHLQ(Imm(2), n)
	ADDQ(n, l.y)
	ADDQ(n, l.w)
	TESTQ(l.b, l.b)
	JZ(LabelRef(whole))
	ADDQ(n, l.b)
	Label(whole)
	l.tile(c, nil)
	JMP(LabelRef("done"))
	Label(masked)
	l.tile(c, l.tail(n))
}

// forward moves to the outputs that lie some bytes on.
func (l *layer) forward(bytes int) {
	ADDQ(I32(bytes), l.y)
	ADDQ(I32(bytes), l.w)
	unbiased := fmt.Sprintf("forward%d", l.tiles)
	TESTQ(l.b, l.b)
	JZ(LabelRef(unbiased))
	ADDQ(I32(bytes), l.b)
	Label(unbiased)
}

// tile computes c columns, the last one under the mask.
func (l *layer) tile(c int, mask Op) {
	l.tiles++
	label := func(s string) string { return fmt.Sprintf("%s%d", s, l.tiles) }
	var sums [chains][]VecVirtual
	for k := range sums {
		for range c {
			v := l.vec()
			zero(v)
			sums[k] = append(sums[k], v)
		}
	}
	w, x, n := GP64(), GP64(), GP64()
	MOVQ(l.w, w)
	MOVQ(l.x, x)
	MOVQ(l.inputs, n)
	rows := [chains]Mem{{Base: w}, {Base: w, Index: l.stride, Scale: 1}, {Base: w, Index: l.stride, Scale: 2}, {Base: w, Index: l.stride3, Scale: 1}}
	add := func(k int) {
		value := l.vec()
		VBROADCASTSS(at(x, 4*k), value)
		for j := range c {
			product := l.vec()
			m := mask
			if j < c-1 {
				m = nil
			}
			l.mulMem(rows[k].Offset(4*l.lanes()*j), value, m, product)
			VADDPS(product, sums[k][j], sums[k][j])
		}
	}

	SUBQ(Imm(chains), n)
	JL(LabelRef(label("rest")))
	Label(label("inputs"))
	for k := range chains {
		add(k)
	}
	LEAQ(Mem{Base: w, Index: l.stride, Scale: 4}, w)
	ADDQ(Imm(4*chains), x)
	SUBQ(Imm(chains), n)
	JGE(LabelRef(label("inputs")))

	Label(label("rest")) // n is the number of inputs left, less four
	for k := range chains - 1 {
		CMPQ(n, I32(k-chains))
		JE(LabelRef(label("sum")))
		add(k)
	}
	Label(label("sum"))
	for j := range c {
		VADDPS(sums[1][j], sums[0][j], sums[0][j])
		VADDPS(sums[3][j], sums[2][j], sums[2][j])
		VADDPS(sums[2][j], sums[0][j], sums[0][j])
	}
	under := func(j int) Op {
		if j == c-1 {
			return mask
		}
		return nil
	}
	TESTQ(l.b, l.b)
	JZ(LabelRef(label("store")))
	for j := range c {
		l.addMem(at(l.b, 4*l.lanes()*j), sums[0][j], under(j), sums[0][j])
	}
	Label(label("store"))
	for j := range c {
		l.store(sums[0][j], under(j), at(l.y, 4*l.lanes()*j))
	}
}
