package sim

import (
	"fmt"
	"testing"

	"github.com/evoswarm/evoswarm/coordinator"
)

// calm is a swarm without trouble, whose leader keeps its mandate: any change of term is one too many.
func calmSwarm(t *testing.T, seed uint64, natives, tabs int) *Swarm {
	t.Helper()
	s, err := New(Options{Seed: seed, Natives: natives, Tabs: tabs, DelayMin: 1, DelayMax: 3, Mandate: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	s.calm = true
	return s
}

// until lets time pass until done, but no longer than so many ticks.
func (s *Swarm) until(t *testing.T, what string, ticks coordinator.Tick, done func() bool) {
	t.Helper()
	for end := s.now + ticks; !done(); {
		if s.now >= end {
			t.Fatalf("%d ticks were not enough until %s; heights %v", ticks, what, s.heights())
		}
		if err := s.run(s.now + 10); err != nil {
			t.Fatal(err)
		}
	}
}

// leads lists who leads, and in which term.
func (s *Swarm) leads() string {
	text := ""
	for _, n := range s.nodes {
		if n.coord != nil && n.coord.Snapshot().Role == coordinator.Leader {
			text += fmt.Sprintf("node %d in term %d ", n.index, n.coord.Snapshot().Term)
		}
	}
	return text
}

// sleep takes the power from the last node, whether it be a native or a tab.
func (s *Swarm) sleepLast() *node {
	n := s.nodes[len(s.nodes)-1]
	s.powerDown(n)
	return n
}

// TestJoinerDeposesNobody has a newcomer fold a long log while a leader is busy: it says how far it is,
// neither stands nor trains meanwhile, and then takes part.
func TestJoinerDeposesNobody(t *testing.T) {
	for _, tt := range []struct {
		entries uint64
		tabs    int              // 1: the newcomer is a tab
		fold    coordinator.Tick // that the newcomer takes for an entry
		again   bool             // it was there before and has half of the log
	}{
		{entries: 3, fold: 3},
		{entries: 30, fold: 40},
		{entries: 120, fold: 3},
		{entries: 120, fold: 3, tabs: 1},
		{entries: 120, fold: 3, again: true},
		{entries: 300, fold: 2},
		{entries: 300, fold: 2, tabs: 1},
	} {
		for seed := range uint64(4) {
			t.Run(fmt.Sprintf("%d entries of %d ticks, %d tabs, again %t, seed %d", tt.entries, tt.fold, tt.tabs, tt.again, seed), func(t *testing.T) {
				t.Parallel()
				s := calmSwarm(t, seed, 4-tt.tabs, tt.tabs)
				leader := s.nodes[0]
				joiner := s.sleepLast()
				if tt.again {
					if err := s.powerUp(joiner); err != nil {
						t.Fatal(err)
					}
					s.until(t, "half of the log is there", 40*coordinator.Tick(tt.entries), func() bool {
						return joiner.coord.Snapshot().Height >= tt.entries/2
					})
					s.powerDown(joiner)
				}
				s.until(t, "the log is there", 40*coordinator.Tick(tt.entries), func() bool {
					return leader.coord.Snapshot().Height >= tt.entries
				})
				before := s.leads()
				joiner.fold, joiner.offline = tt.fold, s.now
				if tt.again {
					joiner.offline += 120 // longer than patience: it is alone with a log that it has to fold first
				}
				if err := s.powerUp(joiner); err != nil {
					t.Fatal(err)
				}
				mine, reported := leader.coord.Snapshot().Evaluations, false
				for joined := s.now; s.now < joined+tt.fold*coordinator.Tick(tt.entries)+200; {
					if err := s.run(s.now + 1); err != nil {
						t.Fatal(err)
					}
					c := joiner.coord.Snapshot()
					if got := s.leads(); got != before {
						t.Fatalf("%d ticks after the join %sleads, before it %s", s.now-joined, got, before)
					}
					if c.Syncing && (c.Role != coordinator.Follower || c.Behind > c.BehindOf) {
						t.Fatalf("while catching up: %+v", c)
					}
					reported = reported || c.Syncing && c.Behind > 0 && c.Behind < c.BehindOf
				}
				if !reported && tt.entries > 3 {
					t.Error("it never said how far it is")
				}
				if tt.fold > 5 {
					return // a generation is shorter than its fold: it will never be there
				}
				s.until(t, "it has caught up, and its work is in the log", 4000, func() bool {
					c := joiner.coord.Snapshot()
					return !c.Syncing && (c.Mine.Evaluations > 0 || tt.tabs > 0) // a tab's way to the leader is longer than a generation
				})
				if got := s.leads(); got != before {
					t.Errorf("in the end %sleads, before the join %s", got, before)
				}
				if leader.coord.Snapshot().Evaluations <= mine {
					t.Error("the leader closed nothing meanwhile")
				}
			})
		}
	}
}

// TestJoinerWorksAtOnce has a native or a tab join a long run of format 2, whose folds take longer than the others need
// for a generation, so that it never catches up. What it computes is logged within seconds all the same, nobody waits
// for its vote, and the leader stays.
func TestJoinerWorksAtOnce(t *testing.T) {
	for _, tabs := range []int{0, 1} {
		loss := 20 * (1 - tabs) // a tab says once what it claims on the states that it was given
		for seed := range uint64(3) {
			t.Run(fmt.Sprintf("seed %d, %d tabs", seed, tabs), func(t *testing.T) {
				t.Parallel()
				s, err := New(Options{Seed: seed, Natives: 4 - tabs, Tabs: tabs, DelayMin: 1, DelayMax: 3, Loss: loss, Mandate: 1 << 30, Format2: true})
				if err != nil {
					t.Fatal(err)
				}
				s.calm = true
				joiner, leader := s.sleepLast(), s.nodes[0]
				s.until(t, "there is a log", 8000, func() bool { return leader.coord.Snapshot().Height >= 200 })
				before := s.leads()
				joiner.fold, joiner.offline = 100, s.now
				if err := s.powerUp(joiner); err != nil {
					t.Fatal(err)
				}
				joined := s.now
				s.until(t, "something of the joiner is logged", 200, func() bool { return leader.coord.Snapshot().Credits == 4 })
				t.Logf("logged %d ticks after the join", s.now-joined)
				height := leader.coord.Snapshot().Height
				if err := s.run(s.now + 1000); err != nil {
					t.Fatal(err)
				}
				c, l := joiner.coord.Snapshot(), leader.coord.Snapshot()
				t.Logf("height %d of %d; %d of %d evaluations, of which %d before", c.Height, l.Height, c.Mine.Evaluations, l.Evaluations, leader.coord.Snapshot().Mine.Evaluations)
				if c.Height+100 > l.Height || c.Ahead+20 < l.Height || c.Mine.Evaluations == 0 {
					t.Errorf("the joiner is at height %d of %d, works on %d, and %d of its evaluations are logged", c.Height, l.Height, c.Ahead, c.Mine.Evaluations)
				}
				if l.Height < height+100 || s.leads() != before {
					t.Errorf("%d entries in 1000 ticks; %sleads, before it %s", l.Height-height, s.leads(), before)
				}
			})
		}
	}
}

// TestSlowLeaderProgresses has folds of a minute at the leader: another one takes over, and generations close faster
// than that one could.
func TestSlowLeaderProgresses(t *testing.T) {
	for seed := range uint64(4) {
		s := calmSwarm(t, seed, 3, 2)
		s.nodes[0].fold = 1200
		if err := s.run(100); err != nil {
			t.Fatal(err)
		}
		s.until(t, "three generations are closed", 3*1200, func() bool { return s.nodes[1].coord.Snapshot().Height >= 3 })
	}
}

// TestSlowFoldsOfAll has folds of a minute at everybody: nobody is faster than the leader, so in the end it is given
// the time that it needs.
func TestSlowFoldsOfAll(t *testing.T) {
	for seed := range uint64(4) {
		s := calmSwarm(t, seed, 3, 2)
		for _, n := range s.nodes {
			n.fold = 1200
		}
		s.until(t, "five generations are closed", 5*2*1200+4*1200, func() bool { return s.nodes[1].coord.Snapshot().Height >= 5 })
	}
}

// TestSlowFoldsEverywhere has every node fold slowly: they take turns to lead and agree.
func TestSlowFoldsEverywhere(t *testing.T) {
	for seed := range uint64(6) {
		play(t, Options{Seed: seed, Natives: 4, Tabs: 2, Ticks: 800, Calm: 800, DelayMin: 1, DelayMax: 3, Loss: 50, Fold: 4,
			Partitions: 1, Crashes: 2, KillLeader: seed%2 == 0, Faulty: int(seed % 2)}, "TestSlowFoldsEverywhere")
	}
}

// TestRestartWithSlowFolds takes the power from all: each node that comes back folds its whole log first, and
// none loses it.
func TestRestartWithSlowFolds(t *testing.T) {
	for seed := range uint64(4) {
		s := calmSwarm(t, seed, 3, 0)
		s.until(t, "there is a log", 4000, func() bool { return s.nodes[0].coord.Snapshot().Height >= 60 })
		for _, n := range s.nodes {
			s.powerDown(n)
			n.fold = 4
		}
		for _, n := range s.nodes {
			if err := s.powerUp(n); err != nil {
				t.Fatal(err)
			}
		}
		if got := s.nodes[0].coord.Snapshot(); got.Height < 60 || !got.Syncing || got.Behind != got.Height || got.State == nil {
			t.Errorf("before any fold: %+v", got)
		}
		if err := s.run(s.now + 100); err != nil {
			t.Fatal(err)
		}
		if got := s.leads(); got != "" {
			t.Errorf("%sleads before anybody can have folded its log", got)
		}
		height := s.nodes[0].coord.Snapshot().Height
		s.until(t, "it continues", 2000, func() bool { return s.nodes[0].coord.Snapshot().Height >= height+5 })
		if err := s.check(make([]uint64, 3)); err != nil {
			t.Error(err)
		}
	}
}
