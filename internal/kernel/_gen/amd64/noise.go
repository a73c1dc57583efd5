package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
	"github.com/mmcloughlin/avo/x86"
)

// Constants of Philox4x32-10.
const (
	rounds = 10
	mul0   = 0xD2511F53
	mul1   = 0xCD9E8D57
	weyl0  = 0x9E3779B9
	weyl1  = 0xBB67AE85
)

// generator is what the code of the noise holds in registers. A vector holds a block in each 64-bit lane, of which only
// the low word counts. Blocks do not lie in the order of lanes: 0 to half in the even ones, the rest in the odd ones.
// So unpacking quadwords puts the samples into their order.
type generator struct {
	isa
	dst, src   GPVirtual // next block's samples; src is nil if the samples themselves are stored
	n, skip    GPVirtual // samples from there on; how many of the first ones are not stored
	table      GPVirtual // the Gaussian table
	block      VecVirtual
	mul0, mul1 VecVirtual
	scale      VecVirtual
	keys       [2][rounds]Op // in registers or in memory
	frame      Mem           // of keys
	indices    Mem           // of the samples of a round, 16 bits each
	part       Mem           // place for the samples of a round
	step       Mem           // constant: blocks of a vector
}

// addNormal writes dst = src + scale * eps(seed)[offset:].
func addNormal(s isa) {
	TEXT("addNormal"+s.name, frameless(s), "func(dst, src []float32, scale float32, seed, offset uint64, table *[65536]float32)")
	Pragma("noescape")
	Doc("addNormal" + s.name + " sets dst[i] = src[i] + scale*eps[offset+i]; src is as long as dst.")
	g := &generator{isa: s, src: GP64(), scale: s.vec()}
	Load(Param("src").Base(), g.src)
	x := XMM()
	Load(Param("scale"), x)
	if old() {
		SHUFPS(Imm(0), x, x)
		MOVAPS(x, g.scale)
	} else {
		VBROADCASTSS(x, g.scale)
	}
	g.code()
}

// normal writes dst = eps(seed)[offset:].
func normal(s isa) {
	TEXT("normal"+s.name, frameless(s), "func(dst []float32, seed, offset uint64, table *[65536]float32)")
	Pragma("noescape")
	Doc("normal" + s.name + " sets dst[i] = eps[offset+i].")
	(&generator{isa: s}).code()
}

// frameless is NOSPLIT where no keys lie on the stack.
func frameless(s isa) attr.Attribute {
	if s.lanes == 16 {
		return NOSPLIT
	}
	return 0
}

// blocks is how many blocks of eight samples a vector makes.
func (g *generator) blocks() int { return g.lanes / 2 }

// samples is how many samples a round makes.
func (g *generator) samples() int { return 8 * g.blocks() * g.streams }

// lookups is how many vectors of samples a round makes.
func (g *generator) lookups() int { return g.samples() / g.lanes }

// code makes whole rounds one ahead: while one round is computed, the samples of the one before are looked up, so that
// neither waits for the other.
func (g *generator) code() {
	g.start()
	TESTQ(g.skip, g.skip)
	JNZ(LabelRef("part"))
	Label("next")
	CMPQ(g.n, I32(g.samples()))
	JL(LabelRef("rest"))
	g.round(nil)
	CMPQ(g.n, I32(2*g.samples()))
	JL(LabelRef("last"))
	Label("whole")
	g.round(g.sample)
	g.forward()
	CMPQ(g.n, I32(2*g.samples()))
	JGE(LabelRef("whole"))
	Label("last")
	for i := range g.lookups() {
		g.sample(i)
	}
	g.forward()
	Label("rest")
	CMPQ(g.n, I32(0))
	JLE(LabelRef("done"))
	Label("part")
	g.round(nil)
	for i := range g.lookups() {
		store(g.lanes, g.lookup(i), g.part.Offset(4*g.lanes*i))
	}
	g.single()
	g.forward()
	XORQ(g.skip, g.skip)
	JMP(LabelRef("next"))
	Label("done")
	finish()
}

// start loads the arguments, and begins at a block: at samples before dst, which are not stored.
func (g *generator) start() {
	g.dst, g.n, g.skip, g.table = GP64(), GP64(), GP64(), GP64()
	Load(Param("dst").Base(), g.dst)
	Load(Param("dst").Len(), g.n)
	Load(Param("table"), g.table)
	block, bytes := GP64(), GP64()
	Load(Param("offset"), block)
	MOVQ(block, g.skip)
	ANDQ(Imm(7), g.skip)
	SHRQ(Imm(3), block)
	MOVQ(g.skip, bytes)
	SHLQ(Imm(2), bytes)
	SUBQ(bytes, g.dst)
	if g.src != nil {
		SUBQ(bytes, g.src)
	}
	ADDQ(g.skip, g.n)

	order := quads("block_order", 8, func(i int) uint64 {
		i %= g.blocks()
		return uint64(i/2 + i%2*g.blocks()/2)
	}, g.name)
	g.block, g.mul0, g.mul1 = g.vec(), g.vec(), g.vec()
	broadcast64(block, g.block)
	add64(order, g.block)
	g.step = quads("block_step", 8, func(int) uint64 { return uint64(g.blocks()) }, g.name)
	for i, m := range []VecVirtual{g.mul0, g.mul1} {
		load(g.lanes, quads(fmt.Sprint("philox_mul", i), 8, func(int) uint64 { return []uint64{mul0, mul1}[i] }, ""), m)
	}
	g.schedule()
}

