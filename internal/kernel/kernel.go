package kernel

import (
	"errors"
	"fmt"

	"github.com/evoswarm/evoswarm/internal/noise"
)

// Kernel is one implementation of the package's functions, with a name to choose it by. The fields have the meaning of
// the package's functions of the same names, and none is nil. It is made for listing, choosing and testing; runs call
// the package's functions.
type Kernel struct {
	Name       string
	Dense      func(y, w, b, x []float32)
	DenseBatch func(y, w, b, x []float32, n int)
	Tanh       func(y []float32)
	Relu       func(y []float32)
	Perturb    func(dst, theta []float32, sigma, sign float32, seed uint64)
	Accumulate func(dst []float32, coef float32, seed uint64, offset int)
	Normal     func(dst []float32, seed uint64, offset int)

	// MultiplyAdd does rounds of unfused multiplications and additions in registers with this kernel's vectors, as many
	// side by side as hide their latency, and returns how many pairs: what no Dense of this width can exceed.
	MultiplyAdd func(rounds int) (pairs int)
	// Read loads x once with this kernel's vectors and drops it, but for up to 127 values at its end: what no Dense
	// whose weights lie in a cache can exceed.
	Read func(x []float32)
}

// Portable is the reference: plain Go, on every target.
var Portable = Kernel{
	Name:       "portable",
	Dense:      densePortable,
	DenseBatch: denseBatchPortable,
	Tanh:       tanhPortable,
	Relu:       reluPortable,
	Perturb:    perturbPortable,
	Accumulate: accumulatePortable,
	Normal:     noise.FillNormal,

	MultiplyAdd: multiplyAddPortable,
	Read:        readPortable,
}

// kernels are those of this build and this processor, the fastest last. Which one a function below takes is a switch of
// each target (simd_*.go): a call through a func value would make the buffers of every caller escape to the heap.
var kernels = append([]Kernel{Portable}, simd()...)

// active is an index into kernels.
var active int

// ErrUnknown says that this build or this processor has no kernel of that name.
var ErrUnknown = errors.New("kernel: unknown kernel")

// ErrDiffers says that a kernel does not give the bits of Portable and must not be used.
var ErrDiffers = errors.New("kernel: bits differ from portable")

// All returns the kernels that can run here, Portable first; the caller owns the slice.
func All() []Kernel { return append([]Kernel(nil), kernels...) }

// Use makes the kernel called name the active one, after it has passed [SelfTest]. Only the driver calls it, once,
// before anything is evaluated: it is not safe while other goroutines compute. Errors: [ErrUnknown], [ErrDiffers]; then
// the active kernel stays.
func Use(name string) error {
	for i, k := range kernels {
		if k.Name != name {
			continue
		}
		if err := SelfTest(k); err != nil {
			return err
		}
		active = i
		return nil
	}
	return fmt.Errorf("%w %q", ErrUnknown, name)
}

// UseFastest makes the fastest kernel that passes [SelfTest] the active one and returns its name. A kernel
// that does not pass is left aside and its error joined to err, which is for the log: something is wrong with
// this machine. As with [Use], only the driver calls it, once.
func UseFastest() (name string, err error) {
	for i := len(kernels) - 1; i > 0; i-- {
		fault := Use(kernels[i].Name)
		if fault == nil {
			return kernels[i].Name, err
		}
		err = errors.Join(err, fault)
	}
	active = 0
	return Portable.Name, err
}

// Active returns the name of the active kernel; "portable" until [Use] or [UseFastest] was called.
func Active() string { return kernels[active].Name }

// Dense computes y = W x + b, a layer with len(x) inputs and len(y) outputs. The weights lie input-major: the weight
// from input i to output o is w[i*len(y)+o]. With s_k the sum of x[i]*w[i*len(y)+o] over the inputs i = k mod 4 in
// ascending order, started at +0, each product rounded first:
//
//	y[o] = ((s_0 + s_1) + (s_2 + s_3)) + b[o]
//
// An empty or nil b leaves the last addition out, which gives the bits of b[o] = +0. No product is skipped, also not
// of a zero. y is overwritten and must not overlap w, b or x. Panics unless len(w) = len(x)*len(y) and b is empty or
// of len(y). Bit exact.
func Dense(y, w, b, x []float32) { dense(y, w, b, x) }

// DenseBatch is [Dense] for a batch of n observations that share weights: row r of y, with len(y)/n outputs, is made of
// row r of x, with len(x)/n inputs, and has the bits that Dense gives it. A faster kernel reads the weights once for
// several rows. y is overwritten and must not overlap w, b or x. Panics unless n >= 0 divides len(y) and len(x), with
// n = 0 only for empty ones, and w and b fit the rows as Dense asks. Bit exact.
func DenseBatch(y, w, b, x []float32, n int) { denseBatch(y, w, b, x, n) }

// Tanh replaces every y[i] by exact.Tanh32(y[i]), in [-1, 1]; NaN stays NaN. Bit exact.
func Tanh(y []float32) { tanh(y) }

// Relu replaces every y[i] by y[i] > 0 ? y[i] : +0, so that -0 and NaN become +0. Bit exact.
func Relu(y []float32) { relu(y) }

// Perturb writes dst[i] = theta[i] + (sigma*sign)*eps[i], the product rounded first, with eps the perturbation of
// length len(theta) that seed names. sigma >= 0 is the standard deviation in parameter space, sign is +1 or -1. It is
// always computed from theta: taking a perturbation back by subtraction would not restore the bits. dst and theta have
// one length, and are the same slice or do not overlap. Panics on other lengths or signs. Bit exact.
func Perturb(dst, theta []float32, sigma, sign float32, seed uint64) {
	perturb(dst, theta, sigma, sign, seed)
}

// Accumulate adds coef*eps[offset+i] to every dst[i], the product rounded first, with eps the perturbation that seed
// names. Whoever sums over many seeds splits the work by parameters, with offset >= 0, and adds the seeds in their
// order in every part: then any split gives the same bits. Bit exact.
func Accumulate(dst []float32, coef float32, seed uint64, offset int) {
	accumulate(dst, coef, seed, offset)
}

// Normal writes components offset .. offset+len(dst)-1 of the perturbation that seed names into dst, as
// [noise.FillNormal] does, whose comment applies. offset >= 0, else it panics. Bit exact.
func Normal(dst []float32, seed uint64, offset int) { normal(dst, seed, offset) }
