//go:build !js

package store

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
)

// Of summaries at equal distances the newest is always there, and one not much deeper than any depth asked for.
func TestSummariesSpreadOverTheChain(t *testing.T) {
	for _, distance := range []uint64{32, 256, 2048} {
		var m memorySummaries
		for n := range uint64(5000) {
			newest := (n + 1) * distance
			m.put(newest, []byte{1}, memoryBudget)
			if h, _, ok := m.get(newest + 1); !ok || h != newest {
				t.Fatalf("the newest is at %d, want %d", h, newest)
			}
			if n%37 > 0 {
				continue
			}
			for depth := distance; depth < newest; depth *= 2 {
				h, _, ok := m.get(newest - depth)
				if !ok {
					h = 0
				}
				if newest-h > 4*depth+4*distance {
					t.Fatalf("distance %d, newest at %d: below depth %d the next is at depth %d", distance, newest, depth, newest-h)
				}
			}
		}
	}
}

// Large summaries are few.
func TestSummariesStayWithinTheirBudget(t *testing.T) {
	var m memorySummaries
	large := make([]byte, memoryBudget/7)
	for n := range uint64(300) {
		m.put((n+1)*256, large, memoryBudget)
		held := 0
		for _, data := range m.data {
			held += len(data)
		}
		if held > memoryBudget {
			t.Fatalf("%d bytes are held, want at most %d", held, memoryBudget)
		}
		if h, _, _ := m.get(1 << 40); h != (n+1)*256 {
			t.Fatalf("the newest is at %d", h)
		}
	}
}

// Every store gives a summary back, also when it is opened again.
func TestStoresKeepSummaries(t *testing.T) {
	rules := newRules(t, 1, false)
	check := func(t *testing.T, s Store) {
		for _, test := range []struct {
			most, want uint64
			data       string
		}{{255, 0, ""}, {256, 256, "one"}, {511, 256, "one"}, {1 << 60, 512, "two"}} {
			if h, data, ok := s.Summary(test.most); h != test.want || string(data) != test.data || ok != (test.want > 0) {
				t.Errorf("up to %d: height %d, %q", test.most, h, data)
			}
		}
	}
	fill := func(t *testing.T, s Store) {
		if err := errors.Join(s.SaveSummary(256, []byte("one")), s.SaveSummary(512, []byte("two"))); err != nil {
			t.Fatal(err)
		}
		check(t, s)
	}
	t.Run("memory", func(t *testing.T) { fill(t, NewMemory(rules.Spec)) })
	t.Run("browser", func(t *testing.T) {
		rows := newTestRows()
		fill(t, openRows(t, rules, rows))
		check(t, openRows(t, rules, rows))
	})
	t.Run("disk", func(t *testing.T) {
		dir := t.TempDir()
		d, r := openRun(t, dir, rules)
		fill(t, r)
		if err := errors.Join(r.Close(), d.Close()); err != nil {
			t.Fatal(err)
		}
		if err := r.SaveSummary(768, nil); !errors.Is(err, ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
		d, r = openRun(t, dir, rules)
		defer d.Close()
		defer r.Close()
		check(t, r)
	})
}

// Whenever power goes while summaries are kept, each that is found is whole; one whose SaveSummary returned is found,
// or a newer one in its place. Damaged files never keep a run from opening.
func TestSummaryPowerLoss(t *testing.T) {
	rules := newRules(t, 2, false)
	disk := newSimDisk()
	r, err := openSim(rules, disk)
	if err != nil {
		t.Fatal(err)
	}
	disk.record = true
	content := func(height uint64) []byte { return bytes.Repeat(fmt.Appendf(nil, "summary %d ", height), 20) }
	var saved []int // moments after which each had returned
	for n := range uint64(9) {
		if err := r.SaveSummary((n+1)<<leastExponent, content((n+1)<<leastExponent)); err != nil {
			t.Fatal(err)
		}
		saved = append(saved, len(disk.moments))
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for at, m := range disk.moments {
		done := uint64(0)
		for int(done) < len(saved) && saved[done] <= at+1 {
			done++
		}
		for variant := range lossAny + 4 {
			r, err := openSim(rules, m.after(min(variant, lossAny), rng))
			if err != nil {
				t.Fatalf("moment %d, variant %d: %v", at, variant, err)
			}
			newest, _, _ := r.Summary(1 << 60)
			if newest < done<<leastExponent {
				t.Fatalf("moment %d, variant %d: the newest is %d, want %d", at, variant, newest, done<<leastExponent)
			}
			for most := newest; most > 0; {
				h, data, ok := r.Summary(most)
				if !ok {
					break
				}
				if !bytes.Equal(data, content(h)) {
					t.Fatalf("moment %d, variant %d: the summary of height %d is damaged", at, variant, h)
				}
				most = h - 1
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	disk.record = false
	disk.names[filepath.Join("data", rules.Run.String()+summarySuffix+"00")].seen = []byte{1}
	if r, err = openSim(rules, disk); err != nil {
		t.Fatal(err)
	}
	if h, _, ok := r.Summary(1 << 60); !ok || h == 0 {
		t.Error("one damaged file hides the others")
	}
}

// A full disk fails SaveSummary alone: the run takes the next Save.
func TestSummaryOnFullDisk(t *testing.T) {
	rules := newRules(t, 2, false)
	for fail := 1; fail < 6; fail++ {
		disk := newSimDisk()
		r, err := openSim(rules, disk)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.SaveSummary(256, []byte("old")); err != nil {
			t.Fatal(err)
		}
		disk.fail = disk.calls + fail
		err = r.SaveSummary(1280, []byte("new")) // in the slot of 256
		disk.fail = 0
		if !errors.Is(err, ErrFull) {
			t.Fatalf("call %d fails: %v", fail, err)
		}
		if h, data, ok := r.Summary(700); !ok || h != 256 || string(data) != "old" {
			t.Errorf("call %d fails: height %d, %q", fail, h, data)
		}
		if err := r.Save(Batch{State: []byte("on")}); err != nil {
			t.Errorf("call %d fails: saving after it: %v", fail, err)
		}
	}
}
