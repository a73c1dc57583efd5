package kernel

import (
	"fmt"

	"github.com/evoswarm/evoswarm/internal/noise"
)

// SelfTest runs k beside [Portable] on layers and vectors of many lengths, with ordinary, zero, denormal, huge,
// infinite and NaN values, and returns an error wrapping [ErrDiffers] at the first bit that differs; any NaN equals any
// other. It takes about a millisecond.
func SelfTest(k Kernel) error {
	s := noise.NewStream(1, noise.DomainInit)
	for _, n := range []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65, 100} {
		for _, out := range []int{0, 1, 2, 4, 7, 8, 9, 16, 18, 33, 64} {
			for _, odd := range []bool{false, true} {
				if err := testDense(k, &s, n, out, odd); err != nil {
					return err
				}
			}
		}
	}
	for _, n := range []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65, 511, 512, 513, 1100} {
		for _, odd := range []bool{false, true} {
			if err := testVectors(k, &s, n, odd); err != nil {
				return err
			}
		}
	}
	return nil
}

func testDense(k Kernel, s *noise.Stream, in, out int, odd bool) error {
	w, b, x := values(s, in*out, odd), values(s, out, odd), values(s, in, odd)
	if s.Uint32()%4 == 0 {
		b = nil
	}
	got, want := values(s, out, true), make([]float32, out)
	k.Dense(got, w, b, x)
	Portable.Dense(want, w, b, x)
	return compare(k, "Dense", got, want)
}

func testVectors(k Kernel, s *noise.Stream, n int, odd bool) error {
	v, seed, offset := values(s, n, odd), s.Uint64(), int(s.IntN(0, 1000))
	scale := s.Normal()
	sign := float32(1)
	if odd {
		sign = -1
	}
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
