package linalg

// Packed returns the length of a packed symmetric matrix of order n: n(n+1)/2.
func Packed(n int) int { return n * (n + 1) / 2 }

// Row returns the elements (i, 0) to (i, i) of a packed symmetric matrix a. It shares memory with a.
func Row(a []float64, i int) []float64 { return a[Packed(i) : Packed(i)+i+1] }

// Dot returns the sum of x[i]*y[i] as ((s0+s1)+(s2+s3)), where s_k is the sum over i = k mod 4 in ascending
// order. x and y have the same length. Bit exact.
func Dot(x, y []float64) float64 {
	y = y[:len(x)]
	var s0, s1, s2, s3 float64
	i := 0
	for ; i+4 <= len(x); i += 4 {
		s0 += float64(x[i] * y[i])
		s1 += float64(x[i+1] * y[i+1])
		s2 += float64(x[i+2] * y[i+2])
		s3 += float64(x[i+3] * y[i+3])
	}
	if i < len(x) {
		s0 += float64(x[i] * y[i])
	}
	if i+1 < len(x) {
		s1 += float64(x[i+1] * y[i+1])
	}
	if i+2 < len(x) {
		s2 += float64(x[i+2] * y[i+2])
	}
	return (s0 + s1) + (s2 + s3)
}

// AddScaled adds c*x to dst, which has the length of x. Bit exact.
func AddScaled(dst []float64, c float64, x []float64) {
	x = x[:len(dst)]
	i := 0
	for ; i+4 <= len(dst); i += 4 {
		d, v := dst[i:i+4:i+4], x[i:i+4:i+4]
		d[0] += float64(c * v[0])
		d[1] += float64(c * v[1])
		d[2] += float64(c * v[2])
		d[3] += float64(c * v[3])
	}
	for ; i < len(dst); i++ {
		dst[i] += float64(c * x[i])
	}
}

// Scale multiplies x by c. Bit exact.
func Scale(x []float64, c float64) {
	for i := range x {
		x[i] *= c
	}
}
