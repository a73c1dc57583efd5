package seedlog

import (
	"errors"
	"math"
	"strings"
	"testing"
)

// TestClaimLengths: in format 2 a claim covers whole chunks, at most as many as its author has left and as make 256
// counters; in format 1 one.
func TestClaimLengths(t *testing.T) {
	key := newKey("a")
	for _, test := range []struct {
		name          string
		change        func(*Spec)
		chunk         uint64
		results, more int // counters, and fitness values more than these
		says          string
	}{
		{"a chunk", nil, 0, 2, 0, ""},
		{"three", nil, 0, 6, 0, ""},
		{"up to the quota", nil, 1, 6, 0, ""},
		{"beyond the quota", nil, 2, 6, 0, "chunk 4, the spec allows 4"},
		{"far beyond it", nil, math.MaxUint64, 2, 0, "the spec allows 4"},
		{"none", nil, 0, 0, 0, "0 steps and 0 fitness values; the spec asks for 1 to 128 times 2 and 2"},
		{"half a chunk", nil, 0, 3, 0, "3 steps and 3 fitness values"},
		{"a fitness value more", nil, 0, 4, 1, "4 steps and 5 fitness values"},
		{"the most", func(s *Spec) { s.Generation.Quota = 1000 }, 3, 256, 0, ""},
		{"more", func(s *Spec) { s.Generation.Quota = 1000 }, 3, 258, 0, "258 steps"},
		{"single counters", func(s *Spec) { s.Generation.Chunk, s.Generation.Quota = 1, 1<<17 }, 1<<17 - 3, 3, 0, ""},
		{"format 1", func(s *Spec) {
			s.Format, s.SpotChecks, s.Generation.MaxStale, s.Generation.Duration = Format1, nil, 0, 0
		}, 0, 2, 0, ""},
		{"two chunks in format 1", func(s *Spec) {
			s.Format, s.SpotChecks, s.Generation.MaxStale, s.Generation.Duration = Format1, nil, 0, 0
		}, 0, 4, 0, "the spec asks for 1 to 1 times 2 and 2"},
	} {
		spec := nextSpec(t)
		if test.change != nil {
			test.change(spec)
		}
		rules := newRules(t, spec)
		steps := make([]uint64, test.results)
		for i := range steps {
			steps[i] = spec.Episodes.Count
		}
		data, _ := NewClaim(rules.Run, rules.Run, key, test.chunk, make([]int64, test.results+test.more), steps).Encode()
		_, err := rules.CheckClaim(data)
		if (err == nil) != (test.says == "") || err != nil && (!errors.Is(err, ErrCount) || !strings.Contains(err.Error(), test.says)) {
			t.Errorf("%s: %v, want one that says %q", test.name, err, test.says)
		}
	}
}

// TestQuotaOfFormats: format 1 allows as many chunks as an entry has claims, format 2 as many as it has evaluations.
func TestQuotaOfFormats(t *testing.T) {
	one, two := nextSpec(t), nextSpec(t)
	one.Format, one.SpotChecks, one.Generation.MaxStale, one.Generation.Duration = Format1, nil, 0, 0
	for _, test := range []struct {
		spec *Spec
		most uint64
	}{{one, MaxClaims}, {two, MaxEvaluations}} {
		for more, fits := range []bool{true, false} {
			test.spec.Generation.Quota = test.most + uint64(more)
			if _, err := DecodeSpec(Encode(test.spec)); (err == nil) != fits {
				t.Errorf("format %d, a quota of %d: %v", test.spec.Format, test.spec.Generation.Quota, err)
			}
		}
	}
}

// TestProofOfLongClaims: a proof names a counter of any chunk of a claim, and of no other.
func TestProofOfLongClaims(t *testing.T) {
	r := newStaleRun(t, nextSpec(t))
	claim := r.rules.OwnClaim(r.claimOf(r.keys[0], 0, 1, 3)) // counters 2 to 7
	v := claim.Value()
	for counter, in := range map[uint64]bool{0: false, 1: false, 2: true, 5: true, 7: true, 8: false, math.MaxUint64: false} {
		data, _ := NewProof(r.rules.Run, claim.Link(), counter, []int64{1}, 9, r.keys[1]).Encode()
		proof, err := r.rules.CheckProof(data, claim)
		if (err == nil) != in {
			t.Errorf("counter %d: %v", counter, err)
		}
		if err != nil {
			continue
		}
		if fitness, steps := r.rules.At(v, counter); fitness[0] != v.Fitness[counter-2] || steps != v.Steps[counter-2] {
			t.Errorf("counter %d: fitness %d and %d steps", counter, fitness, steps)
		}
		if !r.rules.Contradicts(proof.Value(), v) {
			t.Errorf("counter %d: the proof does not contradict the claim", counter)
		}
	}
}
