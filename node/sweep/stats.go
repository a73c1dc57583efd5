package sweep

import (
	"math"
	"slices"
)

// Summary summarizes the finished rows of a table.
type Summary struct {
	Summary  bool    `json:"summary"` // true, to tell this line from the rows
	Env      string  `json:"env"`
	Strategy string  `json:"strategy"`
	Until    string  `json:"until"`  // what ends each run
	Runs     int     `json:"runs"`   // finished runs
	Solved   int     `json:"solved"` // of them
	Rate     Real    `json:"rate"`   // Solved / Runs; null without runs
	Steps    Real    `json:"steps_median"`
	Seconds  Real    `json:"seconds_median"`
	Quarters Quarter `json:"quartiles"`
	Return   Real    `json:"return_median"`     // of the last test or held-out evaluation of each run
	Left     int     `json:"left"`              // unfinished runs, which count nowhere
	Jobs     int     `json:"jobs,omitempty"`    // runs at a time, if known
	Workers  int     `json:"workers,omitempty"` // cores of each, if known
}

// Quarter holds the lower quartile, the median and the upper quartile of each measure.
type Quarter struct {
	Steps   [3]Real `json:"steps"`
	Seconds [3]Real `json:"seconds"`
}

// Summarize summarizes rows. The names are those of the first row.
func Summarize(rows []Row) Summary {
	s := Summary{Summary: true}
	if len(rows) > 0 {
		s.Env, s.Strategy, s.Until = rows[0].Env, rows[0].Strategy, rows[0].Until
	}
	done := finished(rows)
	s.Runs, s.Left = len(done), len(rows)-len(done)
	var returns []float64
	for i := range done {
		if done[i].Solved {
			s.Solved++
		}
		if r := done[i].Return; r != nil {
			returns = append(returns, *r)
		}
	}
	slices.Sort(returns)
	s.Rate = Real(math.NaN())
	if s.Runs > 0 {
		s.Rate = Real(float64(s.Solved) / float64(s.Runs))
	}
	s.Quarters = Quarter{quartiles(costs(done, Steps)), quartiles(costs(done, Seconds))}
	s.Steps, s.Seconds, s.Return = s.Quarters.Steps[1], s.Quarters.Seconds[1], Real(Quantile(returns, 0.5))
	return s
}

// finished returns the rows of finished runs.
func finished(rows []Row) []Row {
	var done []Row
	for _, r := range rows {
		if r.Done {
			done = append(done, r)
		}
	}
	return done
}

// costs returns what each row took, ascending.
func costs(rows []Row, of Measure) []float64 {
	x := make([]float64, len(rows))
	for i := range rows {
		x[i] = rows[i].cost(of)
	}
	slices.Sort(x)
	return x
}

func quartiles(sorted []float64) (q [3]Real) {
	for i := range q {
		q[i] = Real(Quantile(sorted, float64(i+1)/4))
	}
	return q
}

// Quantile returns the p-quantile (0 to 1) of values in ascending order, which may include infinities: the value at
// position p (n-1), interpolated between its two neighbors (numpy's default; Hyndman and Fan's type 7), and infinite if
// a neighbor that counts is infinite. NaN without values.
func Quantile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	at := p * float64(len(sorted)-1)
	i := int(at)
	low, part := sorted[i], at-float64(i)
	if part == 0 || i+1 == len(sorted) {
		return low
	}
	high := sorted[i+1]
	if math.IsInf(low, 0) || math.IsInf(high, 0) {
		if low == high || math.IsInf(high, 1) {
			return high
		}
		return low
	}
	return low + float64(part*(high-low))
}
