package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
	"github.com/mmcloughlin/avo/x86"
)

// avx2 is vectors of 256 bits.
type avx2 struct{}

func (avx2) name() string    { return "AVX2" }
func (avx2) lanes() int      { return 8 }
func (avx2) registers() int  { return 16 }
func (avx2) columns() int    { return 3 }
func (avx2) vec() VecVirtual { return YMM() }

func (avx2) tail(n GPVirtual) Op {
	p, m := GP64(), YMM()
	LEAQ(lowLanes(), p)
	NEGQ(n)
	VMOVDQU(Mem{Base: p, Disp: 32, Index: n, Scale: 4}, m)
	NEGQ(n)
	return m
}

func (avx2) load(m Mem, mask Op, dst VecVirtual) {
	if mask == nil {
		VMOVUPS(m, dst)
		return
	}
	VMASKMOVPS(m, mask, dst)
}

func (avx2) store(src VecVirtual, mask Op, m Mem) {
	if mask == nil {
		VMOVUPS(src, m)
		return
	}
	VMASKMOVPS(src, mask, m)
}

func (s avx2) mulMem(m Mem, a VecVirtual, mask Op, dst VecVirtual) {
	if mask == nil {
		VMULPS(m, a, dst)
		return
	}
	s.load(m, mask, dst)
	VMULPS(dst, a, dst)
}

func (s avx2) addMem(m Mem, a VecVirtual, mask Op, dst VecVirtual) {
	if mask == nil {
		VADDPS(m, a, dst)
		return
	}
	t := YMM()
	s.load(m, mask, t)
	VADDPS(t, a, dst)
}

func (avx2) mulConst(bits uint32, a, dst VecVirtual) { VMULPS(constant(bits), a, dst) }
func (avx2) addConst(bits uint32, a, dst VecVirtual) { VADDPS(constant(bits), a, dst) }

func (avx2) choose(a, low, high, x, dst VecVirtual) {
	less, sign := YMM(), YMM()
	VCMPPS(Imm(lessThan), constant(tanhSeam), a, less)
	VBLENDVPS(less, low, high, dst)
	VANDPS(constant(signBit), x, sign)
	VORPS(sign, dst, dst)
}

// avx512 is vectors of 512 bits; it takes AVX512F, BW, DQ and VL.
type avx512 struct{}

func (avx512) name() string    { return "AVX512" }
func (avx512) lanes() int      { return 16 }
func (avx512) registers() int  { return 32 }
func (avx512) columns() int    { return 4 }
func (avx512) vec() VecVirtual { return ZMM() }

func (avx512) tail(n GPVirtual) Op {
	bits, k := GP64(), K()
	MOVQ(I32(-1), bits)
	shift := GP64()
	MOVQ(n, shift)
	SHLXQ(shift, bits, bits)
	NOTQ(bits)
	KMOVQ(bits, k)
	return k
}

func (avx512) load(m Mem, mask Op, dst VecVirtual) {
	if mask == nil {
		VMOVUPS(m, dst)
		return
	}
	VMOVUPS_Z(m, mask, dst)
}

func (avx512) store(src VecVirtual, mask Op, m Mem) {
	if mask == nil {
		VMOVUPS(src, m)
		return
	}
	VMOVUPS(src, mask, m)
}

func (avx512) mulMem(m Mem, a VecVirtual, mask Op, dst VecVirtual) {
	if mask == nil {
		VMULPS(m, a, dst)
		return
	}
	VMULPS_Z(m, a, mask, dst)
}

func (avx512) addMem(m Mem, a VecVirtual, mask Op, dst VecVirtual) {
	if mask == nil {
		VADDPS(m, a, dst)
		return
	}
	VADDPS_Z(m, a, mask, dst)
}

func (avx512) mulConst(bits uint32, a, dst VecVirtual) { VMULPS_BCST(constant(bits), a, dst) }
func (avx512) addConst(bits uint32, a, dst VecVirtual) { VADDPS_BCST(constant(bits), a, dst) }

func (avx512) choose(a, low, high, x, dst VecVirtual) {
	less, sign := K(), ZMM()
	VCMPPS_BCST(Imm(lessThan), constant(tanhSeam), a, less)
	VMOVAPS(high, dst)
	VMOVAPS(low, less, dst)
	VPBROADCASTD(constant(signBit), sign)
	VPTERNLOGD(Imm(orOfAnd), sign, x, dst)
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

var slide *Mem

// lowLanes is 8 lanes of ones and 8 of zeros: from byte 32 - 4n on, n lanes are ones.
func lowLanes() Mem {
	if slide == nil {
		m := GLOBL("low_lanes", RODATA|NOPTR)
		for i := range 16 {
			bits := uint32(0)
			if i < 8 {
				bits = 0xffffffff
			}
			DATA(4*i, U32(bits))
		}
		slide = &m
	}
	return *slide
}
