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
	final           GPVirtual // bytes from the next output to the last column, which need not begin where the one before ends
	tiles           int       // tiles written so far, for labels
}

// dense: lanes run across outputs, so that each lane does what the portable code does. A tile is some columns of one
// vector of outputs each, with four chains each.
func dense(s isa) {
	TEXT("dense"+s.name, NOSPLIT, "func(y, w, b, x []float32)")
	Pragma("noescape")
	Doc("dense" + s.name + " works like densePortable, but checks no lengths.")
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
	CMPQ(l.left, I32(s.columns*s.lanes))
	JL(LabelRef("narrow"))
	l.tile(s.columns, s.lanes, false)
	l.forward(4 * s.columns * s.lanes)
	SUBQ(I32(s.columns*s.lanes), l.left)
	JMP(LabelRef("wide"))

	Label("narrow")
	TESTQ(l.left, l.left)
	JZ(LabelRef("done"))
	total := GP64()
	Load(Param("y").Len(), total)
	CMPQ(total, I32(s.lanes))
	JL(LabelRef("small"))
	for c := 1; c <= s.columns; c++ {
		Label(fmt.Sprintf("columns%d", c))
		if c < s.columns {
			CMPQ(l.left, I32(c*s.lanes))
			JG(LabelRef(fmt.Sprintf("columns%d", c+1)))
		}
		l.last(c, s.lanes)
	}
	Label("small")
	for _, lanes := range s.narrower() {
		next := fmt.Sprintf("below%d", lanes)
		if lanes > 1 {
			CMPQ(l.left, I32(lanes))
			JL(LabelRef(next))
			overlap := fmt.Sprintf("overlap%d", lanes)
			JG(LabelRef(overlap))
			l.tile(1, lanes, false)
			JMP(LabelRef("done"))
			Label(overlap)
		}
		l.last(min(lanes, 2), lanes)
		Label(next)
	}
	Label("done")
	VZEROUPPER()
	RET()
}

// last does the outputs that are left in c columns. The last column ends with the last output: some outputs may be
// computed twice, with the same result.
func (l *layer) last(c, lanes int) {
	l.final = GP64()
	MOVQ(l.left, l.final)
	SUBQ(I32(lanes), l.final)
	SHLQ(Imm(2), l.final)
	l.tile(c, lanes, true)
	JMP(LabelRef("done"))
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

// tile computes c columns of so many lanes; the last one lies apart, at final, if set.
func (l *layer) tile(c, lanes int, apart bool) {
	l.tiles++
	label := func(s string) string { return fmt.Sprintf("%s%d", s, l.tiles) }
	var sums [chains][]VecVirtual
	for k := range sums {
		for range c {
			v := vector(lanes)
			zero(v)
			sums[k] = append(sums[k], v)
		}
	}
	w, x, n := GP64(), GP64(), GP64()
	MOVQ(l.w, w)
	MOVQ(l.x, x)
	MOVQ(l.inputs, n)
	end := w
	if apart {
		end = GP64()
		LEAQ(Mem{Base: l.w, Index: l.final, Scale: 1}, end)
	}
	add := func(k int) {
		value := vector(lanes)
		VBROADCASTSS(at(x, 4*k), value)
		for j := range c {
			m := Mem{Base: w, Disp: 4 * lanes * j}
			if apart && j == c-1 {
				m = Mem{Base: end}
			}
			switch k {
			case 1, 2:
				m.Index, m.Scale = l.stride, uint8(k)
			case 3:
				m.Index, m.Scale = l.stride3, 1
			}
			product := vector(lanes)
			mulMem(lanes, m, value, product)
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
	if apart {
		LEAQ(Mem{Base: end, Index: l.stride, Scale: 4}, end)
	}
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
	place := func(p Register, j int) Mem {
		if apart && j == c-1 {
			return Mem{Base: p, Index: l.final, Scale: 1}
		}
		return at(p, 4*lanes*j)
	}
	for j := range c {
		VADDPS(sums[1][j], sums[0][j], sums[0][j])
		VADDPS(sums[3][j], sums[2][j], sums[2][j])
		VADDPS(sums[2][j], sums[0][j], sums[0][j])
	}
	TESTQ(l.b, l.b)
	JZ(LabelRef(label("store")))
	for j := range c {
		addMem(lanes, place(l.b, j), sums[0][j])
	}
	Label(label("store"))
	for j := range c {
		store(lanes, sums[0][j], place(l.y, j))
	}
}
