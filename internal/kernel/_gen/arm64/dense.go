package main

// chains is kernel.Chains.
const chains = 4

// What a dense layer holds in general registers.
const (
	rY      reg = 0  // next panel of outputs, row 0
	rW      reg = 1  // its columns of weights
	rB      reg = 2  // its bias, or 0
	rX      reg = 3  // inputs, row 0
	rInputs reg = 4  // number of inputs
	rLeft   reg = 5  // outputs not yet done
	rStride reg = 6  // bytes of a row of outputs, which is also from an input's weights to the next one's
	rFinal  reg = 7  // bytes from the next output to a last vector that lies apart
	rWalk   reg = 8  // within a tile: the next input's weights
	rApart  reg = 9  // those of a last vector that lies apart
	rCount  reg = 10 // inputs left, less four
	rRow    reg = 11 // and the next three: inputs of the tile's rows
	rOut    reg = 15 // outputs of the tile's first row
	rTemp   reg = 16
	rRows   reg = 19 // of a batch: rows not yet done
	rWidth  reg = 20 // bytes of a row of inputs
)

// layer writes a dense layer. Lanes run across outputs, so that each lane does what the portable code does. A panel is
// some vectors of neighboring outputs; a tile is a panel's part in some rows, which are observations. A full tile has
// 16 sums, four chains for each of four vectors: enough to hide the latency of additions, and half of the registers.
type layer struct {
	*asm
	columns int                     // vectors of a panel
	rows    func(columns int) []int // of a tile with that many columns: most first, 1 last; nil for a single row
}

// dense has one row. Its panels are four vectors, a cache line of weights.
func dense(a *asm) {
	a.function("denseNEON", 0, "y []float32, w []float32, b []float32, x []float32", "works like densePortable, but checks no lengths.")
	a.load("x_len", rInputs)
	a.load("y_len", rLeft)
	layer{a, 4, nil}.code()
}

// denseBatch reads weights once for two rows, or four where a panel has one vector.
func denseBatch(a *asm) {
	a.function("denseBatchNEON", 0, "y []float32, w []float32, b []float32, x []float32, n int, in int, out int",
		"works like denseBatchPortable, but checks no lengths; in and out are those of one row.")
	a.load("in", rInputs)
	a.load("out", rLeft)
	a.op("LSL", 2, rInputs, rWidth)
	layer{a, 2, func(columns int) []int { return []int{4 / columns, 1} }}.code()
}

func (l layer) code() {
	l.load("y_base", rY)
	l.load("w_base", rW)
	l.load("x_base", rX)
	l.load("b_base", rB)
	l.load("b_len", rTemp)
	l.op("CBNZ", rTemp, "biased")
	l.op("MOVD", "ZR", rB)
	l.here("biased")
	l.op("LSL", 2, rLeft, rStride)

	l.here("wide")
	l.op("CMP", lanes*l.columns, rLeft)
	l.op("BLT", "narrow")
	l.panel(l.columns, lanes, false)
	l.forward(l.columns)
	l.op("B", "wide")

	l.here("narrow")
	l.op("CBZ", rLeft, "done")
	l.op("CMP", 4*lanes, rStride)
	l.op("BLT", "small")
	for c := 1; c < l.columns; c++ {
		more := l.label("more")
		l.op("CMP", lanes*c, rLeft)
		l.op("BGT", more)
		l.last(c, lanes)
		l.here(more)
	}
	l.last(l.columns, lanes)

	l.here("small")
	l.op("CMP", 2, rLeft)
	l.op("BLT", "one")
	l.op("BGT", "three")
	l.panel(1, 2, false)
	l.op("B", "done")
	l.here("three")
	l.last(2, 2)
	l.here("one")
	l.panel(1, 1, false)
	l.here("done")
	l.op("RET")
}

// last does the outputs that are left in c vectors. The last vector ends with the last output: some outputs may be
// computed twice, with the same result.
func (l layer) last(c, w int) {
	l.op("SUB", w, rLeft, rFinal)
	l.op("LSL", 2, rFinal, rFinal)
	l.panel(c, w, true)
	l.op("B", "done")
}

// forward moves to the outputs behind c whole vectors.
func (l layer) forward(c int) {
	unbiased := l.label("unbiased")
	l.op("SUB", lanes*c, rLeft, rLeft)
	l.op("ADD", 4*lanes*c, rY, rY)
	l.op("ADD", 4*lanes*c, rW, rW)
	l.op("CBZ", rB, unbiased)
	l.op("ADD", 4*lanes*c, rB, rB)
	l.here(unbiased)
}

