package noise

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// Known answers of Random123 (kat_vectors, philox4x32 10).
func TestPhiloxKnownAnswers(t *testing.T) {
	const ones = 0xffffffff
	for _, c := range []struct {
		name string
		key  [2]uint32
		ctr  [4]uint32
		want [4]uint32
	}{
		{"zeros", [2]uint32{}, [4]uint32{}, [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{"ones", [2]uint32{ones, ones}, [4]uint32{ones, ones, ones, ones}, [4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{"pi", [2]uint32{0xa4093822, 0x299f31d0}, [4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, [4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	} {
		if got := Philox(c.key, c.ctr); got != c.want {
			t.Errorf("%s: got %08x, want %08x", c.name, got, c.want)
		}
	}
}

// philoxTwin is the paper's text, one round after another on arrays.
func philoxTwin(key [2]uint32, ctr [4]uint32) [4]uint32 {
	for r := 0; r < 10; r++ {
		p, q := uint64(ctr[0])*mul0, uint64(ctr[2])*mul1
		ctr = [4]uint32{uint32(q>>32) ^ ctr[1] ^ key[0], uint32(q), uint32(p>>32) ^ ctr[3] ^ key[1], uint32(p)}
		key[0] += weyl0
		key[1] += weyl1
	}
	return ctr
}

func TestPhiloxTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := [2]uint32{rapid.Uint32().Draw(t, "k0"), rapid.Uint32().Draw(t, "k1")}
		ctr := [4]uint32{rapid.Uint32().Draw(t, "c0"), rapid.Uint32().Draw(t, "c1"), rapid.Uint32().Draw(t, "c2"), rapid.Uint32().Draw(t, "c3")}
		if got, want := Philox(key, ctr), philoxTwin(key, ctr); got != want {
			t.Fatalf("got %08x, want %08x", got, want)
		}
	})
}

func TestTableSHA256(t *testing.T) {
	sum := sha256.Sum256([]byte(normalHalf))
	if got := hex.EncodeToString(sum[:]); got != TableSHA256 {
		t.Errorf("got %s, want %s", got, TableSHA256)
	}
}

// The table against the standard library's erfc, which has no part in making it.
func TestTableValues(t *testing.T) {
	worst := 0.0
	for i := 0; i < TableSize; i++ {
		x := Quantile(uint16(i))
		if mirror := Quantile(uint16(TableSize - 1 - i)); x != -mirror {
			t.Fatalf("entry %d: got %v, mirror %v", i, x, mirror)
		}
		if i > 0 && x <= Quantile(uint16(i-1)) {
			t.Fatalf("entry %d: got %v, not above the one before", i, x)
		}
		// Half an ulp of the entry is the only error that may show: |dp| <= phi(x) * ulp/2.
		p := 0.5 * math.Erfc(-float64(x)/math.Sqrt2)
		want := (float64(i) + 0.5) / TableSize
		ulp := float64(math.Nextafter32(float32(math.Abs(float64(x))), 9)) - math.Abs(float64(x))
		limit := math.Exp(-float64(x)*float64(x)/2)/math.Sqrt(2*math.Pi)*ulp/2*(1+1e-6) + 4e-16
		if d := math.Abs(p - want); d > limit {
			t.Errorf("entry %d = %v: got probability %v, want %v (off %g, limit %g)", i, x, p, want, d, limit)
		} else {
			worst = max(worst, d/limit)
		}
	}
	t.Logf("largest |dp| is %.4f of what half an ulp allows", worst)
}

func TestStreamLayout(t *testing.T) {
	const seed, domain = 0x0123456789abcdef, DomainEpisode
	block := func(n uint32) [4]uint32 {
		return philoxTwin([2]uint32{0x89abcdef, 0x01234567}, [4]uint32{n, 0, domain, 0})
	}
	var words []uint32
	for n := range uint32(9) {
		b := block(n)
		words = append(words, b[:]...)
	}

	s := NewStream(seed, domain)
	for i, want := range words {
		if got := s.Uint32(); got != want {
			t.Errorf("word %d: got %08x, want %08x", i, got, want)
		}
	}
	s = NewStream(seed, domain)
	if got, want := s.Uint64(), uint64(words[1])<<32|uint64(words[0]); got != want {
		t.Errorf("Uint64: got %x, want %x", got, want)
	}
	want := (float64(words[2]>>5)*(1<<26) + float64(words[3]>>6)) / (1 << 53)
	if got := s.Uniform(); got != want {
		t.Errorf("Uniform: got %v, want %v", got, want)
	}
	if got, want := s.Normal(), Quantile(uint16(words[4])); got != want {
		t.Errorf("Normal: got %v, want %v", got, want)
	}
	if s.Exhausted() {
		t.Error("a stream of a seed says it is exhausted")
	}
}

func TestStreamCopies(t *testing.T) {
	a := NewStream(7, DomainEpisode)
	a.Uint32()
	b := a
	if x, y := a.Uniform(), b.Uniform(); x != y {
		t.Errorf("copy: got %v, want %v", y, x)
	}
}

func TestStreamRanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := NewStream(rapid.Uint64().Draw(t, "seed"), rapid.Uint32().Draw(t, "domain"))
		low := rapid.Int64Range(-1<<40, 1<<40).Draw(t, "low")
		n := rapid.Int64Range(1, 1<<53).Draw(t, "n")
		if got := s.IntN(low, low+n); got < low || got >= low+n {
			t.Fatalf("IntN(%d, %d): got %d", low, low+n, got)
		}
		if got := s.UniformIn(-0.05, 0.05); got < -0.05 || got > 0.05 {
			t.Fatalf("UniformIn: got %v", got)
		}
		if got := s.Uniform(); got < 0 || got >= 1 {
			t.Fatalf("Uniform: got %v", got)
		}
		u := NewStream(1, 0)
		top := Scripted([]float64{1 - 1.0/(1<<53)})
		if got, want := top.IntN(low, low+n), low+n-1; n < 1<<52 && got != want {
			t.Fatalf("largest u: got %d, want %d", got, want)
		}
		u.Uint64()
	})
}

func TestIntNPanics(t *testing.T) {
	for _, c := range [][2]int64{{0, 0}, {1, 0}, {0, 1<<53 + 1}, {math.MinInt64, math.MaxInt64}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("IntN(%d, %d): no panic", c[0], c[1])
				}
			}()
			s := NewStream(1, 1)
			s.IntN(c[0], c[1])
		}()
	}
}

