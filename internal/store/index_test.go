//go:build !js

package store

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// indexed saves a chain one generation at a time, with an index of all but the newest few.
func indexed(t *testing.T, n int) (*seedlog.Rules, *simDisk, []*generation) {
	t.Helper()
	withLag(t, 3)
	rules := newRules(t, 2, false)
	chain := grow(t, rules, nil, newKey("a"), n)
	disk := newSimDisk()
	r, err := openSim(rules, disk)
	if err != nil {
		t.Fatal(err)
	}
	for h, g := range chain {
		if err := r.Save(move(uint64(h), "state", g)); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return rules, disk, chain
}

// A run opens by its index and the newest part of its log, and holds the same as one that was scanned.
func TestRunOpensByItsIndex(t *testing.T) {
	rules, disk, chain := indexed(t, 20)
	r, err := openSim(rules, disk)
	if err != nil {
		t.Fatal(err)
	}
	if covered := r.log.saved.covered(r.log.heights); covered < 12 {
		t.Errorf("the index covers %d of 20 generations", covered)
	}
	if err := (step{state: "state", chain: chain, kept: chain}).matches(r); err != nil {
		t.Error(err)
	}
	if _, ok := r.Block(seedlog.LinkOf([]byte("unknown"))); ok {
		t.Error("an unknown block is found")
	}
	more := grow(t, rules, chain[19], newKey("a"), 10)
	for i, g := range more {
		if err := r.Save(move(uint64(20+i), "more", g)); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	all := append(slices.Clone(chain), more...)
	if r, err = openSim(rules, disk); err != nil {
		t.Fatal(err)
	}
	if err := (step{state: "more", chain: all, kept: all}).matches(r); err != nil {
		t.Error(err)
	}
	logOf(t, rules, disk, all)
}

// The index only saves time: whatever became of it, the run opens and holds the same.
func TestRunSurvivesItsIndex(t *testing.T) {
	rules, disk, chain := indexed(t, 16)
	name := filepath.Join("data", rules.Run.String()+indexSuffix)
	whole := slices.Clone(disk.names[name].seen)
	_, other, _ := indexed(t, 19)
	rng := rand.New(rand.NewPCG(7, 8))
	spoiled := [][]byte{nil, {1}, whole[:len(whole)/2], append(slices.Clone(whole), 1, 2, 3), other.names[name].seen}
	for range 200 {
		b := slices.Clone(whole)
		b[rng.IntN(len(b))] ^= byte(1 + rng.IntN(255))
		spoiled = append(spoiled, b)
	}
	for i, b := range spoiled {
		disk.names[name].seen = slices.Clone(b)
		r, err := openSim(rules, disk)
		if err != nil {
			t.Fatalf("index %d: %v", i, err)
		}
		if err := (step{state: "state", chain: chain, kept: chain}).matches(r); err != nil {
			t.Fatalf("index %d: %v", i, err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// An index that vouches for another branch than the log has is not believed, even where both are equally long.
func TestIndexOfAnotherBranch(t *testing.T) {
	rules, disk, chain := indexed(t, 16)
	name := filepath.Join("data", rules.Run.String()+indexSuffix)
	old := slices.Clone(disk.names[name].seen)
	r, err := openSim(rules, disk)
	if err != nil {
		t.Fatal(err)
	}
	branch := grow(t, rules, chain[3], newKey("b"), 14)
	if err := r.Save(move(4, "state", branch...)); err != nil {
		t.Fatal(err)
	}
	if r.log.saved.covered(r.log.heights) > 4 {
		t.Errorf("after a branch won at height 4 the index covers %d", r.log.saved.covered(r.log.heights))
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	disk.names[name].seen = old // as if cutting it had been lost
	if r, err = openSim(rules, disk); err != nil {
		t.Fatal(err)
	}
	all := append(slices.Clone(chain[:4]), branch...)
	if err := (step{state: "state", chain: all, kept: append(slices.Clone(all), chain...)}).matches(r); err != nil {
		t.Error(err)
	}
}

// Damage in the part that the index covers does not keep a run from opening; the block is not found, rather than wrong.
func TestDamageBelowTheIndex(t *testing.T) {
	rules, disk, chain := indexed(t, 16)
	log := disk.names[filepath.Join("data", rules.Run.String()+logSuffix)]
	block := chain[2].blocks()[2]
	at := bytes.Index(log.seen, block)
	log.seen[at+len(block)/2] ^= 1
	r, err := openSim(rules, disk)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := r.Block(seedlog.LinkOf(block)); ok {
		t.Error("a damaged block is returned")
	}
	if _, ok := r.Block(chain[1].link); !ok {
		t.Error("a good block is not found")
	}
}
