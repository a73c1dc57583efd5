package main

// Constants of Philox4x32-10.
const (
	philoxRounds = 10
	mul0         = 0xD2511F53
	mul1         = 0xCD9E8D57
	weyl0        = 0x9E3779B9
	weyl1        = 0xBB67AE85

	blockSamples = 8 // of a block of Philox
	blocks       = 4 // that are made side by side
	batch        = blocks * blockSamples
)

// source is what makes samples.
type source struct {
	*function
	table, scratch local // the Gaussian table; 2*batch bytes for indices into it
	seed, offset   local // i64
	keys           [philoxRounds][2]local
	muls           [2]local
}

// newSource computes the keys of all rounds.
func newSource(f *function, table, scratch, seed, offset local) *source {
	s := &source{function: f, table: table, scratch: scratch, seed: seed, offset: offset}
	s.muls[0], s.muls[1] = f.let(v128, splatI32(word(mul0))), f.let(v128, splatI32(word(mul1)))
	for i, half := range []expr{i32FromI64(seed.value()), i32FromI64(i64ShrU(seed.value(), long(32)))} {
		s.keys[0][i] = f.let(v128, splatI32(half))
		step := word([]uint32{weyl0, weyl1}[i])
		for r := 1; r < philoxRounds; r++ {
			s.keys[r][i] = f.let(v128, addI32x4(s.keys[r-1][i].value(), splatI32(step)))
		}
	}
	return s
}

func word(w uint32) expr { return number(int32(w)) }

// words makes the indices of a batch of samples, from the block on that offset is in, and writes them to the scratch.
func (s *source) words() {
	block := s.let(i64, i64ShrU(s.offset.value(), long(3)))
	// Four numbers of blocks one after the other may pass a multiple of 2^32, so each is split by itself.
	numbers := func(shift int64) local {
		v := s.let(v128, constant(0))
		for i := range blocks {
			n := i64ShrU(i64Add(block.value(), long(int64(i))), long(shift))
			s.set(v, append(concat(v.value(), i32FromI64(n), vector(28)), byte(i)))
		}
		return v
	}
	c := [4]local{numbers(0), numbers(32), s.let(v128, constant(0)), s.let(v128, constant(0))}
	for r := range philoxRounds {
		c = s.round(r, c)
	}
	// From words of four blocks to blocks of four words.
	low01 := s.let(v128, shuffle(c[0].value(), c[1].value(), 0, 4, 1, 5))
	low23 := s.let(v128, shuffle(c[2].value(), c[3].value(), 0, 4, 1, 5))
	high01 := s.let(v128, shuffle(c[0].value(), c[1].value(), 2, 6, 3, 7))
	high23 := s.let(v128, shuffle(c[2].value(), c[3].value(), 2, 6, 3, 7))
	for i, v := range []expr{
		shuffle(low01.value(), low23.value(), 0, 1, 4, 5),
		shuffle(low01.value(), low23.value(), 2, 3, 6, 7),
		shuffle(high01.value(), high23.value(), 0, 1, 4, 5),
		shuffle(high01.value(), high23.value(), 2, 3, 6, 7),
	} {
		s.store128(s.scratch.value(), 16*i, v)
	}
}

// entry is the address of the sample whose index lies at a place.
func (s *source) entry(at expr, offset int) expr {
	return i32Add(s.table.value(), i32Shl(loadU16(at, offset), number(2)))
}

// vector is samples 4i to 4i+3 of the batch. Written one by one and read back as a vector, each would have to reach the
// cache first.
func (s *source) vector(i int) expr {
	v := load(vector(loadZero32), s.entry(s.scratch.value(), 8*i), 0)
	for lane := 1; lane < 4; lane++ {
		v = append(load(vector(loadLane32), concat(s.entry(s.scratch.value(), 8*i+2*lane), v), 0), byte(lane))
	}
	return v
}

// round is one of Philox in four blocks.
func (s *source) round(r int, c [4]local) [4]local {
	product := func(v, by local) (low, high expr) {
		even, odd := s.let(v128, productLow(v.value(), by.value())), s.let(v128, productHigh(v.value(), by.value()))
		return shuffle(even.value(), odd.value(), 0, 2, 4, 6), shuffle(even.value(), odd.value(), 1, 3, 5, 7)
	}
	low0, high0 := product(c[0], s.muls[0])
	low1, high1 := product(c[2], s.muls[1])
	return [4]local{
		s.let(v128, xor(xor(high1, c[1].value()), s.keys[r][0].value())), s.let(v128, low1),
		s.let(v128, xor(xor(high0, c[3].value()), s.keys[r][1].value())), s.let(v128, low0),
	}
}

// each makes n samples, batch after batch, and has each used: four of a whole batch at once, with the number
// of the four, and what lies at the ends one by one.
func (s *source) each(n local, four func(i int, samples expr), one func(sample expr), forward func(samples expr)) {
	s.block(func(end label) {
		s.loop(func(again label) {
			s.branchIf(end, i32Zero(n.value()))
			s.words()
			from := s.let(i32, i32And(i32FromI64(s.offset.value()), number(blockSamples-1)))
			count := s.let(i32, i32Sub(number(batch), from.value()))
			s.block(func(used label) {
				s.block(func(part label) {
					s.branchIf(part, from.value())
					s.branchIf(part, i32LessS(n.value(), number(batch)))
					for i := range batch / 4 {
						four(i, s.vector(i))
					}
					forward(number(batch))
					s.branch(used)
				})
				s.when(i32LessS(n.value(), count.value()), func() { s.set(count, n.value()) })
				at := s.let(i32, i32Add(s.scratch.value(), i32Shl(from.value(), number(1))))
				left := s.let(i32, count.value())
				s.times(left, func() {
					one(loadF32(s.entry(at.value(), 0), 0))
					forward(number(1))
					s.add(at, number(2))
				})
			})
			s.set(s.offset, i64Add(s.offset.value(), operation(expr{0xad}, count.value())))
			s.set(n, i32Sub(n.value(), count.value()))
			s.branch(again)
		})
	})
}

// normal (dst, table, scratch, n, seed, offset).
func normal(f *function, p []local) {
	dst, scratch, n := p[0], p[2], p[3]
	s := newSource(f, p[1], scratch, p[4], p[5])
	s.each(n,
		func(i int, samples expr) { f.store128(dst.value(), 16*i, samples) },
		func(sample expr) { f.storeF32(dst.value(), 0, sample) },
		func(samples expr) { f.add(dst, i32Shl(samples, number(2))) })
}

// addNormal (dst, src, table, scratch, n, scale, seed, offset): dst = src + scale * samples; dst may be src.
func addNormal(f *function, p []local) {
	dst, src, scratch, n, scale := p[0], p[1], p[3], p[4], p[5]
	scales := f.let(v128, splat(scale.value()))
	s := newSource(f, p[2], scratch, p[6], p[7])
	s.each(n,
		func(i int, samples expr) {
			f.store128(dst.value(), 16*i, plus(load128(src.value(), 16*i), times(scales.value(), samples)))
		},
		func(sample expr) {
			f.storeF32(dst.value(), 0, f32Add(loadF32(src.value(), 0), f32Mul(scale.value(), sample)))
		},
		func(samples expr) {
			bytes := f.let(i32, i32Shl(samples, number(2)))
			f.add(dst, bytes.value())
			f.add(src, bytes.value())
		})
}
