package linalg_test

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"testing"

	"github.com/evoswarm/evoswarm/internal/evolve/linalg"
	"github.com/evoswarm/evoswarm/internal/golden"
)

// TestGolden holds the bits of eigenvalues, vectors and exponentials of matrices of several orders.
func TestGolden(t *testing.T) {
	eigen, exp := sha256.New(), sha256.New()
	for _, n := range []int{1, 2, 3, 5, 8, 13, 40} {
		a := pack(n, func(i, j int) float64 { return normals(uint64(1000*i+j), 1)[0] })
		values, vectors := holdEigen(t, a, n)
		e := normals(uint64(n), n*n)
		for _, m := range []int{n / 2, n} { // few vectors, and many
			if values, vectors, ok := linalg.EigenOuter(normals(5, m), normals(6, m*n), n); ok {
				linalg.MultiplyExp(e, values, vectors, n)
			}
		}
		for _, x := range append(values, vectors...) {
			eigen.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(x)))
		}
		for _, x := range e {
			exp.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(x)))
		}
	}
	golden.Check(t, "eigen", eigen.Sum(nil))
	golden.Check(t, "exp", exp.Sum(nil))
}
