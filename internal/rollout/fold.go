package rollout

import (
	"encoding/binary"
	"fmt"

	"github.com/evoswarm/evoswarm/internal/evolve"
)

// Limits of a fold.
const (
	// MaxFoldSteps is the largest number of steps.
	MaxFoldSteps = 1 << 8
	// MaxFoldResults is the largest number of results of all steps.
	MaxFoldResults = 1 << 20
)

// Fold is a sequence of generations to apply to a state.
type Fold struct {
	// State is the state that the first step starts from. Read-only.
	State *evolve.State
	// Steps are 1 to MaxFoldSteps generations in order.
	Steps []FoldStep
}

// FoldStep holds the arguments of Plan.Apply for one generation.
type FoldStep struct {
	// Results has at most MaxCandidates elements.
	Results []evolve.Result
	// Observe has the seeds of the episodes for running statistics, at most MaxEpisodes.
	Observe []uint64
}

// Folded is the result of one step of a fold.
type Folded struct {
	// State is the state after the step; nil if only its digests were kept.
	State *evolve.State
	// Theta is the state's ThetaDigest.
	Theta [32]byte
	// Digest is the state's Digest.
	Digest [32]byte
}

// Check returns an error that wraps ErrTask unless f is within the limits.
func (f *Fold) Check() error {
	if f.State == nil {
		return fmt.Errorf("%w: no state", ErrTask)
	}
	if n := len(f.Steps); n == 0 || n > MaxFoldSteps {
		return fmt.Errorf("%w: %d steps, want 1 to %d", ErrTask, n, MaxFoldSteps)
	}
	total := 0
	for i := range f.Steps {
		s := &f.Steps[i]
		if len(s.Results) > MaxCandidates || len(s.Observe) > MaxEpisodes {
			return fmt.Errorf("%w: a step of %d results and %d episodes, at most %d and %d", ErrTask, len(s.Results), len(s.Observe), MaxCandidates, MaxEpisodes)
		}
		total += len(s.Results)
	}
	if total > MaxFoldResults {
		return fmt.Errorf("%w: %d results, at most %d", ErrTask, total, MaxFoldResults)
	}
	return nil
}

// Fold applies the steps of f, which must have passed Check, and returns one result per step. Bit exact.
func (p Plan) Fold(f Fold) []Folded {
	folded := make([]Folded, len(f.Steps))
	state := f.State
	for i := range f.Steps {
		state = p.Apply(state, f.Steps[i].Results, f.Steps[i].Observe)
		folded[i] = Folded{State: state, Theta: state.ThetaDigest(), Digest: state.Digest()}
	}
	return folded
}

// Tags that begin the encodings.
const (
	foldTag   = "evofold1"
	staleTag  = "evofold2" // of a fold with results of other groups than 0
	foldedTag = "evofldd1"
)

const (
	foldHeader     = len(foldTag) + 8 + 4
	foldStepHeader = 4 + 4
	foldResultSize = 4 * 8
	foldGroupSize  = 4 // more with staleTag
	foldedHeader   = len(foldedTag) + 4
	foldedStepSize = 2 * 32
)

// stale reports whether any result is of another group than 0.
func (f *Fold) stale() bool {
	for i := range f.Steps {
		for k := range f.Steps[i].Results {
			if f.Steps[i].Results[k].Group != 0 {
				return true
			}
		}
	}
	return false
}

// MarshalFold returns the encoding of f. Of the state it contains the generation only: "evofold1", then in
// little-endian order State.Gen (8 bytes) and the number of steps (4), and for each step the numbers of
// results and of episodes (4 each), Seed, Fitness[0], Fitness[1] and Steps of the results, and the seeds of
// the episodes (8 each). If any result is of another group than 0 it begins with "evofold2", and each result
// is followed by its Group (4). Errors wrap ErrTask. Canonical.
func MarshalFold(f Fold) ([]byte, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	tag, resultSize := foldTag, foldResultSize
	stale := f.stale()
	if stale {
		tag, resultSize = staleTag, foldResultSize+foldGroupSize
	}
	size := foldHeader
	for i := range f.Steps {
		size += foldStepHeader + resultSize*len(f.Steps[i].Results) + 8*len(f.Steps[i].Observe)
	}
	b := make([]byte, 0, size)
	b = append(b, tag...)
	b = binary.LittleEndian.AppendUint64(b, f.State.Gen)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(f.Steps)))
	for i := range f.Steps {
		s := &f.Steps[i]
		b = binary.LittleEndian.AppendUint32(b, uint32(len(s.Results)))
		b = binary.LittleEndian.AppendUint32(b, uint32(len(s.Observe)))
		for _, r := range s.Results {
			b = binary.LittleEndian.AppendUint64(b, r.Seed)
			b = binary.LittleEndian.AppendUint64(b, uint64(r.Fitness[0]))
			b = binary.LittleEndian.AppendUint64(b, uint64(r.Fitness[1]))
			b = binary.LittleEndian.AppendUint64(b, r.Steps)
			if stale {
				b = binary.LittleEndian.AppendUint32(b, r.Group)
			}
		}
		b = appendUint64s(b, s.Observe)
	}
	return b, nil
}

