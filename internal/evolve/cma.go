package evolve

import (
	"fmt"
	"sort"

	"github.com/evoswarm/evoswarm/internal/evolve/linalg"
	"github.com/evoswarm/evoswarm/internal/exact"
)

// cmaSettings are the settings of both forms of CMA-ES.
func cmaSettings() []Setting {
	return []Setting{
		{Name: "sigma", Doc: "initial step size: the standard deviation of each parameter", Default: 0.5, Min: 1e-6, Max: 1000},
		{Name: "sigma_max", Doc: "ceiling over the adapting step size", Default: 1e6, Min: 1e-6, Max: 1e12},
		{Name: "sigma_min", Doc: "floor under the adapting step size", Default: 0.0, Min: 0, Max: 1000},
	}
}

// sigmaRange is the initial step size of CMA-ES and its bounds.
type sigmaRange struct{ start, floor, ceiling float64 }

// newSigmaRange reads cmaSettings. The error wraps ErrParams.
func newSigmaRange(method string, p Params) (sigmaRange, error) {
	r := sigmaRange{start: p.number("sigma"), floor: p.number("sigma_min"), ceiling: p.number("sigma_max")}
	if r.floor > r.start || r.start > r.ceiling {
		return r, fmt.Errorf("%w: %s: sigma is %v, want a number from sigma_min (%v) to sigma_max (%v)",
			ErrParams, method, r.start, r.floor, r.ceiling)
	}
	r.floor = max(r.floor, minSigma)
	return r, nil
}

// hold clamps sigma, a slice of length 1, to the range.
func (r sigmaRange) hold(sigma []float64) {
	sigma[0] = min(max(sigma[0], r.floor), r.ceiling)
}

// plateauSpread bounds how far plateaus can make sigma grow, as a multiple of its initial value.
const plateauSpread = 10

// escape increases sigma after a generation on a plateau, where all candidates had the same fitness. The
// factor is the one of Hansen's tutorial (2016), appendix C; the bound is ours, since on an endless plateau a
// larger sigma finds nothing more.
func (r sigmaRange) escape(sigma []float64, rates cmaRates) {
	grown := float64(sigma[0] * exact.Exp(0.2+rates.cs/rates.damps))
	sigma[0] = max(sigma[0], min(grown, plateauSpread*r.start))
	r.hold(sigma)
}

// cmaRates are the weights and learning rates of CMA-ES, which follow from the numbers of parameters and candidates.
//
// Source: Hansen, "The CMA Evolution Strategy: A Tutorial" (arXiv 1604.00772, 2016),
// equations 49 to 58; c1 of few candidates, and the 0.25 in cmu, as in pycma 4.
type cmaRates struct {
	// weights by rank, best first. The positive weights, those of the better half, sum to 1 and move the
	// mean; the negative ones act on the covariance alone.
	weights []float64
	// mueff is the variance effective selection mass of the positive weights.
	mueff float64
	// cs is the decay rate of sigma's evolution path, damps the damping of sigma.
	cs, damps float64
	// cc is the decay rate of the covariance's evolution path; c1 and cmu are the learning rates of the
	// rank-one and the rank-mu update.
	cc, c1, cmu float64
	// chi approximates the expected length of a standard normal vector.
	chi float64
}

// newCMARates computes the rates for n parameters and count candidates, at least 2. speed multiplies c1 and
// cmu: 1 for a full covariance, (n+2)/3 for a diagonal one. Negative weights are 0 unless active. Bit exact.
func newCMARates(n, count int, speed float64, active bool) cmaRates {
	d := float64(n)
	r := cmaRates{weights: make([]float64, count)}
	middle := exact.Log(float64(count+1) / 2)
	for i := range r.weights {
		r.weights[i] = middle - exact.Log(float64(i+1))
	}
	positive, negative := halves(r.weights)
	r.mueff = unitSum(positive)
	mueffMinus := unitSum(negative)

	r.cs = (r.mueff + 2) / (d + r.mueff + 3)
	r.damps = 1 + float64(2*max(0, exact.Sqrt((r.mueff-1)/(d+1))-1)) + r.cs
	r.cc = (4 + r.mueff/d) / (d + 4 + float64(2*r.mueff)/d)
	a, b := d+1.3, d+2
	r.c1 = min(1, 2*float64(speed*min(1, float64(count)/6))/(float64(a*a)+r.mueff))
	r.cmu = min(1-r.c1, speed*2*(r.mueff+1/r.mueff-1.75)/(float64(b*b)+r.mueff))
	r.chi = exact.Sqrt(d) * (1 - 1/float64(4*d) + 1/float64(21*float64(d*d)))

	limit := 0.0
	if active {
		limit = min(1+r.c1/r.cmu, 1+float64(2*mueffMinus)/(r.mueff+2), max(0, 1-r.c1-r.cmu)/(d*r.cmu))
	}
	for i := range negative {
		negative[i] *= -limit
	}
	return r
}

