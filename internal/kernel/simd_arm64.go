//go:build !purego

package kernel

import "github.com/evoswarm/evoswarm/internal/noise"

// withNEON is an index into kernels.
const withNEON = 1

// simd holds the 128-bit kernel that every arm64 processor supports.
func simd() []Kernel {
	return []Kernel{{
		Name: "neon", Dense: checkedDenseNEON, DenseBatch: checkedDenseBatchNEON, Tanh: tanhNEON, Relu: reluNEON,
		Perturb: perturbNEON, Accumulate: accumulateNEON, Normal: fillNormalNEON,
		MultiplyAdd: func(rounds int) int { multiplyAddNEON(rounds); return rounds * 16 * 4 }, Read: readNEON,
	}}
}

func checkedDenseNEON(y, w, b, x []float32) {
	checkDense(y, w, b, x)
	denseNEON(y, w, b, x)
}

func checkedDenseBatchNEON(y, w, b, x []float32, n int) {
	in, out := checkDenseBatch(y, w, b, x, n)
	denseBatchNEON(y, w, b, x, n, in, out)
}

func perturbNEON(dst, theta []float32, sigma, sign float32, seed uint64) {
	checkPerturb(dst, theta, sign)
	addNormalNEON(dst, theta, float32(sigma*sign), seed, 0, noise.Table())
}

func accumulateNEON(dst []float32, coef float32, seed uint64, offset int) {
	checkOffset(offset)
	addNormalNEON(dst, dst, coef, seed, uint64(offset), noise.Table())
}

func fillNormalNEON(dst []float32, seed uint64, offset int) {
	checkOffset(offset)
	normalNEON(dst, seed, uint64(offset), noise.Table())
}

func dense(y, w, b, x []float32) {
	if active == withNEON {
		checkedDenseNEON(y, w, b, x)
		return
	}
	densePortable(y, w, b, x)
}

func denseBatch(y, w, b, x []float32, n int) {
	if active == withNEON {
		checkedDenseBatchNEON(y, w, b, x, n)
		return
	}
	denseBatchPortable(y, w, b, x, n)
}

func tanh(y []float32) {
	if active == withNEON {
		tanhNEON(y)
		return
	}
	tanhPortable(y)
}

func relu(y []float32) {
	if active == withNEON {
		reluNEON(y)
		return
	}
	reluPortable(y)
}

func perturb(dst, theta []float32, sigma, sign float32, seed uint64) {
	if active == withNEON {
		perturbNEON(dst, theta, sigma, sign, seed)
		return
	}
	perturbPortable(dst, theta, sigma, sign, seed)
}

func accumulate(dst []float32, coef float32, seed uint64, offset int) {
	if active == withNEON {
		accumulateNEON(dst, coef, seed, offset)
		return
	}
	accumulatePortable(dst, coef, seed, offset)
}

func normal(dst []float32, seed uint64, offset int) {
	if active == withNEON {
		fillNormalNEON(dst, seed, offset)
		return
	}
	noise.FillNormal(dst, seed, offset)
}
