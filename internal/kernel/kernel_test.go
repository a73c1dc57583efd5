package kernel

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/evoswarm/evoswarm/internal/exact"
	"github.com/evoswarm/evoswarm/internal/noise"
	"pgregory.net/rapid"
)

var (
	nan     = float32(math.NaN())
	inf     = float32(math.Inf(1))
	negZero = float32(math.Copysign(0, -1))
)

// same compares bits; any NaN equals any other.
func same(a, b float32) bool {
	return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b
}

// denseTwin is the definition, one output and one chain at a time, rounded by storing.
func denseTwin(w, b, x []float32, out int) []float32 {
	y := make([]float32, out)
	for o := range y {
		var s [Chains]float32
		for k := range s {
			for i := range x {
				if i%Chains == k {
					product := float32(float64(x[i]) * float64(w[i*out+o])) // exact in float64, rounded once
					s[k] = float32(float64(s[k]) + float64(product))
				}
			}
		}
		lo, hi := s[0]+s[1], s[2]+s[3]
		y[o] = lo + hi
		if len(b) > 0 {
			y[o] = y[o] + b[o]
		}
	}
	return y
}

const guard = 12345

// guardWords is how many guard words are on either side, more than the widest vector has.
const guardWords = 33

// guarded returns a copy of v between guard words, and a check that they are intact.
func guarded(v []float32) (in []float32, intact func() bool) {
	buf := make([]float32, len(v)+2*guardWords)
	for i := range buf {
		buf[i] = guard
	}
	in = buf[guardWords : guardWords+len(v) : guardWords+len(v)]
	copy(in, v)
	return in, func() bool {
		for i := range guardWords {
			if buf[i] != guard || buf[len(buf)-1-i] != guard {
				return false
			}
		}
		return true
	}
}

// onEach runs a test with every kernel of this processor in turn.
func onEach(t *testing.T, test func(t *testing.T)) {
	for _, k := range All() {
		t.Run(k.Name, func(t *testing.T) {
			using(t, k)
			test(t)
		})
	}
}

func TestDenseTwin(t *testing.T) { onEach(t, denseLikeTwin) }

func denseLikeTwin(t *testing.T) {
	s := noise.NewStream(1, noise.DomainInit)
	for in := 0; in <= 65; in++ {
		for out := 0; out <= 65; out++ {
			if (in+out)%3 != 0 && in > 9 && out > 9 {
				continue
			}
			odd := (in+out)%2 == 0
			w, x, b := values(&s, in*out, odd), values(&s, in, odd), values(&s, out, odd)
			if (in+out)%5 == 0 {
				b = nil
			}
			y, intact := guarded(values(&s, out, true))
			Dense(y, w, b, x)
			if !intact() {
				t.Fatalf("%d-%d: wrote outside y", in, out)
			}
			for o, want := range denseTwin(w, b, x, out) {
				if !same(y[o], want) {
					t.Fatalf("%d-%d: y[%d] got %v, want %v", in, out, o, y[o], want)
				}
			}
		}
	}
}

func TestDenseSpecialValues(t *testing.T) { onEach(t, denseSpecialValues) }

func denseSpecialValues(t *testing.T) {
	for _, c := range []struct {
		name    string
		w, b, x []float32
		want    float32
	}{
		{"no inputs, no bias", nil, nil, nil, 0},
		{"no inputs", nil, []float32{negZero}, nil, 0},
		{"-0 product", []float32{-1}, nil, []float32{0}, 0},
		{"0 times inf is not skipped", []float32{inf}, nil, []float32{0}, nan},
		{"NaN", []float32{1}, nil, []float32{nan}, nan},
		{"denormals", []float32{1}, []float32{1e-45}, []float32{1e-45}, 3e-45},
		{"overflow", []float32{3e38, 3e38}, nil, []float32{1, 1}, inf},
		{"order", []float32{1e8, 1, 1, 1, -1e8}, nil, []float32{1, 1, 1, 1, 1}, 3},
		{"rounded product", []float32{1 + 1.0/4096, -1}, nil, []float32{1 + 1.0/4096, 1 + 2.0/4096}, 0},
	} {
		y := []float32{guard}
		Dense(y, c.w, c.b, c.x)
		if !same(y[0], c.want) {
			t.Errorf("%s: got %v, want %v", c.name, y[0], c.want)
		}
	}
}

func TestPanics(t *testing.T) { onEach(t, panics) }

