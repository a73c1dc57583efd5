package evolve

import (
	"cmp"

	"github.com/evoswarm/evoswarm/internal/evolve/linalg"
	"github.com/evoswarm/evoswarm/internal/exact"
	"github.com/evoswarm/evoswarm/internal/kernel"
)

// xnesMethod is the exponential natural evolution strategy.
func xnesMethod() Method {
	m := Method{
		Name:     "xnes",
		Revision: 1,
		Doc: "Exponential natural evolution strategy (Glasmachers et al. 2010; Wierstra et al., \"Natural " +
			"Evolution Strategies\", 2014, algorithm 5): the natural gradient of the expected utility, a " +
			"function of the rank, moves the mean and a root of the full covariance. At most 1024 parameters. " +
			"Equal fitness has equal utility; a generation in which all fitness is equal moves nothing.",
		Settings: nesSettings(),
	}
	m.build = func(p Params, size Size) (Strategy, error) {
		n := float64(size.Dim)
		eta := 3 * (3 + exact.Log(n)) / (5 * n * exact.Sqrt(n))
		return &xnes{size.Dim, newNES(p, eta, size)}, cmp.Or(atLeastTwo(m.Name, size), notTooFull(m.Name, "snes", size))
	}
	return m
}

type xnes struct {
	dim int
	nes
}

// Antithetic implements Strategy: false.
func (c *xnes) Antithetic() bool { return false }

// Shape implements Strategy: the mean, and the columns of a root A of the covariance A A^T, one after another.
func (c *xnes) Shape() Shape {
	return Shape{c.dim, []SlotShape{{"nes/mean", Float64, c.dim}, {"nes/root", Float64, c.dim * c.dim}}}
}

// Init implements Strategy: the root is sigma times the identity.
func (c *xnes) Init(theta []float32) *State {
	s := c.Shape().State(theta)
	widen(s.Slots[0].Reals, theta)
	for i := range c.dim {
		s.Slots[1].Reals[i*c.dim+i] = c.sigma
	}
	return s
}

// Candidate implements Strategy: mean + A eps(seed).
func (c *xnes) Candidate(dst []float32, s *State, seed uint64, _ float32) {
	var eps [maxFull]float32
	var y [maxFull]float64
	mean, root, n := s.Slots[0].Reals, s.Slots[1].Reals, c.dim
	kernel.Normal(eps[:n], seed, 0)
	for k, e := range eps[:n] {
		linalg.AddScaled(y[:n], float64(e), root[k*n:(k+1)*n])
	}
	for i, m := range mean {
		dst[i] = float32(bounded(m + y[i]))
	}
}

// Apply implements Strategy: mean + alpha A G and A exp(eta/2 M), where G and M are the sums of utility times
// eps and utility times eps eps^T. If all fitness is equal, only Gen changes.
func (c *xnes) Apply(s *State, results []Result) *State {
	next := s.Clone()
	next.Gen++
	if !informative(results) {
		return next
	}
	n := c.dim
	mean, root := next.Slots[0].Reals, next.Slots[1].Reals
	grad, values, vectors := c.gradient(results)
	if values == nil {
		return next // not known to happen
	}
	for k, g := range grad {
		linalg.AddScaled(mean, float64(c.alpha*g), root[k*n:(k+1)*n])
	}
	for i, x := range mean {
		mean[i] = bounded(x)
	}
	// The columns of A exp(M) are the rows of exp(M) A^T, since M is symmetric.
	linalg.MultiplyExp(root, values, vectors, n)
	if top := largest(root); !(top > minSigma && top < maxSigma) {
		copy(root, s.Slots[1].Reals) // the root has left its bounds: keep the old one
	}
	roundTo(next.Theta, mean)
	return next
}

// gradient returns the sum of utility times eps, and the eigenvalues and eigenvectors of eta/2 times the sum
// of utility times eps eps^T. (The utilities sum to 0, so eps eps^T less the identity gives the same.) values
// is nil if Eigen fails.
func (c *xnes) gradient(results []Result) (grad, values, vectors []float64) {
	n := c.dim
	grad = make([]float64, n)
	few := 2*len(results) <= n
	room := momentBlock
	if few {
		room = len(results)
	}
	eps, z, w := make([]float32, n), make([]float64, room*n), make([]float64, 0, room)
	outer := make([]float64, linalg.Packed(n))
	for k, u := range nesUtilities(oneSign(results)) {
		kernel.Normal(eps, results[k].Seed, 0)
		row := z[len(w)*n : (len(w)+1)*n]
		widen(row, eps)
		linalg.AddScaled(grad, u, row)
		w = append(w, float64(c.eta/2*u))
		if !few && (len(w) == room || k == len(results)-1) {
			linalg.AddOuter(outer, w, z, n)
			w = w[:0]
		}
	}
	if few {
		values, vectors, _ = linalg.EigenOuter(w, z, n)
		return grad, values, vectors
	}
	values, vectors = make([]float64, n), make([]float64, n*n)
	if !linalg.Eigen(values, vectors, outer) {
		return nil, nil, nil
	}
	return grad, values, vectors
}

// largest returns the largest magnitude in x.
func largest(x []float64) float64 {
	top := 0.0
	for _, v := range x {
		top = max(top, exact.Abs(v))
	}
	return top
}

// Decisive implements Strategy: the results with the largest utilities.
func (c *xnes) Decisive(results []Result, n int) []int { return c.decisive(results, n) }
