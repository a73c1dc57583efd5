package evolve

import (
	"github.com/evoswarm/evoswarm/internal/cores"
	"github.com/evoswarm/evoswarm/internal/kernel"
)

// sumBlock is the number of parameters summed at a time: 4 KiB of the sum and 4 KiB of noise stay in the
// first-level cache while all seeds pass. It is a multiple of the block size of package noise.
const sumBlock = 1024

// eachBlock calls f for consecutive ranges lo .. hi-1 of 0 .. dim-1, on all cores if there is enough work.
// Ranges begin at multiples of sumBlock and are independent, so the result does not depend on the number of
// cores.
func eachBlock(dim, terms int, f func(lo, hi int)) {
	blocks := (dim + sumBlock - 1) / sumBlock
	block := func(b int) { f(b*sumBlock, min((b+1)*sumBlock, dim)) }
	cores.EachIfLarge(blocks, sumBlock*terms, block)
}

// term is one term of a sum of perturbations.
type term struct {
	seed uint64
	coef float32
}

// accumulate adds coef*eps(seed) to dst for each term in order; each product is rounded first. Terms with
// coefficient 0 are skipped. Bit exact.
func accumulate(dst []float32, terms []term) {
	eachBlock(len(dst), len(terms), func(lo, hi int) {
		for _, t := range terms {
			if t.coef != 0 {
				kernel.Accumulate(dst[lo:hi], t.coef, t.seed, lo)
			}
		}
	})
}

// moment holds the weights of one perturbation in two sums, of eps and of eps squared.
type moment struct {
	seed          uint64
	first, second float32
}

// moments returns, for each parameter, the sums of first*eps(seed) and of second*(eps(seed)^2 - 1) over all
// terms, in their order; every operation rounds to float32. Perturbations whose weights are both 0 are not
// generated. Bit exact.
func moments(dim int, terms []moment) (first, second []float32) {
	first, second = make([]float32, dim), make([]float32, dim)
	eachBlock(dim, len(terms), func(lo, hi int) {
		var eps [sumBlock]float32
		for _, t := range terms {
			if t.first == 0 && t.second == 0 {
				continue
			}
			kernel.Normal(eps[:hi-lo], t.seed, lo)
			addMoments(first[lo:hi], second[lo:hi], eps[:hi-lo], t)
		}
	})
	return first, second
}

// addMoments adds one perturbation to the sums. All slices have the same length.
func addMoments(first, second, eps []float32, t moment) {
	first, second = first[:len(eps)], second[:len(eps)]
	for i, e := range eps {
		first[i] += float32(t.first * e)
		second[i] += float32(t.second * (float32(e*e) - 1))
	}
}

// eachEps calls f with eps(seed) for every seed, range by range: eps holds the components lo .. lo+len(eps)-1
// and is valid until f returns; k is the index of the seed. Ranges may run concurrently; within a range seeds
// come in order.
func eachEps(dim int, seeds []uint64, f func(k, lo int, eps []float32)) {
	eachBlock(dim, len(seeds), func(lo, hi int) {
		var eps [sumBlock]float32
		for k, seed := range seeds {
			kernel.Normal(eps[:hi-lo], seed, lo)
			f(k, lo, eps[:hi-lo])
		}
	})
}

// perturbEach writes theta + sign*sigma*eps(seed) to dst, with a sigma per parameter; each product is rounded
// first. All slices have the same length. It does not allocate. Bit exact.
func perturbEach(dst, theta, sigma []float32, sign float32, seed uint64) {
	const part = 512
	var eps [part]float32
	for lo := 0; lo < len(dst); lo += part {
		n := min(part, len(dst)-lo)
		kernel.Normal(eps[:n], seed, lo)
		d, t, s := dst[lo:lo+n], theta[lo:lo+n], sigma[lo:lo+n]
		for i, e := range eps[:n] {
			d[i] = t[i] + float32(float32(sign*s[i])*e)
		}
	}
}