// UnmarshalFold returns the fold that b encodes, starting from state, whose generation must be the one in b.
// It keeps no reference to b and rejects everything that MarshalFold would not have written. Errors wrap
// ErrTask.
func UnmarshalFold(b []byte, state *evolve.State) (Fold, error) {
	if state == nil {
		return Fold{}, fmt.Errorf("%w: no state", ErrTask)
	}
	stale := len(b) >= foldHeader && string(b[:len(staleTag)]) == staleTag
	if !stale && (len(b) < foldHeader || string(b[:len(foldTag)]) != foldTag) {
		return Fold{}, fmt.Errorf("%w: no %s header", ErrTask, foldTag)
	}
	h := b[len(foldTag):foldHeader]
	if gen := binary.LittleEndian.Uint64(h); gen != state.Gen {
		return Fold{}, fmt.Errorf("%w: fold from generation %d, but the state has generation %d", ErrTask, gen, state.Gen)
	}
	n := binary.LittleEndian.Uint32(h[8:])
	if n == 0 || n > MaxFoldSteps {
		return Fold{}, fmt.Errorf("%w: %d steps, want 1 to %d", ErrTask, n, MaxFoldSteps)
	}
	f := Fold{State: state, Steps: make([]FoldStep, n)}
	b = b[foldHeader:]
	for i := range f.Steps {
		var err error
		if b, err = f.Steps[i].unmarshal(b, stale); err != nil {
			return Fold{}, err
		}
	}
	if len(b) > 0 {
		return Fold{}, fmt.Errorf("%w: %d bytes after the last step", ErrTask, len(b))
	}
	if stale && !f.stale() {
		return Fold{}, fmt.Errorf("%w: %s without a stale result", ErrTask, staleTag)
	}
	return f, f.Check()
}

// unmarshal reads a step from the front of b and returns what follows it.
func (s *FoldStep) unmarshal(b []byte, stale bool) (rest []byte, err error) {
	if len(b) < foldStepHeader {
		return nil, fmt.Errorf("%w: a step of %d bytes", ErrTask, len(b))
	}
	results, episodes := int64(binary.LittleEndian.Uint32(b)), int64(binary.LittleEndian.Uint32(b[4:]))
	b = b[foldStepHeader:]
	resultSize := int64(foldResultSize)
	if stale {
		resultSize += foldGroupSize
	}
	if results > MaxCandidates || episodes > MaxEpisodes || int64(len(b)) < resultSize*results+8*episodes {
		return nil, fmt.Errorf("%w: %d results and %d episodes in %d bytes", ErrTask, results, episodes, len(b))
	}
	s.Results = make([]evolve.Result, results)
	for i := range s.Results {
		v := b[int(resultSize)*i:]
		s.Results[i] = evolve.Result{
			Seed:    binary.LittleEndian.Uint64(v),
			Fitness: [2]int64{int64(binary.LittleEndian.Uint64(v[8:])), int64(binary.LittleEndian.Uint64(v[16:]))},
			Steps:   binary.LittleEndian.Uint64(v[24:]),
		}
		if stale {
			s.Results[i].Group = binary.LittleEndian.Uint32(v[foldResultSize:])
		}
	}
	s.Observe, b = takeUint64s(b[resultSize*results:], int(episodes))
	return b, nil
}

// MarshalFolded returns the encoding of the results of a fold: "evofldd1", the number of steps (4 bytes,
// little-endian), Theta and Digest of each, and the state after the last one (evolve.State.MarshalBinary). It
// omits the other states, which would make the message as large as the run. Errors wrap ErrTask or
// evolve.ErrState. Canonical.
func MarshalFolded(folded []Folded) ([]byte, error) {
	n := len(folded)
	if n == 0 || n > MaxFoldSteps || folded[n-1].State == nil {
		return nil, fmt.Errorf("%w: %d steps folded, want 1 to %d and the last state", ErrTask, n, MaxFoldSteps)
	}
	state, err := folded[n-1].State.MarshalBinary()
	if err != nil {
		return nil, err
	}
	b := make([]byte, 0, foldedHeader+foldedStepSize*n+len(state))
	b = append(b, foldedTag...)
	b = binary.LittleEndian.AppendUint32(b, uint32(n))
	for i := range folded {
		b = append(b, folded[i].Theta[:]...)
		b = append(b, folded[i].Digest[:]...)
	}
	return append(b, state...), nil
}

// UnmarshalFolded returns the results of the want steps that b encodes; only the last has its state. It keeps
// no reference to b and rejects everything that MarshalFolded would not have written. Errors wrap ErrTask or
// evolve.ErrState.
func UnmarshalFolded(b []byte, want int) ([]Folded, error) {
	if len(b) < foldedHeader || string(b[:len(foldedTag)]) != foldedTag {
		return nil, fmt.Errorf("%w: no %s header", ErrTask, foldedTag)
	}
	n := binary.LittleEndian.Uint32(b[len(foldedTag):])
	b = b[foldedHeader:]
	if want < 1 || want > MaxFoldSteps || n != uint32(want) || len(b) < foldedStepSize*want {
		return nil, fmt.Errorf("%w: %d steps folded in %d bytes, want %d", ErrTask, n, len(b), want)
	}
	folded := make([]Folded, want)
	for i := range folded {
		folded[i].Theta, folded[i].Digest = [32]byte(b[:32]), [32]byte(b[32:])
		b = b[foldedStepSize:]
	}
	state := new(evolve.State)
	if err := state.UnmarshalBinary(b); err != nil {
		return nil, err
	}
	folded[want-1].State = state
	return folded, nil
}
