package main

import (
	"fmt"
	"math"
	"strings"
)

// vec is a vector register; all 32 are free.
type vec int

func (v vec) String() string { return fmt.Sprintf("v%d", int(v)) }

// operations are instructions of up to three vectors, destination first: mnemonic and arrangement of lanes,
// and the bits with all registers 0 (Arm Architecture Reference Manual, C4.1.96). None is fused.
var operations = map[string]uint32{
	"fmul.4s":  0x6e20dc00,
	"fadd.4s":  0x4e20d400,
	"fsub.4s":  0x4ea0d400,
	"fdiv.4s":  0x6e20fc00,
	"fmin.4s":  0x4ea0f400,
	"fabs.4s":  0x4ea0f800,
	"fcmgt.4s": 0x6ea0e400,
	"add.2d":   0x4ee08400,
	"and.16b":  0x4e201c00,
	"eor.16b":  0x6e201c00,
	"bit.16b":  0x6ea01c00,
	"bsl.16b":  0x6e601c00,
	"zip1.4s":  0x4e803800,
	"zip2.4s":  0x4e807800,
	"zip1.2d":  0x4ec03800,
	"uzp1.4s":  0x4e801800,
	"uzp2.4s":  0x4e805800,
}

// do writes an operation: d, then what it is made of.
func (a *asm) do(operation string, d vec, from ...vec) {
	bits, ok := operations[operation]
	if !ok {
		panic("no operation " + operation)
	}
	name, shape, _ := strings.Cut(operation, ".")
	text := fmt.Sprintf("%s %v.%s", name, d, shape)
	bits |= uint32(d)
	for i, v := range from {
		bits |= uint32(v) << (5 + 11*i)
		text += fmt.Sprintf(", %v.%s", v, shape)
	}
	a.word(bits, "%s", text)
}

// word writes an instruction that Go's assembler does not know, or not under objdump's name.
func (a *asm) word(bits uint32, format string, args ...any) {
	fmt.Fprintf(&a.text, "\tWORD $0x%08x // %s\n", bits, fmt.Sprintf(format, args...))
}

// ofLane is the operand m.s[i].
func ofLane(m vec, i int) uint32 { return uint32(m)<<16 | uint32(i&1)<<21 | uint32(i>>1)<<11 }

// fmulLane sets d = n * m[i].
func (a *asm) fmulLane(d, n, m vec, i int) {
	a.word(0x4f809000|ofLane(m, i)|uint32(n)<<5|uint32(d), "fmul %v.4s, %v.4s, %v.s[%d]", d, n, m, i)
}

// umull sets d to the two products of 64 bits of the low half of n with m[i]; umull2 takes the high half.
func (a *asm) umull(d, n, m vec, i int) {
	a.word(0x2f80a000|ofLane(m, i)|uint32(n)<<5|uint32(d), "umull %v.2d, %v.2s, %v.s[%d]", d, n, m, i)
}

func (a *asm) umull2(d, n, m vec, i int) {
	a.word(0x6f80a000|ofLane(m, i)|uint32(n)<<5|uint32(d), "umull2 %v.2d, %v.4s, %v.s[%d]", d, n, m, i)
}

// zero sets all lanes to +0.
func (a *asm) zero(d vec) { a.word(0x4f000400|uint32(d), "movi %v.4s, #0x0", d) }

// signs sets all lanes to -0.
func (a *asm) signs(d vec) { a.word(0x4f046400|uint32(d), "movi %v.4s, #0x80, lsl #24", d) }

// two sets all lanes to 2.
func (a *asm) two(d vec) { a.word(0x4f00f400|uint32(d), "fmov %v.4s, #2.000000000000000000e+00", d) }

// positive sets the lanes of d whose value in n is above 0 to ones, the others to zeros.
func (a *asm) positive(d, n vec) {
	a.word(0x4ea0c800|uint32(n)<<5|uint32(d), "fcmgt %v.4s, %v.4s, #0.0", d, n)
}

