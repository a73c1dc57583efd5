package curve

import (
	"slices"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// Row is what there is to say about a run after a generation.
type Row struct {
	Gen         uint64   // height of its entry; 0: before the first
	Evaluations uint64   // of the run so far
	Steps       uint64   // env-steps of the run's training so far
	Seconds     *float64 // of training so far, over all its processes; nil: not known
	Best, Mean  float64  // fitness of the generation's evaluations; invalid ones left out (all invalid: 0)
	Return      *float64 // mean return of the held-out evaluation; nil: there was none
}

// FitnessOf lists the valid fitness values of a generation, as returns, in the order of its claims.
func FitnessOf(claims []*seedlog.Claim) []float64 {
	var all []float64
	for _, c := range claims {
		for _, f := range c.Fitness {
			if f != evolve.InvalidFitness {
				all = append(all, rollout.FromFitness(f))
			}
		}
	}
	return all
}

// RowOf is the row of a generation that a replay visits, without time and held-out evaluation. Its figures
// are those that training reports.
func RowOf(g *seedlog.Record, at seedlog.Replayed) Row {
	row := Row{Gen: at.Height, Evaluations: at.Evaluations, Steps: at.Steps}
	all := FitnessOf(g.Claims)
	if len(all) == 0 {
		return row
	}
	row.Best = slices.Max(all)
	for _, x := range all {
		row.Mean += x
	}
	row.Mean /= float64(len(all))
	return row
}

// Quantile returns the value below which the share q (0 to 1) of sorted lies, between neighbors in
// proportion. sorted is in ascending order and not empty.
func Quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := min(int(at), len(sorted)-1)
	j := min(i+1, len(sorted)-1)
	share := (at - float64(i)) * (sorted[j] - sorted[i])
	return sorted[i] + share
}
