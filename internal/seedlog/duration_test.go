package seedlog

import (
	"errors"
	"strings"
	"testing"
)

// ancestry is a chain on which the parents of claims lie: each link's height.
type ancestry map[Link]uint64

// Logged implements Below.
func (a ancestry) Logged(on Link, _ Peer) (height, chunks uint64, ok bool) {
	height, ok = a[on]
	return height, 0, ok
}

// HeldOut implements Below.
func (a ancestry) HeldOut(Link, Peer) (chunks, steps, all uint64) { return 0, 0, 0 }

// TestDurationFollowsAges: what an entry says of the next generation, by how old its results are and how many env-steps
// each has.
func TestDurationFollowsAges(t *testing.T) {
	type result struct{ age, steps uint64 }
	for name, test := range map[string]struct {
		now     uint64 // 0: as the spec says
		results []result
		want    uint64
	}{
		"all new":                        {0, []result{{0, 10}, {1, 10}}, 0},
		"new, and long before":           {2000, []result{{0, 10}, {1, 10}}, 1778},
		"new, and little longer":         {260, []result{{0, 10}}, 0},
		"two fifths of the most":         {0, []result{{4, 10}, {4, 10}}, 281},
		"less":                           {0, []result{{4, 10}, {3, 10}}, 0},
		"less, and longer before":        {500, []result{{4, 10}, {3, 10}}, 500},
		"a fourth":                       {500, []result{{2, 10}, {3, 10}}, 445},
		"one of three as old as may be":  {0, []result{{0, 10}, {1, 10}, {10, 10}}, 0},
		"two of five as old as may be":   {0, []result{{0, 10}, {0, 10}, {0, 10}, {10, 10}, {10, 10}}, 281},
		"long episodes count for longer": {0, []result{{0, 10}, {10, 7}}, 281},
		"at the longest":                 {3900, []result{{10, 1}}, 4000},
		"no env-steps":                   {500, []result{{10, 0}}, 445},
	} {
		spec := nextSpec(t)
		spec.Generation.MaxStale = 10
		rules := &Rules{Spec: spec, Run: spec.Link()}
		parent := Parent{Link: LinkOf([]byte("parent")), Height: 100, Duration: test.now}
		chain := ancestry{}
		parent.Below = chain
		var claims []*Claim
		for _, r := range test.results {
			on := parent.Link
			if r.age > 0 {
				on = LinkOf([]byte{byte(r.age)})
				chain[on] = parent.Height - r.age
			}
			claims = append(claims, &Claim{Parent: on, Steps: []uint64{r.steps}})
		}
		of := func(i int) *Claim { return claims[i] }
		if got := rules.durationAfter(parent, len(claims), of); got != test.want {
			t.Errorf("%s: got %d, want %d", name, got, test.want)
		}
		if spec.Generation.MaxStale = 0; rules.durationAfter(parent, len(claims), of) != 0 {
			t.Errorf("%s: generations become longer where no claim is stale", name)
		}
	}
}

// TestDurationIsChecked: an entry that says something else is refused.
func TestDurationIsChecked(t *testing.T) {
	r := newStaleRun(t, nextSpec(t))
	entry, checked, _ := r.entry(r.claim(r.keys[0], 0, 0), r.claim(r.keys[0], 0, 1))
	if err := r.rules.CheckPlace(entry, r.parent(), checked); err != nil {
		t.Fatal(err)
	}
	for _, duration := range []uint64{1, 249, 250, 281, 4000, 1 << 63} {
		e := *entry.Value()
		e.Duration = duration
		if err := r.rules.CheckPlace(r.rules.OwnEntry(&e, r.keys[0], nil), r.parent(), checked); !errors.Is(err, ErrCount) {
			t.Errorf("%d ms: got %v, want %v", duration, err, ErrCount)
		}
	}
}

// TestDurationRange: a spec whose time is absurd is refused with the range that is allowed.
func TestDurationRange(t *testing.T) {
	for _, duration := range []uint64{0, 1, MinDuration - 1, MinDuration, 250, MaxDuration, MaxDuration + 1, 1 << 63} {
		spec := *nextSpec(t)
		spec.Generation.Duration = duration
		_, err := DecodeSpec(Encode(&spec))
		if good := duration >= MinDuration && duration <= MaxDuration; (err == nil) != good || !good && (!errors.Is(err, ErrSpec) || !strings.Contains(err.Error(), "allowed 50 to 10000")) {
			t.Errorf("%d ms: %v", duration, err)
		}
	}
	spec := *newSpec(t, "dises")
	spec.Generation.Duration = 250
	if _, err := DecodeSpec(Encode(&spec)); !errors.Is(err, ErrSpec) {
		t.Errorf("format 1: %v", err)
	}
}