// halves splits weights in descending order into the positive and the negative ones.
func halves(weights []float64) (positive, negative []float64) {
	i := sort.Search(len(weights), func(i int) bool { return weights[i] <= 0 })
	j := sort.Search(len(weights), func(i int) bool { return weights[i] < 0 })
	return weights[:i], weights[j:]
}

// unitSum divides w, whose values have one sign, by its sum and returns 1 over the sum of the squares.
func unitSum(w []float64) float64 {
	sum, squares := 0.0, 0.0
	for _, x := range w {
		sum += x
	}
	for i := range w {
		w[i] /= sum
		squares += float64(w[i] * w[i])
	}
	return 1 / squares
}

// of returns the weight of each fitness by its rank, and the same weights with negative ones set to 0. Equal
// fitness shares the mean weight of the ranks it covers.
func (r cmaRates) of(fitness []int64) (weights, parents []float64) {
	weights, parents = make([]float64, len(fitness)), make([]float64, len(fitness))
	eachTie(fitness, func(tied []int, first int) {
		sum, positive := 0.0, 0.0
		for _, w := range r.weights[first : first+len(tied)] {
			sum += w
			positive += max(w, 0)
		}
		for _, k := range tied {
			weights[k], parents[k] = sum/float64(len(tied)), positive/float64(len(tied))
		}
	})
	return weights, parents
}

// lazy returns the number of generations between two eigendecompositions of the covariance, chosen so that they do not
// dominate the cost (Hansen's tutorial, appendix B.2).
func (r cmaRates) lazy(n int) uint64 {
	return 1 + uint64(1/((r.c1+r.cmu)*float64(n)*10))
}

// shortened returns w unchanged unless it is negative. A negative w is scaled as if the squared length of the
// candidate's eps, a vector of n components, were the expected one, so that the covariance stays positive
// definite (tutorial, equation 46).
func shortened(w float64, n int, square float64) float64 {
	if w >= 0 {
		return w
	}
	return w * float64(n) / (square + 1e-9)
}

// decisiveParents returns the results with the largest weights among those that move the mean, in either form
// of CMA-ES.
func decisiveParents(dim int, results []Result, n int) []int {
	if !informative(results) {
		return nil
	}
	_, parents := newCMARates(dim, len(results), 1, false).of(oneSign(results))
	return heaviest(parents, n)
}

// informative reports whether the fitness of a strategy that is not antithetic ranks anything: whether two
// results differ.
func informative(results []Result) bool {
	for i := range results {
		if results[i].Fitness[0] != results[0].Fitness[0] {
			return true
		}
	}
	return false
}

// cmaWalk is what both forms of CMA-ES keep apart from the covariance. It shares memory with slots of a state, and its
// methods change them.
type cmaWalk struct {
	mean []float64
	// pathC and pathSigma are the evolution paths of the covariance and of sigma.
	pathC, pathSigma []float64
	// sigma has length 1.
	sigma []float64
}

// Names of the slots of both forms of CMA-ES.
const (
	slotMean      = "cma/mean"
	slotPathC     = "cma/path-c"
	slotPathSigma = "cma/path-sigma"
	slotSigma     = "cma/sigma"
)

// cmaSlots returns the slots of a cmaWalk followed by more.
func cmaSlots(dim int, more ...SlotShape) []SlotShape {
	return append([]SlotShape{
		{slotMean, Float64, dim}, {slotPathC, Float64, dim}, {slotPathSigma, Float64, dim}, {slotSigma, Float64, 1},
	}, more...)
}

