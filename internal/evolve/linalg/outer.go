package linalg

import (
	"github.com/evoswarm/evoswarm/internal/cores"
	"github.com/evoswarm/evoswarm/internal/exact"
)

// dependent is the fraction of the largest squared singular value below which EigenOuter counts a direction as linearly
// dependent.
const dependent = 1e-10

// EigenOuter computes the eigenvalues, except some zeros, and the eigenvectors of the n by n matrix that is
// the sum over k of weights[k] x_k x_k^T, where x_k = xs[k*n:(k+1)*n]. The r <= n values are in ascending
// order, and vectors[i*n:(i+1)*n] belongs to values[i]. For m <= n/2 vectors it takes about 4 n m^2
// operations instead of 9 n^3. It reports false, and returns nil slices, where Eigen fails. Bit exact.
func EigenOuter(weights, xs []float64, n int) (values, vectors []float64, ok bool) {
	if m := len(weights); 2*m <= n {
		return eigenFew(weights, xs, n)
	}
	values, vectors = make([]float64, n), make([]float64, n*n)
	a := make([]float64, Packed(n))
	AddOuter(a, weights, xs, n)
	if !Eigen(values, vectors, a) {
		return nil, nil, false
	}
	return values, vectors, true
}

// AddOuter adds weights[k] x_k x_k^T, where x_k = xs[k*n:(k+1)*n], to the packed symmetric matrix a, in
// ascending order of k. Bit exact.
func AddOuter(a, weights, xs []float64, n int) {
	cores.EachIfLarge((n+rowPart-1)/rowPart, rowPart*n*len(weights)/2, func(part int) {
		for i := part * rowPart; i < min((part+1)*rowPart, n); i++ {
			row := Row(a, i)
			for k, w := range weights {
				x := xs[k*n : k*n+i+1]
				AddScaled(row, float64(w*x[i]), x)
			}
		}
	})
}

// eigenFew is EigenOuter in the subspace that the vectors span.
func eigenFew(weights, xs []float64, n int) (values, vectors []float64, ok bool) {
	base, coords, ok := span(xs, n)
	if !ok || len(base) == 0 {
		return nil, nil, ok
	}
	m, r := len(weights), len(base)/n
	// In this base the matrix is the sum of weights[k] c_k c_k^T, where c_k is column k of coords.
	core := make([]float64, Packed(r))
	weighted := make([]float64, m)
	for a := range r {
		for k, w := range weights {
			weighted[k] = float64(w * coords[a*m+k])
		}
		for b, row := 0, Row(core, a); b <= a; b++ {
			row[b] = Dot(weighted, coords[b*m:(b+1)*m])
		}
	}
	values = make([]float64, r)
	inner := make([]float64, r*r)
	if !Eigen(values, inner, core) {
		return nil, nil, false
	}
	vectors = make([]float64, r*n)
	for i := range r {
		for a, c := range inner[i*r : (i+1)*r] {
			AddScaled(vectors[i*n:(i+1)*n], c, base[a*n:(a+1)*n])
		}
	}
	return values, vectors, true
}

// span returns an orthonormal base of the subspace that the m vectors xs of length n span, r vectors of
// length n, and coords, r by m, so that x_k is the sum of coords[a*m+k] times base vector a. The base
// consists of the principal axes, found with Gram's matrix.
func span(xs []float64, n int) (base, coords []float64, ok bool) {
	m := len(xs) / n
	gram := make([]float64, Packed(m))
	for i := range m {
		for j, row := 0, Row(gram, i); j <= i; j++ {
			row[j] = Dot(xs[i*n:(i+1)*n], xs[j*n:(j+1)*n])
		}
	}
	squares, axes := make([]float64, m), make([]float64, m*m)
	if !Eigen(squares, axes, gram) {
		return nil, nil, false
	}
	for a, square := range squares {
		if !(square > float64(dependent*squares[m-1])) {
			continue
		}
		length := exact.Sqrt(square)
		v, axis := make([]float64, n), axes[a*m:(a+1)*m]
		for k, c := range axis {
			AddScaled(v, c/length, xs[k*n:(k+1)*n])
		}
		base = append(base, v...)
		for _, c := range axis {
			coords = append(coords, float64(length*c))
		}
	}
	return base, coords, true
}
