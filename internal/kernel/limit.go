package kernel

// multiplyAddPortable uses eight sums, as the portable dense layer does.
func multiplyAddPortable(rounds int) (pairs int) {
	var a0, a1, a2, a3, a4, a5, a6, a7 float32
	x0, x1, x2, x3 := factors[0], factors[1], factors[2], factors[3]
	for range rounds {
		a0 += float32(x0 * x1)
		a1 += float32(x1 * x2)
		a2 += float32(x2 * x3)
		a3 += float32(x3 * x0)
		a4 += float32(x0 * x2)
		a5 += float32(x1 * x3)
		a6 += float32(x2 * x2)
		a7 += float32(x3 * x3)
		x0, x1, x2, x3 = x1, x2, x3, x0 // otherwise the compiler could hoist the products
	}
	drop(a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7)
	return rounds * lanes
}

// factors must not be constants to the compiler.
var factors = [4]float32{1, 2, 3, 4}

func readPortable(x []float32) {
	var a0, a1, a2, a3 float32
	for len(x) >= 4 {
		a0 += x[0]
		a1 += x[1]
		a2 += x[2]
		a3 += x[3]
		x = x[4:]
	}
	drop(a0 + a1 + a2 + a3)
}

// drop keeps the compiler from eliminating the computation of x.
//
//go:noinline
func drop(float32) {}
