package evolve

import (
	"github.com/evoswarm/evoswarm/internal/cores"
	"github.com/evoswarm/evoswarm/internal/kernel"
)

// sumBlock is how many parameters are summed at a time: 4 KiB of the sum and 4 KiB of
// noise stay in the first cache while all seeds pass. A multiple of noise's blocks.
const sumBlock = 1024

// eachBlock calls f for consecutive parts lo .. hi-1 of 0 .. dim-1, on all cores if
// there is enough to do. Parts begin at multiples of sumBlock and share nothing, so the
// result does not depend on who computes which.
func eachBlock(dim, terms int, f func(lo, hi int)) {
	blocks := (dim + sumBlock - 1) / sumBlock
	block := func(b int) { f(b*sumBlock, min((b+1)*sumBlock, dim)) }
	// A short sum is over before another core has begun.
	if dim*terms < 1<<18 {
		for b := range blocks {
			block(b)
		}
		return
	}
	cores.Each(blocks, block)
}

// term is one perturbation of a sum.
type term struct {
	seed uint64
	coef float32
}

// accumulate adds coef*eps(seed) for each term to dst, in the order of the terms, each
// product rounded first. Terms with the coefficient 0 are left out. Bit exact.
func accumulate(dst []float32, terms []term) {
	eachBlock(len(dst), len(terms), func(lo, hi int) {
		for _, t := range terms {
			if t.coef != 0 {
				kernel.Accumulate(dst[lo:hi], t.coef, t.seed, lo)
			}
		}
	})
}

// eachEps calls f with eps(seed) for every seed in order, part by part: eps holds the
// components lo .. lo+len(eps)-1 and lasts until f returns. Several parts may run at
// once; within a part seeds come in their order. k is the index of the seed.
func eachEps(dim int, seeds []uint64, f func(k, lo int, eps []float32)) {
	eachBlock(dim, len(seeds), func(lo, hi int) {
		var eps [sumBlock]float32
		for k, seed := range seeds {
			kernel.Normal(eps[:hi-lo], seed, lo)
			f(k, lo, eps[:hi-lo])
		}
	})
}

// perturbEach writes theta + sign*sigma*eps(seed) to dst, with a sigma for each
// parameter; each product is rounded first. All have one length. It does not allocate.
// Bit exact.
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
