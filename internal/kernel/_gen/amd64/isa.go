package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// isa is one width of vectors. What does not fill one is done with narrower ones, or with one that overlaps the one
// before, never under a mask: a masked access that touches a page which is not there gives no fault, but takes a
// microcode assist, some hundred cycles.
type isa struct {
	name      string
	lanes     int
	registers int // how many vectors there are
	columns   int // how many vectors of outputs a dense layer takes at a time; one or more whole lines of the cache
	abreast   int // how many vectors an activation takes at a time
	streams   int // how many vectors of blocks noise takes at a time
	rows      int // how many observations a batch takes at a time

	rowColumns int // how many vectors of outputs a batch takes at a time
}

// avx512 takes AVX512F, BW, DQ and VL; sse2 has instructions of two operands, and memory operands must be aligned.
var (
	sse2   = isa{"SSE2", 4, 16, 4, 2, 2, 1, 1}
	avx2   = isa{"AVX2", 8, 16, 4, 1, 2, 2, 2}
	avx512 = isa{"AVX512", 16, 32, 4, 2, 1, 4, 1}
)

// target is what code is being generated for. Legacy SSE and VEX instructions are never mixed: some processors are
// slow to switch.
var target isa

// old says that instructions have two operands.
func old() bool { return target.lanes == 4 }

func (s isa) vec() VecVirtual { return vector(s.lanes) }

// narrower are the widths below the whole one, down to that of few outputs.
func (s isa) narrower() (lanes []int) {
	for n := s.lanes / 2; n >= few; n /= 2 {
		lanes = append(lanes, n)
	}
	return lanes
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

// finish returns from a function.
func finish() {
	if !old() {
		VZEROUPPER()
	}
	RET()
}

// like is another register of the width of v.
func like(v VecVirtual) VecVirtual { return vector(int(v.Size() / 4)) }

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
