package main

// Constants of Philox4x32-10.
const (
	rounds = 10
	mul0   = 0xD2511F53
	mul1   = 0xCD9E8D57
	weyl0  = 0x9E3779B9
	weyl1  = 0xBB67AE85
)

// batch is how many samples are made at a time: four blocks of eight.
const batch = 32

// What the code of the noise holds in general registers.
const (
	gDst   reg = 0 // place of the next block's samples
	gN     reg = 1 // samples from there on
	gSkip  reg = 2 // how many of the first ones are not stored
	gTable reg = 3 // the Gaussian table
	gMask  reg = 4 // bits of a byte offset in it
	gSrc   reg = 5
	gTemp  reg = 6  // and the next one
	gWords reg = 8  // and the next seven: the samples' indices, four in each
	gOff   reg = 19 // and the next three
)

// What it holds in vectors; those from vFree on are free.
const (
	vKey   vec = 0  // of round r: 2r and 2r+1, the same in all lanes
	vMul   vec = 20 // the two multipliers
	vBlock vec = 21 // the next two blocks' numbers, 64 bits
	vTwo   vec = 22
	vScale vec = 23
	vFree  vec = 24
)

// generator writes noise: eps scaled and added to what lies at src, or eps itself.
type generator struct {
	*asm
	add bool
}

func addNormal(a *asm) {
	a.function("addNormalNEON", 4*batch, "dst []float32, src []float32, scale float32, seed uint64, offset uint64, table *[65536]float32",
		"sets dst[i] = src[i] + scale*eps[offset+i]; src is as long as dst.")
	a.load("src_base", gSrc)
	a.op("MOVWU", a.place("scale"), gTemp)
	a.all(vScale, gTemp)
	generator{a, true}.code()
}

func normal(a *asm) {
	a.function("normalNEON", 4*batch, "dst []float32, seed uint64, offset uint64, table *[65536]float32", "sets dst[i] = eps[offset+i].")
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
	for r := range vec(rounds) {
		if r > 0 {
			g.op("ADD", gTemp, k0, k0)
			g.op("ADD", gTemp+1, k1, k1)
		}
		g.all(vKey+2*r, k0)
		g.all(vKey+2*r+1, k1)
	}
}

// batch makes the samples of four blocks and stores them, of a part those from gSkip to gN.
func (g generator) batch(part bool) {
	g.words()
	if part {
		g.op("MOVD", "$part-128(SP)", gTemp)
	}
	for i := range batch / lanes {
		eps := g.look(gWords+reg(i), vFree+vec(i%2*4))
		switch {
		case part:
			g.storeAt(eps, gTemp, i)
			continue
		case g.add:
			g.loadAt(eps+1, gSrc, i)
			g.do("fmul.4s", eps, eps, vScale)
			g.do("fadd.4s", eps, eps, eps+1)
		}
		g.storeAt(eps, gDst, i)
	}
	if part {
		g.single()
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

// single stores the samples of a part one by one.
func (g generator) single() {
	const i, end = gOff, gOff + 1
	one, made := g.label("one"), g.label("made")
	g.op("MOVD", gSkip, i)
	g.op("MOVD", batch, end)
	g.op("CMP", end, gN)
	g.op("CSEL", "LT", gN, end, end)
	g.here(one)
	g.op("CMP", end, i)
	g.op("BGE", made)
	at := func(p reg) string { return "(" + p.String() + ")(" + i.String() + "<<2)" }
	g.op("FMOVS", at(gTemp), "F24")
	if g.add {
		g.op("FMOVS", at(gSrc), "F25")
		g.op("FMULS", "F23", "F24", "F24") // F23 is lane 0 of vScale
		g.op("FADDS", "F25", "F24", "F24")
	}
	g.op("FMOVS", "F24", at(gDst))
	g.op("ADD", 1, i, i)
	g.op("B", one)
	g.here(made)
}

func (g generator) forward() {
	g.op("ADD", 4*batch, gDst, gDst)
	if g.add {
		g.op("ADD", 4*batch, gSrc, gSrc)
	}
	g.op("SUB", batch, gN, gN)
}

// words sets the registers from gWords on to the output of Philox for the next four blocks, in their order.
func (g generator) words() {
	w, free := g.philox()
	for half := range 2 {
		t := free[2*half:]
		g.do("zip1.4s", t[0], w[2*half], w[2*half+1])
		g.do("zip2.4s", t[1], w[2*half], w[2*half+1])
		for block := range 4 {
			g.extract64(gWords+reg(2*block+half), t[block/2], block%2)
		}
	}
}

// philox is noise.Philox of four blocks, one in each lane, with counter words 2 and 3 being 0, so that its first round
// has less to do. It returns the words of the blocks and the vectors that are free.
func (g generator) philox() (c, free [4]vec) {
	c = [4]vec{vFree, vFree + 1, vFree + 2, vFree + 3}
	p, q, t := vFree+4, vFree+5, vFree+6
	g.do("add.2d", p, vBlock, vTwo)
	g.do("uzp1.4s", c[0], vBlock, p)
	g.do("uzp2.4s", c[1], vBlock, p)
	g.do("add.2d", vBlock, p, vTwo)

	g.umull(p, c[0], vMul, 0)
	g.umull2(c[0], c[0], vMul, 0)
	g.do("uzp2.4s", c[2], p, c[0])
	g.do("uzp1.4s", c[3], p, c[0])
	g.do("eor.16b", c[0], c[1], vKey)
	g.do("eor.16b", c[2], c[2], vKey+1)
	g.zero(c[1])
	for r := vec(1); r < rounds; r++ {
		g.umull(p, c[0], vMul, 0)
		g.umull2(c[0], c[0], vMul, 0)
		g.umull(q, c[2], vMul, 1)
		g.umull2(c[2], c[2], vMul, 1)
		g.do("eor.16b", c[1], c[1], vKey+2*r)
		g.do("eor.16b", c[3], c[3], vKey+2*r+1)
		g.do("uzp2.4s", t, q, c[2])
		g.do("uzp1.4s", q, q, c[2])
		g.do("uzp2.4s", c[2], p, c[0])
		g.do("uzp1.4s", p, p, c[0])
		g.do("eor.16b", c[0], t, c[1])
		g.do("eor.16b", c[2], c[2], c[3])
		c[1], q = q, c[1]
		c[3], p = p, c[3]
	}
	return c, [4]vec{p, q, t, vFree + 7}
}
