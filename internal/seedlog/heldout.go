package seedlog

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"github.com/evoswarm/evoswarm/internal/rollout"
)

// The best state of a run, in format 2. At some heights peers have the mean policy play held-out episodes, and claim
// what it got as they claim what candidates get. Such results move the model by nothing. The state whose mean is the
// highest is the best one: it follows from the log, so no leader has a say in it.

// BestState says which states are evaluated on held-out episodes.
type BestState struct {
	Every   uint64 `cbor:"every" json:"every"`     // states whose height is a multiple of it, above max_stale
	Results uint64 `cbor:"results" json:"results"` // of each state, all peers together; at least half of it give a score
}

const (
	// FirstHeldOut is the number of a peer's first held-out chunk on a state.
	FirstHeldOut = 1 << 32
	// maxScored bounds what one held-out result counts for, in fixed point, so that sums do not overflow.
	maxScored = 1 << 46
)

// HeldOut reports whether a claim has results of the mean policy of its parent instead of candidates'.
func (c *Claim) HeldOut() bool { return c.Chunk >= FirstHeldOut }

// signs is how many fitness values a claim has for each counter.
func (r *Rules) signs(c *Claim) int {
	if c.HeldOut() {
		return 1
	}
	return r.Signs()
}

// HeldOutSeed names the held-out episode of one counter of peer on parent. No peer can choose it.
func (r *Rules) HeldOutSeed(parent Link, peer Peer, counter uint64) uint64 {
	prefix := append(append(r.Run.Bytes(), parent.Bytes()...), peer[:]...)
	return firstWord(hashTagged(tagHeldOut, prefix, binary.LittleEndian.AppendUint64(nil, counter)))
}

// heldOutRange is the work of n held-out counters of peer on the parent of a task.
func (r *Rules) heldOutRange(t *rollout.Task, parent Link, peer Peer, first uint64) {
	t.HeldOut = true
	for i := range t.Seeds {
		counter := first + uint64(i)
		t.Seeds[i] = r.Seed(parent, peer, counter)
		t.Episodes = append(t.Episodes, []uint64{r.HeldOutSeed(parent, peer, counter)})
	}
}

// Evaluated reports whether the state of a height is evaluated on held-out episodes.
func (r *Rules) Evaluated(height uint64) bool {
	return r.Spec.Best != nil && height > 0 && height%r.Spec.Best.Every == 0
}

// EvaluatedBelow is the height of the newest state at or below a height that is evaluated; 0: none.
func (r *Rules) EvaluatedBelow(height uint64) uint64 {
	if r.Spec.Best == nil {
		return 0
	}
	return height - height%r.Spec.Best.Every
}

// HeldOutChunks is how many held-out chunks of peer on a state have a place: of all those of the state the part that
// the peer's env-steps are of all in the entries up to there, rounded up or down by a lot that nobody can choose. Who
// did no work has none, so free keys cannot choose whose results count.
func (r *Rules) HeldOutChunks(on Link, peer Peer, steps, all uint64) uint64 {
	if steps == 0 || steps > all {
		return 0
	}
	high, low := bits.Mul64(r.Spec.Best.Results<<32/r.Spec.Generation.Chunk, steps)
	part, _ := bits.Div64(high, low, all)
	return (part + firstWord(hashTagged(tagShare, on.Bytes(), peer[:]))>>32) >> 32
}

// checkHeldOut verifies the shape and the ranges of a held-out claim.
func (r *Rules) checkHeldOut(c *Claim) error {
	size := r.Spec.Generation.Chunk
	chunks, most := r.Chunks(c), r.MostChunks()
	if r.Spec.Best == nil {
		return fmt.Errorf("%w: chunk %d, the spec allows %d per peer and none that is held out", ErrCount, c.Chunk, r.Spec.Generation.Quota)
	}
	if chunks < 1 || chunks > most || uint64(len(c.Steps)) != chunks*size || len(c.Fitness) != len(c.Steps) {
		return fmt.Errorf("%w: held-out claim with %d steps and %d fitness values; allowed: as many of both, 1 to %d times %d", ErrCount, len(c.Steps), len(c.Fitness), most, size)
	}
	if quota := (r.Spec.Best.Results + size - 1) / size; c.Chunk-FirstHeldOut >= quota || chunks > quota-(c.Chunk-FirstHeldOut) {
		return fmt.Errorf("%w: held-out chunk %d, the spec allows %d in all", ErrCount, c.Chunk-FirstHeldOut+chunks-1, quota)
	}
	for _, s := range c.Steps {
		if s < 1 || s > uint64(r.Env.MaxSteps) {
			return fmt.Errorf("%w: held-out claim with %d steps for an episode of at most %d", ErrCount, s, r.Env.MaxSteps)
		}
	}
	return nil
}

