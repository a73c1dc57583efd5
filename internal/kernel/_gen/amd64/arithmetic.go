package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
	"github.com/mmcloughlin/avo/x86"
)

// binary sets dst = a op b, b a register or an aligned constant: with old, an instruction of two operands, or with the
// other, of three.
func binary(old2 func(b, a Op), new3 func(ops ...Op), b Op, a, dst VecVirtual) {
	if !old() {
		new3(b, a, dst)
		return
	}
	if r, ok := b.(Register); ok && Equal(r, dst) && !Equal(a, dst) {
		panic("b would be overwritten")
	}
	move(a, dst)
	old2(b, dst)
}

func move(src, dst VecVirtual) {
	switch {
	case Equal(src, dst):
	case old():
		MOVAPS(src, dst)
	default:
		VMOVAPS(src, dst)
	}
}

func sub(b Op, a, dst VecVirtual)     { binary(SUBPS, VSUBPS, b, a, dst) }
func div(b Op, a, dst VecVirtual)     { binary(DIVPS, VDIVPS, b, a, dst) }
func minimum(b Op, a, dst VecVirtual) { binary(MINPS, VMINPS, b, a, dst) } // of a NaN or two zeros: b
func maximum(b Op, a, dst VecVirtual) { binary(MAXPS, VMAXPS, b, a, dst) } // of a NaN or two zeros: b

// mul and add commute, so that a may be what is overwritten, or b.
func mul(b, a, dst VecVirtual) { commuting(MULPS, VMULPS, b, a, dst) }
func add(b, a, dst VecVirtual) { commuting(ADDPS, VADDPS, b, a, dst) }

func commuting(old2 func(b, a Op), new3 func(ops ...Op), b, a, dst VecVirtual) {
	if Equal(b, dst) {
		a, b = b, a
	}
	binary(old2, new3, b, a, dst)
}

// load gives +0 in lanes of the register that are not loaded.
func load(lanes int, m Mem, dst VecVirtual) {
	switch {
	case old() && lanes == 1:
		MOVSS(m, dst)
	case old() && lanes == 2:
		MOVSD(m, dst)
	case old():
		MOVUPS(m, dst)
	case lanes == 1:
		VMOVSS(m, dst)
	case lanes == 2:
		VMOVSD(m, dst)
	default:
		VMOVUPS(m, dst)
	}
}

func store(lanes int, src VecVirtual, m Mem) {
	switch {
	case old() && lanes == 1:
		MOVSS(src, m)
	case old() && lanes == 2:
		MOVSD(src, m)
	case old():
		MOVUPS(src, m)
	case lanes == 1:
		VMOVSS(src, m)
	case lanes == 2:
		VMOVSD(src, m)
	default:
		VMOVUPS(src, m)
	}
}

// broadcast loads one float32 into all lanes.
func broadcast(m Mem, dst VecVirtual) {
	if !old() {
		VBROADCASTSS(m, dst)
		return
	}
	MOVSS(m, dst)
	SHUFPS(Imm(0), dst, dst)
}

// mulMem sets dst = a * m, for any place m.
func mulMem(lanes int, m Mem, a, dst VecVirtual) {
	if lanes >= 4 && !old() {
		VMULPS(m, a, dst)
		return
	}
	load(lanes, m, dst)
	mul(a, dst, dst)
}

// addMem adds m to a, for any place m.
func addMem(lanes int, m Mem, a VecVirtual) {
	if lanes >= 4 && !old() {
		VADDPS(m, a, a)
		return
	}
	t := XMM()
	load(lanes, m, t)
	add(t, a, a)
}

func mulConst(bits uint32, a, dst VecVirtual) {
	if dst.Size() == 64 {
		VMULPS_BCST(constant(bits), a, dst)
		return
	}
	binary(MULPS, VMULPS, constant(bits), a, dst)
}

func addConst(bits uint32, a, dst VecVirtual) {
	if dst.Size() == 64 {
		VADDPS_BCST(constant(bits), a, dst)
		return
	}
	binary(ADDPS, VADDPS, constant(bits), a, dst)
}

// absolute sets a = |x|.
func absolute(x, a VecVirtual) {
	if x.Size() == 64 {
		VPANDD_BCST(constant(^uint32(signBit)), x, a)
		return
	}
	binary(ANDPS, VANDPS, constant(^uint32(signBit)), x, a)
}

// choose sets dst to low where a < limit, else to high, and gives it the sign of x if it has none. It may
// overwrite low.
func choose(a VecVirtual, limit uint32, low, high, x, dst VecVirtual) {
	sign, less := like(x), like(x)
	switch {
	case x.Size() == 64:
		less := K()
		VCMPPS_BCST(Imm(lessThan), constant(limit), a, less)
		VMOVAPS(high, dst)
		VMOVAPS(low, less, dst)
		VPBROADCASTD(constant(signBit), sign)
		VPTERNLOGD(Imm(orOfAnd), sign, x, dst)
		return
	case old():
		MOVAPS(a, less)
		CMPPS(constant(limit), less, Imm(lessThan&7))
		ANDPS(less, low)
		ANDNPS(high, less)
		ORPS(less, low)
		move(low, dst)
	default:
		VCMPPS(Imm(lessThan), constant(limit), a, less)
		VBLENDVPS(less, low, high, dst)
	}
	binary(ANDPS, VANDPS, constant(signBit), x, sign)
	binary(ORPS, VORPS, sign, dst, dst)
}

// zero sets v to +0.
func zero(v VecVirtual) {
	switch {
	case v.Size() == 64:
		fromItself(x86.VPXORD(v, v, v))
	case old():
		fromItself(x86.XORPS(v, v))
	default:
		fromItself(x86.VXORPS(v, v, v))
	}
}

// fromItself appends an instruction whose result does not depend on its operands, which avo knows of a few only.
func fromItself(i *ir.Instruction, err error) {
	if err != nil {
		panic(err)
	}
	i.CancellingInputs = true
	Instruction(i)
}
