package coordinator

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// drawNodes draws distinct nodes that often tie in weight and votes.
func drawNodes(t *rapid.T) []*node {
	few := rapid.Uint64Range(0, 3)
	nodes := make([]*node, rapid.IntRange(2, 8).Draw(t, "nodes"))
	for i := range nodes {
		nodes[i] = &node{link: seedlog.LinkOf([]byte{byte(i)}), weight: few.Draw(t, "weight"), votes: few.Draw(t, "votes")}
	}
	return nodes
}

// TestBetterIsStrictTotalOrder: of two chains exactly one is better, and no three go round in a circle. Otherwise peers
// with the same chains could settle on different ones.
func TestBetterIsStrictTotalOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := drawNodes(t)
		for i, a := range nodes {
			if better(a, a) {
				t.Fatalf("node %d is better than itself", i)
			}
			for j, b := range nodes {
				if i != j && better(a, b) == better(b, a) {
					t.Fatalf("nodes %d and %d: both or neither is better", i, j)
				}
				for k, c := range nodes {
					if better(a, b) && better(b, c) && !better(a, c) {
						t.Fatalf("nodes %d > %d > %d, but not %d > %d", i, j, k, i, k)
					}
				}
			}
		}
	})
}

func drawPeer(t *rapid.T, n int) Peer {
	return Peer{byte(rapid.IntRange(1, n).Draw(t, "peer"))}
}

// TestFitnessOfDoesNotOverflow compares with a sum that cannot overflow: the mean is between the least and the best
// value, and at most one unit from the exact one.
func TestFitnessOfDoesNotOverflow(t *testing.T) {
	value := rapid.OneOf(rapid.Int64(), rapid.Just(evolve.InvalidFitness), rapid.Int64Range(-(1<<63-1), -(1<<63-1)+3), rapid.Int64Range(1<<63-4, 1<<63-1))
	rapid.Check(t, func(t *rapid.T) {
		claims := make([]seedlog.CheckedClaim, rapid.IntRange(0, 4).Draw(t, "claims"))
		least, most, valid, sum := int64(1<<63-1), evolve.InvalidFitness, int64(0), new(big.Int)
		for i := range claims {
			link := seedlog.LinkOf(nil)
			claims[i] = new(seedlog.Rules).OwnClaim(&seedlog.Claim{Parent: link, Fitness: rapid.SliceOfN(value, 0, 6).Draw(t, "fitness")})
			for _, f := range claims[i].Value().Fitness {
				if f != evolve.InvalidFitness {
					least, most, valid = min(least, f), max(most, f), valid+1
					sum.Add(sum, big.NewInt(f))
				}
			}
		}
		best, mean := fitnessOf(claims)
		if best != most {
			t.Fatalf("got best %d, want %d", best, most)
		}
		if valid == 0 {
			if mean != evolve.InvalidFitness {
				t.Fatalf("got mean %d of nothing", mean)
			}
			return
		}
		if mean < least || mean > most {
			t.Fatalf("got mean %d outside %d to %d", mean, least, most)
		}
		exact := new(big.Int).Quo(sum, big.NewInt(valid))
		if off := new(big.Int).Sub(exact, big.NewInt(mean)); off.CmpAbs(big.NewInt(1)) > 0 {
			t.Fatalf("got mean %d, the exact one is %s", mean, exact)
		}
	})
}

// TestForkOfALongBranch: a branch that began far below the root, and of which the chain took over the first part,
// leaves the chain where that part ends. Who fetches a long log much faster than it folds has such branches.
func TestForkOfALongBranch(t *testing.T) {
	const entries = 100
	for _, root := range []int{1, windowDepth, windowDepth + 1, windowDepth + 2, entries - 6} {
		all := []*node{{}}
		for height := uint64(1); height <= entries; height++ {
			all = append(all, &node{height: height, parent: all[height-1]})
			all[height-1].children = []*node{all[height]}
		}
		c := chain{root: all[0], head: all[0], canon: all[:1:1], nodes: make(map[seedlog.Link]*node), credits: make(map[Peer]Credit), sides: newSides()}
		if fork := c.fork(all[entries]); fork != all[0] { // this remembers where the branch begins
			t.Fatalf("at first: %d", fork.height)
		}
		c.move(all[entries-5])
		c.reroot(all[root])
		if fork := c.fork(all[entries]); fork != all[entries-5] {
			t.Fatalf("with the root at height %d: %d", root, fork.height)
		}
	}
}
