package linalg_test

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"testing"

	"github.com/evoswarm/evoswarm/internal/evolve/linalg"
	"github.com/evoswarm/evoswarm/internal/golden"
)

// TestGolden holds the bits of eigenvalues, vectors and exponentials of matrices of
// several orders.
func TestGolden(t *testing.T) {
	eigen, exp := sha256.New(), sha256.New()
	for _, n := range []int{1, 2, 3, 5, 8, 13, 40} {
		a := pack(n, func(i, j int) float64 { return normals(uint64(1000*i+j), 1)[0] })
		values, vectors := holdEigen(t, a, n)
		e := make([]float64, n*n)
		if !linalg.Exp(e, a, n) {
			t.Fatal("Exp gave up")
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
