package kernel

import (
	"math"
	"testing"

	"github.com/evoswarm/evoswarm/internal/noise"
	"pgregory.net/rapid"
)

// shifted returns a copy of v that begins off values behind an allocation's start.
func shifted(v []float32, off int) []float32 {
	buf := make([]float32, off+len(v))
	copy(buf[off:], v)
	return buf[off:]
}

// difference returns the first index where a and b differ, or -1.
func difference(got, want []float32) int {
	for i := range want {
		if !same(got[i], want[i]) {
			return i
		}
	}
	return -1
}

// equalDense compares a layer with the portable one, its slices at odd places.
func equalDense(t rapid.TB, k Kernel, w, b, x []float32, out int) {
	t.Helper()
	want := make([]float32, out)
	densePortable(want, w, b, x)
	y, intact := guarded(make([]float32, out))
	k.Dense(y, shifted(w, len(x)%5), shifted(b, out%7), shifted(x, out%3))
	if !intact() {
		t.Fatalf("%s %d-%d: wrote outside y", k.Name, len(x), out)
	}
	if i := difference(y, want); i >= 0 {
		t.Fatalf("%s %d-%d: y[%d] got %v, want %v", k.Name, len(x), out, i, y[i], want[i])
	}
}

// equalBatch compares a batch with the portable layer of each of its rows, its slices at odd places.
func equalBatch(t rapid.TB, k Kernel, w, b, x []float32, out, n int) {
	t.Helper()
	want, in := make([]float32, n*out), 0
	if n > 0 {
		in = len(x) / n
	}
	for r := range n {
		densePortable(want[r*out:(r+1)*out], w, b, x[r*in:(r+1)*in])
	}
	y, intact := guarded(make([]float32, n*out))
	k.DenseBatch(y, shifted(w, n%5), shifted(b, out%7), shifted(x, in%3), n)
	if !intact() {
		t.Fatalf("%s %d of %d-%d: wrote outside y", k.Name, n, in, out)
	}
	if i := difference(y, want); i >= 0 {
		t.Fatalf("%s %d of %d-%d: y[%d] got %v, want %v", k.Name, n, in, out, i, y[i], want[i])
	}
}

// equalVectors compares everything that works on one vector with the portable kernel; v is kept.
func equalVectors(t rapid.TB, k Kernel, v []float32, scale float32, seed uint64, offset, shift int) {
	t.Helper()
	for name, run := range map[string]func(k Kernel, y []float32){
		"Tanh":       func(k Kernel, y []float32) { k.Tanh(y) },
		"Relu":       func(k Kernel, y []float32) { k.Relu(y) },
		"Perturb":    func(k Kernel, y []float32) { k.Perturb(y, shifted(v, shift), scale, -1, seed) },
		"Perturb =":  func(k Kernel, y []float32) { k.Perturb(y, y, scale, 1, seed) },
		"Accumulate": func(k Kernel, y []float32) { k.Accumulate(y, scale, seed, offset) },
		"Normal":     func(k Kernel, y []float32) { k.Normal(y, seed, offset) },
	} {
		want := append([]float32(nil), v...)
		run(Portable, want)
		y, intact := guarded(append(make([]float32, shift), v...))
		run(k, y[shift:])
		if !intact() || difference(y[:shift], make([]float32, shift)) >= 0 {
			t.Fatalf("%s %s of %d: wrote outside", k.Name, name, len(v))
		}
		if i := difference(y[shift:], want); i >= 0 {
			t.Fatalf("%s %s of %d at %d, seed %#x: element %d (%v) got %v, want %v", k.Name, name, len(v), offset, seed, i, v[i], y[shift+i], want[i])
		}
	}
}

