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
// some vectors of neighbouring outputs; a tile is a panel's part in some rows, which are observations. A full tile has
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
		l.tile(1, c, w, apart)
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
		l.tile(r, c, w, apart)
		if r > 1 {
			l.op("MOVD", rRow+reg(r)-1, rRow) // which has come to the end of its row
		}
		l.op("SUB", r, rRows, rRows)
		l.op("B", again)
		l.here(fewer)
	}
}

// tile computes r rows of c vectors. It moves rRow and those behind it to the end of their rows, and rOut to the row
// after the last.
func (l layer) tile(r, c, w int, apart bool) {
	sums := func(row, chain, j int) vec { return vec((row*chains+chain)*c + j) }
	xs := vec(r * c * chains)                                         // of each row: four inputs
	ws := [2]vec{xs + vec(r), xs + vec(r) + vec(c)}                   // weights of this input and the next one
	product := func(row, j int) vec { return ws[1] + vec(c+row*c+j) } // if there are several rows
	together := c
	if apart {
		together--
	}
	// parts calls f for the vectors that lie together, and for the one that lies apart.
	parts := func(d vec, f func(m move), p, last reg) {
		if together > 0 {
			f(move{d, together, w, p})
		}
		if apart {
			f(move{d + vec(together), 1, w, last})
		}
	}
	weights := func(d vec) {
		parts(d, l.loadMany, rWalk, rApart)
		if together > 0 {
			l.op("ADD", rStride, rWalk, rWalk)
		}
		if apart {
			l.op("ADD", rStride, rApart, rApart)
		}
	}
	values := func(n int) {
		for row := range r {
			l.loadMany(move{xs + vec(row), 1, n, rRow + reg(row)})
			l.op("ADD", 4*n, rRow+reg(row), rRow+reg(row))
		}
	}
	add := func(k, lane int, d vec) {
		to := product
		if r == 1 {
			to = func(_, j int) vec { return d + vec(j) }
		}
		for row := range r {
			for j := range c {
				l.fmulLane(to(row, j), d+vec(j), xs+vec(row), lane)
			}
		}
		for row := range r {
			for j := range c {
				l.do("fadd.4s", sums(row, k, j), sums(row, k, j), to(row, j))
			}
		}
	}

	for v := range r * c * chains {
		l.zero(vec(v))
	}
	l.op("MOVD", rW, rWalk)
	if apart {
		l.op("ADD", rFinal, rW, rApart)
	}
	inputs, rest, sum, store := l.label("inputs"), l.label("rest"), l.label("sum"), l.label("store")
	l.op("SUBS", chains, rInputs, rCount)
	l.op("BLT", rest)
	l.here(inputs)
	values(lanes)
	weights(ws[0])
	for k := range chains {
		if k+1 < chains {
			weights(ws[(k+1)%2]) // early, for processors that keep the order
		}
		add(k, k, ws[k%2])
	}
	l.op("SUBS", chains, rCount, rCount)
	l.op("BGE", inputs)

	l.here(rest)
	for k := range chains - 1 {
		l.op("CMP", k-chains, rCount)
		l.op("BEQ", sum)
		values(1)
		weights(ws[0])
		add(k, 0, ws[0])
	}
	l.here(sum)
	for row := range r {
		for _, pair := range [][2]int{{0, 1}, {2, 3}, {0, 2}} {
			for j := range c {
				l.do("fadd.4s", sums(row, pair[0], j), sums(row, pair[0], j), sums(row, pair[1], j))
			}
		}
	}
	l.op("CBZ", rB, store)
	if apart {
		l.op("ADD", rFinal, rB, rTemp)
	}
	parts(ws[0], l.loadMany, rB, rTemp)
	for row := range r {
		for j := range c {
			l.do("fadd.4s", sums(row, 0, j), sums(row, 0, j), ws[0]+vec(j))
		}
	}
	l.here(store)
	for row := range r {
		if apart {
			l.op("ADD", rFinal, rOut, rTemp)
		}
		parts(sums(row, 0, 0), l.storeMany, rOut, rTemp)
		l.op("ADD", rStride, rOut, rOut)
	}
}
