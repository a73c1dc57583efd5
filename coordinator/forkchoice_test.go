package coordinator

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// growTree draws a tree of chains with refused and false entries, hung as the coordinator hangs them.
func growTree(t *rapid.T) (c chain, all []*node) {
	root := &node{link: seedlog.LinkOf(nil), stage: trusted}
	c = chain{run: root.link, root: root, head: root, canon: []*node{root}, nodes: map[seedlog.Link]*node{root.link: root}, tips: []*node{root}, credits: make(map[Peer]Credit)}
	all = []*node{root}
	few := rapid.Uint64Range(0, 2)
	for i := range rapid.IntRange(0, 24).Draw(t, "entries") {
		parent := rapid.SampledFrom(all).Draw(t, "parent")
		n := &node{link: seedlog.LinkOf([]byte{byte(i)}), parent: parent, height: parent.height + 1, term: uint64(i),
			weight: parent.weight + few.Draw(t, "weight"), votes: few.Draw(t, "votes"),
			credits: []peerCredit{{peer: drawPeer(t, 3), Credit: Credit{Evaluations: 1, Steps: few.Draw(t, "steps")}}}}
		if rapid.IntRange(0, 5).Draw(t, "refused") == 0 {
			n.stage = refused
		}
		c.hang(n)
		if n.fraud = rapid.IntRange(0, 5).Draw(t, "lie") == 0; n.fraud {
			n.falseAt = n.height
		}
		all = append(all, n)
	}
	return c, all
}

// dumbBest is the fork choice without a thought for speed: of all entries that may end a chain the first in order.
func dumbBest(all []*node, want func(*node) bool) *node {
	able := func(n *node) bool {
		for m := n; m != nil; m = m.parent {
			if m.stage == refused || m.fraud && n.height < m.height+proofDepth {
				return false
			}
		}
		return true
	}
	ends := slices.DeleteFunc(slices.Clone(all), func(n *node) bool { return n.parent != nil && !(able(n) && want(n)) })
	return slices.MinFunc(ends, func(a, b *node) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(b.votes, a.votes), cmp.Compare(a.link.KeyString(), b.link.KeyString()))
	})
}

// TestForkChoiceAgainstDumbTwin compares with a search of all entries. An entry outweighs those below it
// (each weighs at least a step in a run), so the best end of a branch is its highest usable entry.
func TestForkChoiceAgainstDumbTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, all := growTree(t)
		for _, n := range all[1:] { // children come after their parents
			n.weight = max(n.weight, n.parent.weight+1)
		}
		limit := rapid.Uint64Range(0, 24).Draw(t, "height")
		for name, want := range map[string]func(*node) bool{
			"any":          func(*node) bool { return true },
			"not too high": func(n *node) bool { return n.height <= limit },
		} {
			if got, want := bestTip(c.root, c.tips, want), dumbBest(all, want); got != want {
				t.Fatalf("%s: got weight %d at height %d, want %d at %d", name, got.weight, got.height, want.weight, want.height)
			}
		}
	})
}

// TestChainMoves moves the head about in a tree: the canonical chain is the way to it, and the credits are
// those of its entries.
func TestChainMoves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, all := growTree(t)
		for range 6 {
			before := slices.Clone(c.canon)
			n := rapid.SampledFrom(all).Draw(t, "head")
			fork := c.fork(n)
			gone, come := c.move(n)
			if !slices.Equal(slices.Concat(c.canon[:fork.height+1], gone), before) || !slices.Equal(c.canon[fork.height+1:], come) {
				t.Fatalf("%d entries went and %d came above height %d", len(gone), len(come), fork.height)
			}
			want := make(map[Peer]Credit)
			for m := n; m.parent != nil; m = m.parent {
				if c.canonAt(m.height) != m {
					t.Fatalf("height %d is not on the way to the head", m.height)
				}
				sum := want[m.credits[0].peer]
				sum.Evaluations += m.credits[0].Evaluations
				sum.Steps += m.credits[0].Steps
				want[m.credits[0].peer] = sum
			}
			if c.head != n || c.canonAt(n.height+1) != nil || len(want) != len(c.credits) {
				t.Fatalf("head at height %d with %d credits, want %d with %d", c.head.height, len(c.credits), n.height, len(want))
			}
			for p, credit := range want {
				if c.credits[p] != credit {
					t.Fatalf("credit %+v, want %+v", c.credits[p], credit)
				}
			}
			if links := c.locator(seedlog.Link{}); links[len(links)-1] != c.root.link || c.after(links) != n.height {
				t.Fatal("the locator does not lead back to the head")
			}
		}
	})
}

// TestDisqualifiedLeadersComeBack: a leader that broke a rule may lead again after so many entries, a faulty
// peer never.
func TestDisqualifiedLeadersComeBack(t *testing.T) {
	a, b := Peer{1}, Peer{2}
	f := faults{peers: map[Peer]bool{b: true}, disqualified: map[Peer]uint64{a: 7 + disqualifiedFor}}
	for _, test := range []struct {
		peer   Peer
		height uint64
		want   bool
	}{
		{a, 7, false}, {a, 6 + disqualifiedFor, false}, {a, 7 + disqualifiedFor, true}, {b, 1 << 20, false}, {Peer{3}, 0, true},
	} {
		if got := f.mayLead(test.peer, test.height); got != test.want {
			t.Errorf("peer %x at height %d: got %t", test.peer[0], test.height, got)
		}
	}
}
