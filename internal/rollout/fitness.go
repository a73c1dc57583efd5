package rollout

import (
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/exact"
)

const (
	// FitnessOne is the fitness of a mean return of 1: 2^20.
	FitnessOne = 1 << 20
	// FitnessMax is the largest fitness, and -FitnessMax the smallest valid one; mean
	// returns beyond ±2^42 saturate there.
	FitnessMax int64 = 1 << 62
)

// ToFitness returns x in fixed point with 20 binary digits after the point, rounded
// half to even and held to ±FitnessMax. NaN and infinities give
// evolve.InvalidFitness. Bit exact.
func ToFitness(x float64) int64 {
	if x-x != 0 {
		return evolve.InvalidFitness
	}
	y := float64(x * FitnessOne) // by a power of two: exact, or too large to matter
	if y >= float64(FitnessMax) {
		return FitnessMax
	}
	if y <= -float64(FitnessMax) {
		return -FitnessMax
	}
	return roundEven(y)
}

// roundEven returns the integer nearest to y, the even one of two; |y| is below 2^62.
func roundEven(y float64) int64 {
	low := exact.Floor(y)
	n := int64(low)
	rest := y - low // exact: both have the digits of y
	if rest > 0.5 || rest == 0.5 && n&1 != 0 {
		n++
	}
	return n
}

// FromFitness returns the mean return that f stands for, rounded to float64. It is
// finite for every f: evolve.InvalidFitness, which stands for none, gives -2^43,
// below what any valid fitness gives. Bit exact.
func FromFitness(f int64) float64 { return float64(f) / FitnessOne }
