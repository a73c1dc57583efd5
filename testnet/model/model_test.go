package model

import (
	"flag"
	"testing"
	"time"
)

var deep = flag.Bool("model.deep", false, "search with the larger bounds, which takes minutes")

// searches are the bounds within which everything is tried: those of every day, and with -model.deep larger ones.
var searches = []struct{ small, large Bounds }{
	{Bounds{Name: "elections", Height: 2, Advances: 2, Alone: true},
		Bounds{Name: "elections", Height: 2, Advances: 2}},
	{Bounds{Name: "crash", Height: 2, Advances: 1, Crashes: 1, Late: 1},
		Bounds{Name: "crash", Height: 2, Advances: 2, Alone: true, Crashes: 1}},
	{Bounds{Name: "beginning", Advances: 1, Late: 1},
		Bounds{Name: "beginning", Advances: 2, Crashes: 1}},
	{Bounds{Name: "mandate", Height: 3, Mandate: 2, Advances: 1},
		Bounds{Name: "mandate", Height: 2, Mandate: 1, Advances: 2}},
	{Bounds{Name: "two votes", Height: 2, Faulty: 1, Generous: true, Advances: 2, Alone: true},
		Bounds{Name: "two votes", Height: 2, Faulty: 2, Generous: true, Advances: 2}},
	{Bounds{Name: "false claims", Height: 2, Faulty: 1, Inflate: true, Careless: 1, Advances: 1, Late: 1},
		Bounds{Name: "false claims", Height: 2, Faulty: 1, Inflate: true, Careless: 1, Advances: 2}},
	{Bounds{Name: "forgeries", Height: 2, Faulty: 1, Forge: "next term", Advances: 1, Alone: true, Forgeries: 1},
		Bounds{Name: "forgeries", Height: 2, Faulty: 1, Advances: 1, Forgeries: 1}},
	{Bounds{Name: "false proofs", Height: 2, Faulty: 1, Forge: "true claim", Forgeries: 2},
		Bounds{Name: "false proofs", Height: 2, Faulty: 2, Forge: "true claim", Advances: 1, Forgeries: 2}},
}

// TestModel searches within each of the bounds. It fails where a search sees nothing of what it is for.
func TestModel(t *testing.T) {
	var all Stats
	for _, s := range searches {
		b := s.small
		b.Calm = 256
		if *deep {
			b = s.large
			b.Calm = 1024
		}
		t.Run(b.Name, func(t *testing.T) {
			began := time.Now()
			stats, err := Search(b)
			t.Logf("%d states by %d actions, up to %d deep, in %.1f s; %d healed; %d votes, %d entries, %d moves of heads, %d of them back, %d claims found false",
				stats.States, stats.Actions, stats.Depth, time.Since(began).Seconds(), stats.Healed, stats.Votes, stats.Entries, stats.Moves, stats.Reorgs, stats.False)
			if err != nil {
				t.Error(err)
			}
			all.Votes, all.Entries, all.Reorgs, all.Healed = all.Votes+stats.Votes, all.Entries+stats.Entries, all.Reorgs+stats.Reorgs, all.Healed+stats.Healed
			if b.Inflate {
				all.False += stats.False
			}
		})
	}
	if all.Votes == 0 || all.Entries == 0 || all.Reorgs == 0 || all.Healed == 0 || all.False == 0 {
		t.Errorf("the searches saw too little: %+v", all)
	}
}

// TestCopies: a copy of a coordinator behaves as the original, which does not notice it.
func TestCopies(t *testing.T) {
	var stats Stats
	first, err := begin(Bounds{Name: "copies", Height: 2}, &stats)
	if err != nil {
		t.Fatal(err)
	}
	before := first.digest()
	var sums [2][32]byte
	for i := range sums {
		w := first
		for range 3 {
			w = w.take(step{"all advance", func(w *world) { w.advance([peers]bool{true, true, true}) }})
		}
		if w.err != nil {
			t.Fatal(w.err)
		}
		sums[i] = w.digest()
	}
	for _, p := range first.peers {
		p.sum = [32]byte{}
	}
	if first.digest() != before {
		t.Error("what a copy did changed the original")
	}
	if sums[0] != sums[1] || sums[0] == before {
		t.Error("two copies that did the same differ, or did nothing")
	}
}
