package evolve

import (
	"cmp"

	"github.com/evoswarm/evoswarm/internal/exact"
	"github.com/evoswarm/evoswarm/internal/kernel"
)

// sepMethod is CMA-ES with a diagonal covariance matrix.
func sepMethod() Method {
	m := Method{
		Name:     "sep-cma-es",
		Revision: 1,
		Doc: "CMA-ES with a diagonal covariance (Ros and Hansen, \"A Simple Modification in CMA-ES Achieving " +
			"Linear Time and Space Complexity\", 2008): one variance for each parameter, learned (n+2)/3 times " +
			"as fast as a full covariance, with negative weights as in pycma 4. Equal fitness has equal weight; a " +
			"generation in which all fitness is equal moves nothing and increases sigma, up to 10 times its " +
			"initial value, to leave a plateau.",
		Settings: cmaSettings(),
	}
	m.build = func(p Params, size Size) (Strategy, error) {
		sigma, err := newSigmaRange(m.Name, p)
		return &sepCMAES{size.Dim, sigma}, cmp.Or(err, atLeastTwo(m.Name, size))
	}
	return m
}

type sepCMAES struct {
	dim   int
	sigma sigmaRange
}

// sepState gives names to the slots of a state of sepCMAES.
type sepState struct {
	cmaWalk
	// scale holds the square roots of the covariance's diagonal, without the factor sigma.
	scale []float64
}

func (c *sepCMAES) view(s *State) sepState { return sepState{walkOf(s), s.Slots[4].Reals} }

// Antithetic implements Strategy: false.
func (c *sepCMAES) Antithetic() bool { return false }

// Shape implements Strategy: mean, paths, sigma and standard deviations.
func (c *sepCMAES) Shape() Shape {
	return Shape{c.dim, cmaSlots(c.dim, SlotShape{"cma/scale", Float64, c.dim})}
}

// Init implements Strategy: the covariance is the identity.
func (c *sepCMAES) Init(theta []float32) *State {
	s := c.Shape().State(theta)
	v := c.view(s)
	widen(v.mean, theta)
	v.sigma[0] = c.sigma.start
	for i := range v.scale {
		v.scale[i] = 1
	}
	return s
}

// Candidate implements Strategy: mean + sigma * scale * eps(seed).
func (c *sepCMAES) Candidate(dst []float32, s *State, seed uint64, _ float32) {
	v := c.view(s)
	kernel.Normal(dst, seed, 0)
	for i, m := range v.mean {
		dst[i] = float32(bounded(m + float64(float64(v.sigma[0]*v.scale[i])*float64(dst[i]))))
	}
}

// Apply implements Strategy. If all fitness is equal, only Gen and sigma change.
func (c *sepCMAES) Apply(s *State, results []Result) *State {
	next := s.Clone()
	next.Gen++
	if len(results) < 2 || !valid(results, false) {
		return next
	}
	v := c.view(next)
	rates := newCMARates(c.dim, len(results), float64(c.dim+2)/3, true)
	if !informative(results) {
		c.sigma.escape(v.sigma, rates)
		return next
	}
	v.learn(rates, results, next.Gen)
	c.sigma.hold(v.sigma)
	roundTo(next.Theta, v.mean)
	return next
}

// learn updates the mean, the paths, sigma and the scales.
func (v sepState) learn(rates cmaRates, results []Result, gen uint64) {
	n := len(v.mean)
	weights, parents := rates.of(oneSign(results))
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	white, squares := v.moments(results, weights, parents)
	y := make([]float64, n)
	for i, x := range white {
		y[i] = float64(v.scale[i] * x)
	}
	c1 := v.step(rates, gen, y, white)
	keep := 1 - c1 - float64(rates.cmu*sum)
	for i, x := range v.scale {
		p := v.pathC[i]
		variance := float64(float64(x*x)*(keep+float64(rates.cmu*squares[i]))) + float64(rates.c1*float64(p*p))
		v.scale[i] = exact.Sqrt(max(variance, 0))
	}
	v.limit()
}

// moments returns the sum of parents times eps over the results, and the sum of weights, shortened where
// negative, times the squares of eps.
func (v sepState) moments(results []Result, weights, parents []float64) (first, second []float64) {
	n := len(v.mean)
	lengths := v.lengths(results, weights)
	first, second = make([]float64, n), make([]float64, n)
	eachEps(n, seedsOf(results), func(k, lo int, eps []float32) {
		p, w, a, b := parents[k], shortened(weights[k], n, lengths[k]), first[lo:lo+len(eps)], second[lo:lo+len(eps)]
		for i, e := range eps {
			x := float64(e)
			a[i] += float64(p * x)
			b[i] += float64(w * float64(x*x))
		}
	})
	return first, second
}

// lengths returns the squared length of eps for each result with a negative weight, and 0 for the others.
func (v sepState) lengths(results []Result, weights []float64) []float64 {
	n := len(v.mean)
	var seeds []uint64
	for k, w := range weights {
		if w < 0 {
			seeds = append(seeds, results[k].Seed)
		}
	}
	// One sum per block, added in order afterwards, since blocks may run concurrently.
	blocks := (n + sumBlock - 1) / sumBlock
	parts := make([]float64, blocks*len(seeds))
	eachEps(n, seeds, func(k, lo int, eps []float32) {
		sum := 0.0
		for _, e := range eps {
			sum += float64(float64(e) * float64(e))
		}
		parts[k*blocks+lo/sumBlock] = sum
	})
	out := make([]float64, len(results))
	for k, w := range weights {
		if w < 0 {
			for _, x := range parts[:blocks] {
				out[k] += x
			}
			parts = parts[blocks:]
		}
	}
	return out
}

// limit bounds the condition of the covariance and keeps its largest eigenvalue in the range of rescale.
func (v sepState) limit() {
	top := 0.0
	for _, x := range v.scale {
		top = max(top, x)
	}
	least := top / exact.Sqrt(condition)
	f := exact.Sqrt(v.rescale(float64(top * top)))
	for i, x := range v.scale {
		v.scale[i] = f * max(x, least)
	}
}

// Decisive implements Strategy: the parents with the largest weights.
func (c *sepCMAES) Decisive(results []Result, n int) []int { return decisiveParents(c.dim, results, n) }
