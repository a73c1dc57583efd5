package rollout

import (
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/exact"
)

const (
	// FitnessOne is the fitness of a mean return of 1: 2^20.
	FitnessOne = 1 << 20
	// FitnessMax is the largest fitness and -FitnessMax the smallest valid one. Mean returns beyond ±2^42 saturate.
	FitnessMax int64 = 1 << 62
)

// Fitness returns the fitness of a candidate: that of the mean of its returns, which are added in their order. Bit
// exact.
func Fitness(returns []float64) int64 {
	var sum float64
	for _, ret := range returns {
		sum += ret
	}
	return ToFitness(sum / float64(len(returns)))
}

// ToFitness returns x in fixed point with 20 fractional bits, rounded half to even and clamped to ±FitnessMax. NaN and
// infinities give evolve.InvalidFitness. Bit exact.
func ToFitness(x float64) int64 {
	if x-x != 0 {
		return evolve.InvalidFitness
	}
	y := float64(x * FitnessOne) // a power of two: exact, or beyond FitnessMax
	if y >= float64(FitnessMax) {
		return FitnessMax
	}
	if y <= -float64(FitnessMax) {
		return -FitnessMax
	}
	return exact.RoundEven(y)
}

// FromFitness returns the mean return that f represents, rounded to float64. It is finite for every f:
// evolve.InvalidFitness gives -2^43, which is below the value of any valid fitness. Bit exact.
func FromFitness(f int64) float64 { return float64(f) / FitnessOne }
