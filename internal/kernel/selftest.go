package kernel

import (
	"fmt"

	"github.com/evoswarm/evoswarm/internal/noise"
)

// SelfTest compares k with [Portable] on layers and vectors of many lengths, with ordinary, zero, denormal,
// huge, infinite and NaN values, and returns an error wrapping [ErrDiffers] at the first difference in bits;
// all NaNs count as equal. It takes about two milliseconds.
func SelfTest(k Kernel) error {
	s := noise.NewStream(1, noise.DomainInit)
	plain, odd, nought := &pool{v: values(&s, poolSize, false)}, &pool{v: values(&s, poolSize, true)}, &pool{v: zeros(&s, poolSize)}
	for _, n := range []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65, 100} {
		pools := []*pool{odd, nought}
		if n > 9 {
			pools = []*pool{odd, plain}
		}
		for i, out := range []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 18, 33, 47, 64} {
			for _, p := range pools {
				if err := testDense(k, &s, p, n, out); err != nil {
					return err
				}
			}
			if err := testDenseBatch(k, &s, pools[(n+i)%2], n, out); err != nil {
				return err
			}
		}
	}
	pools := []*pool{plain, odd, nought}
	for _, n := range []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65, 511, 512, 513, 1100} {
		for i, p := range pools {
			if err := testVectors(k, &s, p, n, float32(1-i%2*2)); err != nil {
				return err
			}
		}
	}
	return nil
}

// poolSize has room for the weights of the largest layer at many offsets.
const poolSize = 8191

// pool holds values of which tests take slices, since drawing new values would take longer than the tests.
type pool struct {
	v  []float32
	at int
}

// take returns n values from a new offset. They must not be changed.
func (p *pool) take(n int) []float32 {
	p.at = (p.at + n + 101) % (len(p.v) - n)
	return p.v[p.at : p.at+n]
}

func testDense(k Kernel, s *noise.Stream, p *pool, in, out int) error {
	w, b, x := p.take(in*out), p.take(out), p.take(in)
	if s.Uint32()%4 == 0 {
		b = nil
	}
	got, want := append([]float32(nil), p.take(out)...), make([]float32, out)
	k.Dense(got, w, b, x)
	Portable.Dense(want, w, b, x)
	return compare(k, "Dense", got, want)
}

// testDenseBatch takes 1 to 19 rows, few of the large ones.
func testDenseBatch(k Kernel, s *noise.Stream, p *pool, in, out int) error {
	n := 1 + int(s.IntN(0, int64(1+min(18, 3000/(1+in+out)/8))))
	w, b, x := p.take(in*out), p.take(out), p.take(n*in)
	got, want := append([]float32(nil), p.take(n*out)...), make([]float32, n*out)
	k.DenseBatch(got, w, b, x, n)
	Portable.DenseBatch(want, w, b, x, n)
	return compare(k, "DenseBatch", got, want)
}

func testVectors(k Kernel, s *noise.Stream, p *pool, n int, sign float32) error {
	v, seed, offset := p.take(n), s.Uint64(), int(s.IntN(0, 1000))
	scale := s.Normal()
	for _, c := range []struct {
		name string
		run  func(k Kernel, y []float32)
	}{
		{"Tanh", func(k Kernel, y []float32) { k.Tanh(y) }},
		{"Relu", func(k Kernel, y []float32) { k.Relu(y) }},
		{"Perturb", func(k Kernel, y []float32) { k.Perturb(y, v, scale, sign, seed) }},
		{"Perturb in place", func(k Kernel, y []float32) { k.Perturb(y, y, scale, sign, seed) }},
		{"Accumulate", func(k Kernel, y []float32) { k.Accumulate(y, scale, seed, offset) }},
		{"Normal", func(k Kernel, y []float32) { k.Normal(y, seed, offset) }},
	} {
		got, want := append([]float32(nil), v...), append([]float32(nil), v...)
		c.run(k, got)
		c.run(Portable, want)
		if err := compare(k, c.name, got, want); err != nil {
			return err
		}
	}
	return nil
}

// compare tells +0 from -0 by the reciprocal.
func compare(k Kernel, what string, got, want []float32) error {
	for i, w := range want {
		g := got[i]
		same := g == w && (g != 0 || 1/g == 1/w) || g != g && w != w
		if !same {
			return fmt.Errorf("%w: %s of %q, element %d of %d: got %v, want %v", ErrDiffers, what, k.Name, i, len(want), g, w)
		}
	}
	return nil
}

// values are Gaussian, with odd ones strewn in if odd is set.
func values(s *noise.Stream, n int, odd bool) []float32 {
	var zero float32
	v := make([]float32, n)
	for i := range v {
		v[i] = s.Normal()
		if !odd || s.Uint32()%8 != 0 {
			continue
		}
		switch s.Uint32() % 8 {
		case 0:
			v[i] = 0
		case 1:
			v[i] = -zero
		case 2:
			v[i] = 1e-40 * v[i]
		case 3:
			v[i] = 1e-45
		case 4:
			v[i] = 1e38 * v[i]
		case 5:
			v[i] = 1 / zero
		case 6:
			v[i] = -1 / zero
		case 7:
			v[i] = zero / zero
		}
	}
	return v
}

// zeros are +0 and, seven times as often, -0.
func zeros(s *noise.Stream, n int) []float32 {
	var zero float32
	v := make([]float32, n)
	for i := range v {
		if s.Uint32()%8 != 0 {
			v[i] = -zero
		}
	}
	return v
}
