package kernel

// lanes is the number of outputs that the portable dense layer computes together: eight independent sums hide
// the latency of an addition, and their weights are adjacent in memory.
const lanes = 8

// Chains is the number of partial sums of a dense layer: chain k holds the inputs i = k mod 4. Part of the
// bit contract.
const Chains = 4

func densePortable(y, w, b, x []float32) {
	checkDense(y, w, b, x)
	out := len(y)
	o := 0
	for ; o+lanes <= out; o += lanes {
		dense8((*[lanes]float32)(y[o:]), w, x, o, out)
	}
	for ; o < out; o++ {
		y[o] = dense1(w, x, o, out)
	}
	for i, bias := range b {
		y[i] += bias
	}
}

func denseBatchPortable(y, w, b, x []float32, n int) {
	in, out := checkDenseBatch(y, w, b, x, n)
	for r := range n {
		densePortable(y[r*out:(r+1)*out], w, b, x[r*in:(r+1)*in])
	}
}

// dense8 computes outputs o .. o+7, one chain after another.
func dense8(y *[lanes]float32, w, x []float32, o, out int) {
	var s [Chains][lanes]float32
	for k := 0; k < Chains && k < len(x); k++ {
		chain8(&s[k], w[k*out+o:], x[k:], out)
	}
	for j := range y {
		y[j] = (s[0][j] + s[1][j]) + (s[2][j] + s[3][j])
	}
}

// chain8 sums one chain of eight outputs: inputs x[0], x[4], ... with weights starting at w[0], w[4*out],
// .... It takes four weights at a time because the bounds check in between keeps the compiler from computing
// all eight products before the first addition, for which it has too few registers. This is a fifth faster.
func chain8(s *[lanes]float32, w, x []float32, out int) {
	var a0, a1, a2, a3, a4, a5, a6, a7 float32
	p := 0
	for i := 0; i < len(x); i += Chains {
		xi := x[i]
		r := w[p : p+4 : p+4]
		a0 += float32(xi * r[0])
		a1 += float32(xi * r[1])
		a2 += float32(xi * r[2])
		a3 += float32(xi * r[3])
		r = w[p+4 : p+8 : p+8]
		a4 += float32(xi * r[0])
		a5 += float32(xi * r[1])
		a6 += float32(xi * r[2])
		a7 += float32(xi * r[3])
		p += Chains * out
	}
	*s = [lanes]float32{a0, a1, a2, a3, a4, a5, a6, a7}
}

// dense1 computes output o, all four chains together.
func dense1(w, x []float32, o, out int) float32 {
	var s0, s1, s2, s3 float32
	p := o
	for len(x) >= Chains {
		s0 += float32(x[0] * w[p])
		s1 += float32(x[1] * w[p+out])
		s2 += float32(x[2] * w[p+2*out])
		s3 += float32(x[3] * w[p+3*out])
		x = x[Chains:]
		p += Chains * out
	}
	if len(x) > 0 {
		s0 += float32(x[0] * w[p])
	}
	if len(x) > 1 {
		s1 += float32(x[1] * w[p+out])
	}
	if len(x) > 2 {
		s2 += float32(x[2] * w[p+2*out])
	}
	return (s0 + s1) + (s2 + s3)
}

func checkDense(y, w, b, x []float32) {
	if len(w) != len(x)*len(y) {
		panic("kernel: Dense needs len(w) = len(x) * len(y)")
	}
	if len(b) != 0 && len(b) != len(y) {
		panic("kernel: Dense needs a bias of len(y), or none")
	}
}

// checkDenseBatch returns the widths of the rows of x and y.
func checkDenseBatch(y, w, b, x []float32, n int) (in, out int) {
	if n == 0 && len(x) == 0 && len(y) == 0 {
		return 0, 0
	}
	if n <= 0 || len(x)%n != 0 || len(y)%n != 0 {
		panic("kernel: DenseBatch needs n rows in x and in y")
	}
	in, out = len(x)/n, len(y)/n
	if len(w) != in*out {
		panic("kernel: DenseBatch needs len(w) = inputs * outputs")
	}
	if len(b) != 0 && len(b) != out {
		panic("kernel: DenseBatch needs a bias of one row of y, or none")
	}
	return in, out
}
