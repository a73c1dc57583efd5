package sweep

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// ErrCompare is returned for tables that cannot be compared.
var ErrCompare = errors.New("sweep: tables that cannot be compared")

// The bootstrap.
const (
	Resamples  = 10000 // of each comparison
	Confidence = 0.95  // of the intervals
	bootSeed   = 20261121
)

// Interval is an estimate with its bootstrap interval.
type Interval struct {
	Value Real `json:"value"`
	Low   Real `json:"low"`
	High  Real `json:"high"`
}

// Costs compares the medians of one measure.
type Costs struct {
	Measure    Measure  `json:"measure"`
	A          Real     `json:"a"` // median; null: infinite
	B          Real     `json:"b"`
	Difference Interval `json:"difference"` // B - A; null as low: -Inf or not known, as high: +Inf or not known
	Ratio      Interval `json:"ratio"`      // B / A; null as high: +Inf or not known
	Better     string   `json:"better"`     // "a" or "b" if the interval of the difference leaves out 0, else "unclear"
}

// Comparison is the result of comparing two sweeps.
type Comparison struct {
	A     Summary  `json:"a"`
	B     Summary  `json:"b"`
	Rate  Interval `json:"rate"` // share of runs solved, B - A
	Costs []Costs  `json:"costs"`
}

// Compare compares the finished rows of b with those of a.
//
// The intervals are 95 % percentile bootstrap intervals (Efron 1979): each table is resampled with replacement
// 10,000 times, by a generator with a fixed seed, and the ends are the 2.5 % and 97.5 % quantiles of the statistic. A
// failed run costs +Inf. If both medians of a resample are infinite, their difference is unknown: it counts as -Inf
// (ratio: 0) for the lower end and as +Inf for the upper one, so that failures only widen an interval. The same tables
// give the same intervals.
//
// Errors wrap ErrCompare: tables of different worlds, or without finished runs.
func Compare(a, b []Row) (Comparison, error) {
	c := Comparison{A: Summarize(a), B: Summarize(b)}
	if c.A.Runs == 0 || c.B.Runs == 0 {
		return c, fmt.Errorf("%w: %d and %d finished runs, at least 1 each is needed", ErrCompare, c.A.Runs, c.B.Runs)
	}
	if c.A.Env != "" && c.B.Env != "" && c.A.Env != c.B.Env {
		return c, fmt.Errorf("%w: one is of %s, the other of %s", ErrCompare, c.A.Env, c.B.Env)
	}
	a, b = finished(a), finished(b)
	for _, of := range []Measure{Steps, Seconds} {
		c.Costs = append(c.Costs, compareCosts(of, costs(a, of), costs(b, of)))
	}
	c.Rate = compareRates(a, b)
	return c, nil
}

// compareCosts compares the medians of sorted costs.
func compareCosts(of Measure, a, b []float64) Costs {
	c := Costs{Measure: of, A: Real(Quantile(a, 0.5)), B: Real(Quantile(b, 0.5)), Better: "unclear"}
	var differences, ratios [2][]float64 // with what is not known taken low, and high
	rng := rand.New(rand.NewPCG(bootSeed, 0))
	x, y := make([]float64, len(a)), make([]float64, len(b))
	for range Resamples {
		ma, mb := resampledMedian(rng, x, a), resampledMedian(rng, y, b)
		for side, unknown := range []float64{math.Inf(-1), math.Inf(1)} {
			differences[side] = append(differences[side], difference(ma, mb, unknown))
			ratios[side] = append(ratios[side], ratio(ma, mb, max(unknown, 0)))
		}
	}
	nan := math.NaN()
	c.Difference = interval(difference(float64(c.A), float64(c.B), nan), differences)
	c.Ratio = interval(ratio(float64(c.A), float64(c.B), nan), ratios)
	switch {
	case c.Difference.Low > 0:
		c.Better = "a"
	case c.Difference.High < 0:
		c.Better = "b"
	}
	return c
}

// difference is b - a, or unknown if both are infinite.
func difference(a, b, unknown float64) float64 {
	if math.IsInf(a, 1) && math.IsInf(b, 1) {
		return unknown
	}
	return b - a
}

// ratio is b / a, or unknown if both are infinite or zero.
func ratio(a, b, unknown float64) float64 {
	if math.IsInf(a, 1) && math.IsInf(b, 1) || a == 0 && b == 0 {
		return unknown
	}
	return b / a
}

// compareRates compares how often runs solve their world.
func compareRates(a, b []Row) Interval {
	x, y := solvedOnes(a), solvedOnes(b)
	rng := rand.New(rand.NewPCG(bootSeed, 1))
	var all []float64
	for range Resamples {
		all = append(all, resampledMean(rng, y)-resampledMean(rng, x))
	}
	return interval(mean(y)-mean(x), [2][]float64{all, slices.Clone(all)})
}

// solvedOnes is 1 for each row that solved its world, else 0.
func solvedOnes(rows []Row) []float64 {
	x := make([]float64, len(rows))
	for i := range rows {
		if rows[i].Solved {
			x[i] = 1
		}
	}
	return x
}

// interval takes the lower end from the first set of samples of the statistic and the upper end from the
// second. It sorts them.
func interval(value float64, samples [2][]float64) Interval {
	for _, s := range samples {
		slices.Sort(s)
	}
	const tail = (1 - Confidence) / 2
	return Interval{Real(value), Real(Quantile(samples[0], tail)), Real(Quantile(samples[1], 1-tail))}
}

// resampledMedian fills x with values drawn from all, and returns their median.
func resampledMedian(rng *rand.Rand, x, all []float64) float64 {
	for i := range x {
		x[i] = all[rng.IntN(len(all))]
	}
	slices.Sort(x)
	return Quantile(x, 0.5)
}

func resampledMean(rng *rand.Rand, all []float64) float64 {
	sum := 0.0
	for range all {
		sum += all[rng.IntN(len(all))]
	}
	return sum / float64(len(all))
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}
