package episode

import "github.com/evoswarm/evoswarm/internal/exact"

const (
	// ObservedMax bounds the magnitude of observations that are summed; larger ones are clamped.
	ObservedMax = 1 << 16
	// ObservedOne is an observation of 1 in fixed point.
	ObservedOne = 1 << 28
)

// SumsLen returns the number of words that the sums over observations of length obsDim take: their number, then for
// each value its sum in 128 bits (two's complement, low word first) and the sum of its squares in 128 bits, in fixed
// point with 28 fractional bits. They are integers so that neither the order nor the number of workers matters.
func SumsLen(obsDim int) int { return 1 + 4*obsDim }

// Add adds one observation to sums.
func Add(sums []uint64, obs []float32) {
	sums[0]++
	for i := range obs {
		v := observed(obs[i])
		add128(sums[1+4*i:3+4*i], uint64(v>>63), uint64(v))
		if v < 0 {
			v = -v
		}
		// The square of h 2^32 + l, which is below 2^45.
		h, l := uint64(v)>>32, uint64(v)&0xffffffff
		cross, low := 2*h*l, l*l
		high := h*h + cross>>32
		square := low + cross<<32
		if square < low {
			high++
		}
		add128(sums[3+4*i:5+4*i], high, square)
	}
}

// observed returns x in fixed point, clamped to ±ObservedMax and rounded half to even; NaN counts as 0.
func observed(x float32) int64 {
	if x != x {
		x = 0
	} else if x > ObservedMax {
		x = ObservedMax
	} else if x < -ObservedMax {
		x = -ObservedMax
	}
	return exact.RoundEven(float64(float64(x) * ObservedOne))
}

// add128 adds hi:lo to sum, low word first.
func add128(sum []uint64, hi, lo uint64) {
	sum[0] += lo
	if sum[0] < lo {
		sum[1]++
	}
	sum[1] += hi
}
