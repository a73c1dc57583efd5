package linalg_test

import (
	"math"
	"testing"

	"github.com/evoswarm/evoswarm/internal/evolve/linalg"
	"github.com/evoswarm/evoswarm/internal/noise"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// pack returns the lower triangle of the matrix of order n with the elements at(i, j), j <= i.
func pack(n int, at func(i, j int) float64) []float64 {
	a := make([]float64, linalg.Packed(n))
	for i := range n {
		for j := range i + 1 {
			linalg.Row(a, i)[j] = at(i, j)
		}
	}
	return a
}

// normals returns n numbers of a standard normal distribution.
func normals(seed uint64, n int) []float64 {
	z := make([]float32, n)
	noise.FillNormal(z, seed, 0)
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(z[i])
	}
	return x
}

// rotated returns Q diag(values) Q^T for random orthogonal Q (of gonum).
func rotated(seed uint64, values []float64) []float64 {
	n := len(values)
	var qr mat.QR
	qr.Factorize(mat.NewDense(n, n, normals(seed, n*n)))
	var q, t, a mat.Dense
	qr.QTo(&q)
	t.Mul(&q, mat.NewDiagDense(n, values))
	a.Mul(&t, q.T())
	return pack(n, func(i, j int) float64 { return a.At(i, j) })
}

// full returns the packed matrix a as one of gonum's.
func full(a []float64, n int) *mat.SymDense {
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			s.SetSym(i, j, linalg.Row(a, i)[j])
		}
	}
	return s
}

// largest returns the largest magnitude in x.
func largest(x []float64) float64 {
	top := 0.0
	for _, v := range x {
		top = max(top, math.Abs(v))
	}
	return top
}

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// holdEigen checks the decomposition of a: residual, orthogonality, order and signs. Elements of a may be so
// large or small that squares would leave the range: all is measured in units of the largest.
func holdEigen(t fataler, a []float64, n int) (values, vectors []float64) {
	t.Helper()
	values, vectors = make([]float64, n), make([]float64, n*n)
	before := append([]float64(nil), a...)
	if !linalg.Eigen(values, vectors, a) {
		t.Fatalf("Eigen of order %d gave up", n)
	}
	unit := largest(a)
	for i, x := range before {
		if x != a[i] {
			t.Fatalf("Eigen changed its argument")
		}
	}
	if unit == 0 {
		unit = 1
	}
	tolerance := 1e-12*max(1, largest(values)/unit) + 2*math.SmallestNonzeroFloat64/unit // values may be subnormal
	for k := range n {
		v := vectors[k*n : (k+1)*n]
		if k > 0 && !(values[k] >= values[k-1]) {
			t.Fatalf("values[%d] = %g < values[%d] = %g", k, values[k], k-1, values[k-1])
		}
		for j := range k + 1 {
			want := 0.0
			if j == k {
				want = 1
			}
			if got := linalg.Dot(v, vectors[j*n:(j+1)*n]); !(math.Abs(got-want) <= 1e-12) {
				t.Fatalf("vector %d times vector %d is %g, want %g", k, j, got, want)
			}
		}
		at := 0
		for i := range v {
			if math.Abs(v[i]) > math.Abs(v[at]) {
				at = i
			}
			av := 0.0
			for j := range n {
				av += linalg.Row(a, max(i, j))[min(i, j)] / unit * v[j]
			}
			if got, want := av, values[k]/unit*v[i]; !(math.Abs(got-want) <= tolerance) {
				t.Fatalf("order %d: (A v%d)[%d] = %g, want %g (in units of %g)", n, k, i, got, want, unit)
			}
		}
		if v[at] < 0 {
			t.Fatalf("the largest component of vector %d is %g, want positive", k, v[at])
		}
	}
	return values, vectors
}

// holdGonum checks the values against gonum's.
func holdGonum(t fataler, values, a []float64) {
	t.Helper()
	n := len(values)
	var oracle mat.EigenSym
	if !oracle.Factorize(full(a, n), false) {
		t.Fatalf("gonum gave up")
	}
	want := oracle.Values(nil)
	for k, got := range values {
		if !(math.Abs(got-want[k]) <= 1e-12*max(largest(want), math.SmallestNonzeroFloat64)) {
			t.Fatalf("order %d: values[%d] = %g, gonum has %g; the largest is %g", n, k, got, want[k], largest(want))
		}
	}
}

