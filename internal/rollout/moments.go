package rollout

import (
	"math/bits"

	"github.com/evoswarm/evoswarm/internal/episode"
	"github.com/evoswarm/evoswarm/internal/exact"
)

const (
	// observedCount is the largest number of observations summed. As many squares of the largest value stay
	// below 2^127.
	observedCount = 1 << 38
	// stdMin is the standard deviation below which a value counts as constant, as in the code of Mania et
	// al., "Simple random search" (2018).
	stdMin = 1e-7
)

// moments are sums over observations in the form of episode.Add.
type moments []uint64

// merge adds n to m, unless m would count more than observedCount.
func (m moments) merge(n moments) {
	if n[0] > observedCount || m[0] > observedCount-n[0] {
		return
	}
	m[0] += n[0]
	for i := 1; i < len(m); i += 2 {
		add128(m[i:i+2], n[i+1], n[i])
	}
}

// write sets mean and std, both of the length of an observation, from the sums. std is 0 where it is below
// stdMin. Without observations mean is 0 and std 1.
func (m moments) write(mean, std []float32) {
	for i := range mean {
		if m[0] == 0 {
			mean[i], std[i] = 0, 1
			continue
		}
		mu, deviation := m.of(i)
		if deviation < stdMin {
			deviation = 0
		}
		mean[i], std[i] = float32(mu), float32(deviation)
	}
}

// of returns the mean and the standard deviation of value i.
func (m moments) of(i int) (mean, std float64) {
	n := m[0]
	q, r := floorDiv(m[2+4*i], m[1+4*i], n) // sum = q n + r
	squares := [2]uint64{m[3+4*i], m[4+4*i]}
	// The sum of (v-q)^2 equals the sum of the squares - 2 q r - n q^2. In integers this is exact; in
	// floating point the difference of two large numbers would lose the variance.
	u := magnitude(q)
	hi, lo := bits.Mul64(u, u)
	carry, low := bits.Mul64(lo, n)
	sub128(squares[:], hi*n+carry, low)
	hi, lo = bits.Mul64(u, r)
	for range 2 {
		if int64(q) < 0 {
			add128(squares[:], hi, lo)
		} else {
			sub128(squares[:], hi, lo)
		}
	}
	count := float64(int64(n))
	rest := float64(int64(r)) / count
	variance := float128(squares[1], squares[0])/count - float64(rest*rest)
	if !(variance > 0) {
		variance = 0
	}
	return (float64(int64(q)) + rest) / episode.ObservedOne, exact.Sqrt(variance) / episode.ObservedOne
}

// add128 adds hi:lo to sum, low word first.
func add128(sum []uint64, hi, lo uint64) {
	var carry uint64
	sum[0], carry = bits.Add64(sum[0], lo, 0)
	sum[1], _ = bits.Add64(sum[1], hi, carry)
}

// sub128 subtracts hi:lo from sum, low word first.
func sub128(sum []uint64, hi, lo uint64) {
	var borrow uint64
	sum[0], borrow = bits.Sub64(sum[0], lo, 0)
	sum[1], _ = bits.Sub64(sum[1], hi, borrow)
}

// floorDiv divides hi:lo, in two's complement, by n: it equals q n + r with 0 <= r < n and q in two's
// complement. A quotient beyond 64 bits, which sums of observations never have, is returned as 0.
func floorDiv(hi, lo, n uint64) (q, r uint64) {
	negative := hi>>63 != 0
	if negative {
		var borrow uint64
		lo, borrow = bits.Sub64(0, lo, 0)
		hi, _ = bits.Sub64(0, hi, borrow)
	}
	if hi >= n {
		return 0, 0
	}
	q, r = bits.Div64(hi, lo, n)
	if negative {
		q = -q
		if r > 0 {
			q, r = q-1, n-r
		}
	}
	return q, r
}

// magnitude returns the absolute value of x, read as two's complement.
func magnitude(x uint64) uint64 {
	if int64(x) < 0 {
		return -x
	}
	return x
}

// float128 returns hi:lo, which must not be negative, as the nearest float64 or one of its neighbors.
func float128(hi, lo uint64) float64 {
	low := float64(float64(int64(lo>>32))*(1<<32)) + float64(int64(lo&(1<<32-1)))
	return float64(float64(int64(hi))*(1<<64)) + low
}