func panics(t *testing.T) {
	v := make([]float32, 4)
	for name, f := range map[string]func(){
		"weights": func() { Dense(v[:2], v[:3], nil, v[:2]) },
		"bias":    func() { Dense(v[:2], v[:4], v[:1], v[:2]) },
		"lengths": func() { Perturb(v[:2], v[:3], 1, 1, 0) },
		"sign":    func() { Perturb(v[:2], v[:2], 1, 0, 0) },
		"offset":  func() { Accumulate(v, 1, 0, -1) },
		"normal":  func() { Normal(v, 0, -1) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

func TestVectorsTwin(t *testing.T) { onEach(t, vectorsLikeTwin) }

func vectorsLikeTwin(t *testing.T) {
	s := noise.NewStream(2, noise.DomainInit)
	lengths := []int{chunk - 1, chunk, chunk + 1, 3*chunk + 7}
	for n := 0; n <= 65; n++ {
		lengths = append(lengths, n)
	}
	for _, n := range lengths {
		theta := values(&s, n, n%2 == 0)
		seed, sigma, offset := s.Uint64(), s.Normal(), int(s.IntN(0, 100))
		for _, c := range []struct {
			name string
			run  func(y []float32)
			want func(i int) float32
		}{
			{"Tanh", Tanh, func(i int) float32 { return exact.Tanh32(theta[i]) }},
			{"Relu", Relu, func(i int) float32 {
				if theta[i] > 0 {
					return theta[i]
				}
				return 0
			}},
			{"Perturb+", func(y []float32) { Perturb(y, theta, sigma, 1, seed) }, func(i int) float32 {
				p := float32(sigma * noise.NormalAt(seed, i))
				return theta[i] + p
			}},
			{"Perturb-", func(y []float32) { Perturb(y, y, sigma, -1, seed) }, func(i int) float32 {
				p := float32(sigma * noise.NormalAt(seed, i))
				return theta[i] - p
			}},
			{"Accumulate", func(y []float32) { Accumulate(y, sigma, seed, offset) }, func(i int) float32 {
				p := float32(sigma * noise.NormalAt(seed, offset+i))
				return theta[i] + p
			}},
			{"Normal", func(y []float32) { Normal(y, seed, offset) }, func(i int) float32 { return noise.NormalAt(seed, offset+i) }},
		} {
			y, intact := guarded(theta)
			c.run(y)
			if !intact() {
				t.Fatalf("%s of %d: wrote outside", c.name, n)
			}
			for i, got := range y {
				if want := c.want(i); !same(got, want) {
					t.Fatalf("%s of %d: element %d (%v) got %v, want %v", c.name, n, i, theta[i], got, want)
				}
			}
		}
	}
}

func TestReluSpecialValues(t *testing.T) { onEach(t, reluSpecialValues) }

func reluSpecialValues(t *testing.T) {
	y := []float32{negZero, nan, -nan, -1, 1e-45, inf, -inf, 2}
	want := []float32{0, 0, 0, 0, 1e-45, inf, 0, 2}
	Relu(y)
	for i := range y {
		if math.Float32bits(y[i]) != math.Float32bits(want[i]) {
			t.Errorf("element %d: got %v, want %v", i, y[i], want[i])
		}
	}
}

// Any split by parameters gives the same bits.
func TestAccumulateSplits(t *testing.T) { onEach(t, accumulateSplits) }

func accumulateSplits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 1200).Draw(t, "n")
		seeds := rapid.SliceOfN(rapid.Uint64(), 1, 4).Draw(t, "seeds")
		whole, parts := make([]float32, n), make([]float32, n)
		for i, seed := range seeds {
			Accumulate(whole, float32(i)-1.3, seed, 0)
		}
		for at := 0; at < n; {
			end := at + rapid.IntRange(1, n-at).Draw(t, "part")
			for i, seed := range seeds {
				Accumulate(parts[at:end], float32(i)-1.3, seed, at)
			}
			at = end
		}
		for i := range whole {
			if !same(whole[i], parts[i]) {
				t.Fatalf("element %d: got %v, want %v", i, parts[i], whole[i])
			}
		}
	})
}

func TestNothingAllocates(t *testing.T) { onEach(t, nothingAllocates) }

func nothingAllocates(t *testing.T) {
	got := testing.AllocsPerRun(10, func() {
		var w [24 * 20]float32
		var x [24]float32
		var y [20]float32
		Dense(y[:], w[:], nil, x[:])
		Tanh(y[:])
		Relu(y[:])
		Perturb(w[:], w[:], 0.1, 1, 3)
		Accumulate(w[:], 0.1, 3, 5)
		Normal(w[:], 3, 5)
	})
	if got != 0 {
		t.Errorf("got %v allocations, want 0", got)
	}
}