func TestEigenFamilies(t *testing.T) {
	spectrum := func(n int, f func(k int) float64) []float64 {
		values := make([]float64, n)
		for k := range values {
			values[k] = f(k)
		}
		return values
	}
	for _, n := range []int{1, 2, 3, 4, 5, 7, 16, 33, 64, 150} {
		for name, a := range map[string][]float64{
			"zero":     make([]float64, linalg.Packed(n)),
			"identity": pack(n, func(i, j int) float64 { return map[bool]float64{true: 1}[i == j] }),
			"diagonal": pack(n, func(i, j int) float64 { return map[bool]float64{true: float64(i*7%n) - 3}[i == j] }),
			"ones":     pack(n, func(i, j int) float64 { return 1 }),
			"hilbert":  pack(n, func(i, j int) float64 { return 1 / float64(i+j+1) }),
			"random":   pack(n, func(i, j int) float64 { return normals(uint64(i*n+j), 1)[0] }),
			"wilkinson": pack(n, func(i, j int) float64 {
				switch i - j {
				case 0:
					return math.Abs(float64(i) - float64(n-1)/2)
				case 1:
					return 1
				}
				return 0
			}),
			"zero diagonal": pack(n, func(i, j int) float64 { return map[bool]float64{true: 1}[i == j+1] }),
			"arrow":         pack(n, func(i, j int) float64 { return map[bool]float64{true: 1}[i == n-1 || i == j] }),
			"graded":        pack(n, func(i, j int) float64 { return math.Pow(10, -float64(i+j)/4) }),
			"graded up":     pack(n, func(i, j int) float64 { return math.Pow(10, float64(i+j)/8) }),
			"condition":     rotated(1, spectrum(n, func(k int) float64 { return math.Pow(10, -14*float64(k)/float64(n)) })),
			"clusters":      rotated(2, spectrum(n, func(k int) float64 { return float64(k%3) + 1e-14*float64(k) })),
			"rank two":      rotated(3, spectrum(n, func(k int) float64 { return map[bool]float64{true: 1}[k < 2] })),
			"plus minus":    rotated(4, spectrum(n, func(k int) float64 { return float64(k&1)*2 - 1 })),
		} {
			t.Run(name, func(t *testing.T) {
				values, _ := holdEigen(t, a, n)
				holdGonum(t, values, a)
			})
		}
	}
}

// TestEigenProperties draws matrices of every scale, also of elements that lie far apart.
func TestEigenProperties(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(1, 24).Draw(r, "n")
		element := rapid.Float64Range(-1, 1)
		if rapid.Bool().Draw(r, "sparse") {
			element = rapid.SampledFrom([]float64{0, 0, 0, 1, -1, 1e-8, 0.5, 1e-200, -1e-300})
		}
		scale := rapid.SampledFrom([]float64{1, 1, 1e-300, 5e-324, 1e150, 1e300, 0x1p-1022, 3.7}).Draw(r, "scale")
		a := rapid.SliceOfN(element, linalg.Packed(n), linalg.Packed(n)).Draw(r, "a")
		for i := range a {
			a[i] *= scale
		}
		values, _ := holdEigen(r, a, n)
		ordinary := true // gonum panics at a block of other elements
		for _, x := range a {
			ordinary = ordinary && (x == 0 || math.Abs(x) > 1e-120 && math.Abs(x) < 1e120)
		}
		if ordinary {
			holdGonum(r, values, a)
		}
	})
}

// TestEigenScales: a power of two leaves the vectors as they are and scales the values, to the bit.
func TestEigenScales(t *testing.T) {
	const n = 20
	a := pack(n, func(i, j int) float64 { return normals(uint64(i*n+j), 1)[0] })
	values, vectors := holdEigen(t, a, n)
	for i := range a {
		a[i] *= 0x1p-700
	}
	small, same := holdEigen(t, a, n)
	for k := range values {
		if got, want := small[k], values[k]*0x1p-700; got != want {
			t.Errorf("values[%d] = %g, want %g", k, got, want)
		}
	}
	for i := range vectors {
		if vectors[i] != same[i] {
			t.Fatalf("vectors differ at %d: %g, want %g", i, same[i], vectors[i])
		}
	}
}

