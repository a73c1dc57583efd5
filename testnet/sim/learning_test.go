package sim

import (
	"testing"

	"github.com/evoswarm/evoswarm/internal/runspec"
)

// learn has equal natives learn LunarLanderContinuous, where an env-step takes a millisecond.
func learn(t *testing.T, natives int) Learned {
	t.Helper()
	s, err := New(Options{
		Seed: 3000, Natives: natives, DelayMin: 1, DelayMax: 1,
		Learning: &Learning{StepNS: 1_000_000, Run: runspec.Options{Env: "LunarLanderContinuous-v3", Seed: 3000, Draft: true}},
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
	alone, four := learn(t, 1), learn(t, 4)
	if alone.Logged < 0.95 || alone.Checks != 0 {
		t.Errorf("alone: %+v", alone)
	}
	if four.Logged < 0.8 || four.Seconds > 0.7*alone.Seconds {
		t.Errorf("four: %+v, alone: %+v", four, alone)
	}
	if again := learn(t, 4); again != four {
		t.Errorf("got %+v, and %+v with the same seed", four, again)
	}
	t.Logf("alone %+v, four %+v", alone, four)
}
