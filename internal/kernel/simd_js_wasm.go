//go:build !purego

package kernel

import "github.com/evoswarm/evoswarm/internal/noise"

// withSIMD128 is an index into kernels.
const withSIMD128 = 1

// simd holds the kernels of this host, which may have none even if the build has one.
func simd() []Kernel {
	if available128() == 0 {
		return nil
	}
	return []Kernel{{
		Name: "simd128", Dense: dense128, DenseBatch: denseBatch128, Tanh: tanh128, Relu: relu128,
		Perturb: perturb128, Accumulate: accumulate128, Normal: normal128,
		MultiplyAdd: multiplyAdd128, Read: read128,
	}}
}

// first returns the address of the first value. It converts the slice since that needs no branch: in Go's
// code for WebAssembly a taken branch costs as much as a call.
type first = *[0]float32

// The functions of border.wasm. The host of this program provides them as its imports "evokernel" and
// instantiates simd128.wasm on its memory before it starts, as border.mjs does; otherwise available returns 0
// and the other functions must not be called. They check nothing.

//go:wasmimport evokernel available
//go:noescape
func available128() int32

//go:wasmimport evokernel dense
//go:noescape
func wasmDense(y, w, b, x first, outputs, inputs, biases int32)

//go:wasmimport evokernel denseBatch
//go:noescape
func wasmDenseBatch(y, w, b, x first, outputs, inputs, biases, n int32)

//go:wasmimport evokernel tanh
//go:noescape
func wasmTanh(y first, n int32)

//go:wasmimport evokernel relu
//go:noescape
func wasmRelu(y first, n int32)

// wasmAddNormal sets dst = src + scale*eps; scratch is 64 bytes.
//
//go:wasmimport evokernel addNormal
//go:noescape
func wasmAddNormal(dst, src, table, scratch first, n int32, scale float32, seed, offset uint64)

//go:wasmimport evokernel normal
//go:noescape
func wasmNormal(dst, table, scratch first, n int32, seed, offset uint64)

// wasmMultiplyAdd takes factors from 128 places.
//
//go:wasmimport evokernel multiplyAdd
//go:noescape
func wasmMultiplyAdd(factors first, rounds int32) float32

//go:wasmimport evokernel read
//go:noescape
func wasmRead(x first, n int32) int32

func dense128(y, w, b, x []float32) {
	checkDense(y, w, b, x)
	wasmDense(first(y), first(w), first(b), first(x), int32(len(y)), int32(len(x)), int32(len(b)))
}

func denseBatch128(y, w, b, x []float32, n int) {
	in, out := checkDenseBatch(y, w, b, x, n)
	if n > 0 {
		wasmDenseBatch(first(y), first(w), first(b), first(x), int32(out), int32(in), int32(len(b)), int32(n))
	}
}

func tanh128(y []float32) { wasmTanh(first(y), int32(len(y))) }

func relu128(y []float32) { wasmRelu(first(y), int32(len(y))) }

// scratchSize is the number of values whose place the noise takes for itself.
const scratchSize = 16

func perturb128(dst, theta []float32, sigma, sign float32, seed uint64) {
	checkPerturb(dst, theta, sign)
	var scratch [scratchSize]float32
	wasmAddNormal(first(dst), first(theta), first(noise.Table()[:]), first(scratch[:]), int32(len(dst)), float32(sigma*sign), seed, 0)
}

func accumulate128(dst []float32, coef float32, seed uint64, offset int) {
	checkOffset(offset)
	var scratch [scratchSize]float32
	wasmAddNormal(first(dst), first(dst), first(noise.Table()[:]), first(scratch[:]), int32(len(dst)), coef, seed, uint64(offset))
}

func normal128(dst []float32, seed uint64, offset int) {
	checkOffset(offset)
	var scratch [scratchSize]float32
	wasmNormal(first(dst), first(noise.Table()[:]), first(scratch[:]), int32(len(dst)), seed, uint64(offset))
}

func multiplyAdd128(rounds int) (pairs int) {
	var factors [128]float32
	drop(wasmMultiplyAdd(first(factors[:]), int32(rounds)))
	return rounds * 8 * 4
}

func read128(x []float32) { wasmRead(first(x), int32(len(x))) }

// dense repeats dense128 instead of calling it, which avoids passing twelve words of slices.
func dense(y, w, b, x []float32) {
	if active != withSIMD128 {
		densePortable(y, w, b, x)
		return
	}
	checkDense(y, w, b, x)
	wasmDense(first(y), first(w), first(b), first(x), int32(len(y)), int32(len(x)), int32(len(b)))
}

func denseBatch(y, w, b, x []float32, n int) {
	if active == withSIMD128 {
		denseBatch128(y, w, b, x, n)
	} else {
		denseBatchPortable(y, w, b, x, n)
	}
}

func tanh(y []float32) {
	if active == withSIMD128 {
		wasmTanh(first(y), int32(len(y)))
	} else {
		tanhPortable(y)
	}
}

func relu(y []float32) {
	if active == withSIMD128 {
		wasmRelu(first(y), int32(len(y)))
	} else {
		reluPortable(y)
	}
}

func perturb(dst, theta []float32, sigma, sign float32, seed uint64) {
	if active == withSIMD128 {
		perturb128(dst, theta, sigma, sign, seed)
	} else {
		perturbPortable(dst, theta, sigma, sign, seed)
	}
}

func accumulate(dst []float32, coef float32, seed uint64, offset int) {
	if active == withSIMD128 {
		accumulate128(dst, coef, seed, offset)
	} else {
		accumulatePortable(dst, coef, seed, offset)
	}
}

func normal(dst []float32, seed uint64, offset int) {
	if active == withSIMD128 {
		normal128(dst, seed, offset)
	} else {
		noise.FillNormal(dst, seed, offset)
	}
}