func TestScripted(t *testing.T) {
	s := Scripted([]float64{0.25, 0.5, 0.5, 0.75, 0.5, 0.5, 2, math.NaN(), -1})
	if got := s.Uniform(); got != 0.25 {
		t.Errorf("Uniform: got %v, want 0.25", got)
	}
	if got := s.UniformIn(-0.05, 0.05); got != 0 {
		t.Errorf("UniformIn: got %v, want 0", got)
	}
	if got := s.Uint32(); got != 1<<31 {
		t.Errorf("Uint32: got %x, want 80000000", got)
	}
	if got := s.IntN(0, 4); got != 3 {
		t.Errorf("IntN: got %d, want 3", got)
	}
	if got := s.Uint64(); got != 1<<63 {
		t.Errorf("Uint64: got %x, want 8000000000000000", got)
	}
	if got, want := s.Normal(), Quantile(1<<15); got != want {
		t.Errorf("Normal: got %v, want %v", got, want)
	}
	if got := s.Uint32(); got != math.MaxUint32 {
		t.Errorf("u = 2: got %x, want ffffffff", got)
	}
	for range 2 {
		if got := s.Uniform(); got != 0 || s.Exhausted() {
			t.Errorf("NaN, -1: got %v, exhausted %v", got, s.Exhausted())
		}
	}
	if got := s.Uniform(); got != 0 || !s.Exhausted() {
		t.Errorf("after the end: got %v, exhausted %v; want 0, true", got, s.Exhausted())
	}
}

// Scripts are kept outside of their streams: each stream has its own, and a copy continues from the same position.
func TestScriptedCopy(t *testing.T) {
	a, b := Scripted([]float64{0.5, 0.25}), Scripted([]float64{0.125})
	if got := a.Uniform(); got != 0.5 {
		t.Errorf("first script: got %v, want 0.5", got)
	}
	c := a
	if x, y, z := a.Uniform(), b.Uniform(), c.Uniform(); x != 0.25 || y != 0.125 || z != 0.25 {
		t.Errorf("got %v, %v and %v of a copy; want 0.25, 0.125, 0.25", x, y, z)
	}
	b.Uniform()
	if a.Exhausted() || !b.Exhausted() || c.Exhausted() {
		t.Errorf("exhausted: got %v, %v, %v; want false, true, false", a.Exhausted(), b.Exhausted(), c.Exhausted())
	}
	if s := NewStream(0, DomainEpisode); s.Exhausted() {
		t.Error("the stream of a seed is exhausted")
	}
}

// The layout is part of the World ABI (docs/spec/worlds.md): worlds in other languages draw from it.
func TestStreamMemory(t *testing.T) {
	stream := reflect.TypeFor[Stream]()
	if got := stream.Size(); got != 64 {
		t.Errorf("got %d bytes, want 64", got)
	}
	for _, want := range []struct {
		name   string
		offset uintptr
		kind   reflect.Type
	}{
		{"seed", 0, reflect.TypeFor[uint64]()}, {"block", 8, reflect.TypeFor[uint64]()}, {"words", 16, reflect.TypeFor[[8]uint32]()},
		{"domain", 48, reflect.TypeFor[uint32]()}, {"left", 52, reflect.TypeFor[uint32]()}, {"script", 56, reflect.TypeFor[uint32]()},
	} {
		if got, ok := stream.FieldByName(want.name); !ok || got.Offset != want.offset || got.Type != want.kind {
			t.Errorf("%s: got %v at %d (%v), want %v at %d", want.name, got.Type, got.Offset, ok, want.kind, want.offset)
		}
	}
	s := NewStream(7, DomainEpisode)
	first := s.Uint32()
	if got := Philox(keyOf(7), [4]uint32{0, 0, DomainEpisode, 0}); s.block != 2 || s.left != 7 || s.words[7] != first || got[0] != first || s.words[6] != got[1] {
		t.Errorf("after one draw of %x: %+v, want blocks 0 and 1 in reverse, %x first", first, s, got)
	}
}