// checkShare verifies that the held-out chunks of a peer on a state follow those that the log has, and returns how many
// it may have.
func (r *Rules) checkShare(c *Claim, height uint64, parent *Parent) (next, most uint64, err error) {
	if !r.Evaluated(height) {
		return 0, 0, fmt.Errorf("%w: held-out claim on height %d", ErrOrder, height)
	}
	if parent.Below == nil {
		return 0, 0, fmt.Errorf("%w: held-out claim of %s in a log whose entries below are not known", ErrOrder, c.Peer.Short())
	}
	chunks, steps, all := parent.Below.HeldOut(c.Parent, c.Peer)
	if most = math.MaxUint64; all > 0 {
		most = r.HeldOutChunks(c.Parent, c.Peer, steps, all)
	}
	return FirstHeldOut + chunks, most, nil
}

// Tally sums up held-out results of one state.
type Tally struct {
	Results uint64
	Sum     int64 // fixed point 2^-20
}

// Plus is the tally of both.
func (t Tally) Plus(u Tally) Tally { return Tally{t.Results + u.Results, t.Sum + u.Sum} }

// TallyOf sums up the results of a held-out claim; of another it is zero.
func TallyOf(c *Claim) (t Tally) {
	if !c.HeldOut() {
		return t
	}
	for _, f := range c.Fitness {
		t.Sum += min(max(f, -maxScored), maxScored)
	}
	t.Results = uint64(len(c.Fitness))
	return t
}

// Best is the best state of a chain: that with the highest mean over its held-out results. Of equal ones it is the
// lowest. The zero Best is none.
type Best struct {
	Height  uint64
	Results uint64 // held-out episodes
	Score   int64  // their mean return, in fixed point 2^-20, rounded down
}

// Marks are what a chain says of its states: the best one, and what is known of the newest one that is evaluated.
type Marks struct {
	Best Best
	Open Tally // of the highest multiple of BestState.Every below the entry's height, while claims on it have a place
}

// drop forgets a best state below a height: a log that begins with the state of that height has none below, and of
// what is known of those not all.
func (m *Marks) drop(below uint64) {
	if m.Best.Height < below {
		m.Best = Best{}
	}
}

// Mark is what an entry of a height makes of the marks of the one below, given the held-out results that it holds. A
// state is scored once no further claim on it has a place, and only if enough were logged.
func (r *Rules) Mark(height uint64, below Marks, held Tally) Marks {
	on := r.EvaluatedBelow(height - 1)
	switch age := height - 1 - on; {
	case on == 0 || age > r.Spec.Generation.MaxStale:
		return Marks{Best: below.Best}
	case age > 0:
		held = held.Plus(below.Open)
		fallthrough
	default:
		if age < r.Spec.Generation.MaxStale {
			return Marks{below.Best, held}
		}
	}
	m := Marks{Best: below.Best}
	if held.Results > 0 && 2*held.Results >= r.Spec.Best.Results {
		if score := floorDiv(held.Sum, int64(held.Results)); m.Best.Height == 0 || score > m.Best.Score {
			m.Best = Best{on, held.Results, score}
		}
	}
	return m
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// After is what the entry after e, which is on p and holds claims, has to know, but for Below.
func (r *Rules) After(p Parent, link Link, e *Entry, claims []*Claim) Parent {
	var held Tally
	for _, c := range claims {
		held = held.Plus(TallyOf(c))
	}
	next := p.Next(link, e)
	next.Marks = r.Mark(e.Height, p.Marks, held)
	return next
}

// checkBest checks what a spec says of the best state.
func (s *Spec) checkBest() error {
	switch b := s.Best; {
	case b == nil:
	case s.Format == Format1:
		return fmt.Errorf("%w: best is a field of format %d", ErrSpec, Format2)
	case s.Solo():
		return fmt.Errorf("%w: best is for swarms; one machine evaluates its states as it likes", ErrSpec)
	case b.Every <= s.Generation.MaxStale || b.Every > MaxEvalEvery:
		return fmt.Errorf("%w: best.every is %d, allowed %d to %d", ErrSpec, b.Every, s.Generation.MaxStale+1, MaxEvalEvery)
	case b.Results < 1 || b.Results > MaxEvalEpisodes:
		return fmt.Errorf("%w: best.results is %d, allowed 1 to %d", ErrSpec, b.Results, MaxEvalEpisodes)
	}
	return nil
}
