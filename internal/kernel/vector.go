package kernel

import (
	"github.com/evoswarm/evoswarm/internal/exact"
	"github.com/evoswarm/evoswarm/internal/noise"
)

// chunk is the number of samples generated at a time: 2 KiB on the stack, a multiple of the noise block.
const chunk = 512

func tanhPortable(y []float32) {
	for i, v := range y {
		y[i] = exact.Tanh32(v)
	}
}

func reluPortable(y []float32) {
	for i, v := range y {
		if !(v > 0) {
			y[i] = 0
		}
	}
}

func perturbPortable(dst, theta []float32, sigma, sign float32, seed uint64) {
	checkPerturb(dst, theta, sign)
	scale := float32(sigma * sign)
	var eps [chunk]float32
	for at := 0; at < len(dst); at += chunk {
		n := min(chunk, len(dst)-at)
		noise.FillNormal(eps[:n], seed, at)
		d, t := dst[at:at+n], theta[at:at+n]
		for i, e := range eps[:n] {
			d[i] = t[i] + float32(scale*e)
		}
	}
}

func accumulatePortable(dst []float32, coef float32, seed uint64, offset int) {
	var eps [chunk]float32
	for at := 0; at < len(dst); at += chunk {
		n := min(chunk, len(dst)-at)
		noise.FillNormal(eps[:n], seed, offset+at)
		d := dst[at : at+n]
		for i, e := range eps[:n] {
			d[i] += float32(coef * e)
		}
	}
}

func checkPerturb(dst, theta []float32, sign float32) {
	if len(dst) != len(theta) {
		panic("kernel: Perturb needs len(dst) = len(theta)")
	}
	if sign != 1 && sign != -1 {
		panic("kernel: Perturb needs a sign of +1 or -1")
	}
}

func checkOffset(offset int) {
	if offset < 0 {
		panic("noise: negative offset")
	}
}
