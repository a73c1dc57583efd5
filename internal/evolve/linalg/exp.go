package linalg

import "github.com/evoswarm/evoswarm/internal/exact"

// maxExponent bounds the exponents of Exp: e^maxExponent is far from overflow.
const maxExponent = 500

// Exp sets dst to the exponential of the packed symmetric matrix a of order n, all
// n*n elements row by row (the result is symmetric, to the bit). Eigenvalues beyond
// -500 and 500 are taken for -500 and 500, so that no finite a gives an infinite or
// a zero exponential. It reports false, with dst unspecified, where Eigen does. Bit
// exact.
func Exp(dst, a []float64, n int) bool {
	values, vectors := make([]float64, n), make([]float64, n*n)
	if !Eigen(values, vectors, a) {
		return false
	}
	for k, x := range values {
		values[k] = exact.Exp(min(max(x, -maxExponent), maxExponent))
	}
	Compose(dst, values, vectors)
	return true
}

// Compose sets dst, n*n elements row by row, to the sum over k in ascending order of
// values[k] v_k v_k^T, where v_k = vectors[k*n:(k+1)*n] and n is the number of
// columns, the square root of len(dst). There may be fewer values than columns. The
// result is symmetric, to the bit. Bit exact.
func Compose(dst, values, vectors []float64) {
	clear(dst)
	if len(values) == 0 {
		return
	}
	n := len(vectors) / len(values)
	for k, x := range values {
		v := vectors[k*n : (k+1)*n]
		for i, c := range v {
			AddScaled(dst[i*n:i*n+i+1], float64(x*c), v[:i+1])
		}
	}
	for i := range n {
		for j := range i {
			dst[j*n+i] = dst[i*n+j]
		}
	}
}
