package policy

import (
	"github.com/evoswarm/evoswarm/internal/exact"
	"github.com/evoswarm/evoswarm/internal/kernel"
)

// ReferenceSize is the number of observations in a reference batch, as in Salimans et al. (2017).
const ReferenceSize = 128

// foldEpsilon prevents division by zero for a unit that is constant over the batch, as in Ioffe and Szegedy,
// "Batch Normalization" (2015), and most libraries.
const foldEpsilon = 1e-5

// VBN reports whether the policy uses virtual batch normalization, so that its parameters must be folded
// before it acts.
func (p *Policy) VBN() bool { return p.vbn }

// Batch is working memory for Fold. One goroutine may use it at a time. Its contents between calls do not matter.
type Batch struct {
	x, z        []float32 // ReferenceSize rows of the widest hidden layer
	mean, scale []float64 // of the widest hidden layer
}

// Batch returns working memory for Fold.
func (p *Policy) Batch() *Batch {
	widest := 0
	for l := 1; l < int(p.net.Layers); l++ {
		widest = max(widest, int(p.net.Sizes[l]))
	}
	return &Batch{
		x: make([]float32, ReferenceSize*widest), z: make([]float32, ReferenceSize*widest),
		mean: make([]float64, widest), scale: make([]float64, widest),
	}
}

// Fold writes to dst the parameters with which Act performs virtual batch normalization for theta. In every
// hidden layer y = (Wx - mean(Wx)) / sqrt(var(Wx) + 1e-5) + b replaces y = Wx + b, with the mean and the
// variance of each unit over the reference batch, which passes through the earlier layers in the same way.
// The bias is the learned shift; the output layer does not change.
//
// dst and theta have length Dim and must not overlap; reference holds ReferenceSize observations, one after
// another. The policy must have VBN. Fold does not allocate. Bit exact.
//
// Source: Salimans et al., "Improved Techniques for Training GANs" (2016), section 3.4,
// and "Evolution Strategies as a Scalable Alternative" (2017), section 2.2.
func (p *Policy) Fold(dst, theta, reference []float32, b *Batch) {
	copy(dst[:p.dim], theta[:p.dim])
	x := reference
	for l := 0; l < int(p.net.Layers)-1; l++ {
		w, bias := p.weights(l), p.tensors[2*l+1]
		in, out := w.Rows, w.Cols
		weights := dst[w.Offset : w.Offset+in*out]
		z := b.z[:ReferenceSize*out]
		kernel.DenseBatch(z, weights, nil, x[:ReferenceSize*in], ReferenceSize)
		b.moments(z, out)
		shift := dst[bias.Offset : bias.Offset+out]
		for o := range shift {
			shift[o] = float32(float64(shift[o]) - float64(b.mean[o]*b.scale[o]))
		}
		scaleColumns(weights, b.scale[:out])
		scaleColumns(z, b.scale[:out])
		for i := range z {
			z[i] += shift[i%out]
		}
		p.net.activate(z)
		b.x, b.z = b.z, b.x
		x = z
	}
}

// moments sets mean to the mean of each column over the rows of z, and scale to 1/sqrt(variance +
// foldEpsilon). Sums are in float64, in the order of the rows.
func (b *Batch) moments(z []float32, columns int) {
	mean, scale := b.mean[:columns], b.scale[:columns]
	clear(mean)
	clear(scale)
	for i := 0; i < len(z); i += columns {
		for o, v := range z[i : i+columns] {
			mean[o] += float64(v)
		}
	}
	for o := range mean {
		mean[o] /= ReferenceSize
	}
	for i := 0; i < len(z); i += columns {
		for o, v := range z[i : i+columns] {
			d := float64(v) - mean[o]
			scale[o] += float64(d * d)
		}
	}
	for o := range scale {
		// The conversion matters, since compilers turn a division by a power of two into a product.
		scale[o] = 1 / exact.Sqrt(float64(scale[o]/ReferenceSize)+foldEpsilon)
	}
}

// scaleColumns multiplies every row of m by scale, rounded to float32.
func scaleColumns(m []float32, scale []float64) {
	for i := 0; i < len(m); i += len(scale) {
		row := m[i : i+len(scale)]
		for o := range row {
			row[o] = float32(row[o] * float32(scale[o]))
		}
	}
}
