// Package product adds unrounded products.
package product

type number float32

const two = 2.0

type pair struct{ a, b float64 }

// Bad lines, one way each.
func Bad(x, y, z float64, v []float32, n number) float64 {
	s := x*y + z         // want: unrounded product
	s = z - x*y          // want: unrounded product
	s = (x * y) + z      // want: unrounded product
	s = -(x * y) + z     // want: unrounded product
	s = two*x - z        // want: unrounded product
	s += x * y           // want: unrounded product
	s -= x * 0.5         // want: unrounded product
	s = x/y*z + 1        // want: unrounded product
	v[0] += v[1] * v[2]  // want: unrounded product
	v[0] = v[1]*v[2] - 1 // want: unrounded product
	n = n*n + 1          // want: unrounded product
	t := x * y
	s = t + z // want: unrounded product
	var u = y * z
	s = s - u // want: unrounded product
	w := x
	w *= y
	s = z + w             // want: unrounded product
	p := pair{a: x*x + y} // want: unrounded product
	_ = uint64(x * y)     // want: unrounded product
	return s + p.a
}

// Good lines.
func Good(x, y, z float64, v []float32, i, j int) float64 {
	s := float64(x*y) + z
	s += float64(x * y)
	s = two*3 + x
	s = (x + y) / (z - 1)
	v[i*j+1] += float32(v[0] * v[1])
	_ = uint64(float64(x*y)) + uint64(i*j)
	_ = int64(x * y)
	t := float64(x * y)
	q := x * (y + z)
	return s + t/2 - float64(q)
}
