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
	rows       int       // observations that are computed side by side
	y, w, b, x GPVirtual // next output, its column of weights and bias (0 for none); the inputs
	inputs     GPVirtual // number of inputs
	left       GPVirtual // outputs not yet done
	stride     GPVirtual // bytes from an input's weights to the next one's, and from a row of y to the next
	final      GPVirtual // bytes from the next output to the last column, which need not begin where the one before ends
	tiles      int       // tiles written so far, for labels
}

// dense: lanes run across outputs, so that each lane does what the portable code does. A tile is some columns of one
// vector of outputs each, with four chains each.
func dense(s isa) {
	TEXT("dense"+s.name, NOSPLIT, "func(y, w, b, x []float32)")
	Pragma("noescape")
	Doc("dense" + s.name + fmt.Sprintf(" works like densePortable for more than %d outputs or none, but checks no lengths.", few))
	l := newLayer(s, 1)
	Load(Param("y").Len(), l.left)
	Load(Param("x").Len(), l.inputs)
	l.start()

	l.whole("wide", s.columns, s.lanes)
	TESTQ(l.left, l.left)
	JZ(LabelRef("done"))
	if s.lanes > few {
		total := GP64()
		Load(Param("y").Len(), total)
		CMPQ(total, I32(s.lanes))
		JL(LabelRef("small"))
	}
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
		if lanes > few {
			CMPQ(l.left, I32(lanes))
			JL(LabelRef(next))
			JG(LabelRef(next + "twice"))
			l.tile(1, lanes, false)
			JMP(LabelRef("done"))
			Label(next + "twice")
		}
		l.last(2, lanes)
		Label(next)
	}
	Label("done")
	finish()
}

// denseRows: each vector of weights that is loaded serves several observations.
func denseRows(s isa) {
	TEXT("denseRows"+s.name, NOSPLIT, "func(y, w, b, x []float32, in, out int)")
	Pragma("noescape")
	Doc(fmt.Sprintf("denseRows%s works like denseBatchPortable for %d rows of in inputs and out > %d outputs, but checks no lengths.", s.name, s.rows, few))
	l := newLayer(s, s.rows)
	Load(Param("out"), l.left)
	Load(Param("in"), l.inputs)
	l.start()
	TESTQ(l.left, l.left)
	JZ(LabelRef("done"))
	if s.rowColumns > 1 {
		l.whole("several", s.rowColumns, s.lanes)
	}
	for _, lanes := range append([]int{s.lanes}, s.narrower()...) {
		below := fmt.Sprintf("below%d", lanes)
		outputs := GP64()
		Load(Param("out"), outputs)
		CMPQ(outputs, I32(lanes))
		JL(LabelRef(below))
		l.whole(fmt.Sprintf("whole%d", lanes), 1, lanes)
		TESTQ(l.left, l.left)
		JZ(LabelRef("done"))
		l.last(1, lanes)
		Label(below)
	}
	Label("done")
	finish()
}

// whole does the outputs that fill whole tiles of c columns.
func (l *layer) whole(label string, c, lanes int) {
	Label(label)
	CMPQ(l.left, I32(c*lanes))
	JL(LabelRef(label + "done"))
	l.tile(c, lanes, false)
	l.forward(c * lanes)
	JMP(LabelRef(label))
	Label(label + "done")
}

func newLayer(s isa, rows int) *layer {
	return &layer{isa: s, rows: rows, y: GP64(), w: GP64(), b: GP64(), x: GP64(), inputs: GP64(), left: GP64(), stride: GP64()}
}

