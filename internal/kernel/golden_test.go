package kernel

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"math"
	"testing"

	"github.com/evoswarm/evoswarm/internal/golden"
	"github.com/evoswarm/evoswarm/internal/noise"
)

// write hashes v with one bit pattern for all NaN: their signs and payloads are the processor's.
func write(h hash.Hash, v []float32) {
	for _, x := range v {
		bits := math.Float32bits(x)
		if x != x {
			bits = 0x7fc00000
		}
		h.Write(binary.LittleEndian.AppendUint32(nil, bits))
	}
}

func TestGoldenDense(t *testing.T) { onEach(t, goldenDense) }

func goldenDense(t *testing.T) {
	for _, odd := range []bool{false, true} {
		name := map[bool]string{false: "dense", true: "dense_special_values"}[odd]
		s, h := noise.NewStream(11, noise.DomainInit), sha256.New()
		for in := 0; in <= 65; in += 1 + in%3 {
			for out := 0; out <= 65; out += 1 + out%4 {
				w, b, x := values(&s, in*out, odd), values(&s, out, odd), values(&s, in, odd)
				y := make([]float32, out)
				Dense(y, w, b, x)
				write(h, y)
				Dense(y, w, nil, x)
				write(h, y)
			}
		}
		golden.Check(t, name, h.Sum(nil))
	}
}

func TestGoldenDenseBatch(t *testing.T) { onEach(t, goldenDenseBatch) }

func goldenDenseBatch(t *testing.T) {
	s, h := noise.NewStream(14, noise.DomainInit), sha256.New()
	for in := 0; in <= 65; in += 1 + in%7 {
		for out := 0; out <= 65; out += 1 + out%5 {
			n := 1 + (in+2*out)%17
			w, b, x := values(&s, in*out, true), values(&s, out, true), values(&s, n*in, true)
			y := make([]float32, n*out)
			DenseBatch(y, w, b, x, n)
			write(h, y)
		}
	}
	golden.Check(t, "dense_batch", h.Sum(nil))
}

func TestGoldenForward(t *testing.T) { onEach(t, goldenForward) }

// A 24-64-64-4 network, whose output is fed back 100 times: one wrong bit anywhere grows.
func goldenForward(t *testing.T) {
	s, h := noise.NewStream(12, noise.DomainInit), sha256.New()
	net := newNet(&s, 24, 64, 64, 4)
	for range 100 {
		y := net.forward(Tanh)
		copy(net.x, y)
		write(h, y)
	}
	golden.Check(t, "forward", h.Sum(nil))
}

func TestGoldenVectors(t *testing.T) { onEach(t, goldenVectors) }

func goldenVectors(t *testing.T) {
	s, h, tanh := noise.NewStream(13, noise.DomainInit), sha256.New(), sha256.New()
	for n := 0; n < 2000; n += 1 + n/3 {
		theta := values(&s, n, n%2 == 0)
		y := make([]float32, n)
		for _, sign := range []float32{1, -1} {
			Perturb(y, theta, 0.02, sign, s.Uint64())
			write(h, y)
			Accumulate(y, s.Normal(), s.Uint64(), n)
			write(h, y)
		}
		Tanh(y)
		write(tanh, y) // separate, since its bits are those of exact.Tanh32
		Relu(theta)
		write(h, theta)
	}
	golden.Check(t, "vectors", h.Sum(nil))
	golden.Check(t, "tanh", tanh.Sum(nil))
}

func TestGoldenSelfTest(t *testing.T) {
	for _, k := range All() {
		if err := SelfTest(k); err != nil {
			t.Errorf("%s: %v", k.Name, err)
		}
	}
}
