//go:build !purego

package kernel

import "github.com/evoswarm/evoswarm/internal/noise"

// Indices into kernels. Every processor has SSE2, one with AVX-512 has AVX2.
const (
	withSSE2 = 1 + iota
	withAVX2
	withAVX512
)

// simd holds the kernels of this processor, narrowest first.
func simd() []Kernel {
	all := []Kernel{
		{
			Name: "sse2", Dense: checkedDenseSSE2, DenseBatch: denseBatchSSE2, Tanh: tanhSSE2, Relu: reluSSE2,
			Perturb: perturbSSE2, Accumulate: accumulateSSE2, Normal: fillNormalSSE2,
			MultiplyAdd: func(rounds int) int { multiplyAddSSE2(rounds); return rounds * 6 * 4 }, Read: readSSE2,
		},
		{
			Name: "avx2", Dense: checkedDenseAVX2, DenseBatch: denseBatchAVX2, Tanh: tanhAVX2, Relu: reluAVX2,
			Perturb: perturbAVX2, Accumulate: accumulateAVX2, Normal: fillNormalAVX2,
			MultiplyAdd: func(rounds int) int { multiplyAddAVX2(rounds); return rounds * 6 * 8 }, Read: readAVX2,
		},
		{
			Name: "avx512", Dense: checkedDenseAVX512, DenseBatch: denseBatchAVX512, Tanh: tanhAVX512, Relu: reluAVX512,
			Perturb: perturbAVX512, Accumulate: accumulateAVX512, Normal: fillNormalAVX512,
			MultiplyAdd: func(rounds int) int { multiplyAddAVX512(rounds); return rounds * 14 * 16 }, Read: readAVX512,
		},
	}
	two, wide := features()
	switch {
	case wide:
		return all
	case two:
		return all[:2]
	}
	return all[:1]
}

// Bits of the results of CPUID and of XCR0 (Intel SDM, volume 2, CPUID; volume 1, 13.3).
const (
	hasXSAVE = 1 << 27 // leaf 1, c
	hasAVX   = 1 << 28

	hasAVX2   = 1 << 5 // leaf 7, b
	hasBMI2   = 1 << 8
	hasAVX512 = 1<<16 | 1<<17 | 1<<30 | 1<<31 // F, DQ, BW, VL

	keepsAVX    = 1<<1 | 1<<2
	keepsAVX512 = keepsAVX | 1<<5 | 1<<6 | 1<<7
)

// features reports whether the processor and the operating system support what the kernels need.
func features() (two, wide bool) {
	leaves, _, _, _ := cpuid(0, 0)
	_, _, c, _ := cpuid(1, 0)
	if leaves < 7 || c&hasXSAVE == 0 || c&hasAVX == 0 {
		return false, false
	}
	kept, _ := xgetbv()
	_, b, _, _ := cpuid(7, 0)
	two = b&hasAVX2 != 0 && kept&keepsAVX == keepsAVX
	wide = two && b&hasBMI2 != 0 && b&hasAVX512 == hasAVX512 && kept&keepsAVX512 == keepsAVX512
	return two, wide
}

// few is the largest number of outputs for denseFew.
const few = 4

// A block of rows for denseRows.
const (
	rowsAVX2   = 2
	rowsAVX512 = 4
)

func checkedDenseSSE2(y, w, b, x []float32) {
	checkDense(y, w, b, x)
	if n := len(y); n <= few && n > 0 {
		denseFewSSE2(y, w, b, x, len(x), n, 1)
		return
	}
	denseSSE2(y, w, b, x)
}

func denseBatchSSE2(y, w, b, x []float32, n int) {
	in, out := checkDenseBatch(y, w, b, x, n)
	if out <= few && out > 0 {
		denseFewSSE2(y, w, b, x, in, out, n)
		return
	}
	for r := range n {
		denseSSE2(y[r*out:(r+1)*out], w, b, x[r*in:(r+1)*in])
	}
}

func checkedDenseAVX2(y, w, b, x []float32) {
	checkDense(y, w, b, x)
	if n := len(y); n <= few && n > 0 {
		denseFewAVX2(y, w, b, x, len(x), n, 1)
		return
	}
	denseAVX2(y, w, b, x)
}

func denseBatchAVX2(y, w, b, x []float32, n int) {
	in, out := checkDenseBatch(y, w, b, x, n)
	if out <= few && out > 0 {
		denseFewAVX2(y, w, b, x, in, out, n)
		return
	}
	r := 0
	for ; n-r >= rowsAVX2; r += rowsAVX2 {
		denseRowsAVX2(y[r*out:], w, b, x[r*in:], in, out)
	}
	for ; r < n; r++ {
		denseAVX2(y[r*out:(r+1)*out], w, b, x[r*in:(r+1)*in])
	}
}

func perturbSSE2(dst, theta []float32, sigma, sign float32, seed uint64) {
	checkPerturb(dst, theta, sign)
	addNormalSSE2(dst, theta, float32(sigma*sign), seed, 0, noise.Table())
}

