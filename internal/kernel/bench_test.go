package kernel

import (
	"fmt"
	"testing"

	"github.com/evoswarm/evoswarm/internal/noise"
)

// net is a 24-64-64-4 network with tanh, the shape by which kernels are compared.
type net struct {
	w1, b1, w2, b2, w3, b3 []float32
	x, h1, h2, y           []float32
}

const netMACs = 24*64 + 64*64 + 64*4

func newNet(s *noise.Stream) *net {
	n := &net{
		w1: values(s, 24*64, false), b1: values(s, 64, false),
		w2: values(s, 64*64, false), b2: values(s, 64, false),
		w3: values(s, 64*4, false), b3: values(s, 4, false),
		x: values(s, 24, false), h1: make([]float32, 64), h2: make([]float32, 64), y: make([]float32, 4),
	}
	for _, w := range [][]float32{n.w1, n.w2, n.w3} {
		for i := range w {
			w[i] *= 0.125
		}
	}
	return n
}

func (n *net) forward() {
	Dense(n.h1, n.w1, n.b1, n.x)
	Tanh(n.h1)
	Dense(n.h2, n.w2, n.b2, n.h1)
	Tanh(n.h2)
	Dense(n.y, n.w3, n.b3, n.h2)
}

func BenchmarkDense(b *testing.B) {
	s := noise.NewStream(1, noise.DomainInit)
	for _, size := range [][2]int{{4, 16}, {24, 64}, {64, 64}, {64, 4}, {16, 2}, {376, 256}} {
		in, out := size[0], size[1]
		b.Run(fmt.Sprintf("%d-%d", in, out), func(b *testing.B) {
			w, bias, x, y := values(&s, in*out, false), values(&s, out, false), values(&s, in, false), make([]float32, out)
			for b.Loop() {
				Dense(y, w, bias, x)
			}
			b.ReportMetric(float64(in*out)*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GMAC/s")
		})
	}
}

func BenchmarkLayers24_64_64_4(b *testing.B) {
	s := noise.NewStream(1, noise.DomainInit)
	n := newNet(&s)
	for b.Loop() {
		Dense(n.h1, n.w1, n.b1, n.x)
		Dense(n.h2, n.w2, n.b2, n.h1)
		Dense(n.y, n.w3, n.b3, n.h2)
		n.x[0] = n.y[0] * 1e-3
	}
	b.ReportMetric(netMACs*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GMAC/s")
}

func BenchmarkVectors(b *testing.B) {
	const n = 1 << 14
	theta, dst := make([]float32, n), make([]float32, n)
	for name, f := range map[string]func(){
		"Tanh":       func() { Tanh(dst) },
		"Perturb":    func() { Perturb(dst, theta, 0.02, 1, 7) },
		"Accumulate": func() { Accumulate(dst, 0.001, 7, 0) },
	} {
		b.Run(name, func(b *testing.B) {
			for i := range dst {
				dst[i] = noise.NormalAt(9, i)
			}
			b.SetBytes(4 * n)
			for b.Loop() {
				f()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/element")
		})
	}
}
