package mujocoenv

import (
	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/noise"
)

// Hold writes the controls for the raw actions act to ctrl: NaN is low, and what is beyond all bounds is held to
// [envs.Unbounded], so that the cost of an action stays finite. The engine clamps controls to the bounds of the motors;
// costs are those of the values that come out here, as in Gymnasium. Bit exact.
func Hold(ctrl, act []float64, low float64) {
	for i := range ctrl {
		ctrl[i] = envs.Real(act[i], low)
	}
}

// Uniform adds to each value of x a number that is drawn uniformly from [-scale, scale). Bit exact.
func Uniform(rng *noise.Stream, x []float64, scale float64) {
	for i := range x {
		u := rng.UniformIn(-scale, scale)
		x[i] += u
	}
}

// Normal adds to each value of x a normal number times scale. Bit exact.
func Normal(rng *noise.Stream, x []float64, scale float64) {
	for i := range x {
		n := float64(rng.Normal())
		x[i] += float64(scale * n)
	}
}

// Clip holds x to [low, high]. Bit exact.
func Clip(x, low, high float64) float64 {
	if x < low {
		return low
	}
	if x > high {
		return high
	}
	return x
}

// Inside says whether low < x < high. Bit exact.
func Inside(x, low, high float64) bool { return low < x && x < high }

// SumSquares adds up the squares of at most 128 values in the order of NumPy's sum: fewer than eight one after
// another, else in eight sums. Bit exact.
func SumSquares(x []float64) float64 {
	whole := len(x) - len(x)%8
	sum := 0.0
	if whole > 0 {
		var r [8]float64
		for i := range whole {
			r[i%8] += float64(x[i] * x[i])
		}
		sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
	}
	for i := whole; i < len(x); i++ {
		sum += float64(x[i] * x[i])
	}
	return sum
}
