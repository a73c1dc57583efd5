//go:build linux

package peer_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/store"
)

// TestALongRunInATab: a run in a browser that stores nothing, in which the older part goes again and again, takes no
// more memory at its end than in its middle, restarts from what is left, and its log gives the state of its head.
func TestALongRunInATab(t *testing.T) {
	entries := uint64(48_000)
	if testing.Short() {
		entries = 24_000
	}
	rules := stale(t)
	run, err := store.NewUnsaved(rules)
	if err != nil {
		t.Fatal(err)
	}
	run.Bound(0) // the least
	l := &longRun{rules: rules, run: run, steps: make([]time.Duration, stepsKept)}
	l.begin(t)
	cuts, peak, half := 0, uint64(0), uint64(0)
	for height := uint64(0); height < entries; height = l.coord.Snapshot().Height {
		l.now += coordinator.LAN().Generation
		l.step(t, coordinator.Passed{})
		if height%1024 == 0 {
			peak = max(peak, heap())
		}
		if height >= entries/2 && half == 0 {
			half = peak
		}
		if run.Untidy() {
			l.save(t)
			if err := run.Tidy(l.coord.Needs()); err != nil {
				t.Fatal(err)
			}
		}
		at, ok := run.Excess(l.coord.Cuttable())
		if !ok {
			continue
		}
		b, err := coordinator.Summaries{Rules: rules, Archive: run}.Beginning(at)
		if err == nil {
			err = run.Prepare(store.Cut{Height: b.Height, Data: b.Data, Start: b.Start, Len: b.Len, Evaluations: b.Evaluations, Steps: b.Steps})
		}
		l.save(t)
		if err == nil {
			err = run.Cut(l.coord.Needs())
		}
		if err != nil {
			t.Fatal(err)
		}
		if cuts++; cuts == 1 {
			l.begin(t)
			l.now = 1
		}
	}
	l.save(t)
	head := l.coord.Snapshot()
	if cuts < 2 || head.First < entries/3 {
		t.Errorf("it was cut %d times, and begins at %d", cuts, head.First)
	}
	if peak > half+half/8 {
		t.Errorf("it took %d bytes of memory in its first half and %d in all", half, peak)
	}
	t.Logf("%d cuts, at most %d MB; it has the entries from %d on", cuts, peak>>20, head.First)
	l.begin(t)
	l.now = 1
	for l.step(t, coordinator.Passed{}); l.coord.Snapshot().Syncing; l.now++ {
		l.step(t, coordinator.Passed{})
	}
	l.save(t)
	var log bytes.Buffer
	if err := store.WriteLog(&log, rules, run); err != nil {
		t.Fatal(err)
	}
	got, err := seedlog.Replay(&log, seedlog.ReplayOptions{At: head.Height, HasAt: true})
	if err != nil {
		t.Fatal(err)
	}
	if got.Link != head.Head || got.State.Digest() != head.State.Digest() || got.Evaluations != head.Evaluations {
		t.Errorf("the log has %d evaluations and head %s, the run %d and %s", got.Evaluations, got.Link, head.Evaluations, head.Head)
	}
}
