package main

import "fmt"

// Constants of Philox4x32-10.
const (
	rounds = 10
	mul0   = 0xD2511F53
	mul1   = 0xCD9E8D57
	weyl0  = 0x9E3779B9
	weyl1  = 0xBB67AE85
)

// Four blocks, one in each lane, are a group; a batch is two of them, since Philox is a chain of multiplications that a
// group alone would wait for.
const (
	groups = 2
	batch  = groups * 4 * 8 // samples
)

// What the code of the noise holds in general registers.
const (
	gDst   reg = 0 // place of the next block's samples
	gN     reg = 1 // samples from there on
	gSkip  reg = 2 // how many of the first ones are not stored
	gTable reg = 3 // the Gaussian table
	gMask  reg = 4 // bits of a byte offset in it
	gSrc   reg = 5
	gTemp  reg = 6  // and the next one
	gWords reg = 8  // and the next seven: indices of a group's samples, four in each
	gOff   reg = 19 // and the next three
	gKeys  reg = 23 // the keys of all rounds, each in four lanes
	gPart  reg = 24 // place for the samples of a batch
)

// What it holds in vectors.
const (
	vMul   vec = 0 // the two multipliers
	vBlock vec = 1 // the next two blocks' numbers, 64 bits
	vTwo   vec = 2
	vScale vec = 3
	vKey   vec = 4  // the two keys of a round
	vGroup vec = 6  // seven vectors of each group
	vEps   vec = 20 // and the next seven: samples
)

// frame has the keys above the place for samples.
const (
	keyBytes = 2 * rounds * 4 * lanes
	frame    = 4*batch + keyBytes
)

// generator writes noise: eps scaled and added to what lies at src, or eps itself.
type generator struct {
	*asm
	add bool
}

func addNormal(a *asm) {
	a.function("addNormalNEON", frame, "dst []float32, src []float32, scale float32, seed uint64, offset uint64, table *[65536]float32",
		"sets dst[i] = src[i] + scale*eps[offset+i]; src is as long as dst.")
	a.load("src_base", gSrc)
	a.op("MOVWU", a.place("scale"), gTemp)
	a.all(vScale, gTemp)
	generator{a, true}.code()
}

func normal(a *asm) {
	a.function("normalNEON", frame, "dst []float32, seed uint64, offset uint64, table *[65536]float32", "sets dst[i] = eps[offset+i].")
	generator{a, false}.code()
}

func (g generator) code() {
	g.start()
	g.op("CBNZ", gSkip, "part")
	g.here("next")
	g.op("CMP", batch, gN)
	g.op("BLT", "rest")
	g.here("whole")
	g.batch(false)
	g.forward()
	g.op("CMP", batch, gN)
	g.op("BGE", "whole")
	g.here("rest")
	g.op("CMP", 0, gN)
	g.op("BLE", "done")
	g.here("part")
	g.batch(true)
	g.forward()
	g.op("MOVD", "ZR", gSkip)
	g.op("B", "next")
	g.here("done")
	g.op("RET")
}

// start begins at a block: at samples before dst, which are not stored.
func (g generator) start() {
	const block, k0, k1 = gTemp, gOff, gOff + 1
	g.load("dst_base", gDst)
	g.load("dst_len", gN)
	g.load("table", gTable)
	g.load("offset", block)
	g.op("AND", 7, block, gSkip)
	g.op("LSR", 3, block, block)
	g.op("SUB", gSkip.String()+"<<2", gDst, gDst)
	if g.add {
		g.op("SUB", gSkip.String()+"<<2", gSrc, gSrc)
	}
	g.op("ADD", gSkip, gN, gN)
	g.op("MOVD", 0xffff<<2, gMask)

	g.insert64(vBlock, 0, block)
	g.op("ADD", 1, block, block)
	g.insert64(vBlock, 1, block)
	g.op("MOVD", 2, gTemp)
	g.insert64(vTwo, 0, gTemp)
	g.insert64(vTwo, 1, gTemp)
	g.op("MOVD", uint64(mul1<<32|mul0), gTemp)
	g.insert64(vMul, 0, gTemp)
	g.load("seed", k0)
	g.op("LSR", 32, k0, k1)
	g.op("MOVD", weyl0, gTemp)
	g.op("MOVD", weyl1, gTemp+1)
	g.op("MOVD", fmt.Sprintf("$keys-%d(SP)", keyBytes), gKeys)
	g.op("MOVD", fmt.Sprintf("$part-%d(SP)", frame), gPart)
	for r := range rounds {
		if r > 0 {
			g.op("ADD", gTemp, k0, k0)
			g.op("ADD", gTemp+1, k1, k1)
		}
		g.all(vKey, k0)
		g.all(vKey+1, k1)
		g.storeAt(vKey, gKeys, 2*r)
		g.storeAt(vKey+1, gKeys, 2*r+1)
	}
}

// batch makes the samples of two groups and stores them, of a part those from gSkip to gN.
func (g generator) batch(part bool) {
	for n, b := range g.philox() {
		g.words(b)
		for i := range 8 {
			eps, place := g.look(gWords+reg(i), vEps+vec(i%2*4)), 8*n+i
			switch {
			case part:
				g.storeAt(eps, gPart, place)
				continue
			case g.add:
				g.loadAt(eps+1, gSrc, place)
				g.do("fmul.4s", eps, eps, vScale)
				g.do("fadd.4s", eps, eps, eps+1)
			}
			g.storeAt(eps, gDst, place)
		}
	}
	if part {
		g.some()
	}
}