func TestDenseEqual(t *testing.T) {
	s := noise.NewStream(3, noise.DomainInit)
	for _, k := range All() {
		for in := 0; in <= 130; in++ {
			for out := in % 3; out <= 130; out += 3 {
				odd := (in+out)%2 == 0
				b := values(&s, out, odd)
				if in%4 == 1 {
					b = nil
				}
				equalDense(t, k, values(&s, in*out, odd), b, values(&s, in, odd), out)
			}
		}
		for _, c := range [][2]int{{1000, 257}, {376, 256}, {3, 2000}, {4097, 1}, {17, 999}} {
			equalDense(t, k, values(&s, c[0]*c[1], true), values(&s, c[1], true), values(&s, c[0], true), c[1])
		}
	}
}

func TestDenseBatchEqual(t *testing.T) {
	s := noise.NewStream(6, noise.DomainInit)
	for _, k := range All() {
		equalBatch(t, k, nil, nil, nil, 0, 0)
		for in := 0; in <= 66; in++ {
			for out := in % 5; out <= 130; out += 5 {
				n, odd := 1+(in+out)%18, (in+out)%2 == 0
				b := values(&s, out, odd)
				if in%4 == 1 {
					b = nil
				}
				equalBatch(t, k, values(&s, in*out, odd), b, values(&s, in*n, odd), out, n)
			}
		}
		for _, c := range [][3]int{{376, 256, 16}, {24, 64, 100}, {64, 64, 33}, {3, 2000, 5}, {257, 1, 31}, {1, 17, 1000}} {
			equalBatch(t, k, values(&s, c[0]*c[1], true), values(&s, c[1], true), values(&s, c[0]*c[2], true), c[1], c[2])
		}
	}
}

// Zeros of either sign: a sum that is never begun at +0 could end at -0.
func TestDenseZeros(t *testing.T) {
	s := noise.NewStream(8, noise.DomainInit)
	for _, k := range All() {
		for in := range 14 {
			for out := range 70 {
				w, b, x := zeros(&s, in*out), zeros(&s, out), zeros(&s, 5*in)
				if in%3 == 1 {
					b = nil
				}
				for r := range 5 {
					equalDense(t, k, w, b, x[r*in:(r+1)*in], out)
				}
				equalBatch(t, k, w, b, x, out, 5)
			}
		}
	}
}

func TestDenseBatchPanics(t *testing.T) {
	v := make([]float32, 12)
	for _, k := range All() {
		for name, run := range map[string]func(){
			"no rows":          func() { k.DenseBatch(v[:4], v[:8], nil, v[:2], 0) },
			"fewer than none":  func() { k.DenseBatch(v[:4], v[:8], nil, v[:2], -1) },
			"part of an input": func() { k.DenseBatch(v[:4], v[:6], nil, v[:3], 2) },
			"part of a row":    func() { k.DenseBatch(v[:3], v[:2], nil, v[:2], 2) },
			"weights":          func() { k.DenseBatch(v[:4], v[:5], nil, v[:4], 2) },
			"bias of all rows": func() { k.DenseBatch(v[:4], v[:4], v[:4], v[:4], 2) },
		} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s, %s: no panic", k.Name, name)
					}
				}()
				run()
			}()
		}
	}
}

func TestVectorsEqual(t *testing.T) {
	s := noise.NewStream(4, noise.DomainInit)
	lengths := []int{511, 512, 513, 4099, 70_001}
	for n := 0; n <= 130; n++ {
		lengths = append(lengths, n)
	}
	// Offsets in the last block of what counts in 32 bits, and beyond.
	offsets := []int{0, 1, 7, 8, 9, 63, 64, 1001, 8<<32 - 70, 8 << 32, 1<<62 + 5}
	for _, k := range All() {
		for i, n := range lengths {
			for j := range 3 {
				equalVectors(t, k, values(&s, n, (i+j)%2 == 0), s.Normal(), s.Uint64(), offsets[(3*i+j)%len(offsets)], (i+j)%9)
			}
		}
	}
}

// Every offset within a block, with every length of a few blocks.
func TestNormalOffsets(t *testing.T) {
	for _, k := range All() {
		for offset := range 17 {
			for n := range 210 {
				want, got := make([]float32, n), make([]float32, n)
				noise.FillNormal(want, 5, offset)
				k.Normal(got, 5, offset)
				if i := difference(got, want); i >= 0 {
					t.Fatalf("%s: %d samples from %d: sample %d got %v, want %v", k.Name, n, offset, i, got[i], want[i])
				}
			}
		}
	}
}

