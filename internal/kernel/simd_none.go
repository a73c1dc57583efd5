//go:build (!amd64 && !arm64 && !(js && wasm)) || purego

package kernel

import "github.com/evoswarm/evoswarm/internal/noise"

func simd() []Kernel { return nil }

func dense(y, w, b, x []float32) { densePortable(y, w, b, x) }

func denseBatch(y, w, b, x []float32, n int) { denseBatchPortable(y, w, b, x, n) }

func tanh(y []float32) { tanhPortable(y) }

func relu(y []float32) { reluPortable(y) }

func perturb(dst, theta []float32, sigma, sign float32, seed uint64) {
	perturbPortable(dst, theta, sigma, sign, seed)
}

func accumulate(dst []float32, coef float32, seed uint64, offset int) {
	accumulatePortable(dst, coef, seed, offset)
}

func normal(dst []float32, seed uint64, offset int) { noise.FillNormal(dst, seed, offset) }
