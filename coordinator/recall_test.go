package coordinator

import (
	"maps"
	"slices"
	"testing"
)

// parted grows two sides of a partition from one chain, of which the second becomes the heavier one.
func parted(t *testing.T, common, first, second uint64) *swarm {
	t.Helper()
	l := newLone(t)
	l.grow(common)
	other := &lone{cfg: l.cfg, disk: &memory{blocks: maps.Clone(l.disk.blocks), chain: slices.Clone(l.disk.chain), seals: slices.Clone(l.disk.seals), summaries: maps.Clone(l.disk.summaries)}, now: l.now}
	other.cfg.Key, other.cfg.Archive = keyOf("n2"), other.disk
	other.start(t)
	l.grow(common + first)
	other.grow(common + second)
	s := &swarm{rules: l.cfg.Rules, now: max(l.now, other.now), quiet: true}
	for i, l := range []*lone{l, other} {
		m := s.add([]string{"n1", "n2"}[i], Config{Hub: true, Timing: LAN(), Slots: 8, Decisive: 2, Audit: 32})
		m.disk, m.cfg.Archive = l.disk, l.disk
		if err := s.powerUp(m); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// TestDeepForkHeals: two sides of a partition that grew far beyond what is in memory become one swarm again.
func TestDeepForkHeals(t *testing.T) {
	if testing.Short() {
		t.Skip("grows thousands of entries")
	}
	s := parted(t, 700, 3*keepDepth, 3*keepDepth+200)
	a, b := s.peers[0], s.peers[1]
	lost, kept := a.disk.chain[len(a.disk.chain)-1], b.disk.chain[len(b.disk.chain)-1]
	deepest := a.coord.chain.root.height
	s.run(4000, func() bool {
		deepest = min(deepest, a.coord.chain.root.height)
		_, healed := a.disk.Height(kept)
		return healed && a.coord.chain.head.link == b.coord.chain.head.link && a.coord.chain.head.height > 700+3*keepDepth+210
	})
	_, healed := a.disk.Height(kept)
	if _, there := a.disk.Height(lost); !healed || there || a.coord.chain.head.link != b.coord.chain.head.link {
		t.Fatalf("a is at height %d with root %d, b at %d\n%s", a.coord.chain.head.height, a.coord.chain.root.height, b.coord.chain.head.height, s.log.String())
	}
	if deepest > 700 {
		t.Errorf("entries down to height %d only were in memory", deepest)
	}
	s.run(2000, func() bool { return a.coord.chain.root.height > 700 })
	if c := &a.coord.chain; c.root.height <= 700 || len(c.nodes) > 2*keepDepth {
		t.Errorf("after it healed the root is at height %d, and %d entries are in memory", c.root.height, len(c.nodes))
	}
	for height := uint64(1); height < b.coord.chain.head.height; height++ {
		if n := a.coord.chain.canonAt(height); n != nil && n.link != b.disk.chain[height-1] {
			t.Fatalf("height %d is another", height)
		}
	}
}

// TestTooDeepForkIsNoted: where bringing the fork back would cost too much, nothing is read, and a person is told.
func TestTooDeepForkIsNoted(t *testing.T) {
	l := newLone(t)
	l.grow(keepDepth + 2*firstInterval)
	c := l.coord
	c.chain.head.height += maxRecall // as if
	c.out = Actions{}
	c.bringBack(1)
	c.bringBack(1)
	if c.out.Recall != nil || len(c.out.Notes) != 1 {
		t.Errorf("recall %v, notes %v", c.out.Recall, c.out.Notes)
	}
}

// TestRecallGivesTheSameChain: what comes back from the archive is what was there before.
func TestRecallGivesTheSameChain(t *testing.T) {
	for _, to := range []uint64{10, firstInterval + 3, 3*firstInterval - 1} {
		l := newLone(t)
		l.grow(2 * firstInterval)
		before := make(map[uint64]node)
		for height := uint64(0); height < 3*keepDepth; height++ {
			l.grow(height)
			n := *l.coord.chain.head
			before[n.height] = n
		}
		c := l.coord
		c.out = Actions{}
		c.bringBack(to)
		if c.out.Recall == nil {
			t.Fatal("no summary was asked for")
		}
		s, _ := Summaries{l.cfg.Rules, l.disk}.Newest(to)
		l.step(Recalled{s})
		for range 3 * keepDepth / recallStep {
			l.step(Passed{})
		}
		root := c.chain.root
		if root.height > to || root.state == nil || root.height+firstInterval <= to {
			t.Fatalf("the root is at height %d, want at most %d", root.height, to)
		}
		for height := root.height; height <= c.chain.head.height; height++ {
			n, was := c.chain.canonAt(height), before[height]
			if c.chain.nodes[n.link] != n || n.forgotten || height > root.height && (n.parent != c.chain.canonAt(height-1) || !slices.Contains(n.parent.children, n)) {
				t.Fatalf("height %d is not in its place", height)
			}
			if was.link.Defined() && (n.link != was.link || n.weight != was.weight || n.steps != was.steps || n.evaluations != was.evaluations || n.height != was.height) {
				t.Fatalf("height %d: %+v, was %+v", height, n, was)
			}
		}
	}
}