// One float32 in 4,093 of all there are, and those around the seams of Tanh32.
func TestTanhEqual(t *testing.T) {
	var v []float32
	for bits := uint64(0); bits < 1<<32; bits += 4093 {
		v = append(v, math.Float32frombits(uint32(bits)))
	}
	for _, seam := range []float32{0, 0.6, 9.0503, 12, float32(math.Inf(1)), math.SmallestNonzeroFloat32} {
		for d := -50; d <= 50; d++ {
			bits := math.Float32bits(seam) + uint32(d)
			v = append(v, math.Float32frombits(bits), math.Float32frombits(bits^1<<31))
		}
	}
	want := append([]float32(nil), v...)
	tanhPortable(want)
	for _, k := range All() {
		got := append([]float32(nil), v...)
		k.Tanh(got)
		if i := difference(got, want); i >= 0 {
			t.Errorf("%s: Tanh(%v) got %v, want %v", k.Name, v[i], got[i], want[i])
		}
	}
}

// anyFloat draws all bit patterns alike, with more zeros, infinities and NaN than chance would give.
func anyFloat() *rapid.Generator[float32] {
	return rapid.OneOf(
		rapid.Map(rapid.Uint32(), math.Float32frombits),
		rapid.Float32Range(-3, 3),
		rapid.SampledFrom([]float32{0, negZero, inf, -inf, nan, 1e-45, -1e-45, math.MaxFloat32}),
	)
}

func TestEqualProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in, out := rapid.IntRange(0, 40).Draw(t, "in"), rapid.IntRange(0, 140).Draw(t, "out")
		n := rapid.IntRange(1, 35).Draw(t, "rows")
		pool := rapid.SliceOfN(anyFloat(), 1, 30).Draw(t, "values")
		fill := func(n, from int) []float32 {
			v := make([]float32, n)
			for i := range v {
				v[i] = pool[(i*7+from)%len(pool)]
			}
			return v
		}
		var b []float32
		if rapid.Bool().Draw(t, "bias") {
			b = fill(out, 2)
		}
		seed, offset := rapid.Uint64().Draw(t, "seed"), rapid.IntRange(0, 1<<62).Draw(t, "offset")
		scale, shift := anyFloat().Draw(t, "scale"), rapid.IntRange(0, 17).Draw(t, "shift")
		for _, k := range All() {
			equalDense(t, k, fill(in*out, 0), b, fill(in, 1), out)
			equalBatch(t, k, fill(in*out, 0), b, fill(in*n, 1), out, n)
			equalVectors(t, k, fill(out, 3), scale, seed, offset, shift)
		}
	})
}

func FuzzEqual(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 0xc0, 0x7f, 0, 0, 0x80, 0x7f}, uint8(3), uint8(20), true, uint64(7), uint64(9), float32(0.1))
	f.Fuzz(func(t *testing.T, data []byte, in, out uint8, biased bool, seed, offset uint64, scale float32) {
		at := 0
		fill := func(n int) []float32 {
			v := make([]float32, n)
			for i := range v {
				var bits uint32
				for range 4 {
					if len(data) > 0 {
						bits = bits<<8 | uint32(data[at%len(data)])
						at++
					}
				}
				v[i] = math.Float32frombits(bits)
			}
			return v
		}
		var b []float32
		if biased {
			b = fill(int(out))
		}
		n := 1 + int(seed%20)
		rows := fill(int(in) * n)
		w, x, v := fill(int(in)*int(out)), fill(int(in)), fill(int(out)+int(in))
		for _, k := range All() {
			equalDense(t, k, w, b, x, int(out))
			equalBatch(t, k, w, b, rows, int(out), n)
			equalVectors(t, k, v, scale, seed, int(offset>>2), int(seed%11))
		}
	})
}