// schedule makes the keys of all rounds: in registers if there are enough, else on the stack.
func (g *generator) schedule() {
	g.part, g.indices = AllocLocal(4*g.samples()), AllocLocal(2*g.samples())
	k := [2]GPVirtual{GP32(), GP32()}
	seed := GP64()
	Load(Param("seed"), seed)
	MOVL(seed.As32(), k[0])
	SHRQ(Imm(32), seed)
	MOVL(seed.As32(), k[1])
	if g.lanes < 16 {
		g.frame = AllocLocal(2 * rounds * 4 * g.lanes)
	}
	for r := range rounds {
		for i, weyl := range []uint32{weyl0, weyl1} {
			if r > 0 {
				ADDL(U32(weyl), k[i])
			}
			if g.lanes == 16 {
				v := ZMM()
				VPBROADCASTD(k[i], v)
				g.keys[i][r] = v
				continue
			}
			v, m := g.vec(), g.frame.Offset(4*g.lanes*(2*r+i))
			if old() {
				MOVD(k[i], v)
				PSHUFD(Imm(0), v, v)
			} else {
				x := XMM()
				VMOVD(k[i], x)
				VPBROADCASTD(x, v)
			}
			store(g.lanes, v, m)
			g.keys[i][r] = m
		}
	}
}

// round makes the indices of a round. Meanwhile it calls during, if there is one, for every lookup of the round before.
func (g *generator) round(during func(i int)) {
	done := 0
	words := g.philox(func(r int) {
		for ; during != nil && done < g.lookups()*r/(rounds-1); done++ {
			during(done)
		}
	})
	for i, w := range words {
		w01, w23 := g.pair(w[0], w[1]), g.pair(w[2], w[3])
		first, second := g.vec(), g.vec()
		binary(PUNPCKLQDQ, VPUNPCKLQDQ, w23, w01, first)
		binary(PUNPCKHQDQ, VPUNPCKHQDQ, w23, w01, second)
		store(g.lanes, first, g.indices.Offset(8*g.lanes*i))
		store(g.lanes, second, g.indices.Offset(8*g.lanes*i+4*g.lanes))
	}
}

// sample stores a vector of samples.
func (g *generator) sample(i int) {
	eps := g.lookup(i)
	if g.src != nil {
		mul(g.scale, eps, eps)
		addMem(g.lanes, at(g.src, 4*g.lanes*i), eps)
	}
	store(g.lanes, eps, at(g.dst, 4*g.lanes*i))
}

// single stores the samples of g.part from skip to n, as far as it goes: some at once, then one by one.
func (g *generator) single() {
	several := min(8, g.lanes)
	i, end, p, left := GP64(), GP64(), GP64(), GP64()
	LEAQ(g.part, p)
	MOVQ(g.skip, i)
	MOVQ(I32(g.samples()), end)
	CMPQ(g.n, end)
	CMOVQLT(g.n, end)
	step := func(lanes int) {
		eps := vector(lanes)
		load(lanes, Mem{Base: p, Index: i, Scale: 4}, eps)
		if g.src != nil {
			scale := low(g.scale)
			if lanes == 8 {
				scale = g.scale.AsY().(VecVirtual)
			}
			mul(scale, eps, eps)
			addMem(lanes, Mem{Base: g.src, Index: i, Scale: 4}, eps)
		}
		store(lanes, eps, Mem{Base: g.dst, Index: i, Scale: 4})
		ADDQ(I32(lanes), i)
	}
	Label("several")
	MOVQ(end, left)
	SUBQ(i, left)
	CMPQ(left, I32(several))
	JL(LabelRef("few"))
	step(several)
	JMP(LabelRef("several"))
	Label("few")
	TESTQ(left, left)
	JLE(LabelRef("made"))
	Label("one")
	step(1)
	DECQ(left)
	JNZ(LabelRef("one"))
	Label("made")
}

func (g *generator) forward() {
	samples := g.samples()
	ADDQ(I32(4*samples), g.dst)
	if g.src != nil {
		ADDQ(I32(4*samples), g.src)
	}
	SUBQ(I32(samples), g.n)
}

