//go:build !js

package store

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// staleRules are a run whose peers may begin at a base, and withWindow lets its logs be cut close to the state of one.
func staleRules(t testing.TB) *seedlog.Rules {
	t.Helper()
	was := cutWindow
	cutWindow = 3
	t.Cleanup(func() { cutWindow = was })
	spec := *newRules(t, 2, false).Spec
	method, err := evolve.Find("snes")
	if err != nil {
		t.Fatal(err)
	}
	params, err := method.Complete(nil)
	if err != nil {
		t.Fatal(err)
	}
	spec.Format, spec.SpotChecks = seedlog.Format2, &seedlog.SpotChecks{First: 1, Share: 32}
	spec.Strategy = seedlog.StrategyRef{Name: method.Name, Revision: method.Revision, Params: params}
	spec.Generation = seedlog.Generation{Evaluations: 4, Open: true, Chunk: 2, Quota: 2, MaxStale: 2, WeightSteps: 1 << 20, Duration: 250, Batch: 1}
	rules, err := seedlog.NewRules(&spec)
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

// cutAt is the cut at a height of a chain.
func cutAt(t testing.TB, chain []*generation, height int) Cut {
	t.Helper()
	state, err := chain[height-1].state.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	c := Cut{Height: uint64(height), Data: slices.Concat([]byte("before"), state, []byte("after")), Start: 6, Len: len(state)}
	for _, g := range chain[:height] {
		c.Evaluations += g.entry.Evaluations
		c.Steps += g.entry.Steps
	}
	return c
}

// cut drops what lies below a height.
func cut(r *Run, c Cut, need ...seedlog.Link) error {
	if err := r.Prepare(c); err != nil {
		return err
	}
	return r.Cut(need)
}

// holdsFrom reports whether a store has a chain from a height on, and nothing below, and whether its log can be folded
// to the chain's end.
func holdsFrom(r *Run, first int, chain []*generation) error {
	return storeHoldsFrom(r, r.rules, first, chain)
}

func storeHoldsFrom(r Store, rules *seedlog.Rules, first int, chain []*generation) error {
	if r.First() != uint64(first) || r.Length() != uint64(len(chain)) {
		return fmt.Errorf("it has heights %d to %d, want %d to %d", r.First(), r.Length(), first, len(chain))
	}
	for i, g := range chain {
		entry, seal, ok := r.At(uint64(i + 1))
		height, found := r.Height(g.link)
		switch kept := i+1 >= first; {
		case kept != ok, kept != found, kept && (entry != g.link || seal != g.sealLink() || height != uint64(i+1)):
			return fmt.Errorf("height %d: %v, %v", i+1, ok, found)
		case !kept:
			continue
		}
		for _, want := range g.blocks() {
			if got, ok := r.Block(seedlog.LinkOf(want)); !ok || !bytes.Equal(got, want) {
				return fmt.Errorf("a block of height %d is missing or changed", i+1)
			}
		}
	}
	var log bytes.Buffer
	if err := WriteLog(&log, rules, r); err != nil {
		return err
	}
	got, err := seedlog.Replay(&log, seedlog.ReplayOptions{Check: seedlog.CheckClaims, Workers: 1})
	if err != nil {
		return err
	}
	base := uint64(0)
	if first > 1 {
		base = uint64(first-1) + uint64(cutWindow)
	}
	var evaluations uint64
	for _, g := range chain {
		evaluations += g.entry.Evaluations
	}
	last := chain[len(chain)-1]
	if got.Height != uint64(len(chain)) || got.Base != base || got.State.Digest() != last.state.Digest() || got.Evaluations != evaluations {
		return fmt.Errorf("the log replays from %d to %d with %d evaluations, want from %d to %d with %d", got.Base, got.Height, got.Evaluations, base, len(chain), evaluations)
	}
	return nil
}

// TestCut: a run that dropped the older part of its log has the rest, is folded from the state that the log begins
// with, opens again with and without its index, grows, and drops more later.
func TestCut(t *testing.T) {
	withLag(t, 2)
	rules := staleRules(t)
	disk := newSimDisk()
	r, err := openSim(rules, disk)
	if err != nil {
		t.Fatal(err)
	}
	chain := grow(t, rules, nil, newKey("a"), 40)
	for i, g := range chain[:20] {
		save(t, r, move(uint64(i), "state", g))
	}
	low := grow(t, rules, chain[4], newKey("b"), 16)
	high := grow(t, rules, chain[15], newKey("c"), 5)
	save(t, r, move(5, "state", low...), move(5, "state", chain[5:20]...), move(16, "state", high...), move(16, "state", chain[16:20]...))
	if n := len(r.Branches()); n != 2 {
		t.Fatalf("%d branches", n)
	}
	for _, height := range []uint64{4, 8, 12, 16} {
		if err := r.SaveSummary(height, []byte{byte(height)}); err != nil {
			t.Fatal(err)
		}
	}
	claim := seedlog.Encode(chain[2].claims[0])
	gone := seedlog.Encode(chain[3].claims[0])
	if err := cut(r, cutAt(t, chain, 12), seedlog.LinkOf(claim)); err != nil {
		t.Fatal(err)
	}
	check := func(first, length int) {
		t.Helper()
		if err := holdsFrom(r, first, chain[:length]); err != nil {
			t.Fatal(err)
		}
		if got, ok := r.Block(seedlog.LinkOf(claim)); !ok || !bytes.Equal(got, claim) {
			t.Error("a block that is needed went")
		}
		if _, ok := r.Block(seedlog.LinkOf(gone)); ok {
			t.Error("a block that nobody needs stays")
		}
		if all := r.Branches(); len(all) != 1 || all[0].Tip != high[4].link.String() {
			t.Errorf("the branches are %v", all)
		}
	}
	reopen := func() {
		t.Helper()
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if r, err = openSim(rules, disk); err != nil || len(r.Notes()) > 0 {
			t.Fatal(err, r.Notes())
		}
	}
	check(10, 20)
	want := cutAt(t, chain, 12).Data
	for most, height := range map[uint64]uint64{11: 0, 12: 12, 15: 12, 20: 16} {
		h, data, ok := r.Summary(most)
		if h != height || ok != (height > 0) || height == 12 && !bytes.Equal(data, want) {
			t.Errorf("the summary up to %d is that of %d, want %d", most, h, height)
		}
	}
	if err := r.WriteBranch(r.Branches()[0].Name, &bytes.Buffer{}); err != nil {
		t.Error(err)
	}
	reopen()
	check(10, 20)
	disk.names[filepath.Join("data", rules.Run.String()+indexSuffix)].seen = nil
	reopen()
	check(10, 20)
	if err := r.Save(move(11, "state", chain[11])); !errors.Is(err, ErrBatch) {
		t.Errorf("a branch from below the base is taken: %v", err)
	}
	save(t, r, move(18, "state", grow(t, rules, chain[17], newKey("d"), 3)...), move(18, "state", chain[18:30]...))
	if err := r.RemoveBranch(r.Branches()[1].Name); err != nil {
		t.Fatal(err)
	}
	check(10, 30)
	reopen()
	if err := cut(r, cutAt(t, chain, 16)); err != nil {
		t.Fatal(err)
	}
	check(14, 30)
	save(t, r, move(30, "state", chain[30:]...))
	reopen()
	check(14, 40)
	if err := cut(r, cutAt(t, chain, 16)); !errors.Is(err, ErrCut) {
		t.Errorf("it is cut where it begins: %v", err)
	}
}

// TestCutWhileItGrows: what is saved while the log is copied is in the new one, and a branch that wins meanwhile
// ends that.
func TestCutWhileItGrows(t *testing.T) {
	rules := staleRules(t)
	r, err := openSim(rules, newSimDisk())
	if err != nil {
		t.Fatal(err)
	}
	chain := grow(t, rules, nil, newKey("a"), 20)
	save(t, r, move(0, "state", chain[:12]...))
	if err := r.Prepare(cutAt(t, chain, 8)); err != nil {
		t.Fatal(err)
	}
	save(t, r, move(12, "state", chain[12:15]...))
	if err := r.Cut(nil); err != nil {
		t.Fatal(err)
	}
	if err := holdsFrom(r, 6, chain[:15]); err != nil {
		t.Fatal(err)
	}
	if err := r.Prepare(cutAt(t, chain, 12)); err != nil {
		t.Fatal(err)
	}
	save(t, r, move(13, "state", grow(t, rules, chain[12], newKey("b"), 3)...), move(13, "state", chain[13:]...))
	if err := r.Cut(nil); !errors.Is(err, ErrCut) {
		t.Fatalf("cut a log whose end was replaced: %v", err)
	}
	if err := holdsFrom(r, 6, chain); err != nil {
		t.Fatal(err)
	}
	if err := cut(r, cutAt(t, chain, 12)); err != nil {
		t.Fatal(err)
	}
	if err := r.Prepare(cutAt(t, chain, 18)); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

// cutHistory grows a run, cuts it and lets it grow on. done is called after each part with what the run holds.
func cutHistory(r *Run, chain []*generation, c Cut, done func(first, length int)) error {
	for _, do := range []struct {
		what          func() error
		first, length int
	}{
		{func() error { return r.Save(move(0, "a", chain[:10]...)) }, 1, 10},
		{func() error { return r.Prepare(c) }, 1, 10},
		{func() error { return r.Save(move(10, "b", chain[10])) }, 1, 11},
		{func() error { return r.Cut([]seedlog.Link{seedlog.LinkOf(seedlog.Encode(chain[1].claims[0]))}) }, 6, 11},
		{func() error { return r.Save(move(11, "c", chain[11:]...)) }, 6, 14},
	} {
		if err := do.what(); err != nil {
			return err
		}
		done(do.first, do.length)
	}
	return nil
}

// TestCutPowerLoss: whenever power goes while a log is cut, the run opens with all that it had, whole or cut, and
// continues.
func TestCutPowerLoss(t *testing.T) {
	withLag(t, 2)
	rules := staleRules(t)
	chain := grow(t, rules, nil, newKey("a"), 16)
	disk := newSimDisk()
	r, err := openSim(rules, disk)
	if err != nil {
		t.Fatal(err)
	}
	disk.record = true
	var moments, firsts, lengths []int
	if err := cutHistory(r, chain[:14], cutAt(t, chain, 8), func(first, length int) {
		moments, firsts, lengths = append(moments, len(disk.moments)), append(firsts, first), append(lengths, length)
	}); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	cuts := 0
	for at, m := range disk.moments[moments[0]:] {
		at += moments[0]
		part := 0 // that was done last
		for part+1 < len(moments) && moments[part+1] <= at+1 {
			part++
		}
		next := min(part+1, len(moments)-1)
		for variant := range lossAny + 4 {
			r, err := openSim(rules, m.after(min(variant, lossAny), rng))
			what := fmt.Sprintf("moment %d (parts end at %v), variant %d", at, moments, variant)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			length := int(r.Length())
			if first := int(r.First()); first != firsts[part] && first != firsts[next] || length != lengths[part] && length != lengths[next] {
				t.Fatalf("%s: it has heights %d to %d", what, first, length)
			} else if err := holdsFrom(r, first, chain[:length]); err != nil {
				t.Fatalf("%s: %v", what, err)
			} else if first > 1 {
				cuts++
				if data, ok := r.Block(seedlog.LinkOf(seedlog.Encode(chain[1].claims[0]))); !ok || len(data) == 0 {
					t.Fatalf("%s: a block that is needed went", what)
				}
			}
			if err := r.Save(move(uint64(length), "on", chain[length:]...)); err != nil {
				t.Fatalf("%s: saving after it: %v", what, err)
			}
			if err := cut(r, cutAt(t, chain, 13)); err != nil {
				t.Fatalf("%s: cutting after it: %v", what, err)
			}
			if err := r.Close(); err != nil {
				t.Fatalf("%s: closing after it: %v", what, err)
			}
		}
	}
	t.Logf("%d moments, after which %d of %d folders were cut", len(disk.moments), cuts, (lossAny+4)*(len(disk.moments)-moments[0]))
}

// TestCutFailingDisk: wherever the disk fails while a log is cut, nothing that was saved is lost.
func TestCutFailingDisk(t *testing.T) {
	rules := staleRules(t)
	chain := grow(t, rules, nil, newKey("a"), 14)
	c := cutAt(t, chain, 8)
	for fail := 1; ; fail++ {
		disk := newSimDisk()
		r, err := openSim(rules, disk)
		if err != nil {
			t.Fatal(err)
		}
		disk.calls, disk.fail = 0, fail
		length := 0
		err = cutHistory(r, chain, c, func(_, n int) { length = n })
		if err == nil {
			if fail < 20 {
				t.Errorf("all was done in %d calls", fail)
			}
			return
		}
		if !errors.Is(err, ErrFull) {
			t.Fatalf("call %d fails: %v", fail, err)
		}
		r.Close()
		disk.fail = 0
		if r, err = openSim(rules, disk); err != nil {
			t.Fatalf("call %d fails: opening again: %v", fail, err)
		}
		if n := int(r.Length()); n < length {
			t.Fatalf("call %d fails: %d of %d are there", fail, n, length)
		} else if n > 0 {
			if err := holdsFrom(r, int(r.First()), chain[:n]); err != nil {
				t.Fatalf("call %d fails: %v", fail, err)
			}
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestBound: a run that may take so much takes no more, whatever it is given.
func TestBound(t *testing.T) {
	rules := staleRules(t)
	was := leastExponent
	leastExponent = 3
	defer func() { leastExponent = was }()
	dir := t.TempDir()
	d, r := openRun(t, dir, rules)
	defer d.Close()
	defer r.Close()
	const most = 96 << 10
	if err := r.Bound(most); err != nil {
		t.Fatal(err)
	}

	chain := grow(t, rules, nil, newKey("a"), 400)
	cuts, peak := 0, int64(0)
	for i, g := range chain {
		height := i + 1
		save(t, r, move(uint64(i), "state", g))
		if height%8 == 0 {
			if err := r.SaveSummary(uint64(height), cutAt(t, chain, height).Data); err != nil {
				t.Fatal(err)
			}
		}
		if at, ok := r.Excess(uint64(max(height-8, 0))); ok {
			if err := r.Prepare(cutAt(t, chain, int(at))); err != nil {
				t.Fatal(err)
			}
			peak = max(peak, sizeOf(t, dir, rules))
			if err := r.Cut(nil); err != nil {
				t.Fatal(err)
			}
			if left := r.log.size; left > most/logPart*3/4 {
				t.Errorf("%d bytes of the log are left", left)
			}
			cuts++
		}
		peak = max(peak, sizeOf(t, dir, rules))
	}
	if peak > most || cuts < 2 || cuts > 40 {
		t.Errorf("it took %d bytes of %d at most, and was cut %d times", peak, most, cuts)
	}
	t.Logf("%d cuts, at most %d bytes", cuts, peak)
	if err := holdsFrom(r, int(r.First()), chain); err != nil {
		t.Error(err)
	}
}

// sizeOf is how many bytes of a folder belong to a run, but for the slots of its hard state, which are of one size.
func sizeOf(t *testing.T, dir string, rules *seedlog.Rules) (size int64) {
	t.Helper()
	for name, data := range files(t, dir) {
		if filepath.Ext(name) != stateSuffix {
			size += int64(len(data))
		}
	}
	return size
}
