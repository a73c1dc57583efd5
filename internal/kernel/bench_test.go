package kernel

import (
	"fmt"
	"testing"

	"github.com/evoswarm/evoswarm/internal/noise"
)

// using makes k the active kernel for the length of a test or benchmark.
func using(tb testing.TB, k Kernel) {
	before := Active()
	if err := Use(k.Name); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := Use(before); err != nil {
			tb.Fatal(err)
		}
	})
}

// net is a network with tanh; 24-64-64-4 is the shape by which kernels are compared.
type net struct {
	w, b, h [][]float32 // of each layer: weights, biases, outputs
	x       []float32
}

func newNet(s *noise.Stream, sizes ...int) *net {
	n := new(net)
	for l, out := range sizes[1:] {
		w := values(s, sizes[l]*out, false)
		for i := range w {
			w[i] *= 0.125
		}
		n.w, n.b, n.h = append(n.w, w), append(n.b, values(s, out, false)), append(n.h, make([]float32, out))
	}
	n.x = values(s, sizes[0], false)
	return n
}

// forward computes the outputs; activate goes between layers.
func (n *net) forward(activate func(y []float32)) []float32 {
	x := n.x
	for l, h := range n.h {
		Dense(h, n.w[l], n.b[l], x)
		if activate != nil && l < len(n.h)-1 {
			activate(h)
		}
		x = h
	}
	return x
}

func (n *net) pairs() (sum int) {
	for _, w := range n.w {
		sum += len(w)
	}
	return sum
}

func perKernel(b *testing.B, f func(b *testing.B)) {
	for _, k := range All() {
		b.Run(k.Name, func(b *testing.B) {
			using(b, k)
			f(b)
		})
	}
}

func BenchmarkMultiplyAdd(b *testing.B) {
	for _, k := range All() {
		b.Run(k.Name, func(b *testing.B) {
			pairs := 0
			for b.Loop() {
				pairs += k.MultiplyAdd(1000)
			}
			b.ReportMetric(float64(pairs)/float64(b.Elapsed().Nanoseconds()), "GMAC/s")
		})
	}
}

func BenchmarkRead(b *testing.B) {
	for _, kib := range []int{16, 512} {
		for _, k := range All() {
			b.Run(fmt.Sprintf("%dKiB/%s", kib, k.Name), func(b *testing.B) {
				x := make([]float32, kib<<8)
				b.SetBytes(int64(4 * len(x)))
				for b.Loop() {
					k.Read(x)
				}
			})
		}
	}
}

func BenchmarkLayers(b *testing.B) {
	for _, sizes := range [][]int{{24, 64, 64, 4}, {376, 256, 256, 17}, {4, 16, 2}, {24, 64}, {64, 64}, {64, 4}} {
		for name, activate := range map[string]func([]float32){"": nil, "-tanh": Tanh} {
			b.Run(fmt.Sprint(sizes, name), func(b *testing.B) {
				perKernel(b, func(b *testing.B) {
					s := noise.NewStream(1, noise.DomainInit)
					n := newNet(&s, sizes...)
					for b.Loop() {
						n.x[0] = n.forward(activate)[0] * 1e-3 // one after the other, as in a rollout
					}
					b.ReportMetric(float64(n.pairs())*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GMAC/s")
				})
			})
		}
	}
}

func BenchmarkVectors(b *testing.B) {
	const n = 1 << 14
	theta, dst := make([]float32, n), make([]float32, n)
	for name, f := range map[string]func(){
		"Tanh":       func() { Tanh(dst) },
		"Normal":     func() { Normal(dst, 7, 0) },
		"Perturb":    func() { Perturb(dst, theta, 0.02, 1, 7) },
		"Accumulate": func() { Accumulate(dst, 0.001, 7, 0) },
	} {
		b.Run(name, func(b *testing.B) {
			perKernel(b, func(b *testing.B) {
				noise.FillNormal(dst, 9, 0)
				b.SetBytes(4 * n)
				for b.Loop() {
					f()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/element")
			})
		})
	}
}

// BenchmarkUpdate is the sum over 1,000 seeds of 100,000 parameters, blocked as package evolve does.
func BenchmarkUpdate(b *testing.B) {
	const dim, seeds, block = 100_000, 1000, 1024
	dst := make([]float32, dim)
	perKernel(b, func(b *testing.B) {
		for b.Loop() {
			for lo := 0; lo < dim; lo += block {
				for seed := range uint64(seeds) {
					Accumulate(dst[lo:min(lo+block, dim)], 0.001, seed, lo)
				}
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/dim/seeds, "ns/element")
	})
}
