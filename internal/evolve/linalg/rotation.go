package linalg

import "github.com/evoswarm/evoswarm/internal/cores"

// rotation is a rotation in the plane of rows row and row+1 of a matrix.
type rotation struct {
	row  int
	c, s float64
}

// rotations collects rotations of rows of q, an n by n matrix, to apply many of them to a few columns at a
// time: these stay in the cache, and columns are independent.
type rotations struct {
	q    []float64
	n    int
	list []rotation
}

const (
	maxRotations = 2048
	columnPart   = 64 // columns in one part of the work
)

// add collects a rotation.
func (r *rotations) add(t rotation) {
	r.list = append(r.list, t)
	if len(r.list) >= maxRotations {
		r.flush()
	}
}

// flush applies the collected rotations in order.
func (r *rotations) flush() {
	cores.EachIfLarge((r.n+columnPart-1)/columnPart, 4*columnPart*len(r.list), func(part int) {
		lo, hi := part*columnPart, min((part+1)*columnPart, r.n)
		for _, t := range r.list {
			x, y := r.q[t.row*r.n:(t.row+1)*r.n], r.q[(t.row+1)*r.n:(t.row+2)*r.n]
			rotate(x[lo:hi], y[lo:hi], t.c, t.s)
		}
	})
	r.list = r.list[:0]
}

// rotate replaces x with c*x - s*y and y with s*x + c*y.
func rotate(x, y []float64, c, s float64) {
	y = y[:len(x)]
	for i, u := range x {
		v := y[i]
		x[i] = float64(c*u) - float64(s*v)
		y[i] = float64(s*u) + float64(c*v)
	}
}
