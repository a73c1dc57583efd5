package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
	"github.com/mmcloughlin/avo/x86"
)

// isa is one width of vectors. What does not fill one is done with narrower ones, or with one that overlaps the one
// before, never under a mask: a masked access that touches a page which is not there gives no fault, but takes a
// microcode assist, some hundred cycles.
type isa struct {
	name      string
	lanes     int
	registers int // how many vectors there are
	columns   int // how many vectors of outputs a dense layer takes at a time: with four chains each they fill the registers
}

// avx512 takes AVX512F, BW, DQ and VL.
var (
	avx2   = isa{"AVX2", 8, 16, 3}
	avx512 = isa{"AVX512", 16, 32, 4}
)

func (s isa) vec() VecVirtual { return vector(s.lanes) }

// narrower are the widths below the whole one.
func (s isa) narrower() []int {
	if s.lanes == 16 {
		return []int{8, 4, 2, 1}
	}
	return []int{4, 2, 1}
}

// vector is a register for that many float32.
func vector(lanes int) VecVirtual {
	switch lanes {
	case 16:
		return ZMM()
	case 8:
		return YMM()
	}
	return XMM()
}

// load gives +0 in lanes of the register that are not loaded.
func load(lanes int, m Mem, dst VecVirtual) {
	switch lanes {
	case 1:
		VMOVSS(m, dst)
	case 2:
		VMOVSD(m, dst)
	default:
		VMOVUPS(m, dst)
	}
}

func store(lanes int, src VecVirtual, m Mem) {
	switch lanes {
	case 1:
		VMOVSS(src, m)
	case 2:
		VMOVSD(src, m)
	default:
		VMOVUPS(src, m)
	}
}

// mulMem sets dst = a * m.
func mulMem(lanes int, m Mem, a, dst VecVirtual) {
	if lanes >= 4 {
		VMULPS(m, a, dst)
		return
	}
	load(lanes, m, dst)
	VMULPS(dst, a, dst)
}

// addMem adds m to a.
func addMem(lanes int, m Mem, a VecVirtual) {
	if lanes >= 4 {
		VADDPS(m, a, a)
		return
	}
	t := XMM()
	load(lanes, m, t)
	VADDPS(t, a, a)
}

func mulConst(bits uint32, a, dst VecVirtual) {
	if dst.Size() == 64 {
		VMULPS_BCST(constant(bits), a, dst)
		return
	}
	VMULPS(constant(bits), a, dst)
}

func addConst(bits uint32, a, dst VecVirtual) {
	if dst.Size() == 64 {
		VADDPS_BCST(constant(bits), a, dst)
		return
	}
	VADDPS(constant(bits), a, dst)
}

func like(v VecVirtual) VecVirtual { return vector(int(v.Size() / 4)) }

// absolute sets a = |x|.
func absolute(x, a VecVirtual) {
	if x.Size() == 64 {
		VPANDD_BCST(constant(^uint32(signBit)), x, a)
		return
	}
	VANDPS(constant(^uint32(signBit)), x, a)
}

// choose sets dst to low where a < limit, else to high, and gives it the sign of x if it has none.
func choose(a VecVirtual, limit uint32, low, high, x, dst VecVirtual) {
	sign := like(x)
	if x.Size() == 64 {
		less := K()
		VCMPPS_BCST(Imm(lessThan), constant(limit), a, less)
		VMOVAPS(high, dst)
		VMOVAPS(low, less, dst)
		VPBROADCASTD(constant(signBit), sign)
		VPTERNLOGD(Imm(orOfAnd), sign, x, dst)
		return
	}
	less := like(x)
	VCMPPS(Imm(lessThan), constant(limit), a, less)
	VBLENDVPS(less, low, high, dst)
	VANDPS(constant(signBit), x, sign)
	VORPS(sign, dst, dst)
}

// zero sets v to +0.
func zero(v VecVirtual) {
	if v.Size() == 64 {
		fromItself(x86.VPXORD(v, v, v))
		return
	}
	fromItself(x86.VXORPS(v, v, v))
}

// fromItself appends an instruction whose result does not depend on its operands, which avo knows of a few only.
func fromItself(i *ir.Instruction, err error) {
	if err != nil {
		panic(err)
	}
	i.CancellingInputs = true
	Instruction(i)
}

// Operands of comparisons and of three-way logic.
const (
	lessThan = 0x11 // ordered, quiet
	xorOf3   = 0x96 // a ^ b ^ c
	orOfAnd  = 0xf8 // a | (b & c)
	signBit  = 1 << 31
)

var constants = map[uint32]Mem{}

// constant is eight float32 with the given bits; its first one serves broadcasts.
func constant(bits uint32) Mem {
	if m, ok := constants[bits]; ok {
		return m
	}
	m := GLOBL(fmt.Sprintf("const_%08x", bits), RODATA|NOPTR)
	for i := range 8 {
		DATA(4*i, U32(bits))
	}
	constants[bits] = m
	return m
}
