package evolve

import "github.com/evoswarm/evoswarm/internal/kernel"

// moment is what one perturbation counts in two sums, of eps and of eps squared.
type moment struct {
	seed          uint64
	first, second float32
}

// moments returns for each parameter the sum of first*eps(seed) and that of
// second*(eps(seed)^2 - 1) over all terms, in their order; every operation rounds to
// float32. Perturbations that count in neither are not made. Bit exact.
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

// addMoments adds the part of one perturbation to the sums; all have one length.
func addMoments(first, second, eps []float32, t moment) {
	first, second = first[:len(eps)], second[:len(eps)]
	for i, e := range eps {
		first[i] += float32(t.first * e)
		second[i] += float32(t.second * (float32(e*e) - 1))
	}
}
