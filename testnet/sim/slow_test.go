package sim

import (
	"fmt"
	"testing"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/runspec"
)

// TestSlowNetwork: where messages are on their way for longer than the times for elections, a swarm elects, and logs
// most of what it computes. Peers that all wait as long as Timing says elect forever there.
func TestSlowNetwork(t *testing.T) {
	for _, c := range []struct {
		hop    int // ticks of 50 ms; an election comes after 12
		logged float64
	}{{5, 0.8}, {10, 0.8}, {20, 0.7}, {40, 0.4}} {
		t.Run(fmt.Sprintf("%d ms", 50*c.hop), func(t *testing.T) {
			t.Parallel()
			const warm, limit = 40 * second, 100 * second
			s, err := New(Options{Seed: 3000, Natives: 8, DelayMin: c.hop, DelayMax: c.hop, Ticks: limit,
				Learning: &Learning{StepNS: 1_000_000, Warm: coordinator.Tick(warm), Least: 1 << 20, Run: runspec.Options{Env: "LunarLanderContinuous-v3", Seed: 3000}}})
			if err != nil {
				t.Fatal(err)
			}
			l, err := s.Learn(limit)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d entries, %.2f logged, %.2f from second 40 on", l.Entries, l.Logged, l.Later.Logged)
			if l.Later.Logged < c.logged {
				t.Errorf("%.2f of what was possible was logged from second 40 on, want %.2f", l.Later.Logged, c.logged)
			}
		})
	}
}