func TestSelfTestOfAll(t *testing.T) {
	for _, k := range All() {
		if err := SelfTest(k); err != nil {
			t.Errorf("%s: %v", k.Name, err)
		}
	}
}

// SelfTest must see one wrong bit, in any function.
func TestSelfTestFindsFaults(t *testing.T) {
	spoil := func(y []float32) {
		if len(y) == 33 && y[32] == y[32] {
			y[32] = math.Float32frombits(math.Float32bits(y[32]) ^ 1)
		}
	}
	broken := map[string]func(k *Kernel){
		"Dense":      func(k *Kernel) { k.Dense = func(y, w, b, x []float32) { densePortable(y, w, b, x); spoil(y) } },
		"Dense sign": func(k *Kernel) { k.Dense = denseFromMinusZero },
		"Tanh":       func(k *Kernel) { k.Tanh = func(y []float32) { tanhPortable(y); spoil(y) } },
		"Relu":       func(k *Kernel) { k.Relu = reluKeepingMinusZero },
		"Perturb": func(k *Kernel) {
			k.Perturb = func(d, t []float32, s, g float32, seed uint64) { perturbPortable(d, t, s, g, seed); spoil(d) }
		},
		"Accumulate": func(k *Kernel) {
			k.Accumulate = func(d []float32, c float32, seed uint64, o int) { accumulatePortable(d, c, seed, o); spoil(d) }
		},
		"Normal": func(k *Kernel) {
			k.Normal = func(d []float32, seed uint64, o int) { noise.FillNormal(d, seed, o); spoil(d) }
		},
	}
	for name, spoil := range broken {
		k := Portable
		k.Name = "broken"
		spoil(&k)
		if err := SelfTest(k); !errors.Is(err, ErrDiffers) {
			t.Errorf("%s: got %v, want %v", name, err, ErrDiffers)
		}
	}
}

func denseFromMinusZero(y, w, b, x []float32) {
	densePortable(y, w, b, x)
	if len(x) == 0 && len(b) == 0 {
		for i := range y {
			y[i] = negZero
		}
	}
}

func reluKeepingMinusZero(y []float32) {
	for i, v := range y {
		if v < 0 || v != v {
			y[i] = 0
		}
	}
}

func TestUse(t *testing.T) {
	using(t, Portable) // and back to it
	if err := Use("abacus"); !errors.Is(err, ErrUnknown) {
		t.Errorf("got %v, want %v", err, ErrUnknown)
	}
	for _, k := range All() {
		if err := Use(k.Name); err != nil {
			t.Error(err)
		}
		if got := Active(); got != k.Name {
			t.Errorf("got %q, want %q", got, k.Name)
		}
	}
}

func TestUseFastest(t *testing.T) {
	using(t, Portable)
	all := All()
	got, err := UseFastest()
	if want := all[len(all)-1].Name; err != nil || got != want || Active() != want {
		t.Errorf("got %q (active %q), %v, want %q", got, Active(), err, want)
	}
}

// A kernel that computes wrong bits is skipped.
func TestUseFastestFault(t *testing.T) {
	using(t, Portable)
	before := kernels
	defer func() { kernels = before }()
	broken := Portable
	broken.Name, broken.Dense = "broken", denseFromMinusZero
	kernels = append(All(), broken)
	want := before[len(before)-1].Name
	if got, err := UseFastest(); got != want || !errors.Is(err, ErrDiffers) {
		t.Errorf("got %q, %v, want %q, %v", got, err, want, ErrDiffers)
	}
}

func ExampleDense() {
	w := []float32{
		1, 10, // from input 0 to outputs 0 and 1
		2, 20, // from input 1
	}
	y := make([]float32, 2)
	Dense(y, w, []float32{0.5, 0}, []float32{1, 3})
	fmt.Println(y)
	// Output: [7.5 70]
}

func ExamplePerturb() {
	theta := make([]float32, 2)
	plus, minus := make([]float32, 2), make([]float32, 2)
	Perturb(plus, theta, 0.5, +1, 42)
	Perturb(minus, theta, 0.5, -1, 42)
	fmt.Println(plus[0] == -minus[0], plus[1] == -minus[1])
	// Output: true true
}
