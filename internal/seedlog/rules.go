package seedlog

import (
	"bytes"
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"

	"github.com/evoswarm/evoswarm/envs"
	_ "github.com/evoswarm/evoswarm/envs/all" // the environments that a spec may name
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

var (
	// ErrLink is returned if a block is not the one that its successor, its seal or its proof names.
	ErrLink = errors.New("seedlog: broken link")
	// ErrRun is returned for a block of another run.
	ErrRun = errors.New("seedlog: wrong run")
	// ErrOrder is returned for an entry, claim or vote out of order.
	ErrOrder = errors.New("seedlog: out of order")
	// ErrCount is returned where counts do not add up to what the block or the spec says.
	ErrCount = errors.New("seedlog: wrong count")
	// ErrDigest is returned where folding the claims gives another state than the entry says.
	ErrDigest = errors.New("seedlog: wrong digest")
	// ErrFalseClaim is returned where a re-run gives other bits than a claim.
	ErrFalseClaim = errors.New("seedlog: false claim")
)

// Rules are a run's spec, resolved: they say which blocks are valid and what they do. Rules are read-only and
// may be shared.
type Rules struct {
	Spec *Spec
	Run  Link // of the spec
	rollout.Plan
	Origin Peer

	weights *evolve.State // that the run starts from; nil: none
}

// NewRules resolves spec: the environment and its revision, the policy, the strategy and its settings. A run
// that starts from weights needs [NewSuccessor].
func NewRules(spec *Spec) (*Rules, error) {
	if spec.Successor != nil {
		return nil, fmt.Errorf("%w: it starts from weights that only its log holds", ErrWeights)
	}
	return resolve(spec)
}

func resolve(spec *Spec) (*Rules, error) {
	if err := spec.check(); err != nil {
		return nil, err
	}
	plan, err := rollout.NewPlan(spec.Setup())
	if errors.Is(err, rollout.ErrRevision) {
		return nil, fmt.Errorf("%w: the run needs %w", ErrVersion, err)
	}
	if errors.Is(err, envs.ErrParam) {
		return nil, fmt.Errorf("%w: the run needs an environment that this build does not have: %w", ErrVersion, err)
	}
	if err != nil {
		return nil, err
	}
	if given := plan.Env.Given(); !maps.Equal(given, spec.Env.Params) || given == nil && spec.Env.Params != nil {
		return nil, fmt.Errorf("%w: env.params is %v, with what is no default it is %v: defaults are left out", ErrSpec, spec.Env.Params, given)
	}
	if spec.Generation.MaxStale > 0 && !evolve.TakesStale(plan.Strategy) {
		return nil, fmt.Errorf("%w: generation.max_stale is %d, but %s with these settings takes no results of earlier states", ErrSpec, spec.Generation.MaxStale, spec.Strategy.Name)
	}
	if spec.Generation.Growth > 0 && !evolve.Grows(plan.Strategy) {
		return nil, fmt.Errorf("%w: generation.growth is %d, but the step of %s does not grow with a generation", ErrSpec, spec.Generation.Growth, spec.Strategy.Name)
	}
	r := &Rules{Spec: spec, Run: spec.Link(), Plan: plan, Origin: Peer(spec.Origin)}
	n := r.EvaluationsPerChunk()
	if alone := spec.Generation.Quota * n; spec.Generation.Evaluations > alone {
		return nil, fmt.Errorf("%w: generation.evaluations is %d, but one peer may add %d (quota x chunk): the last survivor could not continue alone", ErrSpec, spec.Generation.Evaluations, alone)
	}
	if !spec.Generation.Open && spec.Generation.Evaluations%n != 0 {
		return nil, fmt.Errorf("%w: generation.evaluations is %d; a closed generation needs a multiple of the %d evaluations of a chunk", ErrSpec, spec.Generation.Evaluations, n)
	}
	return r, nil
}

// Signs is 2 for antithetic strategies, otherwise 1: the evaluations per counter.
func (r *Rules) Signs() int {
	if r.Strategy.Antithetic() {
		return 2
	}
	return 1
}

// EvaluationsPerChunk counts the evaluations of one chunk.
func (r *Rules) EvaluationsPerChunk() uint64 { return r.Spec.Generation.Chunk * uint64(r.Signs()) }

// First is the first counter of a claim.
func (r *Rules) First(c *Claim) uint64 { return c.Chunk * r.Spec.Generation.Chunk }

// Chunks is how many chunks a claim covers.
func (r *Rules) Chunks(c *Claim) uint64 { return uint64(len(c.Steps)) / r.Spec.Generation.Chunk }

// MostChunks is how many chunks a claim may cover: 1 in format 1; in format 2 as many as have MaxChunk counters.
func (r *Rules) MostChunks() uint64 {
	if r.Spec.Format == Format1 {
		return 1
	}
	return MaxChunk / r.Spec.Generation.Chunk
}

// Initial returns the state before the first entry.
func (r *Rules) Initial() *evolve.State {
	seed := firstWord(hashTagged(tagInit, binary.LittleEndian.AppendUint64(nil, r.Spec.Seed)))
	if r.weights != nil {
		return r.Plan.From(r.weights, seed)
	}
	return r.Plan.Initial(seed)
}

// Task is the work of one chunk of peer on parent, whose state is given.
func (r *Rules) Task(state *evolve.State, parent Link, peer Peer, chunk uint64) rollout.Task {
	n := r.Spec.Generation.Chunk
	return r.Range(state, parent, peer, chunk*n, n)
}

// Range is the work of n counters of peer on parent: what a claim covers, or a proof or a check re-runs. They are all
// held-out ones or none is.
func (r *Rules) Range(state *evolve.State, parent Link, peer Peer, first, n uint64) rollout.Task {
	t := rollout.Task{State: state, Seeds: make([]uint64, n)}
	if first >= FirstHeldOut*r.Spec.Generation.Chunk {
		r.heldOutRange(&t, parent, peer, first)
		return t
	}
	for i := range t.Seeds {
		counter := first + uint64(i)
		t.Seeds[i] = r.Seed(parent, peer, counter)
		if i == 0 || !r.Spec.Episodes.Shared {
			t.Episodes = append(t.Episodes, r.EpisodeSeeds(parent, peer, counter))
		}
	}
	return t
}

// Claim turns the results of a chunk, or of several from that one on, into a signed claim.
func (r *Rules) Claim(parent Link, key ed25519.PrivateKey, chunk uint64, results []rollout.CandidateResult) *Claim {
	fitness, steps := r.Columns(chunk, results)
	return NewClaim(r.Run, parent, key, chunk, fitness, steps)
}

// Columns lays results out as a claim from a chunk on carries them.
func (r *Rules) Columns(chunk uint64, results []rollout.CandidateResult) (fitness []int64, steps []uint64) {
	signs := r.signs(&Claim{Chunk: chunk})
	fitness = make([]int64, 0, len(results)*signs)
	steps = make([]uint64, 0, len(results))
	for _, res := range results {
		fitness = append(fitness, res.Fitness[:signs]...)
		steps = append(steps, res.Steps)
	}
	return fitness, steps
}

// checkClaim verifies the shape, the ranges and the signature of a claim.
func (r *Rules) checkClaim(b Block[Claim]) error {
	c, check := b.value, r.checkCandidates
	if c.HeldOut() {
		check = r.checkHeldOut
	}
	if err := check(c); err != nil {
		return err
	}
	if !r.Trusts(c.Peer) {
		return fmt.Errorf("%w: claim of %s", ErrUntrusted, c.Peer.Short())
	}
	return checkSignature("claim", c.Peer, c.Signature, tagged(tagClaim, r.Run.Bytes(), signedPart(b.data)))
}

// checkCandidates verifies the shape and the ranges of a claim of candidates.
func (r *Rules) checkCandidates(c *Claim) error {
	size, quota := r.Spec.Generation.Chunk, r.Spec.Generation.Quota
	chunks, most := r.Chunks(c), r.MostChunks()
	if chunks < 1 || chunks > most || uint64(len(c.Steps)) != chunks*size || len(c.Fitness) != len(c.Steps)*r.Signs() {
		return fmt.Errorf("%w: claim with %d steps and %d fitness values; the spec asks for 1 to %d times %d and %d", ErrCount, len(c.Steps), len(c.Fitness), most, size, r.EvaluationsPerChunk())
	}
	if c.Chunk >= quota || chunks > quota-c.Chunk {
		return fmt.Errorf("%w: chunk %d, the spec allows %d per peer", ErrCount, c.Chunk+chunks-1, quota)
	}
	// An episode takes at least one step and at most the environment's limit.
	episodes := r.Spec.Episodes.Count * uint64(r.Signs())
	for _, s := range c.Steps {
		if s < episodes || s > episodes*uint64(r.Env.MaxSteps) {
			return fmt.Errorf("%w: claim with %d steps for %d episodes of at most %d", ErrCount, s, episodes, r.Env.MaxSteps)
		}
	}
	return nil
}

// Results converts the claims of an entry on parent, in its order, to what the strategy takes: all but the held-out
// ones. Those on other parents are numbered in the order in which these first appear.
func (r *Rules) Results(parent Link, claims []*Claim) []evolve.Result {
	signs := r.Signs()
	var results []evolve.Result
	groups := map[Link]uint32{parent: 0}
	for _, c := range claims {
		if c.HeldOut() {
			continue
		}
		group, seen := groups[c.Parent]
		if !seen {
			group = uint32(len(groups))
			groups[c.Parent] = group
		}
		for i := range c.Steps {
			res := evolve.Result{Seed: r.Seed(c.Parent, c.Peer, r.First(c)+uint64(i)), Group: group}
			copy(res.Fitness[:], c.Fitness[i*signs:(i+1)*signs])
			res.Steps = c.Steps[i]
			results = append(results, res)
		}
	}
	return results
}

// Apply folds the claims of an entry on parent, in its order, into parent's state and returns the next one; state is
// not changed. Bit exact.
func (r *Rules) Apply(state *evolve.State, parent Link, claims []*Claim) *evolve.State {
	return r.Plan.Apply(state, r.Results(parent, claims), r.ObserveSeeds(parent))
}

// Advance applies an entry that passed [Rules.CheckEntry] and [Rules.CheckPlace], and compares the digests.
func (r *Rules) Advance(state *evolve.State, e *Entry, claims []*Claim) (*evolve.State, error) {
	next := r.Apply(state, e.Parent, claims)
	theta, digest := next.ThetaDigest(), next.Digest()
	if !bytes.Equal(theta[:], e.Theta) || !bytes.Equal(digest[:], e.State) {
		return nil, fmt.Errorf("%w: height %d gives theta %x and state %x, the entry says %x and %x", ErrDigest, e.Height, theta, digest, e.Theta, e.State)
	}
	return next, nil
}

// NewEntry builds the entry that claims, in the order of (peer, height of their parent, chunk), close on parent, and
// the state after it.
func (r *Rules) NewEntry(state *evolve.State, parent Parent, term uint64, leader Peer, claims []*Claim) (*Entry, *evolve.State) {
	next := r.Apply(state, parent.Link, claims)
	blocks := make([]CheckedClaim, len(claims))
	for i, c := range claims {
		blocks[i] = r.OwnClaim(c)
	}
	return r.EntryOf(parent, term, leader, blocks, next.ThetaDigest(), next.Digest()), next
}

// EntryOf builds the entry that claims, in the order of (peer, height of their parent, chunk), close on parent, given
// the digests of the state after it.
func (r *Rules) EntryOf(parent Parent, term uint64, leader Peer, claims []CheckedClaim, theta, digest [32]byte) *Entry {
	e := &Entry{Run: r.Run, Height: parent.Height + 1, Parent: parent.Link, Term: term, Leader: leader,
		Claims: make([]Link, len(claims)), Theta: theta[:], State: digest[:], batch: r.Spec.Generation.Batch}
	for i, c := range claims {
		e.Claims[i] = c.link
		e.Evaluations += c.value.Evaluations()
		e.Steps += c.value.TotalSteps()
	}
	e.Duration = r.durationAfter(parent, len(claims), func(i int) *Claim { return claims[i].value })
	return e
}

// Decisive names the counters whose results decide the update of claims on parent most, at most n: what followers
// re-run.
func (r *Rules) Decisive(parent Link, claims []*Claim, n int) []Counter {
	var counters []Counter
	index, first := 0, 0
	for _, i := range r.Strategy.Decisive(r.Results(parent, claims), n) {
		for claims[index].HeldOut() || i-first >= len(claims[index].Steps) {
			if !claims[index].HeldOut() {
				first += len(claims[index].Steps)
			}
			index++
		}
		c := claims[index]
		counters = append(counters, Counter{Claim: index, Counter: r.First(c) + uint64(i-first)})
	}
	return counters
}

// Influence returns how much each result of an entry's claims, in their order, moves the model (evolve.Influence):
// held-out ones by nothing.
func (r *Rules) Influence(parent Link, claims []*Claim) []float64 {
	weights := evolve.Influence(r.Strategy, r.Results(parent, claims))
	if weights == nil {
		return nil
	}
	var all []float64
	for _, c := range claims {
		if c.HeldOut() {
			all = append(all, make([]float64, len(c.Steps))...)
			continue
		}
		all = append(all, weights[:len(c.Steps)]...)
		weights = weights[len(c.Steps):]
	}
	return all
}

// Counter points at one result: a counter of a claim, which is given by its place in the entry.
type Counter struct {
	Claim   int
	Counter uint64
}

// SoloKey is the key of a run on one machine. It is derived from the spec (without its origin), so the run's head
// depends on the spec alone; it is therefore no secret.
func SoloKey(spec *Spec) ed25519.PrivateKey {
	s := *spec
	s.Origin = make([]byte, ed25519.PublicKeySize)
	seed := hashTagged(tagSolo, Encode(&s))
	return ed25519.NewKeyFromSeed(seed[:])
}