// panel does c vectors of w lanes in all rows; the last vector lies apart, at rFinal, if set.
func (l layer) panel(c, w int, apart bool) {
	l.op("MOVD", rX, rRow)
	l.op("MOVD", rY, rOut)
	if l.rows == nil {
		tile{l.asm, 1, c, w, apart}.code()
		return
	}
	l.load("n", rRows)
	for _, r := range l.rows(c) {
		again, fewer := l.label("rows"), l.label("fewer")
		l.here(again)
		l.op("CMP", r, rRows)
		l.op("BLT", fewer)
		for i := reg(1); i < reg(r); i++ {
			l.op("ADD", rWidth, rRow+i-1, rRow+i)
		}
		tile{l.asm, r, c, w, apart}.code()
		if r > 1 {
			l.op("MOVD", rRow+reg(r)-1, rRow) // which has come to the end of its row
		}
		l.op("SUB", r, rRows, rRows)
		l.op("B", again)
		l.here(fewer)
	}
}

// tile is r rows of c vectors of w lanes; the last vector lies apart, at rFinal, if set.
type tile struct {
	*asm
	r, c, w int
	apart   bool
}

// sum is the first of a chain's sums in a row, one for each vector.
func (t tile) sum(row, chain int) vec { return vec((row*chains + chain) * t.c) }

// x is a row's inputs, four at a time.
func (t tile) x(row int) vec { return vec(t.r*t.c*chains + row) }

// weights is the first of an input's weights, behind x of the last row; every other input's lie in the same place.
func (t tile) weights(input int) vec { return t.x(t.r) + vec(input%2*t.c) }

// product is the first of a row's products with those weights. A single row overwrites them.
func (t tile) product(row, input int) vec {
	if t.r == 1 {
		return t.weights(input)
	}
	return t.x(t.r) + vec((2+row)*t.c)
}

// code moves rRow and those behind it to the end of their rows, and rOut to the row after the last.
func (t tile) code() {
	inputs, rest, sum := t.label("inputs"), t.label("rest"), t.label("sum")
	for v := range vec(t.r * t.c * chains) {
		t.zero(v)
	}
	t.op("MOVD", rW, rWalk)
	if t.apart {
		t.op("ADD", rFinal, rW, rApart)
	}
	t.op("SUBS", chains, rInputs, rCount)
	t.op("BLT", rest)
	t.here(inputs)
	t.loadInputs(lanes)
	t.loadWeights(0)
	for k := range chains {
		if k+1 < chains {
			t.loadWeights(k + 1) // early, for processors that keep the order
		}
		t.add(k, k)
	}
	t.op("SUBS", chains, rCount, rCount)
	t.op("BGE", inputs)

	t.here(rest)
	for k := range chains - 1 {
		t.op("CMP", k-chains, rCount)
		t.op("BEQ", sum)
		t.loadInputs(1)
		t.loadWeights(k)
		t.add(k, 0)
	}
	t.here(sum)
	t.finish()
}

// parts calls do for the vectors that lie together, and for the one that lies apart.
func (t tile) parts(d vec, do func(m move), p, last reg) {
	together := t.c
	if t.apart {
		together--
	}
	if together > 0 {
		do(move{d, together, t.w, p})
	}
	if t.apart {
		do(move{d + vec(together), 1, t.w, last})
	}
}

func (t tile) loadInputs(n int) {
	for row := range t.r {
		p := rRow + reg(row)
		t.loadMany(move{t.x(row), 1, n, p})
		t.op("ADD", 4*n, p, p)
	}
}

func (t tile) loadWeights(input int) {
	t.parts(t.weights(input), t.loadMany, rWalk, rApart)
	if !t.apart || t.c > 1 {
		t.op("ADD", rStride, rWalk, rWalk)
	}
	if t.apart {
		t.op("ADD", rStride, rApart, rApart)
	}
}

// add adds the products of an input, which is a lane of x, to its chain.
func (t tile) add(k, lane int) {
	for row := range t.r {
		for j := range vec(t.c) {
			t.fmulLane(t.product(row, k)+j, t.weights(k)+j, t.x(row), lane)
		}
	}
	for row := range t.r {
		t.addMany(t.sum(row, k), t.product(row, k))
	}
}

// addMany adds as many vectors as a row has.
func (t tile) addMany(to, from vec) {
	for j := range vec(t.c) {
		t.do("fadd.4s", to+j, to+j, from+j)
	}
}

// finish adds up the chains, adds the bias and stores.
func (t tile) finish() {
	store := t.label("store")
	for row := range t.r {
		t.addMany(t.sum(row, 0), t.sum(row, 1))
		t.addMany(t.sum(row, 2), t.sum(row, 3))
		t.addMany(t.sum(row, 0), t.sum(row, 2))
	}
	t.op("CBZ", rB, store)
	if t.apart {
		t.op("ADD", rFinal, rB, rTemp)
	}
	bias := t.weights(0)
	t.parts(bias, t.loadMany, rB, rTemp)
	for row := range t.r {
		t.addMany(t.sum(row, 0), bias)
	}
	t.here(store)
	for row := range t.r {
		if t.apart {
			t.op("ADD", rFinal, rOut, rTemp)
		}
		t.parts(t.sum(row, 0), t.storeMany, rOut, rTemp)
		t.op("ADD", rStride, rOut, rOut)
	}
}
