package evolve

import (
	"cmp"

	"github.com/evoswarm/evoswarm/internal/cores"
	"github.com/evoswarm/evoswarm/internal/evolve/linalg"
	"github.com/evoswarm/evoswarm/internal/exact"
	"github.com/evoswarm/evoswarm/internal/kernel"
)

// cmaMethod is CMA-ES with a full covariance matrix.
func cmaMethod() Method {
	m := Method{
		Name:     "cma-es",
		Revision: 1,
		Doc: "Covariance matrix adaptation (Hansen, \"The CMA Evolution Strategy: A Tutorial\", 2016, with " +
			"negative weights, and the defaults of pycma 4): candidates are drawn from a normal distribution " +
			"whose mean, step size and full covariance adapt to the ranks of the fitness. At most 1024 " +
			"parameters. Equal fitness has equal weight; a generation in which all fitness is equal moves " +
			"nothing and increases sigma, up to 10 times its initial value, to leave a plateau.",
		Settings: cmaSettings(),
	}
	m.build = func(p Params, size Size) (Strategy, error) {
		sigma, err := newSigmaRange(m.Name, p)
		return &cmaES{size.Dim, sigma}, cmp.Or(err, atLeastTwo(m.Name, size), notTooFull(m.Name, "sep-cma-es", size))
	}
	return m
}

type cmaES struct {
	dim   int
	sigma sigmaRange
}

// cmaState gives names to the slots of a state of cmaES.
type cmaState struct {
	cmaWalk
	// cov is the covariance without the factor sigma^2, packed as in linalg.
	cov []float64
	// axes holds the eigenvectors of cov at its last decomposition, one per row, and scales the square roots of its
	// eigenvalues. Candidates are drawn from these.
	axes, scales []float64
}

func (c *cmaES) view(s *State) cmaState {
	return cmaState{walkOf(s), s.Slots[4].Reals, s.Slots[5].Reals, s.Slots[6].Reals}
}

// Antithetic implements Strategy: false.
func (c *cmaES) Antithetic() bool { return false }

// Shape implements Strategy: mean, paths, sigma, covariance and its decomposition.
func (c *cmaES) Shape() Shape {
	return Shape{c.dim, cmaSlots(c.dim, SlotShape{"cma/cov", Float64, linalg.Packed(c.dim)},
		SlotShape{"cma/axes", Float64, c.dim * c.dim}, SlotShape{"cma/scales", Float64, c.dim})}
}

// Init implements Strategy: the covariance is the identity.
func (c *cmaES) Init(theta []float32) *State {
	s := c.Shape().State(theta)
	v := c.view(s)
	widen(v.mean, theta)
	v.sigma[0] = c.sigma.start
	for i := range c.dim {
		linalg.Row(v.cov, i)[i] = 1
		v.axes[i*c.dim+i] = 1
		v.scales[i] = 1
	}
	return s
}

// Candidate implements Strategy: mean + sigma * sum of axis * scale * eps(seed).
func (c *cmaES) Candidate(dst []float32, s *State, seed uint64, _ float32) {
	var eps [maxFull]float32
	var z, y [maxFull]float64
	v, n := c.view(s), c.dim
	kernel.Normal(eps[:n], seed, 0)
	widen(z[:n], eps[:n])
	v.transform(y[:n], z[:n])
	for i, m := range v.mean {
		dst[i] = float32(bounded(m + float64(v.sigma[0]*y[i])))
	}
}

// transform sets y to the sum of axis * scale * z over the axes in their order.
func (v cmaState) transform(y, z []float64) {
	n := len(z)
	clear(y)
	for k, scale := range v.scales {
		linalg.AddScaled(y, float64(scale*z[k]), v.axes[k*n:(k+1)*n])
	}
}

// Apply implements Strategy. If all fitness is equal, only Gen and sigma change.
func (c *cmaES) Apply(s *State, results []Result) *State {
	next := s.Clone()
	next.Gen++
	if len(results) < 2 || !valid(results, false) {
		return next
	}
	v := c.view(next)
	rates := newCMARates(c.dim, len(results), 1, true)
	if !informative(results) {
		c.sigma.escape(v.sigma, rates)
		return next
	}
	v.learn(rates, results, next.Gen)
	if next.Gen%rates.lazy(c.dim) == 0 {
		v.decompose()
	}
	c.sigma.hold(v.sigma)
	roundTo(next.Theta, v.mean)
	return next
}

// learn updates everything but the decomposition.
func (v cmaState) learn(rates cmaRates, results []Result, gen uint64) {
	n := len(v.mean)
	weights, parents := rates.of(oneSign(results))
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	mean, outer := v.moments(results, weights, parents)
	step, white := make([]float64, n), make([]float64, n)
	v.transform(step, mean)
	for k, x := range mean {
		linalg.AddScaled(white, x, v.axes[k*n:(k+1)*n])
	}
	c1 := v.step(rates, gen, step, white)
	linalg.Scale(v.cov, 1-c1-float64(rates.cmu*sum))
	linalg.AddScaled(v.cov, rates.cmu, outer)
	linalg.AddOuter(v.cov, []float64{rates.c1}, v.pathC, n)
}

// momentBlock is the number of candidates processed at a time, so that memory does not grow with the population.
const momentBlock = 64

// moments returns the sum over the results of parents times eps, and the packed sum of weights times y y^T,
// where y is eps transformed. The y of negative weights are shortened.
func (v cmaState) moments(results []Result, weights, parents []float64) (mean, outer []float64) {
	n := len(v.mean)
	mean, outer = make([]float64, n), make([]float64, linalg.Packed(n))
	z, y := make([]float64, momentBlock*n), make([]float64, momentBlock*n)
	scaled := make([]float64, momentBlock)
	for first := 0; first < len(results); first += momentBlock {
		part := results[first:min(first+momentBlock, len(results))]
		cores.EachIfLarge(len(part), n*n, func(k int) {
			zk := z[k*n : (k+1)*n]
			var eps [maxFull]float32
			kernel.Normal(eps[:n], part[k].Seed, 0)
			widen(zk, eps[:n])
			v.transform(y[k*n:(k+1)*n], zk)
			scaled[k] = shortened(weights[first+k], n, linalg.Dot(zk, zk))
		})
		for k := range part {
			linalg.AddScaled(mean, parents[first+k], z[k*n:(k+1)*n])
		}
		linalg.AddOuter(outer, scaled[:len(part)], y, n)
	}
	return mean, outer
}

// decompose brings axes and scales up to date with the covariance, which it holds to
// the condition and to the range of rescale.
func (v cmaState) decompose() {
	n := len(v.mean)
	values, axes := make([]float64, n), make([]float64, n*n)
	if !linalg.Eigen(values, axes, v.cov) || !(values[n-1] > 0) {
		return // not known to happen; the old axes remain in use
	}
	if lift := values[n-1]/condition - values[0]; lift > 0 {
		for i := range values {
			values[i] += lift
			linalg.Row(v.cov, i)[i] += lift
		}
	}
	if f := v.rescale(values[n-1]); f != 1 {
		linalg.Scale(v.cov, f)
		linalg.Scale(values, f)
	}
	for i, x := range values {
		v.scales[i] = exact.Sqrt(x)
	}
	copy(v.axes, axes)
}

// Decisive implements Strategy: the parents with the largest weights.
func (c *cmaES) Decisive(results []Result, n int) []int { return decisiveParents(c.dim, results, n) }
