package kernel

import (
	"errors"
	"fmt"

	"github.com/evoswarm/evoswarm/internal/noise"
)

// Kernel is a named implementation of the package's functions. Its fields do what the functions of the same
// names do, and none is nil. It serves to list, choose and test implementations; runs call the package's
// functions.
type Kernel struct {
	Name       string
	Dense      func(y, w, b, x []float32)
	DenseBatch func(y, w, b, x []float32, n int)
	Tanh       func(y []float32)
	Relu       func(y []float32)
	Perturb    func(dst, theta []float32, sigma, sign float32, seed uint64)
	Accumulate func(dst []float32, coef float32, seed uint64, offset int)
	Normal     func(dst []float32, seed uint64, offset int)

	// MultiplyAdd performs rounds of unfused multiplications and additions in registers with this kernel's
	// vectors, enough of them in parallel to hide their latency, and returns the number of pairs. It measures
	// an upper bound for any Dense of this width.
	MultiplyAdd func(rounds int) (pairs int)
	// Read loads x once with this kernel's vectors, except for up to 127 values at its end. It measures an
	// upper bound for any Dense whose weights lie in a cache.
	Read func(x []float32)
}

// Portable is the reference implementation in plain Go, available on every target.
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

// kernels holds the kernels of this build and processor, fastest last. The functions below select one with a
// switch that each target has (simd_*.go): a call through a func value would make the buffers of every caller
// escape to the heap.
var kernels = append([]Kernel{Portable}, simd()...)

// active is an index into kernels.
var active int

// ErrUnknown means that this build or processor has no kernel of that name.
var ErrUnknown = errors.New("kernel: unknown kernel")

// ErrDiffers means that a kernel does not give the bits of Portable and must not be used.
var ErrDiffers = errors.New("kernel: bits differ from portable")

// All returns the kernels that can run here, Portable first. The slice is the caller's.
func All() []Kernel { return append([]Kernel(nil), kernels...) }

// Use makes the kernel called name the active one, after it has passed [SelfTest]. Only the driver calls it,
// once, before anything is evaluated; it is not safe while other goroutines compute. Errors are [ErrUnknown]
// and [ErrDiffers]; the active kernel then does not change.
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
// that does not pass is skipped, and its error is joined to err for the log: something is wrong with this
// machine. As with [Use], only the driver calls it, once.
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

// Active returns the name of the active kernel; "portable" until [Use] or [UseFastest] is called.
func Active() string { return kernels[active].Name }

// Dense computes y = W x + b, a layer with len(x) inputs and len(y) outputs. The weights are input-major: the
// weight from input i to output o is w[i*len(y)+o]. With s_k the sum of x[i]*w[i*len(y)+o] over the inputs i
// = k mod 4 in ascending order, starting from +0, each product rounded first:
//
//	y[o] = ((s_0 + s_1) + (s_2 + s_3)) + b[o]
//
// If b is empty or nil the last addition is left out, which gives the bits of b[o] = +0. No product is
// skipped, not even those with zeros. y is overwritten and must not overlap w, b or x. Dense panics unless
// len(w) = len(x)*len(y) and b is empty or has length len(y). Bit exact.
func Dense(y, w, b, x []float32) { dense(y, w, b, x) }

// DenseBatch is [Dense] for a batch of n observations that share weights: row r of y, with len(y)/n outputs,
// is computed from row r of x, with len(x)/n inputs, and has the same bits as from Dense. A faster kernel
// reads the weights once for several rows. y is overwritten and must not overlap w, b or x. DenseBatch panics
// unless n >= 0 divides len(y) and len(x), with n = 0 only for empty slices, and w and b fit the rows as in
// Dense. Bit exact.
func DenseBatch(y, w, b, x []float32, n int) { denseBatch(y, w, b, x, n) }

// Tanh replaces every y[i] with exact.Tanh32(y[i]), which is in [-1, 1]; NaN remains NaN. Bit exact.
func Tanh(y []float32) { tanh(y) }

// Relu replaces every y[i] with y[i] if y[i] > 0 and with +0 otherwise, so -0 and NaN become +0. Bit exact.
func Relu(y []float32) { relu(y) }

// Perturb writes dst[i] = theta[i] + (sigma*sign)*eps[i], the product rounded first, where eps is the
// perturbation of length len(theta) for seed. sigma >= 0 is the standard deviation in parameter space, sign
// is +1 or -1. Always start from theta: undoing a perturbation by subtraction would not restore the bits. dst
// and theta have the same length, and are the same slice or do not overlap. Perturb panics on other lengths
// or signs. Bit exact.
func Perturb(dst, theta []float32, sigma, sign float32, seed uint64) {
	perturb(dst, theta, sigma, sign, seed)
}

// Accumulate adds coef*eps[offset+i] to every dst[i], the product rounded first, where eps is the
// perturbation for seed and offset >= 0. To sum over many seeds on several cores, split the work by
// parameters and add the seeds in order in every part: then any split gives the same bits. Bit exact.
func Accumulate(dst []float32, coef float32, seed uint64, offset int) {
	accumulate(dst, coef, seed, offset)
}

// Normal writes components offset .. offset+len(dst)-1 of the perturbation for seed to dst, exactly as
// [noise.FillNormal]. It panics if offset < 0. Bit exact.
func Normal(dst []float32, seed uint64, offset int) { normal(dst, seed, offset) }
