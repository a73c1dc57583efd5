package rollout

import (
	"encoding/binary"
	"fmt"

	"github.com/evoswarm/evoswarm/internal/evolve"
)

// Tags that begin the encodings.
const (
	taskTag    = "evotask1"
	heldTag    = "evoheld1" // of a held-out task
	resultsTag = "evores01"
)

// MarshalTask returns the encoding of t. Of the state it contains the generation only: "evotask1", "evoheld1" if it is
// held out, then in little-endian order State.Gen (8 bytes), the numbers of candidates, of lists of episodes and of
// episodes in a list (4 each), the seeds (8 each) and the episode seeds (8 each, list by list). Errors wrap ErrTask.
// Canonical.
func MarshalTask(t Task) ([]byte, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	lists, episodes := len(t.Episodes), len(t.Episodes[0])
	b := make([]byte, 0, taskHeader+8*(len(t.Seeds)+lists*episodes))
	if t.HeldOut {
		b = append(b, heldTag...)
	} else {
		b = append(b, taskTag...)
	}
	b = binary.LittleEndian.AppendUint64(b, t.State.Gen)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(t.Seeds)))
	b = binary.LittleEndian.AppendUint32(b, uint32(lists))
	b = binary.LittleEndian.AppendUint32(b, uint32(episodes))
	b = appendUint64s(b, t.Seeds)
	for _, list := range t.Episodes {
		b = appendUint64s(b, list)
	}
	return b, nil
}

const taskHeader = len(taskTag) + 8 + 3*4

// UnmarshalTask returns the task that b encodes for state, whose generation must be the one in b. It keeps no
// reference to b and rejects everything that MarshalTask would not have written. Errors wrap ErrTask.
func UnmarshalTask(b []byte, state *evolve.State) (Task, error) {
	if state == nil {
		return Task{}, fmt.Errorf("%w: no state", ErrTask)
	}
	if len(b) < taskHeader || string(b[:len(taskTag)]) != taskTag && string(b[:len(heldTag)]) != heldTag {
		return Task{}, fmt.Errorf("%w: no %s header", ErrTask, taskTag)
	}
	held := string(b[:len(heldTag)]) == heldTag
	h := b[len(taskTag):taskHeader]
	if gen := binary.LittleEndian.Uint64(h); gen != state.Gen {
		return Task{}, fmt.Errorf("%w: generation %d, but the state has generation %d", ErrTask, gen, state.Gen)
	}
	// The counts are below 2^32, so their products fit 64 bits.
	candidates := int64(binary.LittleEndian.Uint32(h[8:]))
	lists := int64(binary.LittleEndian.Uint32(h[12:]))
	episodes := int64(binary.LittleEndian.Uint32(h[16:]))
	if candidates > MaxCandidates || lists > MaxCandidates || episodes > MaxEpisodes {
		return Task{}, fmt.Errorf("%w: %d candidates with %d lists of %d episodes", ErrTask, candidates, lists, episodes)
	}
	b = b[taskHeader:]
	if want := 8 * (candidates + lists*episodes); int64(len(b)) != want {
		return Task{}, fmt.Errorf("%w: %d bytes of seeds, want %d", ErrTask, len(b), want)
	}
	t := Task{State: state, HeldOut: held}
	t.Seeds, b = takeUint64s(b, int(candidates))
	for range lists {
		var list []uint64
		list, b = takeUint64s(b, int(episodes))
		t.Episodes = append(t.Episodes, list)
	}
	if err := t.Check(); err != nil {
		return Task{}, err
	}
	return t, nil
}

// resultSize is the encoded length of a CandidateResult.
const resultSize = 3 * 8

// MarshalResults returns the encoding of results: "evores01", then in little-endian order their number (4
// bytes) and, for each, Fitness[0], Fitness[1] and Steps (8 each). Errors wrap ErrTask. Canonical.
func MarshalResults(results []CandidateResult) ([]byte, error) {
	if n := len(results); n == 0 || n > MaxCandidates {
		return nil, fmt.Errorf("%w: %d results, want 1 to %d", ErrTask, n, MaxCandidates)
	}
	b := make([]byte, 0, len(resultsTag)+4+resultSize*len(results))
	b = append(b, resultsTag...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(results)))
	for i := range results {
		r := &results[i]
		b = appendUint64s(b, []uint64{uint64(r.Fitness[0]), uint64(r.Fitness[1]), r.Steps})
	}
	return b, nil
}

// UnmarshalResults returns the want results that b encodes. It keeps no reference to b and rejects everything that
// MarshalResults would not have written. Errors wrap ErrTask.
func UnmarshalResults(b []byte, want int) ([]CandidateResult, error) {
	const header = len(resultsTag) + 4
	if len(b) < header || string(b[:len(resultsTag)]) != resultsTag {
		return nil, fmt.Errorf("%w: no %s header", ErrTask, resultsTag)
	}
	n := binary.LittleEndian.Uint32(b[len(resultsTag):])
	if want < 1 || want > MaxCandidates || n != uint32(want) {
		return nil, fmt.Errorf("%w: %d results for %d candidates", ErrTask, n, want)
	}
	b = b[header:]
	if len(b) != resultSize*want {
		return nil, fmt.Errorf("%w: %d bytes of results, want %d", ErrTask, len(b), resultSize*want)
	}
	results := make([]CandidateResult, want)
	for i := range results {
		v := b[resultSize*i:]
		results[i] = CandidateResult{
			Fitness: [2]int64{int64(binary.LittleEndian.Uint64(v)), int64(binary.LittleEndian.Uint64(v[8:]))},
			Steps:   binary.LittleEndian.Uint64(v[16:]),
		}
	}
	return results, nil
}

func appendUint64s(b []byte, x []uint64) []byte {
	for _, v := range x {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}

// takeUint64s reads n values from the front of b, which must be long enough.
func takeUint64s(b []byte, n int) (x []uint64, rest []byte) {
	x = make([]uint64, n)
	for i := range x {
		x[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return x, b[8*n:]
}