func TestEigenRefuses(t *testing.T) {
	for name, a := range map[string][]float64{
		"NaN":         {1, math.NaN(), 1},
		"infinite":    {1, 0, math.Inf(-1)},
		"value range": {math.MaxFloat64, math.MaxFloat64, math.MaxFloat64},
	} {
		if linalg.Eigen(make([]float64, 2), make([]float64, 4), a) {
			t.Errorf("%s: Eigen accepts %v", name, a)
		}
	}
}

// TestEigenAxes: the vectors of a multiple of the identity are the axes in order.
func TestEigenAxes(t *testing.T) {
	const n = 9
	values, vectors := holdEigen(t, pack(n, func(i, j int) float64 { return map[bool]float64{true: 0.25}[i == j] }), n)
	for i, got := range vectors {
		want := 0.0
		if i/n == i%n {
			want = 1
		}
		if got != want || values[i/n] != 0.25 {
			t.Fatalf("vectors[%d] = %g of value %g, want %g of 0.25", i, got, values[i/n], want)
		}
	}
}

// holdExp checks MultiplyExp with what EigenOuter gives against gonum's exponential.
func holdExp(t fataler, weights, xs []float64, n int) {
	t.Helper()
	values, vectors, ok := linalg.EigenOuter(weights, xs, n)
	if !ok {
		t.Fatalf("EigenOuter gave up")
	}
	got := normals(7, n*n)
	b := mat.NewDense(n, n, append([]float64(nil), got...))
	linalg.MultiplyExp(got, values, vectors, n)
	a := make([]float64, linalg.Packed(n))
	linalg.AddOuter(a, weights, xs, n)
	var e, want mat.Dense
	e.Exp(full(a, n))
	want.Mul(&e, b)
	top := max(mat.Max(&want), -mat.Min(&want))
	for i, x := range got {
		if y := want.At(i/n, i%n); !(math.Abs(x-y) <= 1e-9*top) {
			t.Fatalf("order %d, %d vectors: element %d is %g, gonum has %g; the largest is %g", n, len(weights), i, x, y, top)
		}
	}
}

func TestExp(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(1, 16).Draw(r, "n")
		m := rapid.IntRange(1, 20).Draw(r, "m")
		size := rapid.Float64Range(0, 0.5).Draw(r, "size")
		weights := rapid.SliceOfN(rapid.Float64Range(-size, size), m, m).Draw(r, "weights")
		xs := normals(rapid.Uint64().Draw(r, "seed"), m*n)
		if rapid.Bool().Draw(r, "dependent") {
			copy(xs[(m-1)*n:], xs[:n])
			clear(xs[m/2*n : (m/2+1)*n])
		}
		holdExp(r, weights, xs, n)
	})
}

// TestEigenOuter: few vectors give the values that the full matrix has.
func TestEigenOuter(t *testing.T) {
	const n, m = 30, 9
	xs := normals(3, m*n)
	weights := normals(4, m)
	values, vectors, ok := linalg.EigenOuter(weights, xs, n)
	if !ok || len(values) != m || len(vectors) != m*n {
		t.Fatalf("%d values, %d vectors, %v; want %d", len(values), len(vectors)/n, ok, m)
	}
	a := make([]float64, linalg.Packed(n))
	linalg.AddOuter(a, weights, xs, n)
	all, _ := holdEigen(t, a, n)
	zeros := 0
	for i, want := range all {
		if math.Abs(want) < 1e-10 {
			zeros++
			continue
		}
		if got := values[i-zeros]; math.Abs(got-want) > 1e-12*largest(all) {
			t.Errorf("value %d is %g, want %g", i-zeros, got, want)
		}
	}
	if zeros != n-m {
		t.Errorf("%d zeros, want %d", zeros, n-m)
	}
	if values, _, ok := linalg.EigenOuter([]float64{1, 2}, make([]float64, 20), 10); !ok || len(values) != 0 {
		t.Errorf("of zero vectors: %v, %v", values, ok)
	}
}

// TestExpStaysFinite: no finite values give an infinite product.
func TestExpStaysFinite(t *testing.T) {
	b := []float64{1, 0, 0, 1}
	linalg.MultiplyExp(b, []float64{-1e300, 1e300}, []float64{0.6, 0.8, -0.8, 0.6}, 2)
	for i, x := range b {
		if math.IsNaN(x) || math.IsInf(x, 0) || x == 0 {
			t.Fatalf("element %d is %g", i, x)
		}
	}
}
