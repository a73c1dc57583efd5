package linalg

import "github.com/evoswarm/evoswarm/internal/exact"

// maxExponent bounds the magnitude of the exponents of MultiplyExp.
const maxExponent = 100

// MultiplyExp replaces the n by n matrix b, in row order, with exp(A) b, where A is the sum over k of
// values[k] v_k v_k^T and the v_k = vectors[k*n:(k+1)*n] are orthonormal; there may be fewer than n. Values
// are clamped to [-100, 100]. It takes 4 n^2 len(values) operations. Bit exact.
//
// As the v_k are orthonormal, exp(A) = I + the sum of (e^values[k] - 1) v_k v_k^T.
func MultiplyExp(b, values, vectors []float64, n int) {
	// Compute the rows v_k^T b first, since b changes below.
	rows := make([]float64, len(values)*n)
	for k := range values {
		row := rows[k*n : (k+1)*n]
		for j, c := range vectors[k*n : (k+1)*n] {
			AddScaled(row, c, b[j*n:(j+1)*n])
		}
	}
	for k, x := range values {
		gain := exact.Exp(min(max(x, -maxExponent), maxExponent)) - 1
		for j, c := range vectors[k*n : (k+1)*n] {
			AddScaled(b[j*n:(j+1)*n], float64(gain*c), rows[k*n:(k+1)*n])
		}
	}
}
