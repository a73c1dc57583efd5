package main

import (
	"testing"
	"time"
)

// TestReach opens a tab, lets it lose its node for a moment, and then for long.
func TestReach(t *testing.T) {
	start := time.Unix(0, 0)
	r := reach{since: start}
	for _, step := range []struct {
		at        time.Duration
		connected bool
		want      bool // the phase changes
	}{
		{0, false, false},                // the first dial is refused: not yet
		{time.Second, true, false},       // connected
		{2 * time.Second, false, false},  // the node starts again
		{4 * time.Second, false, false},  // not long enough
		{7 * time.Second, false, true},   // alone
		{30 * time.Second, false, false}, // said already
		{31 * time.Second, true, true},   // no longer
		{32 * time.Second, true, false},
		{37 * time.Second, false, true},
	} {
		note := r.missed
		if step.connected {
			note = r.found
		}
		if got := note(start.Add(step.at)); got != step.want {
			t.Errorf("after %v, connected %t: the phase changes %t, want %t", step.at, step.connected, got, step.want)
		}
	}
}
