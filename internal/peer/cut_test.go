//go:build linux

package peer_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/peer"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/store"
)

// stale are the rules of a small run of format 2, whose peers may begin at a base.
func stale(t testing.TB) *seedlog.Rules {
	t.Helper()
	return cartPoleWith(t, func(s *seedlog.Spec) {
		method, err := evolve.Find("snes")
		if err != nil {
			t.Fatal(err)
		}
		params, err := method.Complete(nil)
		if err != nil {
			t.Fatal(err)
		}
		s.Format, s.SpotChecks = seedlog.Format2, &seedlog.SpotChecks{First: 1, Share: 32}
		s.Strategy = seedlog.StrategyRef{Name: method.Name, Revision: method.Revision, Params: params}
		s.Generation = seedlog.Generation{Evaluations: 4, Open: true, Chunk: 2, Quota: 8, MaxStale: 4, WeightSteps: 1 << 20, Duration: 50}
	})
}

// sizeOf is how many bytes the files of a run take, but for its hard state, which is of one size.
func sizeOf(t *testing.T, dir string, rules *seedlog.Rules) (size int64) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, rules.Run.String()+"*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if info, err := os.Stat(name); err == nil && filepath.Ext(name) != ".state" {
			size += info.Size()
		}
	}
	return size
}

// TestALongRunIsCut: a run that may take a few megabytes is cut again and again below what its coordinator needs,
// takes no more at any time, restarts from what is left, and its log gives the state of its head.
func TestALongRunIsCut(t *testing.T) {
	const entries, most = 6000, 4 << 20
	rules := stale(t)
	l := &longRun{rules: rules, dir: t.TempDir(), steps: make([]time.Duration, stepsKept)}
	open := func() {
		l.open(t)
		if err := l.run.(*store.Run).Bound(most); err != nil {
			t.Fatal(err)
		}
	}
	open()
	cuts, peak, written := 0, int64(0), int64(0)
	for height := uint64(0); height < entries; height = l.coord.Snapshot().Height {
		l.now += coordinator.LAN().Generation
		l.step(t, coordinator.Passed{})
		if height%64 == 0 {
			peak = max(peak, sizeOf(t, l.dir, rules))
		}
		run := l.run.(*store.Run)
		at, ok := run.Excess(l.coord.Cuttable())
		if !ok {
			continue
		}
		before := sizeOf(t, l.dir, rules)
		b, err := coordinator.Summaries{Rules: rules, Archive: l.run}.Beginning(at)
		if err == nil {
			err = run.Prepare(store.Cut{Height: b.Height, Data: b.Data, Start: b.Start, Len: b.Len, Evaluations: b.Evaluations, Steps: b.Steps})
		}
		peak = max(peak, sizeOf(t, l.dir, rules))
		l.save(t)
		if err == nil {
			err = run.Cut(l.coord.Needs())
		}
		if err != nil {
			t.Fatal(err)
		}
		written += before - sizeOf(t, l.dir, rules)
		if cuts++; cuts == 2 {
			l.close(t)
			open()
			l.now = 1
		}
	}
	l.save(t)
	head := l.coord.Snapshot()
	if peak > most || cuts < 3 || head.First < entries/2 {
		t.Errorf("it took %d of %d bytes, was cut %d times, and begins at %d", peak, most, cuts, head.First)
	}
	t.Logf("%d cuts, at most %d bytes; %d were dropped; it has the entries from %d on", cuts, peak, written, head.First)
	l.close(t)
	if err := os.RemoveAll(filepath.Join(l.dir, rules.Run.String()+".index")); err != nil {
		t.Fatal(err)
	}
	summaries, _ := filepath.Glob(filepath.Join(l.dir, rules.Run.String()+".summary*"))
	for _, name := range summaries { // the state that the log begins with is durable
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	open()
	defer l.close(t)
	l.now = 1
	for l.step(t, coordinator.Passed{}); l.coord.Snapshot().Syncing; l.now++ {
		l.step(t, coordinator.Passed{})
	}
	var log bytes.Buffer
	if err := store.WriteLog(&log, rules, l.run); err != nil {
		t.Fatal(err)
	}
	got, err := seedlog.Replay(&log, seedlog.ReplayOptions{At: head.Height, HasAt: true})
	if err != nil {
		t.Fatal(err)
	}
	is := l.coord.Snapshot()
	if is.Head != head.Head && is.Height <= head.Height || got.Link != head.Head || got.State.Digest() != head.State.Digest() || got.Evaluations != head.Evaluations || is.First != head.First {
		t.Errorf("restarted at %d with the entries from %d on, it was at %d from %d on; the log has %d evaluations, the run %d", is.Height, is.First, head.Height, head.First, got.Evaluations, head.Evaluations)
	}
}

// TestAPeerDropsWhatIsTooMuch: a running peer keeps its store within its bound, tells its owner, keeps its
// learning curve, and what it serves as its log begins at a base.
func TestAPeerDropsWhatIsTooMuch(t *testing.T) {
	if testing.Short() {
		t.Skip("it trains for a minute")
	}
	rules, dir := stale(t), t.TempDir()
	disk, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	run, err := disk.OpenRun(rules)
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Bound(1 << 20); err != nil {
		t.Fatal(err)
	}
	var first atomic.Uint64
	edit := func(c *peer.Config) {
		c.Store, c.Tick = run, 4*time.Millisecond
		c.Dropped = func(f uint64, elsewhere bool) {
			if first.Store(f); elsewhere {
				t.Error("says that another node has what it dropped")
			}
		}
	}
	p := join(t, rules, 1, edit)
	for deadline := time.Now().Add(3 * time.Minute); first.Load() == 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("nothing was dropped at height %d", p.Status().Height)
		}
	}
	s := until(t, "it says so", p, func(s peer.Status) bool { return s.First == first.Load() })
	until(t, "it continues", p, height(s.Height+10))
	var log bytes.Buffer
	if err := p.Log(&log); err != nil {
		t.Fatal(err)
	}
	if got, err := seedlog.Replay(&log, seedlog.ReplayOptions{Check: seedlog.CheckClaims}); err != nil || got.Base < s.First {
		t.Errorf("its log: %+v, %v", got, err)
	}
	curve := p.Curve()
	if err := p.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if run, err = disk.OpenRun(rules); err != nil {
		t.Fatal(err)
	}
	p = join(t, rules, 1, func(c *peer.Config) { c.Store, c.Curve = run, curve })
	if again := p.Curve(); len(again) < len(curve) || again[0] != curve[0] {
		t.Errorf("of %d points of the learning curve %d are left", len(curve), len(again))
	}
	if err := p.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
}