func perturbAVX2(dst, theta []float32, sigma, sign float32, seed uint64) {
	checkPerturb(dst, theta, sign)
	addNormalAVX2(dst, theta, float32(sigma*sign), seed, 0, noise.Table())
}

func checkedDenseAVX512(y, w, b, x []float32) {
	checkDense(y, w, b, x)
	if n := len(y); n <= few && n > 0 {
		denseFewAVX512(y, w, b, x, len(x), n, 1)
		return
	}
	denseAVX512(y, w, b, x)
}

func denseBatchAVX512(y, w, b, x []float32, n int) {
	in, out := checkDenseBatch(y, w, b, x, n)
	if out <= few && out > 0 {
		denseFewAVX512(y, w, b, x, in, out, n)
		return
	}
	r := 0
	for ; n-r >= rowsAVX512; r += rowsAVX512 {
		denseRowsAVX512(y[r*out:], w, b, x[r*in:], in, out)
	}
	for ; r < n; r++ {
		denseAVX512(y[r*out:(r+1)*out], w, b, x[r*in:(r+1)*in])
	}
}

func perturbAVX512(dst, theta []float32, sigma, sign float32, seed uint64) {
	checkPerturb(dst, theta, sign)
	addNormalAVX512(dst, theta, float32(sigma*sign), seed, 0, noise.Table())
}

func accumulateSSE2(dst []float32, coef float32, seed uint64, offset int) {
	checkOffset(offset)
	addNormalSSE2(dst, dst, coef, seed, uint64(offset), noise.Table())
}

func accumulateAVX2(dst []float32, coef float32, seed uint64, offset int) {
	checkOffset(offset)
	addNormalAVX2(dst, dst, coef, seed, uint64(offset), noise.Table())
}

func accumulateAVX512(dst []float32, coef float32, seed uint64, offset int) {
	checkOffset(offset)
	addNormalAVX512(dst, dst, coef, seed, uint64(offset), noise.Table())
}

func fillNormalSSE2(dst []float32, seed uint64, offset int) {
	checkOffset(offset)
	normalSSE2(dst, seed, uint64(offset), noise.Table())
}

func fillNormalAVX2(dst []float32, seed uint64, offset int) {
	checkOffset(offset)
	normalAVX2(dst, seed, uint64(offset), noise.Table())
}

func fillNormalAVX512(dst []float32, seed uint64, offset int) {
	checkOffset(offset)
	normalAVX512(dst, seed, uint64(offset), noise.Table())
}

func dense(y, w, b, x []float32) {
	switch active {
	case withAVX512:
		checkedDenseAVX512(y, w, b, x)
	case withAVX2:
		checkedDenseAVX2(y, w, b, x)
	case withSSE2:
		checkedDenseSSE2(y, w, b, x)
	default:
		densePortable(y, w, b, x)
	}
}

func denseBatch(y, w, b, x []float32, n int) {
	switch active {
	case withAVX512:
		denseBatchAVX512(y, w, b, x, n)
	case withAVX2:
		denseBatchAVX2(y, w, b, x, n)
	case withSSE2:
		denseBatchSSE2(y, w, b, x, n)
	default:
		denseBatchPortable(y, w, b, x, n)
	}
}

func tanh(y []float32) {
	switch active {
	case withAVX512:
		tanhAVX512(y)
	case withAVX2:
		tanhAVX2(y)
	case withSSE2:
		tanhSSE2(y)
	default:
		tanhPortable(y)
	}
}

func relu(y []float32) {
	switch active {
	case withAVX512:
		reluAVX512(y)
	case withAVX2:
		reluAVX2(y)
	case withSSE2:
		reluSSE2(y)
	default:
		reluPortable(y)
	}
}

func perturb(dst, theta []float32, sigma, sign float32, seed uint64) {
	switch active {
	case withAVX512:
		perturbAVX512(dst, theta, sigma, sign, seed)
	case withAVX2:
		perturbAVX2(dst, theta, sigma, sign, seed)
	case withSSE2:
		perturbSSE2(dst, theta, sigma, sign, seed)
	default:
		perturbPortable(dst, theta, sigma, sign, seed)
	}
}

func accumulate(dst []float32, coef float32, seed uint64, offset int) {
	switch active {
	case withAVX512:
		accumulateAVX512(dst, coef, seed, offset)
	case withAVX2:
		accumulateAVX2(dst, coef, seed, offset)
	case withSSE2:
		accumulateSSE2(dst, coef, seed, offset)
	default:
		accumulatePortable(dst, coef, seed, offset)
	}
}

func normal(dst []float32, seed uint64, offset int) {
	switch active {
	case withAVX512:
		fillNormalAVX512(dst, seed, offset)
	case withAVX2:
		fillNormalAVX2(dst, seed, offset)
	case withSSE2:
		fillNormalSSE2(dst, seed, offset)
	default:
		noise.FillNormal(dst, seed, offset)
	}
}
