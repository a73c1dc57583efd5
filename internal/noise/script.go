//go:build !translate

package noise

import "sync"

// scripts holds every script that was given to Scripted, script number n at index n-1. They are kept
// here so that a Stream is flat, and are never dropped, since nothing tells when the last copy of a stream is gone.
var scripts struct {
	sync.RWMutex
	draws [][]float64 // only read
}

// Scripted returns a stream whose draws use the given numbers u in [0, 1), one after another: Uniform returns
// u itself, other draws are computed from it. It serves `evonode env trace --draws` and tests. After the last
// number u is 0 and [Stream.Exhausted] returns true. draws must not change and stays in memory for as long as
// the program runs. Callers should reject numbers outside of [0, 1); NaN and numbers below 0 count as 0,
// others as the largest u below 1. Step code that is translated to another language has no scripts.
func Scripted(draws []float64) Stream {
	scripts.Lock()
	defer scripts.Unlock()
	scripts.draws = append(scripts.draws, draws)
	return Stream{script: uint32(len(scripts.draws))}
}

// Exhausted reports whether more numbers were drawn than the script has. It is always false for the stream of a seed.
func (s *Stream) Exhausted() bool { return s.scripted() && s.block > uint64(len(s.given())) }

func (s *Stream) scripted() bool { return s.script != 0 }

// given returns the script that s reads.
func (s *Stream) given() []float64 {
	scripts.RLock()
	defer scripts.RUnlock()
	return scripts.draws[s.script-1]
}

// next takes a number from the script and clamps it to [0, 1), so that no conversion to an integer overflows.
func (s *Stream) next() float64 {
	draws, at := s.given(), s.block
	s.block++
	if at >= uint64(len(draws)) {
		return 0
	}
	const below1 = 1 - 1.0/(1<<53)
	u := draws[at]
	if u > below1 {
		return below1
	}
	if u >= 0 {
		return u
	}
	return 0
}
