package sweep

import (
	"math"
	"math/rand/v2"
	"slices"
)

// bandResamples is how often the runs of a band are resampled.
const bandResamples = 2000

// bandPoints is at how many env-steps a band is computed.
const bandPoints = 120

// IQM returns the interquartile mean of sorted values: the mean without the lowest and the highest quarter, each
// rounded down to whole values (trim_mean of SciPy, which rliable uses). NaN without values.
func IQM(sorted []float64) float64 {
	cut := len(sorted) / 4
	return mean(sorted[cut : len(sorted)-cut])
}

// Band is what the learning curves of several runs say together: after each number of env-steps the interquartile mean
// of the returns, and the ends of its interval.
type Band struct {
	Steps          []float64
	IQM, Low, High []float64
	Runs           int
}

// Band aggregates curves from where all of them have begun until last env-steps, which a shorter curve reaches with its
// last return.
//
// The interval is the 95 % percentile bootstrap interval of rliable (Agarwal et al. 2021): whole runs are
// resampled with replacement, by a generator with a fixed seed. One environment is one stratum.
func (c Curves) Band(last float64) Band {
	seeds := c.seeds()
	b := Band{Runs: len(seeds)}
	if len(seeds) == 0 {
		return b
	}
	first := 0.0
	for _, seed := range seeds {
		first = max(first, float64(c[seed][0].Steps))
	}
	last = max(first, last)
	n := bandPoints
	if first == last {
		n = 1
	}
	returns := make([]float64, len(seeds))
	for i := range n {
		x := first
		if i > 0 {
			x += (last - first) * float64(i) / float64(n-1)
		}
		for k, seed := range seeds {
			returns[k] = At(c[seed], x)
		}
		low, high := iqmInterval(returns)
		slices.Sort(returns)
		b.Steps, b.IQM = append(b.Steps, x), append(b.IQM, IQM(returns))
		b.Low, b.High = append(b.Low, low), append(b.High, high)
	}
	return b
}

// iqmInterval returns the bootstrap interval of the interquartile mean. Equal numbers of values are resampled alike.
func iqmInterval(values []float64) (low, high float64) {
	rng := rand.New(rand.NewPCG(bootSeed, 2))
	drawn, samples := make([]float64, len(values)), make([]float64, bandResamples)
	for i := range samples {
		for k := range drawn {
			drawn[k] = values[rng.IntN(len(values))]
		}
		slices.Sort(drawn)
		samples[i] = IQM(drawn)
	}
	slices.Sort(samples)
	const tail = (1 - Confidence) / 2
	return Quantile(samples, tail), Quantile(samples, 1-tail)
}

// lastStep returns the env-steps of the last point of all curves.
func (c Curves) lastStep() float64 {
	last := 0.0
	for _, points := range c {
		if n := len(points); n > 0 {
			last = math.Max(last, float64(points[n-1].Steps))
		}
	}
	return last
}
