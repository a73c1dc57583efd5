// Package cost estimates what a run takes on a computer, before anything is allocated for it.
//
// Floor 5, drivers: floors 5 and 6 import it.
package cost

import (
	"errors"
	"fmt"
	"time"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// ErrTooMuch is wrapped by the error of Estimate.Check for a run that asks for more than this computer lends.
var ErrTooMuch = errors.New("the run asks for too much")

// What operations take on one core with the portable kernel, in nanoseconds: docs/bench. They are for estimates only.
const (
	noiseNS  = 2.1 // a sample of noise and its multiply-add
	denseNS  = 0.4 // a multiply-add of a dense layer
	hashNS   = 2.5 // a byte of a digest
	storedNS = 2e5 // an entry: signatures, encoding, writing
)

// Estimate is what a run takes on one computer, estimated from its spec before anything is allocated. Times are for the
// portable kernel and a core of 2020; they are right within a factor of a few.
type Estimate struct {
	Parameters int   `json:"parameters"`
	StateBytes int64 `json:"state_bytes"` // parameters and what else the strategy keeps
	Memory     int64 `json:"memory"`      // bytes for states, for candidates, one per core, and for results

	ClaimSeconds  float64 `json:"claim_seconds"`  // computing one claim on one core, if every episode goes to the time limit
	UpdateSeconds float64 `json:"update_seconds"` // folding one generation: what replay takes for each
	LogBytes      int64   `json:"log_bytes"`      // what one generation adds to the log
	BytesPerEval  float64 `json:"bytes_per_eval"` // the same for each evaluation
	EpisodesBound uint64  `json:"episodes_bound"` // episodes of a generation
}

// Of estimates the cost of a run on that many cores.
func Of(rules *seedlog.Rules, workers int) Estimate {
	g, workers := rules.Spec.Generation, max(workers, 1)
	shape := rules.Plan.Shape()
	c := Estimate{Parameters: shape.Dim, StateBytes: shape.Bytes(), EpisodesBound: g.Evaluations * rules.Spec.Episodes.Count}
	states := 3 * c.StateBytes // the old one, the new one, and what it is made of
	if !rules.Spec.Solo() {
		states += coordinator.StateMemory(shape)
	}
	results := int64(g.Evaluations) * 96
	candidates := 4 * int64(shape.Dim)
	foldNS := 0.0
	if rules.Policy.VBN() {
		candidates += 4*int64(shape.Dim) + referenceBytes(rules)
		foldNS = policy.ReferenceSize * float64(shape.Dim) * denseNS
	}
	c.Memory = states + int64(workers)*candidates + results

	candidate := float64(perResult(rules.Strategy.Shape())) * noiseNS
	step := float64(rollout.StepNS(rules.Env)) + float64(shape.Dim)*denseNS
	episodes := float64(rules.Spec.Episodes.Count)
	perEvaluation := candidate + foldNS + episodes*step*float64(rules.Env.MaxSteps)
	c.ClaimSeconds = float64(rules.EvaluationsPerChunk()) * perEvaluation / 1e9
	seeds := float64(g.Evaluations) / float64(rules.Signs())
	// The episodes of the mean policy from which running statistics are taken are part of the update.
	observed := float64(rules.ObserveEpisodes()) * (foldNS + step*float64(rules.Env.MaxSteps))
	c.UpdateSeconds = ((seeds*candidate+observed)/float64(workers) + float64(c.StateBytes)*hashNS + storedNS) / 1e9
	c.LogBytes = logBytes(rules, perClaim(rules, perEvaluation))
	c.BytesPerEval = float64(c.LogBytes) / float64(g.Evaluations)
	return c
}

// perClaim is how many evaluations a claim has. Where its author decides these are what one core computes in claimNS.
func perClaim(rules *seedlog.Rules, evaluationNS float64) uint64 {
	const claimNS = 125e6 // half of the least time between two entries
	chunk := rules.EvaluationsPerChunk()
	chunks := max(uint64(claimNS/(float64(chunk)*evaluationNS)), 1)
	return chunk * min(chunks, rules.MostChunks(), max(rules.Spec.Generation.Evaluations/chunk, 1))
}

// perResult is the number of values that a candidate, or one result of an update, touches: the parameters, or
// a full covariance if the strategy has one.
func perResult(shape evolve.Shape) int {
	for _, slot := range shape.Slots {
		if slot.Len == shape.Dim*shape.Dim {
			return slot.Len
		}
	}
	return shape.Dim
}

// referenceBytes is the memory for one candidate's reference batch: the observations, and two hidden layers.
func referenceBytes(rules *seedlog.Rules) int64 {
	net := rules.Policy.Network()
	widest := 0
	for l := 1; l < int(net.Layers); l++ {
		widest = max(widest, int(net.Sizes[l]))
	}
	return 4 * policy.ReferenceSize * int64(rules.Env.ObsDim+2*widest)
}

// logBytes is the size of a generation in the log: the entry, its seal, and claims with results of average size.
func logBytes(rules *seedlog.Rules, perClaim uint64) int64 {
	g := rules.Spec.Generation
	const perFitness, perSteps, claimBytes, perLink, entryAndSeal = 5, 3, 154, 43, 560
	claims := int64((g.Evaluations + perClaim - 1) / perClaim)
	return entryAndSeal + claims*(claimBytes+perLink) + int64(g.Evaluations)*perFitness + int64(g.Evaluations)/int64(rules.Signs())*perSteps
}

// Limits are what a computer lends to one run.
type Limits struct {
	Memory int64         // bytes; 0: not limited
	Claim  time.Duration // for computing one claim on one core; 0: not limited
	Update time.Duration // for folding one generation; 0: not limited
}

// StrangerLimits are for runs that strangers began: without limits, a claim or a fold that never ends would
// block this computer forever.
func StrangerLimits() Limits {
	return Limits{Memory: 4 << 30, Claim: 30 * time.Minute, Update: time.Minute}
}

// TabLimits are StrangerLimits for a browser, whose programs have 4 GiB at most.
func TabLimits() Limits {
	l := StrangerLimits()
	l.Memory = 1 << 30
	return l
}

// Check returns an error that wraps ErrTooMuch and names what is too much, if c is over the limits.
func (c Estimate) Check(l Limits) error {
	switch {
	case l.Memory > 0 && c.Memory > l.Memory:
		return fmt.Errorf("%w: about %s of memory for %d parameters, the limit is %s", ErrTooMuch, byteSize(c.Memory), c.Parameters, byteSize(l.Memory))
	case l.Claim > 0 && c.ClaimSeconds > l.Claim.Seconds():
		return fmt.Errorf("%w: up to %.0f s for one claim, the limit is %v", ErrTooMuch, c.ClaimSeconds, l.Claim)
	case l.Update > 0 && c.UpdateSeconds > l.Update.Seconds():
		return fmt.Errorf("%w: about %.0f s for one update, the limit is %v", ErrTooMuch, c.UpdateSeconds, l.Update)
	}
	return nil
}

// String describes the cost in a line.
func (c Estimate) String() string {
	return fmt.Sprintf("%d parameters, %s of memory; a generation: %s of log (%.1f bytes per evaluation), about %s to fold or replay",
		c.Parameters, byteSize(c.Memory), byteSize(c.LogBytes), c.BytesPerEval, time.Duration(c.UpdateSeconds*float64(time.Second)).Round(10*time.Microsecond))
}

// byteSize writes n with a unit of 1024.
func byteSize(n int64) string {
	const units = "KMGTP"
	if n < 1<<10 {
		return fmt.Sprintf("%d B", n)
	}
	x, u := float64(n)/(1<<10), 0
	for x >= 1<<10 && u < len(units)-1 {
		x, u = x/(1<<10), u+1
	}
	return fmt.Sprintf("%.1f %ciB", x, units[u])
}
