package evolve

import (
	"github.com/evoswarm/evoswarm/internal/exact"
	"github.com/evoswarm/evoswarm/internal/kernel"
)

// snesMethod is the separable natural evolution strategy.
func snesMethod() Method {
	m := Method{
		Name:     "snes",
		Revision: 1,
		Doc: "Separable natural evolution strategy (Schaul et al. 2011; Wierstra et al., \"Natural Evolution " +
			"Strategies\", 2014, algorithm 6): the natural gradient of the expected utility, a function of the " +
			"rank, moves the mean and one standard deviation for each parameter. Equal fitness has equal " +
			"utility; a generation in which all fitness is equal moves nothing.",
		Settings: nesSettings(),
	}
	m.build = func(p Params, size Size) (Strategy, error) {
		n := float64(size.Dim)
		return &snes{size.Dim, newNES(p, (3+exact.Log(n))/(5*exact.Sqrt(n)), size), newGrowth(size)}, atLeastTwo(m.Name, size)
	}
	return m
}

// nesSettings are the settings of both natural evolution strategies.
func nesSettings() []Setting {
	return []Setting{
		{Name: "alpha", Doc: "learning rate of the mean", Default: 1.0, Min: 1e-6, Max: 10},
		{Name: "sigma", Doc: "initial standard deviation of each parameter", Default: 0.5, Min: 1e-6, Max: 1000},
		{Name: "sigma_alpha", Doc: "learning rate of the standard deviations or the covariance, as a multiple of the one in Wierstra et al.", Default: 1.0, Min: 0, Max: 10},
	}
}

// nes holds the settings of a natural evolution strategy. eta is the learning rate of the logarithm of the covariance.
type nes struct {
	sigma, alpha, eta float64
	pooled            bool // whether results of several states are ranked together
}

// newNES reads nesSettings; eta is the learning rate in the papers.
func newNES(p Params, eta float64, size Size) nes {
	return nes{p.number("sigma"), p.number("alpha"), p.number("sigma_alpha") * eta, size.Pooled}
}

// decisive returns the results with the largest utilities.
func (s nes) decisive(results []Result, n int) []int {
	if !informative(results) {
		return nil
	}
	return heaviest(nesByState(results, s.pooled), n)
}

type snes struct {
	dim int
	nes
	growth growth
}

// Antithetic implements Strategy: false.
func (c *snes) Antithetic() bool { return false }

// Shape implements Strategy: the mean and the standard deviations.
func (c *snes) Shape() Shape {
	return Shape{c.dim, []SlotShape{{"nes/mean", Float64, c.dim}, {"nes/sigma", Float64, c.dim}}}
}

// Init implements Strategy.
func (c *snes) Init(theta []float32) *State {
	s := c.Shape().State(theta)
	widen(s.Slots[0].Reals, theta)
	for i := range s.Slots[1].Reals {
		s.Slots[1].Reals[i] = c.sigma
	}
	return s
}

// Candidate implements Strategy: mean + sigma * eps(seed).
func (c *snes) Candidate(dst []float32, s *State, seed uint64, _ float32) {
	mean, sigma := s.Slots[0].Reals, s.Slots[1].Reals
	kernel.Normal(dst, seed, 0)
	for i, m := range mean {
		dst[i] = float32(bounded(m + float64(sigma[i]*float64(dst[i]))))
	}
}

// Apply implements Strategy. If all fitness is equal, only Gen changes.
func (c *snes) Apply(s *State, results []Result) *State {
	next := s.Clone()
	next.Gen++
	if !informative(results) {
		return next
	}
	mean, sigma := next.Slots[0].Reals, next.Slots[1].Reals
	u := nesByState(results, c.pooled)
	first, second := make([]float64, c.dim), make([]float64, c.dim) // the natural gradients
	eachEps(c.dim, seedsOf(results), func(k, lo int, eps []float32) {
		w, a, b := u[k], first[lo:lo+len(eps)], second[lo:lo+len(eps)]
		for i, e := range eps {
			x := float64(e)
			a[i] += float64(w * x)
			b[i] += float64(w * (float64(x*x) - 1))
		}
	})
	alpha := float64(c.alpha * c.growth.of(results))
	for i, g := range first {
		mean[i] = bounded(mean[i] + float64(alpha*float64(sigma[i]*g)))
		grown := float64(sigma[i] * exact.Exp(float64(c.eta/2*second[i])))
		sigma[i] = min(max(grown, minSigma), maxSigma)
	}
	roundTo(next.Theta, mean)
	return next
}

// Decisive implements Strategy: the results with the largest utilities.
func (c *snes) Decisive(results []Result, n int) []int { return c.decisive(results, n) }