func TestFillNormalTwin(t *testing.T) {
	const guard = 12345
	seeds := []uint64{0, 1, 0x0123456789abcdef, math.MaxUint64}
	offsets := []int{0, 1, 5, 7, 8, 9, 15, 1 << 20}
	if math.MaxInt > math.MaxInt32 {
		offsets = append(offsets, int(int64(8)<<32-5)) // the block number crosses 2^32
	}
	buf := make([]float32, 68)
	for _, seed := range seeds {
		for _, offset := range offsets {
			for n := 0; n <= 65; n++ {
				for i := range buf {
					buf[i] = guard
				}
				FillNormal(buf[1:1+n], seed, offset)
				if buf[0] != guard || buf[1+n] != guard {
					t.Fatalf("seed %x offset %d n %d: wrote outside", seed, offset, n)
				}
				for i, got := range buf[1 : 1+n] {
					if want := normalTwin(seed, uint64(offset+i)); got != want {
						t.Fatalf("seed %x: eps[%d] got %v, want %v", seed, offset+i, got, want)
					}
				}
				if n > 0 {
					if got, want := NormalAt(seed, offset), buf[1]; got != want {
						t.Fatalf("NormalAt(%x, %d): got %v, want %v", seed, offset, got, want)
					}
				}
			}
		}
	}
}

// normalTwin spells the samples of a block out as bytes.
func normalTwin(seed, i uint64) float32 {
	w := philoxTwin([2]uint32{uint32(seed), uint32(seed >> 32)}, [4]uint32{uint32(i / 8), uint32(i / 8 >> 32), 0, 0})
	var bytes []byte
	for _, x := range w {
		bytes = binary.LittleEndian.AppendUint32(bytes, x)
	}
	return Quantile(binary.LittleEndian.Uint16(bytes[i%8*2:]))
}

func TestFillNormalDoesNotAllocate(t *testing.T) {
	dst := make([]float32, 100)
	if got := testing.AllocsPerRun(10, func() { FillNormal(dst, 1, 3) }); got != 0 {
		t.Errorf("got %v allocations, want 0", got)
	}
}

// Limits are five standard errors of 2^22 independent samples; seeds in sequence, as a run has them hashed or not.
func TestNormalMoments(t *testing.T) {
	const vectors, length = 1 << 10, 1 << 12
	const n = vectors * length
	eps, last := make([]float32, length), make([]float32, length)
	var m1, m2, m3, m4, lag, cross float64
	for seed := uint64(0); seed < vectors; seed++ {
		FillNormal(eps, seed, 0)
		for i, e := range eps {
			x := float64(e)
			m1, m2, m3, m4 = m1+x, m2+x*x, m3+x*x*x, m4+x*x*x*x
			lag += x * float64(eps[(i+1)%length])
			cross += x * float64(last[i])
		}
		eps, last = last, eps
	}
	for _, c := range []struct {
		name             string
		got, want, sigma float64
	}{
		{"mean", m1 / n, 0, 1},
		{"variance", m2 / n, 0.99998, math.Sqrt(2)},
		{"third moment", m3 / n, 0, math.Sqrt(15)},
		{"kurtosis", m4 / n, 2.9992, math.Sqrt(96)},
		{"neighbors", lag / n, 0, 1},
		{"neighboring seeds", cross / n, 0, 1},
	} {
		if limit := 5 * c.sigma / math.Sqrt(n); math.Abs(c.got-c.want) > limit {
			t.Errorf("%s: got %v, want %v within %v", c.name, c.got, c.want, limit)
		}
	}
}

func TestUniformMoments(t *testing.T) {
	const n = 1 << 20
	s := NewStream(3, DomainEpisode)
	var bins [64]int
	var sum float64
	for range n {
		u := s.Uniform()
		sum += u
		bins[int(u*64)]++
	}
	if got, limit := sum/n-0.5, 5*math.Sqrt(1.0/12/n); math.Abs(got) > limit {
		t.Errorf("mean: off %v, limit %v", got, limit)
	}
	chi := 0.0
	for _, b := range bins {
		d := float64(b) - n/64
		chi += d * d / (n / 64)
	}
	if limit := 63 + 5*math.Sqrt(126); chi > limit {
		t.Errorf("chi square of 64 bins: got %v, want below %v", chi, limit)
	}
}