// look sets d to the table's entries for the four indices in r. It spoils the next three vectors.
func (g generator) look(r reg, d vec) vec {
	for i, shift := range []string{"<<2", ">>14", ">>30", ">>46"} {
		g.op("AND", r.String()+shift, gMask, gOff+reg(i))
		g.loadEntry(d+vec(i), gTable, gOff+reg(i))
	}
	g.do("zip1.4s", d, d, d+1)
	g.do("zip1.4s", d+2, d+2, d+3)
	g.do("zip1.2d", d, d, d+2)
	return d
}

// some stores the samples of a part, four by four and then one by one.
func (g generator) some() {
	const dst, src, part, left, end = gWords, gWords + 1, gWords + 2, gWords + 3, gWords + 4
	skip := gSkip.String() + "<<2"
	g.op("ADD", skip, gDst, dst)
	g.op("ADD", skip, gPart, part)
	if g.add {
		g.op("ADD", skip, gSrc, src)
	}
	g.op("MOVD", batch, end)
	g.op("CMP", end, gN)
	g.op("CSEL", "LT", gN, end, end)
	g.op("SUB", gSkip, end, left)
	for _, w := range []int{lanes, 1} {
		again, fewer := g.label("some"), g.label("fewer")
		g.here(again)
		g.op("CMP", w, left)
		g.op("BLT", fewer)
		g.loadMany(move{vEps, 1, w, part})
		if g.add {
			g.loadMany(move{vEps + 1, 1, w, src})
			g.do("fmul.4s", vEps, vEps, vScale)
			g.do("fadd.4s", vEps, vEps, vEps+1)
			g.op("ADD", 4*w, src, src)
		}
		g.storeMany(move{vEps, 1, w, dst})
		g.op("ADD", 4*w, part, part)
		g.op("ADD", 4*w, dst, dst)
		g.op("SUB", w, left, left)
		g.op("B", again)
		g.here(fewer)
	}
}

func (g generator) forward() {
	g.op("ADD", 4*batch, gDst, gDst)
	if g.add {
		g.op("ADD", 4*batch, gSrc, gSrc)
	}
	g.op("SUB", batch, gN, gN)
}

// group is what Philox works on: the four words of four blocks, and vectors to work with.
type group struct {
	c       [4]vec
	p, q, t vec
}

// words sets the registers from gWords on to the words of a group's blocks, in their order.
func (g generator) words(b group) {
	for half := range 2 {
		low, high := b.p, b.q
		g.do("zip1.4s", low, b.c[2*half], b.c[2*half+1])
		g.do("zip2.4s", high, b.c[2*half], b.c[2*half+1])
		for block, v := range []vec{low, low, high, high} {
			g.extract64(gWords+reg(2*block+half), v, block%2)
		}
	}
}

// philox is noise.Philox of the next blocks, with counter words 2 and 3 being 0, so that its first round has
// less to do.
func (g generator) philox() (all [groups]group) {
	for i := range all {
		v := vGroup + vec(7*i)
		b := group{[4]vec{v, v + 1, v + 2, v + 3}, v + 4, v + 5, v + 6}
		g.do("add.2d", b.p, vBlock, vTwo)
		g.do("uzp1.4s", b.c[0], vBlock, b.p)
		g.do("uzp2.4s", b.c[1], vBlock, b.p)
		g.do("add.2d", vBlock, b.p, vTwo)
		all[i] = b
	}
	for r := range rounds {
		g.loadAt(vKey, gKeys, 2*r)
		g.loadAt(vKey+1, gKeys, 2*r+1)
		for i := range all {
			if r == 0 {
				g.first(&all[i])
			} else {
				g.round(&all[i])
			}
		}
	}
	return all
}

func (g generator) first(b *group) {
	c := &b.c
	g.umull(b.p, c[0], vMul, 0)
	g.umull2(c[0], c[0], vMul, 0)
	g.do("uzp2.4s", c[2], b.p, c[0])
	g.do("uzp1.4s", c[3], b.p, c[0])
	g.do("eor.16b", c[0], c[1], vKey)
	g.do("eor.16b", c[2], c[2], vKey+1)
	g.zero(c[1])
}

func (g generator) round(b *group) {
	c := &b.c
	g.umull(b.p, c[0], vMul, 0)
	g.umull2(c[0], c[0], vMul, 0)
	g.umull(b.q, c[2], vMul, 1)
	g.umull2(c[2], c[2], vMul, 1)
	g.do("eor.16b", c[1], c[1], vKey)
	g.do("eor.16b", c[3], c[3], vKey+1)
	g.do("uzp2.4s", b.t, b.q, c[2])
	g.do("uzp1.4s", b.q, b.q, c[2])
	g.do("uzp2.4s", c[2], b.p, c[0])
	g.do("uzp1.4s", b.p, b.p, c[0])
	g.do("eor.16b", c[0], b.t, c[1])
	g.do("eor.16b", c[2], c[2], c[3])
	c[1], b.q = b.q, c[1]
	c[3], b.p = b.p, c[3]
}
