package main

import (
	"testing"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/runspec"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/store"
)

// chain keeps n generations with one claim each in a store; the fitness of generation h is h and 3h.
func chain(t *testing.T, n int) store.Store {
	t.Helper()
	spec, err := runspec.NewSpec(runspec.Options{Env: "CartPole-v1"})
	if err != nil {
		t.Fatal(err)
	}
	key := seedlog.SoloKey(spec)
	log := store.NewMemory(spec)
	parent := spec.Link()
	for h := range n {
		fitness := []int64{int64(h+1) * rollout.FitnessOne, 3 * int64(h+1) * rollout.FitnessOne, evolve.InvalidFitness}
		claim := seedlog.NewClaim(spec.Link(), parent, key, 0, fitness, []uint64{1, 1, 1})
		block, link := claim.Encode()
		entry := seedlog.Encode(&seedlog.Entry{Run: spec.Link(), Height: uint64(h) + 1, Parent: parent, Term: 1,
			Leader: seedlog.PeerOf(key), Claims: []seedlog.Link{link}, Evaluations: 3, Steps: 3, Theta: make([]byte, 32), State: make([]byte, 32)})
		seal := append([]byte("seal "), byte(h), byte(h>>8))
		parent = seedlog.LinkOf(entry)
		err := log.Save(store.Batch{Blocks: []seedlog.RawBlock{seedlog.NewRawBlock(block), seedlog.NewRawBlock(entry), seedlog.NewRawBlock(seal)},
			Head: &store.HeadMove{Fork: uint64(h), Entries: []seedlog.Link{parent}, Seals: []seedlog.Link{seedlog.LinkOf(seal)}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	return log
}

func TestHistory(t *testing.T) {
	for _, test := range []struct {
		name          string
		length        int
		after         uint64
		points        int
		first, newest uint64
	}{
		{"empty", 0, 0, 0, 0, 0},
		{"all", 5, 0, 5, 1, 5},
		{"above a height", 5, 3, 2, 4, 5},
		{"nothing new", 5, 5, 0, 0, 0},
		{"beyond the end", 5, 9, 0, 0, 0},
		{"thinned", 2*historyPoints + 1, 0, 201, 1, 2*historyPoints + 1},
		{"thinned, from within", 2*historyPoints + 10, 5, 202, 7, 2*historyPoints + 10},
	} {
		got := history(chain(t, test.length), test.after)
		if len(got) != test.points || len(got) > historyPoints {
			t.Errorf("%s: got %d points, want %d", test.name, len(got), test.points)
			continue
		}
		if len(got) == 0 {
			continue
		}
		if got[0].Height != test.first || got[len(got)-1].Height != test.newest {
			t.Errorf("%s: got heights %d to %d, want %d to %d", test.name, got[0].Height, got[len(got)-1].Height, test.first, test.newest)
		}
		for _, g := range got {
			if h := float64(g.Height); g.Mean != 2*h || g.Best != 3*h {
				t.Errorf("%s: height %d: got mean %v and best %v, want %v and %v", test.name, g.Height, g.Mean, g.Best, 2*h, 3*h)
			}
		}
	}
}
