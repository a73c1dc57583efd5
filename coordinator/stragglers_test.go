package coordinator

import "testing"

// TestStragglerWaitLetsSlowPeersIn has a tab whose answers take longer than the least time of a generation:
// without the leader's wait its claims would always be too late.
func TestStragglerWaitLetsSlowPeersIn(t *testing.T) {
	for _, tt := range []struct {
		name   string
		ticks  Tick // that the tab computes
		paused bool // instead: it never has a claim
		least  uint64
		height uint64 // that 1200 ticks reach at least: 240 without any wait
	}{
		{name: "slow", ticks: 12, least: 10, height: 200},
		{name: "slower", ticks: 30, least: 6, height: 150},
		{name: "only watches", paused: true, height: 200},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &swarm{rules: newRules(t, true), quiet: true, now: 1}
			cfg := Config{Hub: true, Timing: LAN(), Slots: 2, Decisive: 2, Audit: 1024}
			for _, name := range []string{"n1", "n2"} {
				s.add(name, cfg)
			}
			tab := s.add("t1", Config{Kind: Tab, Timing: LAN(), Slots: 1, Paused: tt.paused})
			tab.hub = s.peers[0]
			for _, m := range s.peers {
				if err := s.powerUp(m); err != nil {
					t.Fatal(err)
				}
			}
			since := make(map[uint64]Tick) // when the tab got a piece of work
			for range 1200 {
				s.now++
				for _, m := range s.peers {
					s.step(m, Passed{})
				}
				s.deliver(func(parcel) bool { return true })
				for _, m := range s.peers[:2] {
					s.work(m, false)
				}
				for _, w := range tab.tasks {
					if since[w.ID] == 0 {
						since[w.ID] = s.now
					}
				}
				if len(tab.tasks) > 0 && s.now-since[tab.tasks[0].ID] >= tt.ticks {
					s.work(tab, false)
				}
			}
			got := s.peers[1].coord.Snapshot()
			claims := s.peers[1].coord.chain.credits[tab.peer].Evaluations / 4
			t.Logf("height %d, the tab has %d claims in it", got.Height, claims)
			if claims < tt.least || got.Height < tt.height {
				t.Errorf("got height %d with %d claims of the tab, want at least %d with %d", got.Height, claims, tt.height, tt.least)
			}
		})
	}
}
