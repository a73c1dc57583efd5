package sim

import "testing"

// TestTrustedLeaderKilled: the leader of a run of trusted keys is killed twenty times where a hop takes a tick. The
// next entry comes after 300 ms (median), since the first that misses the leader leads.
func TestTrustedLeaderKilled(t *testing.T) {
	s := newScene(t, Options{Seed: 1, Natives: 5, Trusted: true, DelayMin: 1, DelayMax: 1})
	s.pass(10 * second)
	took := s.killLeaders(5 * second)
	if took[10] > 6 || took[19] > second {
		t.Errorf("%d ticks median, %d worst; promised are 6 and %d", took[10], took[19], second)
	}
	s.settle()
}

// TestTrustedSplit: both sides of a partition continue by themselves, and become one swarm again.
func TestTrustedSplit(t *testing.T) {
	for _, snes := range []bool{false, true} {
		s := newScene(t, Options{Seed: 2, Natives: 7, Trusted: true, Format2: snes})
		s.pass(10 * second)
		s.Split(natives(0, 3), natives(3, 7))
		s.pass(20 * second)
		for _, side := range [][]int{natives(0, 3), natives(3, 7)} {
			before := s.heightOf(side[0])
			s.pass(5 * second)
			if s.heightOf(side[0]) < before+5 {
				t.Errorf("the side of %d of 7 appends nothing", len(side))
			}
		}
		s.Heal()
		s.settle()
	}
}

// TestTrustedSeeds: swarms of trusted keys in random trouble, half of them with a stranger that sends anything, keep
// what the invariants promise.
func TestTrustedSeeds(t *testing.T) {
	n := uint64(8)
	if testing.Short() {
		n = 3
	}
	if *seeds >= night {
		n = *seeds / 10
	}
	for seed := range n {
		for _, snes := range []bool{false, true} {
			o := Draw(seed)
			o.Trusted, o.Format2, o.Faulty = true, snes, 0
			t.Run(o.String(), func(t *testing.T) {
				t.Parallel()
				if _, err := Run(o); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