// all sets all four words of d to r's low one.
func (a *asm) all(d vec, r reg) {
	a.word(0x4e040c00|uint32(r)<<5|uint32(d), "dup %v.4s, w%d", d, int(r))
}

// insert64 sets a half of d to r; extract64 sets r to a half of n.
func (a *asm) insert64(d vec, i int, r reg) {
	a.word(0x4e081c00|uint32(i)<<20|uint32(r)<<5|uint32(d), "mov %v.d[%d], x%d", d, i, int(r))
}

func (a *asm) extract64(r reg, n vec, i int) {
	a.word(0x4e083c00|uint32(i)<<20|uint32(n)<<5|uint32(r), "mov x%d, %v.d[%d]", int(r), n, i)
}

// loadEntry loads the word that lies off bytes behind base into lane 0; the other lanes become 0.
func (a *asm) loadEntry(d vec, base, off reg) {
	a.word(0xbc606800|uint32(off)<<16|uint32(base)<<5|uint32(d), "ldr s%d, [x%d, x%d]", int(d), int(base), int(off))
}

// loadAt and storeAt move one vector, i vectors behind p.
func (a *asm) loadAt(d vec, p reg, i int) { a.indexed(0x3dc00000, "ldr", d, p, i) }

func (a *asm) storeAt(d vec, p reg, i int) { a.indexed(0x3d800000, "str", d, p, i) }

func (a *asm) indexed(bits uint32, name string, d vec, p reg, i int) {
	place := fmt.Sprintf("[x%d]", int(p))
	if i > 0 {
		place = fmt.Sprintf("[x%d, #%d]", int(p), 4*lanes*i)
	}
	a.word(bits|uint32(i)<<10|uint32(p)<<5|uint32(d), "%s q%d, %s", name, int(d), place)
}

// move is a load or store of n neighboring vectors from d on, of which w lanes count: 4; or with n = 1 also
// 2 or 1. A load of 2 lanes gives 0 in the others, of 1 the same in the second. None moves p, which an
// addition of its own does: where the processor moves it late, with what was loaded or after what is to be
// stored, the next one would wait for that.
type move struct {
	d    vec
	n, w int
	p    reg
}

func (a *asm) loadMany(m move) {
	if m.w == 1 {
		a.moved(0x0d40c800, m, "ld1r {%v.2s}", m.d)
		return
	}
	a.many(0x0c400800, "ld1", m)
}

func (a *asm) storeMany(m move) {
	if m.w == 1 {
		a.moved(0x0d008000, m, "st1 {%v.s}[0]", m.d)
		return
	}
	a.many(0x0c000800, "st1", m)
}

func (a *asm) many(bits uint32, name string, m move) {
	bits |= [5]uint32{1: 0x7, 2: 0xa, 3: 0x6, 4: 0x2}[m.n] << 12
	shape := "2s"
	if m.w == 4 {
		bits |= 1 << 30
		shape = "4s"
	}
	list := fmt.Sprintf("%v.%s", m.d, shape)
	if last := m.d + vec(m.n-1); m.n == 2 {
		list += fmt.Sprintf(", %v.%s", last, shape)
	} else if m.n > 2 {
		list += fmt.Sprintf("-%v.%s", last, shape)
	}
	a.moved(bits, m, "%s {%s}", name, list)
}

// moved completes a load or store by its place.
func (a *asm) moved(bits uint32, m move, format string, args ...any) {
	a.word(bits|uint32(m.p)<<5|uint32(m.d), format+", [x%d]", append(args, int(m.p))...)
}

// spread loads four words and moves p behind them: each fills a vector of its own, from d on.
func (a *asm) spread(d vec, p reg) {
	a.word(0x4dffe800|uint32(p)<<5|uint32(d), "ld4r {%v.4s-%v.4s}, [x%d], #16", d, d+3, int(p))
}

func floatBits(v ...float32) (b []uint32) {
	for _, x := range v {
		b = append(b, math.Float32bits(x))
	}
	return b
}
