package main

import (
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/store"
)

// historyPoints is how many generations a history holds at most, evenly spread.
const historyPoints = 300

// generation is what the log says of one, as returns.
type generation struct {
	Height uint64  `json:"height"`
	Best   float64 `json:"best"`
	Mean   float64 `json:"mean"`
}

// history reads generations above the height after from the log, so that the curve does not begin with this visit.
// Generations whose every evaluation failed are left out.
func history(log store.Store, after uint64) []generation {
	length := log.Length()
	out := []generation{}
	if after >= length {
		return out
	}
	stride := 1 + (length-after-1)/historyPoints
	// Counted from the newest, which is always there.
	for height := after + 1 + (length-1-after)%stride; height <= length; height += stride {
		entry, _, ok := log.At(height)
		if !ok {
			break
		}
		if g, ok := readGeneration(log, entry); ok {
			g.Height = height
			out = append(out, g)
		}
	}
	return out
}

// readGeneration reports false for an entry that is not there or holds no valid fitness.
func readGeneration(log store.Store, link seedlog.Link) (generation, bool) {
	block, ok := log.Block(link)
	if !ok {
		return generation{}, false
	}
	entry, err := seedlog.ReadEntry(block, log.Block)
	if err != nil {
		return generation{}, false
	}
	best, sum, n := evolve.InvalidFitness, 0.0, 0
	for _, c := range entry.Claims {
		block, _ := log.Block(c)
		claim, err := seedlog.DecodeClaim(block)
		if err != nil {
			return generation{}, false
		}
		for _, f := range claim.Fitness {
			if f == evolve.InvalidFitness {
				continue
			}
			best = max(best, f)
			sum += rollout.FromFitness(f)
			n++
		}
	}
	if n == 0 {
		return generation{}, false
	}
	return generation{Best: rollout.FromFitness(best), Mean: sum / float64(n)}, true
}
