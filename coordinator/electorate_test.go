package coordinator

import (
	"slices"
	"testing"
)

// numbered is a key of many.
func numbered(i int) Peer { return Peer{byte(i), byte(i >> 8), byte(i >> 16), 1} }

// TestElectorsStay: where more have worked than an electorate holds, it stays much the same while who did most changes,
// and keys with little work have no seat.
func TestElectorsStay(t *testing.T) {
	c := newField(t, 2, 0).peers[0].coord
	const all, little = 256, 512
	seats := func(round int) []elector {
		var list []elector
		for i := range all + little {
			weight := uint64(900 + (i*7919+round*104729)%300) // other ones are the heaviest in each round
			if i >= all {
				weight /= 4
			}
			list = append(list, elector{numbered(i), weight})
		}
		slices.SortFunc(list, func(a, b elector) int { return a.peer.Compare(b.peer) })
		return c.seated(list)
	}
	first, weights := seats(0), make(map[Peer]int)
	for i := range all + little {
		weights[numbered(i)] = i
	}
	for round := range 8 {
		electors := seats(round)
		stay := 0
		for _, x := range electors {
			if weights[x.peer] >= all {
				t.Errorf("round %d: a key with a quarter of the usual work has a seat", round)
			}
			if slices.ContainsFunc(first, func(y elector) bool { return y.peer == x.peer }) {
				stay++
			}
		}
		if len(electors) != maxElectors || !slices.IsSortedFunc(electors, func(a, b elector) int { return a.peer.Compare(b.peer) }) {
			t.Errorf("round %d: %d electors, want %d in the order of their keys", round, len(electors), maxElectors)
		}
		if stay < maxElectors*7/8 {
			t.Errorf("round %d: %d of %d electors are those of the first round", round, stay, maxElectors)
		}
	}
	if few := seats(0)[:8]; len(c.seated(slices.Clone(few))) != 8 {
		t.Error("few electors do not all have a seat")
	}
}

// TestLotsAreBounded: lots that are remembered are at most as many as peers that are heard.
func TestLotsAreBounded(t *testing.T) {
	c := newField(t, 2, 0).peers[0].coord
	before := c.election.lot(c.rules.Run, numbered(1))
	for i := range 2 * maxHeard {
		c.election.lot(c.rules.Run, numbered(i))
	}
	if n := len(c.election.lots); n > maxHeard || c.election.lot(c.rules.Run, numbered(1)) != before {
		t.Errorf("%d lots are remembered, at most %d", n, maxHeard)
	}
}
