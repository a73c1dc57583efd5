package runspec

import (
	"errors"
	"fmt"
	"slices"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// ErrPopulation is returned by New for a population that cannot be cut into claims.
var ErrPopulation = errors.New("bad population")

// swarmClaim is the least number of evaluations in a claim of a swarm: a claim's key, link and signature take
// 150 bytes, and with so many results an evaluation costs less than 16 bytes.
const swarmClaim = 32

// swarmClaimNS is how long the steps of a claim of a swarm may take on one core; a claim of longer
// evaluations holds fewer of them. A tab takes seconds for 32 walks of 1,600 steps, and nodes would have
// closed the generation long before; and the log stays short all the same, since such evaluations are rare.
const swarmClaimNS = 200_000_000

// setGeneration decides how work is cut into claims, where an env-step takes stepNS, and how much an entry weighs at
// most.
func setGeneration(spec *seedlog.Spec, env *envs.Spec, stepNS int, antithetic bool) error {
	g := &spec.Generation
	signs := uint64(1)
	if antithetic {
		signs = 2
	}
	switch {
	case !spec.Solo():
		g.Chunk = max(g.Chunk, min(swarmClaim, swarmClaimNS/evaluationNS(env, stepNS, spec.Episodes.Count))/signs, 1)
	case g.Chunk == 0:
		g.Chunk = seedlog.MaxChunk // no peer waits for a part of the work, and fewer claims make a shorter log
	}
	if g.Evaluations%signs != 0 {
		return fmt.Errorf("%w: %d evaluations; %s takes a multiple of %d", ErrPopulation, g.Evaluations, spec.Strategy.Name, signs)
	}
	var chunks uint64
	if g.Chunk, chunks = cutChunks(g.Evaluations/signs, g.Chunk); chunks > seedlog.MaxClaims {
		return fmt.Errorf("%w: %d evaluations cannot be cut into at most %d equal claims; take a number with more divisors, such as a power of two", ErrPopulation, g.Evaluations, seedlog.MaxClaims)
	}
	g.Open = !spec.Solo()
	// One peer alone can close a generation; in a swarm it may add as much again, so that many add more than one does.
	g.Quota = chunks
	if g.Open {
		g.Quota = min(2*chunks, seedlog.MaxClaims)
	}
	// Four times what a generation of whole episodes takes: growing beyond it wins no fork.
	g.WeightSteps = min(4*g.Evaluations*spec.Episodes.Count*uint64(env.MaxSteps), 1<<40)
	return nil
}

// What runs of format 2 have: 3 % of the computing goes into checks, and a peer whose claims arrive four entries late
// works as well as any.
const (
	spotFirst = 1
	spotShare = 32
	maxStale  = 12
	// stateQuota is how many generations one peer may do on one state: it has work while the entry that its claims
	// close is folded, checked and sent.
	stateQuota = 8
	// maxGrowth lets the step of the mean grow to that with nine times the results. With 8 a swarm of 64, whose
	// results are often some entries old, took twice as long (docs/bench).
	maxGrowth = 3
	// claimBatch is how many claims a batch names: the most, so that an entry of a swarm of thousands has few links,
	// and of a small one a single one.
	claimBatch = seedlog.MaxBatch
	// generationMS is how long a generation lasts at least.
	generationMS = 250
	// heldOutResults is how many held-out episodes give a state its score, and heldOutShare which part of the episodes
	// of a swarm they are, if its entries are as short as they may be: one in so many.
	heldOutResults, heldOutShare = 64, 20
)

func spotChecks() *seedlog.SpotChecks { return &seedlog.SpotChecks{First: spotFirst, Share: spotShare} }

// setFormat2 makes a swarm's spec, which is one of format 1, one of format 2.
func setFormat2(spec *seedlog.Spec, strategy evolve.Strategy, duration uint64) {
	g := &spec.Generation
	spec.Format = seedlog.Format2
	spec.SpotChecks = spotChecks()
	if evolve.TakesStale(strategy) {
		g.MaxStale, g.Pooled = maxStale, true
	}
	if evolve.Grows(strategy) {
		g.Growth = maxGrowth
		g.CapGrowth = spec.Episodes.Cap != 0
	}
	g.Quota, g.Chunk = min(g.Quota*g.Chunk*stateQuota/2, seedlog.MaxEvaluations), 1 // claims are as long as suits their author
	g.WeightSteps = min(g.WeightSteps*stateQuota, 1<<40)
	g.Duration, g.Batch = duration, claimBatch
	each := g.Evaluations * spec.Episodes.Count
	spec.Best = &seedlog.BestState{Every: max((heldOutResults*heldOutShare+each-1)/each, g.MaxStale+1), Results: heldOutResults}
}

// setTrust makes a spec of format 2 that of a run of trusted keys.
func setTrust(spec *seedlog.Spec, keys []seedlog.Peer) {
	if len(keys) == 0 {
		return
	}
	spec.Trust = append(slices.Clone(keys), seedlog.Peer(spec.Origin))
	slices.SortFunc(spec.Trust, seedlog.Peer.Compare)
	spec.Trust = slices.Compact(spec.Trust)
	spec.SpotChecks = nil
}

// evaluationNS is roughly how long the steps of an evaluation take on one core, if all of its episodes go to the limit.
func evaluationNS(env *envs.Spec, stepNS int, episodes uint64) uint64 {
	return uint64(stepNS) * uint64(env.MaxSteps) * episodes
}

// cutChunks divides counters into equal claims: of the requested size or the next smaller one that divides
// them; if that makes too many claims, of the smallest larger one.
func cutChunks(counters, size uint64) (chunk, chunks uint64) {
	for chunk = min(max(size, 1), counters, seedlog.MaxChunk); counters%chunk != 0; chunk-- {
	}
	for counters/chunk > seedlog.MaxClaims && chunk < seedlog.MaxChunk {
		for chunk++; chunk < seedlog.MaxChunk && counters%chunk != 0; chunk++ {
		}
	}
	if counters%chunk != 0 {
		return chunk, seedlog.MaxClaims + 1
	}
	return chunk, counters / chunk
}
