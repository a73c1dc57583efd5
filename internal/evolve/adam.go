package evolve

import "github.com/evoswarm/evoswarm/internal/exact"

// adam is the optimiser of Kingma and Ba, "Adam: a method for stochastic
// optimization" (2015), in the form of the last sentence of their section 2: the
// bias corrections are folded into the step size.
type adam struct{ beta1, beta2, epsilon float64 }

// ascend moves theta along grad by the step size alpha, and the moments m and v
// with it; t counts the steps from 1. All slices have one length; each index is
// independent of the others. Values are float32 and each operation rounds once.
// Bit exact.
func (a adam) ascend(theta, m, v, grad []float32, alpha float32, t uint64) {
	c1 := 1 - exact.Pow(a.beta1, float64(t))
	c2 := 1 - exact.Pow(a.beta2, float64(t))
	rate := float32(float64(alpha) * exact.Sqrt(c2) / c1)
	b1, b2, eps := float32(a.beta1), float32(a.beta2), float32(a.epsilon)
	r1, r2 := float32(1-a.beta1), float32(1-a.beta2)
	for i, g := range grad {
		m[i] = float32(b1*m[i]) + float32(r1*g)
		v[i] = float32(b2*v[i]) + float32(r2*float32(g*g))
		theta[i] += float32(rate*m[i]) / (exact.Sqrt32(v[i]) + eps)
	}
}
