package sim

import (
	"math"
	"testing"

	"github.com/evoswarm/evoswarm/internal/runspec"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// learn has equal natives learn LunarLanderContinuous, where an env-step takes a millisecond.
func learn(t *testing.T, natives int, seed uint64) Learned {
	t.Helper()
	s, err := New(Options{
		Seed: seed, Natives: natives, DelayMin: 1, DelayMax: 1,
		Learning: &Learning{StepNS: 1_000_000, Run: runspec.Options{Env: "LunarLanderContinuous-v3", Seed: seed}},
	})
	if err != nil {
		t.Fatal(err)
	}
	l, err := s.Learn(20 * 600)
	if err != nil || !l.Solved {
		t.Fatalf("%d natives: %v, %+v", natives, err, l)
	}
	return l
}

// TestSwarmLearns: in virtual time a swarm of one solves a world at the speed of its core, and four are faster.
func TestSwarmLearns(t *testing.T) {
	one, many := 0.0, 0.0
	for seed := uint64(3000); seed < 3003; seed++ { // luck differs by more than machines do
		alone, four := learn(t, 1, seed), learn(t, 4, seed)
		if alone.Logged < 0.95 || alone.Checks != 0 {
			t.Errorf("alone: %+v", alone)
		}
		if four.Logged < 0.8 || float64(four.Steps)/four.Seconds < 3*float64(alone.Steps)/alone.Seconds {
			t.Errorf("four: %+v, alone: %+v", four, alone)
		}
		if again := learn(t, 4, seed); again != four {
			t.Errorf("got %+v, and %+v with the same seed", four, again)
		}
		one, many = one+alone.Seconds, many+four.Seconds
		t.Logf("alone %+v, four %+v", alone, four)
	}
	if many > 0.9*one {
		t.Errorf("four took %.0f s, one took %.0f", many, one)
	}
}

// TestMixedMachines: machines of which some are eight times as fast as others, and which come and go, train together,
// and what counts as possible is what those do that are here.
func TestMixedMachines(t *testing.T) {
	const limit = 20 * second
	s, err := New(Options{Seed: 7, Natives: 8, DelayMin: 1, DelayMax: 3, Churn: int(2 * second), Ticks: limit, Learning: &Learning{StepNS: 1_000_000, Speeds: []float64{1, 8}, Least: 1 << 20,
		Run: runspec.Options{Env: "LunarLanderContinuous-v3", Seed: 7, Format: seedlog.Format2}}})
	if err != nil {
		t.Fatal(err)
	}
	if all := s.stepsPerSecond(); math.Abs(all-4*9*1000) > 1 {
		t.Errorf("all machines do %.0f env-steps a second, want 4 of 1,000 and 4 of 8,000", all)
	}
	l, err := s.Learn(limit)
	if err != nil {
		t.Fatal(err)
	}
	most := seconds(limit) * 4 * 9 * 1000
	t.Logf("%d entries, %d env-steps, %.2f of what was possible, which is %.2f of all", l.Entries, l.Steps, l.Logged, s.world.possible/most)
	if s.world.possible > 0.99*most || s.world.possible < most/4 {
		t.Errorf("%.0f env-steps were possible, %.0f if all stayed", s.world.possible, most)
	}
	if l.Logged < 0.4 || l.Logged > 1 {
		t.Errorf("%.2f of what was possible was logged", l.Logged)
	}
}
