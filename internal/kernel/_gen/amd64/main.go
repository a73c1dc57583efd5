// Command amd64 writes the assembly of the kernels for amd64, asm_amd64.s, and its Go declarations, asm_amd64.go.
//
// It is a module of its own, so that avo is no dependency of evonode. Run it by go generate ./internal/kernel.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("!purego")
	features()
	for _, s := range []isa{sse2, avx2, avx512} {
		target = s
		dense(s)
		denseFew(s)
		if s.rows > 1 {
			denseRows(s)
		}
		tanh(s)
		relu(s)
		addNormal(s)
		normal(s)
		multiplyAdd(s)
		read(s)
	}
	Generate()
}

// at is the place off bytes behind p.
func at(p Register, off int) Mem { return Mem{Base: p, Disp: off} }

// features declares the two instructions that say what the processor has.
func features() {
	TEXT("cpuid", NOSPLIT, "func(leaf, sub uint32) (a, b, c, d uint32)")
	Doc("cpuid returns what instruction CPUID answers.")
	Load(Param("leaf"), EAX)
	Load(Param("sub"), ECX)
	CPUID()
	Store(EAX, Return("a"))
	Store(EBX, Return("b"))
	Store(ECX, Return("c"))
	Store(EDX, Return("d"))
	RET()

	TEXT("xgetbv", NOSPLIT, "func() (a, d uint32)")
	Doc("xgetbv returns which registers the operating system keeps: XCR0.")
	XORL(ECX, ECX)
	XGETBV()
	Store(EAX, Return("a"))
	Store(EDX, Return("d"))
	RET()
}
