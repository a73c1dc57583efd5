package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// few is the most outputs for which lanes run across chains as well.
const few = 4

// few computes 1 to 4 outputs. The weights of four inputs lie side by side: those of the first output's first chain, the
// second output's, and so on. So lane i of them belongs to chain i / outputs, and one addition serves all chains.
func (l *layer) few(outputs int) {
	label := func(s string) string { return fmt.Sprintf("%s%d", s, outputs) }
	w, x, n := GP64(), GP64(), GP64()
	MOVQ(l.w, w)
	MOVQ(l.x, x)
	MOVQ(l.inputs, n)
	widths := fewWidths(outputs)
	var sums []VecVirtual
	for _, lanes := range widths {
		sums = append(sums, vector(lanes))
	}
	add4 := func(first bool) {
		values := fewValues(outputs, widths, func(lanes int) VecVirtual {
			v := vector(lanes)
			if lanes == 8 {
				VBROADCASTF128(at(x, 0), v)
			} else {
				load(lanes, at(x, 0), v)
			}
			return v
		})
		off := 0
		for i, lanes := range widths {
			product := sums[i]
			if !first {
				product = vector(lanes)
			}
			mulMem(lanes, at(w, off), values[i], product)
			if !first {
				add(product, sums[i], sums[i])
			}
			off += 4 * lanes
		}
		ADDQ(Imm(uint64(off)), w)
		ADDQ(Imm(4*chains), x)
	}

	SUBQ(Imm(chains), n)
	JL(LabelRef(label("fewer")))
	add4(true)
	SUBQ(Imm(chains), n)
	JL(LabelRef(label("over")))
	Label(label("fours"))
	add4(false)
	SUBQ(Imm(chains), n)
	JGE(LabelRef(label("fours")))
	JMP(LabelRef(label("over")))
	Label(label("fewer"))
	for _, v := range sums {
		zero(v)
	}
	Label(label("over")) // n is the number of inputs left, less four
	for left := 1; left < chains; left++ {
		next := label(fmt.Sprintf("not%dof", left))
		CMPQ(n, I32(left-chains))
		JNE(LabelRef(next))
		l.fewRest(outputs, left, w, x, widths, sums)
		JMP(LabelRef(label("added")))
		Label(next)
	}
	Label(label("added"))
	l.fewEnd(outputs, widths, sums)
}

// fewWidths are the vectors that hold the weights of four inputs.
func fewWidths(outputs int) (widths []int) {
	left := outputs
	for ; left >= 2 && !old(); left -= 2 {
		widths = append(widths, 8)
	}
	for ; left > 0; left-- {
		widths = append(widths, 4)
	}
	return widths
}

// fewValues are the inputs for each lane, made of vectors that hold four inputs in each quarter.
func fewValues(outputs int, widths []int, four func(lanes int) VecVirtual) (values []VecVirtual) {
	inputs := map[int]VecVirtual{}
	first := 0
	for _, lanes := range widths {
		if inputs[lanes] == nil {
			inputs[lanes] = four(lanes)
		}
		x := inputs[lanes]
		if outputs > 1 {
			var chain []int
			for i := range lanes {
				chain = append(chain, (first+i)/outputs)
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

// fewRest adds the one to three inputs that are left. Lanes of the others get products of zeros, which change no sum.
func (l *layer) fewRest(outputs, left int, w, x GPVirtual, widths []int, sums []VecVirtual) {
	values := fewValues(outputs, widths, func(lanes int) VecVirtual {
		v := vector(lanes)
		loadPart(left, x, 0, v)
		if lanes == 8 {
			VINSERTF128(Imm(1), low(v), v, v)
		}
		return v
	})
	first, n := 0, left*outputs
	for i, lanes := range widths {
		if first >= n {
			return
		}
		product := vector(lanes)
		loadPart(min(lanes, n-first), w, 4*first, product)
		mul(values[i], product, product)
		add(product, sums[i], sums[i])
		first += lanes
	}
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

// fewEnd adds the chains and the bias, and stores.
func (l *layer) fewEnd(outputs int, widths []int, sums []VecVirtual) {
	unbiased := fmt.Sprintf("few%d", outputs)
	var parts []VecVirtual
	for i, lanes := range widths {
		parts = append(parts, low(sums[i]))
		if lanes == 8 {
			high := XMM()
			VEXTRACTF128(Imm(1), sums[i], high)
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
	TESTQ(l.b, l.b)
	JZ(LabelRef(unbiased))
	b := vector(4)
	loadPart(outputs, l.b, 0, b)
	add(b, bias, bias)
	Label(unbiased)
	add(bias, s[0], s[0])
	if outputs != 3 {
		store(outputs, s[0], at(l.y, 0))
		return
	}
	store(2, s[0], at(l.y, 0))
	shiftDown(nil, s[0], 2, bias)
	store(1, bias, at(l.y, 8))
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
