package main

import (
	"fmt"
	"slices"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// few is the most outputs for which lanes run across chains as well.
const few = 4

// denseFew: the weights of four inputs lie side by side, those of the first input's outputs, of the second's,
// and so on. So lane i of them belongs to chain i / outputs, and one addition serves all chains.
func denseFew(s isa) {
	TEXT("denseFew"+s.name, NOSPLIT, "func(y, w, b, x []float32, in, out, rows int)")
	Pragma("noescape")
	Doc(fmt.Sprintf("denseFew%s works like denseBatchPortable for one or more rows of in inputs and 1 to %d outputs, but checks no lengths.", s.name, few))
	l := newLayer(s, 1)
	Load(Param("out"), l.left)
	Load(Param("in"), l.inputs)
	l.start()
	for outputs := 1; outputs <= few; outputs++ {
		next := fmt.Sprintf("more%d", outputs)
		CMPQ(l.left, I32(outputs))
		JNE(LabelRef(next))
		newThin(l, outputs).code()
		Label(next)
	}
	finish()
}

// thin is a layer with few outputs.
type thin struct {
	*layer
	outputs int
	widths  []int // of the vectors that hold the weights of four inputs
	sums    []VecVirtual
	w       GPVirtual // next weights
	end     GPVirtual // in x, after the last four inputs
	over    GPVirtual // inputs after these
}

func newThin(l *layer, outputs int) *thin {
	t := &thin{layer: l, outputs: outputs, w: GP64(), end: GP64(), over: GP64()}
	for left := chains * outputs; left > 0; {
		lanes := min(l.lanes, 8, left&-left) // sums of 16 would wait longer for each other
		t.widths = append(t.widths, lanes)
		t.sums = append(t.sums, vector(lanes))
		left -= lanes
	}
	slices.Reverse(t.widths)
	slices.Reverse(t.sums)
	return t
}

func (t *thin) code() {
	label := func(s string) string { return fmt.Sprintf("%s%d", s, t.outputs) }
	rows := GP64()
	Load(Param("rows"), rows)
	MOVQ(t.inputs, t.over)
	ANDQ(Imm(chains-1), t.over)
	MOVQ(t.inputs, t.end)
	SUBQ(t.over, t.end)
	LEAQ(Mem{Base: t.x, Index: t.end, Scale: 4}, t.end)

	Label(label("row"))
	MOVQ(t.layer.w, t.w)
	CMPQ(t.x, t.end)
	JE(LabelRef(label("short")))
	t.fours(true)
	CMPQ(t.x, t.end)
	JE(LabelRef(label("over")))
	Label(label("fours"))
	t.fours(false)
	CMPQ(t.x, t.end)
	JNE(LabelRef(label("fours")))
	JMP(LabelRef(label("over")))
	Label(label("short"))
	for _, v := range t.sums {
		zero(v)
	}
	Label(label("over"))
	TESTQ(t.over, t.over)
	JZ(LabelRef(label("sum")))
	for n := 1; n < chains; n++ {
		next := label(fmt.Sprintf("not%dof", n))
		CMPQ(t.over, I32(n))
		JNE(LabelRef(next))
		t.rest(n)
		JMP(LabelRef(label("sum")))
		Label(next)
	}
	Label(label("sum"))
	t.finish(label("unbiased"))
	LEAQ(Mem{Base: t.x, Index: t.over, Scale: 4}, t.x)
	LEAQ(Mem{Base: t.end, Index: t.inputs, Scale: 4}, t.end)
	ADDQ(Imm(uint64(4*t.outputs)), t.y)
	DECQ(rows)
	JNZ(LabelRef(label("row")))
	finish()
}

// fours adds the next four inputs, or begins the sums with them.
func (t *thin) fours(first bool) {
	values := t.values(func(lanes int) VecVirtual {
		v := vector(lanes)
		if lanes == 8 {
			VBROADCASTF128(at(t.x, 0), v)
		} else {
			load(lanes, at(t.x, 0), v)
		}
		return v
	})
	off := 0
	for i, sum := range t.sums {
		product := sum
		if !first {
			product = like(sum)
		}
		mulMem(t.widths[i], at(t.w, off), values[i], product)
		if !first {
			add(product, sum, sum)
		}
		off += 4 * t.widths[i]
	}
	ADDQ(Imm(uint64(off)), t.w)
	ADDQ(Imm(4*chains), t.x)
}

// rest adds the one to three inputs that are left. Lanes of the others get products of zeros, which change no sum.
func (t *thin) rest(inputs int) {
	values := t.values(func(lanes int) VecVirtual {
		v := vector(lanes)
		loadPart(inputs, t.x, 0, v)
		if lanes == 8 {
			VINSERTF128(Imm(1), low(v), v, v)
		}
		return v
	})
	first, n := 0, inputs*t.outputs
	for i, lanes := range t.widths {
		if first >= n {
			return
		}
		product := vector(lanes)
		loadPart(min(lanes, n-first), t.w, 4*first, product)
		mul(values[i], product, product)
		add(product, t.sums[i], t.sums[i])
		first += lanes
	}
}

// values are the inputs for each lane, made of vectors that hold four inputs in each quarter.
func (t *thin) values(four func(lanes int) VecVirtual) (values []VecVirtual) {
	inputs := map[int]VecVirtual{}
	first := 0
	for _, lanes := range t.widths {
		if inputs[lanes] == nil {
			inputs[lanes] = four(lanes)
		}
		x := inputs[lanes]
		if t.outputs > 1 {
			var chain []int
			for i := range lanes {
				chain = append(chain, (first+i)/t.outputs)
			}
			x = permute(x, chain)
		}
		values = append(values, x)
		first += lanes
	}
	return values
}

// permute returns the elements of x with the given indices; each quarter of x has the same four.
func permute(x VecVirtual, index []int) VecVirtual {
	r := like(x)
	if len(index) == 4 {
		imm := Imm(uint64(index[0] | index[1]<<2 | index[2]<<4 | index[3]<<6))
		if old() {
			PSHUFD(imm, x, r)
		} else {
			VPERMILPS(imm, x, r)
		}
		return r
	}
	name := "permute"
	for _, i := range index {
		name += fmt.Sprint("_", i)
	}
	VPERMILPS(quads(name, len(index)/2, func(i int) uint64 { return uint64(index[2*i+1])<<32 | uint64(index[2*i]) }, ""), x, r)
	return r
}

// low is the lower half of a vector of 8, or a vector of 4 itself.
func low(v VecVirtual) VecVirtual { return v.AsX().(VecVirtual) }

// loadPart loads n float32, and +0 above them.
func loadPart(n int, p GPVirtual, off int, dst VecVirtual) {
	if dst.Size() == 32 && n < 8 {
		zero(dst) // the loads do, but avo does not know
	}
	switch {
	case n == 8:
		load(8, at(p, off), dst)
	case n > 4:
		high := XMM()
		loadPart(n-4, p, off+16, high)
		VMOVUPS(at(p, off), low(dst))
		VINSERTF128(Imm(1), high, dst, dst)
	case n == 3:
		two, third := vector(4), vector(4)
		load(2, at(p, off), two)
		load(1, at(p, off+8), third)
		if old() {
			MOVLHPS(third, two)
			MOVAPS(two, dst)
		} else {
			VMOVLHPS(third, two, low(dst))
		}
	default:
		load(n, at(p, off), low(dst))
	}
}

// finish adds the chains and the bias, and stores.
func (t *thin) finish(unbiased string) {
	outputs := t.outputs
	var parts []VecVirtual
	for i, lanes := range t.widths {
		parts = append(parts, low(t.sums[i]))
		if lanes == 8 {
			high := XMM()
			VEXTRACTF128(Imm(1), t.sums[i], high)
			parts = append(parts, high)
		}
	}
	var s [chains]VecVirtual
	for k := range s {
		at, off := k*outputs/4, k*outputs%4
		next := VecVirtual(nil)
		if at+1 < len(parts) {
			next = parts[at+1]
		}
		s[k] = XMM()
		shiftDown(next, parts[at], off, s[k])
	}
	bias := vector(4)
	zero(bias)
	add(s[1], s[0], s[0])
	add(s[3], s[2], s[2])
	add(s[2], s[0], s[0])
	TESTQ(t.b, t.b)
	JZ(LabelRef(unbiased))
	b := vector(4)
	loadPart(outputs, t.b, 0, b)
	add(b, bias, bias)
	Label(unbiased)
	add(bias, s[0], s[0])
	if outputs != 3 {
		store(outputs, s[0], at(t.y, 0))
		return
	}
	store(2, s[0], at(t.y, 0))
	shiftDown(nil, s[0], 2, bias)
	store(1, bias, at(t.y, 8))
}

// shiftDown sets dst to elements n to n + 3 of low and high together; a nil high is anything.
func shiftDown(high, low VecVirtual, n int, dst VecVirtual) {
	bytes := Imm(uint64(4 * n))
	switch {
	case n == 0:
		move(low, dst)
	case !old() && high == nil:
		VPSRLDQ(bytes, low, dst)
	case !old():
		VPALIGNR(bytes, low, high, dst)
	case high == nil:
		MOVAPS(low, dst)
		PSRLDQ(bytes, dst)
	default:
		t := XMM()
		MOVAPS(low, dst)
		PSRLDQ(bytes, dst)
		MOVAPS(high, t)
		PSLLDQ(Imm(uint64(16-4*n)), t)
		POR(t, dst)
	}
}
