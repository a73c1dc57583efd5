package linalg

import (
	"math"
	"sort"

	"github.com/evoswarm/evoswarm/internal/cores"
	"github.com/evoswarm/evoswarm/internal/exact"
)

// Eigen computes the eigenvalues of the packed symmetric matrix a of order n = len(values), in ascending
// order, and its eigenvectors: vectors[k*n:(k+1)*n] belongs to values[k] and has length 1; its component of
// the largest magnitude (the first of equal ones) is positive. If a is a multiple of the identity, the
// vectors are the axes.
//
// vectors has length n*n; a has length Packed(n), is not changed and must not overlap the others. Eigen
// reports false, and leaves values and vectors unspecified, if an element of a is not finite, if an
// eigenvalue is beyond the range of float64, or if the iteration does not converge within its bound of 30
// sweeps per eigenvalue; no matrix that needs as many is known.
//
// For n up to 1,000, values are accurate to 1e-12 of the largest one, and vectors are orthogonal to 1e-12.
// Eigen takes about 9n^3 operations. Bit exact.
func Eigen(values, vectors, a []float64) bool {
	n := len(values)
	if n == 0 {
		return true
	}
	w := append([]float64(nil), a[:Packed(n)]...)
	exponent, ok := normalize(w)
	if !ok {
		return false
	}
	off, h := make([]float64, n), make([]float64, n)
	tridiagonal(w, values, off, h)
	reflections(vectors, w, h)
	if !implicitQL(values, off, vectors) {
		return false
	}
	ascending(values, vectors)
	for k := range n {
		values[k] = ldexp(values[k], exponent)
		if values[k]-values[k] != 0 {
			return false
		}
		orient(vectors[k*n : (k+1)*n])
	}
	return true
}

// normalize multiplies a by the power of two that brings its largest magnitude into [0.5, 1) and returns the
// exponent that undoes it. It reports false if an element is not finite.
func normalize(a []float64) (exponent int, ok bool) {
	top := 0.0
	for _, x := range a {
		if x-x != 0 {
			return 0, false
		}
		top = max(top, exact.Abs(x))
	}
	if top == 0 {
		return 0, true
	}
	// The exponent field of subnormal numbers is 0: scale them up first.
	shift := 0
	if top < 1e-300 {
		shift = 64
	}
	field := int(math.Float64bits(ldexp(top, shift))>>52) & 0x7ff
	exponent = field - 1022 - shift
	for i, x := range a {
		a[i] = ldexp(x, -exponent)
	}
	return exponent, true
}

// ldexp returns x * 2^k for |k| <= 2000. Only results below the normal range are rounded, possibly twice.
func ldexp(x float64, k int) float64 {
	for k > 1000 {
		x, k = float64(x*0x1p1000), k-1000
	}
	for k < -1000 {
		x, k = float64(x*0x1p-1000), k+1000
	}
	return float64(x * math.Float64frombits(uint64(k+1023)<<52))
}

// tiny is the sum of squares below which elements count as zero. They are below 1e-140 of the largest
// element, and their quotients would lose digits.
const tiny = 1e-280

// tridiagonal reduces the packed matrix w to a tridiagonal one by reflections H = I - u u^T / h, from the
// last row up. It sets diag to the diagonal and off[1:] to the elements left of it. Row i of w then begins
// with the vector u of the reflection of the coordinates below i, and h[i] is its h, 0 if there is none.
func tridiagonal(w, diag, off, h []float64) {
	n := len(diag)
	p := make([]float64, n)
	for i := n - 1; i >= 0; i-- {
		row := Row(w, i)
		diag[i] = row[i]
		if i == 0 {
			break
		}
		u := row[:i]
		f := u[i-1]
		rest := Dot(u[:i-1], u[:i-1])
		if rest < tiny {
			off[i] = f
			continue
		}
		square := float64(f*f) + rest
		g := -exact.Copysign(exact.Sqrt(square), f)
		off[i] = g
		u[i-1] = f - g
		h[i] = square - float64(f*g)
		reflect(w, u, p[:i], h[i])
	}
}

// reflect replaces the leading block B of w, of the order of u, with H B H, where H = I - u u^T / h. p is scratch.
func reflect(w, u, p []float64, h float64) {
	clear(p)
	for i, c := range u {
		row := Row(w, i)
		p[i] += Dot(row[:i], u[:i]) + float64(row[i]*c)
		AddScaled(p[:i], c, row[:i])
	}
	Scale(p, 1/h)
	AddScaled(p, -Dot(u, p)/(2*h), u)
	for i := range u {
		addScaled2(Row(w, i), -p[i], u, -u[i], p)
	}
}