// start loads the arguments, but for the numbers of inputs and outputs.
func (l *layer) start() {
	Load(Param("y").Base(), l.y)
	Load(Param("w").Base(), l.w)
	Load(Param("x").Base(), l.x)
	XORQ(l.b, l.b)
	biased := GP64()
	Load(Param("b").Len(), biased)
	TESTQ(biased, biased)
	JZ(LabelRef("unbiased"))
	Load(Param("b").Base(), l.b)
	Label("unbiased")
	LEAQ(Mem{Base: l.left, Index: l.left, Scale: 1}, l.stride)
	ADDQ(l.stride, l.stride)
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

// forward moves on by so many outputs.
func (l *layer) forward(outputs int) {
	ADDQ(I32(4*outputs), l.y)
	ADDQ(I32(4*outputs), l.w)
	SUBQ(I32(outputs), l.left)
	unbiased := fmt.Sprintf("forward%d", l.tiles)
	TESTQ(l.b, l.b)
	JZ(LabelRef(unbiased))
	ADDQ(I32(4*outputs), l.b)
	Label(unbiased)
}

// tile is the code of c columns of so many lanes; the last one lies apart, at final, if set.
type tile struct {
	*layer
	c, lanes int
	apart    bool
	sums     [chains][]VecVirtual // of rows, and of their columns
	w        map[int]GPVirtual    // weights of the inputs of each chain; or of the first one's
	x        GPVirtual
	stride3  GPVirtual // three times stride, where there is but one w
	inputs3  GPVirtual // three times inputs, where a fourth row is
}

// tile computes c columns. If there are not enough registers for all four chains, it computes two of them, then the
// others.
func (l *layer) tile(c, lanes int, apart bool) {
	l.tiles++
	t := &tile{layer: l, c: c, lanes: lanes, apart: apart}
	if (chains*c*l.rows)+2 > l.registers {
		t.pass([]int{0, 1})
		t.pass([]int{2, 3})
	} else {
		t.pass([]int{0, 1, 2, 3})
	}
	for i, v := range t.sums[0] {
		add(t.sums[2][i], v, v)
	}
	t.end(fmt.Sprint("unbiased", l.tiles))
}

// pass computes some chains, and adds those of each pair. Each sum begins with its first product instead of
// +0, which saves an addition and can only turn a total of +0 into -0. That is mended by a bias to which +0
// was added, as for none.
func (t *tile) pass(of []int) {
	label := func(s string) string { return fmt.Sprintf("%s%d%d", s, t.tiles, of[0]) }
	for _, k := range of {
		t.sums[k] = vectors(t.c*t.rows, t.lanes)
	}
	n := GP64()
	t.begin(of)
	MOVQ(t.inputs, n)
	SUBQ(Imm(chains), n)
	JL(LabelRef(label("short")))
	for _, k := range of {
		t.step(k, true)
	}
	t.forward()
	SUBQ(Imm(chains), n)
	JL(LabelRef(label("rest")))
	Label(label("inputs"))
	for _, k := range of {
		t.step(k, false)
	}
	t.forward()
	SUBQ(Imm(chains), n)
	JGE(LabelRef(label("inputs")))

	Label(label("rest")) // n is the number of inputs left, less four
	for _, k := range of {
		if k < chains-1 {
			CMPQ(n, I32(k-chains))
			JLE(LabelRef(label("sum")))
			t.step(k, false)
		}
	}
	JMP(LabelRef(label("sum")))
	Label(label("short"))
	for _, k := range of {
		for _, v := range t.sums[k] {
			zero(v)
		}
	}
	JMP(LabelRef(label("rest")))

	Label(label("sum"))
	for i := 0; i < len(of); i += 2 {
		for j, v := range t.sums[of[i]] {
			add(t.sums[of[i+1]][j], v, v)
		}
	}
}

// begin makes the pointers.
func (t *tile) begin(of []int) {
	t.x = GP64()
	MOVQ(t.layer.x, t.x)
	t.w = map[int]GPVirtual{}
	if t.rows == 1 {
		for i, k := range of {
			t.w[k] = GP64()
			if i == 0 {
				MOVQ(t.layer.w, t.w[k])
				if k > 0 {
					LEAQ(Mem{Base: t.w[k], Index: t.stride, Scale: uint8(k)}, t.w[k])
				}
				continue
			}
			LEAQ(Mem{Base: t.w[k-1], Index: t.stride, Scale: 1}, t.w[k])
		}
		return
	}
	t.w[0] = GP64()
	LEAQ(t.place(t.layer.w, 0, 0), t.w[0])
	t.stride3, t.inputs3 = GP64(), GP64()
	LEAQ(Mem{Base: t.stride, Index: t.stride, Scale: 2}, t.stride3)
	LEAQ(Mem{Base: t.inputs, Index: t.inputs, Scale: 2}, t.inputs3)
}

// forward moves on by four inputs.
func (t *tile) forward() {
	for k := range chains {
		if w := t.w[k]; w != nil {
			LEAQ(Mem{Base: w, Index: t.stride, Scale: 4}, w)
		}
	}
	ADDQ(Imm(4*chains), t.x)
}

// step adds the next input of chain k, or begins the chain with it.
func (t *tile) step(k int, first bool) {
	if t.rows > 1 {
		t.stepRows(k, first)
		return
	}
	value := vector(t.lanes)
	broadcast(at(t.x, 4*k), value)
	for j, sum := range t.sums[k] {
		m := t.place(t.w[k], 0, j)
		if first {
			mulMem(t.lanes, m, value, sum)
			continue
		}
		product := vector(t.lanes)
		mulMem(t.lanes, m, value, product)
		add(product, sum, sum)
	}
}

func (t *tile) stepRows(k int, first bool) {
	w := Mem{Base: t.w[0]}
	switch k {
	case 1, 2:
		w.Index, w.Scale = t.stride, uint8(k)
	case 3:
		w.Index, w.Scale = t.stride3, 1
	}
	weights := vectors(t.c, t.lanes)
	for j, v := range weights {
		load(t.lanes, w.Offset(4*t.lanes*j), v)
	}
	for r := range t.rows {
		x := at(t.x, 4*k)
		switch r {
		case 1, 2:
			x.Index, x.Scale = t.inputs, uint8(4*r)
		case 3:
			x.Index, x.Scale = t.inputs3, 4
		}
		value := vector(t.lanes)
		if t.lanes < 16 {
			broadcast(x, value)
		}
		for j, v := range weights {
			sum, product := t.sums[k][r*t.c+j], vector(t.lanes)
			if first {
				product = sum
			}
			if t.lanes == 16 {
				VMULPS_BCST(x, v, product)
			} else {
				mul(v, value, product)
			}
			if !first {
				add(product, sum, sum)
			}
		}
	}
}

// place is column j of row r, from p on.
func (t *tile) place(p Register, r, j int) Mem {
	m := at(p, 4*t.lanes*j)
	if t.apart && j == t.c-1 {
		m = Mem{Base: p, Index: t.final, Scale: 1}
	}
	return m
}

// end adds the bias, and stores.
func (t *tile) end(unbiased string) {
	bias := make([]VecVirtual, t.c)
	for j := range bias {
		bias[j] = vector(t.lanes)
		zero(bias[j])
	}
	TESTQ(t.b, t.b)
	JZ(LabelRef(unbiased))
	for j := range bias {
		addMem(t.lanes, t.place(t.b, 0, j), bias[j])
	}
	Label(unbiased)
	y := GP64()
	MOVQ(t.y, y)
	for r := range t.rows {
		for j := range bias {
			v := t.sums[0][r*t.c+j]
			add(bias[j], v, v)
			store(t.lanes, v, t.place(y, r, j))
		}
		if r < t.rows-1 {
			ADDQ(t.stride, y)
		}
	}
}