// philox is noise.Philox of the blocks from g.block on, with the other counter words 0; the words of each stream. It
// calls between after each round of Philox but the first one, which has less to do, since words 2 and 3 are 0.
func (g *generator) philox(between func(r int)) [][4]VecVirtual {
	c := make([][4]VecVirtual, g.streams)
	for s := range c {
		c0, c2, c3 := g.vec(), g.vec(), g.vec()
		multiply(g.mul0, g.block, c3)
		highWord(g.block, c0)
		xor(g.keys[0][0], c0)
		highWord(c3, c2)
		xor(g.keys[1][0], c2)
		add64(g.step, g.block)
		c[s] = [4]VecVirtual{c0, nil, c2, c3}
	}
	for r := 1; r < rounds; r++ {
		for s, w := range c {
			p, q := g.vec(), g.vec()
			multiply(g.mul0, w[0], p)
			multiply(g.mul1, w[2], q)
			n0, n2 := g.vec(), g.vec()
			highWord(q, n0)
			if w[1] == nil { // 0
				xor(g.keys[0][r], n0)
			} else {
				xor3(w[1], g.keys[0][r], n0)
			}
			highWord(p, n2)
			xor3(w[3], g.keys[1][r], n2)
			c[s] = [4]VecVirtual{n0, q, n2, p}
		}
		between(r)
	}
	return c
}

// pair interleaves the low words of b with those of a: four 16-bit indices in each 64-bit lane. It may overwrite both.
func (g *generator) pair(a, b VecVirtual) VecVirtual {
	if g.lanes == 16 {
		VPSHUFD(Imm(0xa0), b, g.odd(), a)
		return a
	}
	if old() {
		PSHUFD(Imm(0x08), a, a)
		PSHUFD(Imm(0x08), b, b)
		PUNPCKLLQ(b, a)
		return a
	}
	VPSLLQ(Imm(32), b, b)
	VPBLENDD(Imm(0xaa), b, a, a)
	return a
}

// odd is a mask of the odd words.
func (g *generator) odd() Op {
	r, k := GP32(), K()
	MOVL(U32(0xaaaa), r)
	KMOVW(r, k)
	return k
}

// gather loads the entries of the table with the given indices.
func gather(table GPVirtual, index, dst VecVirtual) {
	entries := Mem{Base: table, Index: index, Scale: 4}
	if dst.Size() == 64 {
		all := K()
		fromItself(x86.KXNORW(all, all, all))
		zero(dst) // else the gather waits for what was there
		VGATHERDPS(entries, all, dst)
		return
	}
	all := YMM()
	fromItself(x86.VPCMPEQD(all, all, all))
	zero(dst)
	VGATHERDPS(all, entries, dst)
}

// lookup returns a vector of the samples whose indices are in memory.
func (g *generator) lookup(i int) VecVirtual {
	indices := g.indices.Offset(2 * g.lanes * i)
	eps := g.vec()
	if !old() {
		index := g.vec()
		VPMOVZXWD(indices, index)
		gather(g.table, index, eps)
		return eps
	}
	single := vectors(4, 4)
	for j, s := range single {
		index := GP64()
		MOVWQZX(indices.Offset(2*j), index)
		MOVSS(Mem{Base: g.table, Index: index, Scale: 4}, s)
	}
	UNPCKLPS(single[1], single[0])
	UNPCKLPS(single[3], single[2])
	MOVLHPS(single[2], single[0])
	MOVAPS(single[0], eps)
	return eps
}

func add64(b Op, v VecVirtual) { binary(PADDQ, VPADDQ, b, v, v) }

// broadcast64 puts a 64-bit number into every lane of 64 bits.
func broadcast64(r GPVirtual, v VecVirtual) {
	if old() {
		MOVQ(r, v)
		PUNPCKLQDQ(v, v)
		return
	}
	x := XMM()
	VMOVQ(r, x)
	VPBROADCASTQ(x, v)
}

// multiply sets dst to the products of the low words of a and b.
func multiply(b, a, dst VecVirtual) { commuting(PMULULQ, VPMULUDQ, b, a, dst) }

// highWord moves the high word of every 64-bit lane down.
func highWord(v, dst VecVirtual) {
	if old() {
		move(v, dst)
		PSRLQ(Imm(32), dst)
		return
	}
	VPSRLQ(Imm(32), v, dst)
}

func xor(key Op, v VecVirtual) {
	switch {
	case v.Size() == 64:
		VPXORD(key, v, v)
	case old():
		t := XMM()
		MOVUPS(key, t)
		PXOR(t, v)
	default:
		VPXOR(key, v, v)
	}
}

// xor3 sets v = v ^ a ^ key.
func xor3(a VecVirtual, key Op, v VecVirtual) {
	if v.Size() == 64 {
		VPTERNLOGD(Imm(xorOf3), key, a, v)
		return
	}
	t := like(v)
	if old() {
		MOVUPS(key, t)
		PXOR(a, t)
		PXOR(t, v)
		return
	}
	VPXOR(key, a, t) // early: v comes late
	VPXOR(t, v, v)
}

var tables = map[string]Mem{}

// quads is a constant of n quadwords.
func quads(name string, n int, f func(i int) uint64, suffix string) Mem {
	if suffix != "" {
		name += "_" + suffix
	}
	if m, ok := tables[name]; ok {
		return m
	}
	m := GLOBL(name, RODATA|NOPTR)
	for i := range n {
		DATA(8*i, U64(f(i)))
	}
	tables[name] = m
	return m
}