// walkOf returns the slots of cmaSlots.
func walkOf(s *State) cmaWalk {
	return cmaWalk{s.Slots[0].Reals, s.Slots[1].Reals, s.Slots[2].Reals, s.Slots[3].Reals}
}

// step moves the mean by sigma times y, updates both evolution paths, and then sigma. white is y in
// coordinates in which the distribution is standard normal; gen counts the updates from 1. It returns c1,
// reduced while the covariance's path is stalled. Bit exact.
func (w cmaWalk) step(r cmaRates, gen uint64, y, white []float64) (c1 float64) {
	n := float64(len(w.mean))
	for i, v := range y {
		w.mean[i] = bounded(w.mean[i] + float64(w.sigma[0]*v))
	}
	linalg.Scale(w.pathSigma, 1-r.cs)
	linalg.AddScaled(w.pathSigma, exact.Sqrt(r.cs*(2-r.cs)*r.mueff), white)
	square := linalg.Dot(w.pathSigma, w.pathSigma)

	// While sigma's path is long, sigma grows; the covariance must not grow as well.
	begun := 1 - exact.Pow(1-r.cs, 2*float64(gen))
	linalg.Scale(w.pathC, 1-r.cc)
	kept := float64(r.cc * (2 - r.cc))
	c1 = r.c1
	if square/begun < n*(2+4/(n+1)) {
		linalg.AddScaled(w.pathC, exact.Sqrt(kept*r.mueff), y)
	} else {
		c1 = r.c1 * (1 - kept)
	}
	change := float64(r.cs / r.damps * (exact.Sqrt(square)/r.chi - 1))
	w.sigma[0] *= exact.Exp(min(1, change))
	return c1
}

// condition is the largest ratio of the covariance's eigenvalues.
const condition = 1e14

// The largest eigenvalue of the covariance is kept between 1/maxSpread and maxSpread, a power of four, by
// moving factors into sigma.
const (
	maxSpread     = 0x1p40
	maxSpreadRoot = 0x1p20
)

// rescale moves a factor of the covariance, whose largest eigenvalue is top, into sigma and returns the
// factor by which the caller must multiply the covariance, usually 1. It is a power of four, so the
// distribution does not change.
func (w cmaWalk) rescale(top float64) float64 {
	s := 1.0
	switch {
	case top > maxSpread:
		s = maxSpreadRoot
	case top < 1/maxSpread:
		s = 1 / maxSpreadRoot
	default:
		return 1
	}
	w.sigma[0] *= s
	linalg.Scale(w.pathC, 1/s)
	return 1 / (s * s)
}

// Bounds for the parameters and step sizes of strategies that compute in float64: far beyond any use, and far
// enough inside the range of float32 that nothing overflows.
const (
	maxTheta = 1e30
	minSigma = 1e-30
	maxSigma = 1e20
)

// bounded clamps x to the range of a parameter; NaN becomes the lower bound.
func bounded(x float64) float64 {
	switch {
	case x > maxTheta:
		return maxTheta
	case x >= -maxTheta:
		return x
	}
	return -maxTheta
}

// roundTo sets theta to mean, rounded to float32.
func roundTo(theta []float32, mean []float64) {
	for i, x := range mean {
		theta[i] = float32(x)
	}
}

// widen converts eps to float64 in x.
func widen(x []float64, eps []float32) {
	for i, v := range eps {
		x[i] = float64(v)
	}
}

// seedsOf returns the seeds of all results.
func seedsOf(results []Result) []uint64 {
	seeds := make([]uint64, len(results))
	for i := range results {
		seeds[i] = results[i].Seed
	}
	return seeds
}

// atLeastTwo returns an error that wraps ErrParams if the population is too small to be ranked.
func atLeastTwo(method string, size Size) error {
	if size.Population < 2 {
		return fmt.Errorf("%w: %s: population is %d, want at least 2", ErrParams, method, size.Population)
	}
	return nil
}

// maxFull is the largest dimension of a strategy with a full covariance.
const maxFull = 1024

// notTooFull returns an error that wraps ErrParams for a dimension beyond maxFull.
func notTooFull(method, instead string, size Size) error {
	if size.Dim > maxFull {
		return fmt.Errorf("%w: %s: dimension is %d, want 1 to %d, since it stores a matrix of that order; use %s",
			ErrParams, method, size.Dim, maxFull, instead)
	}
	return nil
}