// addScaled2 adds a*x and then b*y to dst.
func addScaled2(dst []float64, a float64, x []float64, b float64, y []float64) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = (dst[i] + float64(a*x[i])) + float64(b*y[i])
	}
}

// rowPart is the number of matrix rows in one part of the work.
const rowPart = 16

// reflections sets q, an n by n matrix in row order, to H_2 H_3 ... H_(n-1), the reflections that tridiagonal
// left in w and h.
func reflections(q, w, h []float64) {
	n := len(h)
	clear(q)
	for i := range n {
		q[i*n+i] = 1
	}
	cores.EachIfLarge((n+rowPart-1)/rowPart, rowPart*n*n, func(part int) {
		first := part * rowPart
		for i := max(2, first+1); i < n; i++ {
			if h[i] == 0 {
				continue
			}
			u := Row(w, i)[:i]
			for r := first; r < min(first+rowPart, i); r++ {
				row := q[r*n : r*n+i]
				AddScaled(row, -Dot(row, u)/h[i], u)
			}
		}
	})
}

// Limits of the QL iteration.
const (
	epsilon    = 0x1p-52
	negligible = 0x1p-105 // of an element next to a diagonal of zeros; the norm is about 1
	sweeps     = 30       // per eigenvalue, as in LAPACK's dsteqr
)

// implicitQL diagonalizes the tridiagonal matrix with the diagonal d and the elements off[1:] left of it, in place, and
// applies each rotation to the rows of q. It reports false if the iteration does not converge.
func implicitQL(d, off, q []float64) bool {
	n := len(d)
	// e[i] couples d[i] and d[i+1].
	e := make([]float64, n)
	copy(e, off[1:])
	r := rotations{q: q, n: n}
	budget := sweeps * n
	for l := range n {
		for {
			m := l
			for m < n-1 && !split(d[m], d[m+1], e[m]) {
				m++
			}
			if m == l {
				break
			}
			if budget--; budget < 0 {
				return false
			}
			sweep(d, e, &r, l, m)
		}
	}
	r.flush()
	return true
}

// split reports whether e is negligible between the diagonal elements a and b.
func split(a, b, e float64) bool {
	e = exact.Abs(e)
	return e <= negligible || e <= float64(epsilon*(exact.Abs(a)+exact.Abs(b)))
}

// sweep makes one implicit QL step on the block from l to m.
func sweep(d, e []float64, q *rotations, l, m int) {
	g := (d[l+1] - d[l]) / (2 * e[l])
	r := exact.Sqrt(float64(g*g) + 1)
	g = (d[m] - d[l]) + e[l]/(g+exact.Copysign(r, g))
	s, c, p := 1.0, 1.0, 0.0
	for i := m - 1; i >= l; i-- {
		f, b := float64(s*e[i]), float64(c*e[i])
		r = exact.Sqrt(float64(f*f) + float64(g*g))
		e[i+1] = r
		if r == 0 {
			// The matrix has split here; the rest is done in the next sweep.
			d[i+1] -= p
			e[m] = 0
			return
		}
		s, c = f/r, g/r
		g = d[i+1] - p
		r = float64((d[i]-g)*s) + float64(2*float64(c*b))
		p = float64(s * r)
		d[i+1] = g + p
		g = float64(c*r) - b
		q.add(rotation{i, c, s})
	}
	d[l] -= p
	e[l] = g
	e[m] = 0
}

// ascending sorts values, and the rows of vectors with them. Equal values keep their order.
func ascending(values, vectors []float64) {
	n := len(values)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return values[order[a]] < values[order[b]] })
	v, q := append([]float64(nil), values...), append([]float64(nil), vectors...)
	for to, from := range order {
		values[to] = v[from]
		copy(vectors[to*n:(to+1)*n], q[from*n:(from+1)*n])
	}
}

// orient flips the sign of v if its component of the largest magnitude is negative.
func orient(v []float64) {
	at := 0
	for i, x := range v {
		if exact.Abs(x) > exact.Abs(v[at]) {
			at = i
		}
	}
	if v[at] < 0 {
		for i := range v {
			v[i] = 0 - v[i] // not -v[i]: a zero stays +0
		}
	}
}
