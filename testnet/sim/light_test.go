package sim

import (
	"fmt"
	"testing"
)

// TestLightTabs has tabs follow runs without their claims, while hubs crash and the network fails: the invariants hold,
// and once all is well each tab works on the newest states of a hub. Where few hubs are left each has the run itself.
func TestLightTabs(t *testing.T) {
	for i, seed := range []uint64{0x11617, 0x11618, 0x1161b} {
		o := Options{
			Seed: seed, Natives: 6, Tabs: 6, Format2: true, Download: 1 << 10, Ticks: 600, Calm: 600, DelayMin: 1, DelayMax: 3, Loss: 30,
			Duplicate: 30, Partitions: 1, Crashes: 3, Down: 2, KillLeader: i%2 == 0, Faulty: i % 2,
		}
		t.Run(fmt.Sprintf("%#x", o.Seed), func(t *testing.T) {
			t.Parallel()
			playLight(t, o, func(light, tabs int) bool { return 4*light >= 3*tabs })
		})
	}
	t.Run("few hubs", func(t *testing.T) {
		t.Parallel()
		playLight(t, Options{Seed: 0x1161a, Natives: 3, Tabs: 4, Format2: true, Download: 1 << 10, Ticks: 400, Calm: 400, DelayMin: 1, DelayMax: 3, Crashes: 1},
			func(light, _ int) bool { return light == 0 })
	})
}

// playLight plays a scenario and looks at its tabs at the end.
func playLight(t *testing.T, o Options, right func(light, tabs int) bool) {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	s.plan()
	if err = s.run(o.Ticks); err == nil {
		err = s.Settle(o.Calm)
	}
	if err != nil {
		t.Fatal(err)
	}
	light, tabs, high := 0, 0, s.highest()
	for _, n := range s.nodes {
		if n.hub() || n.coord == nil {
			continue
		}
		v := n.coord.Snapshot()
		at := v.Height
		tabs++
		if v.Light {
			light++
			at = v.Ahead
		}
		if at+maxStale < high.Height {
			t.Errorf("tab %d, light %v, is at height %d of %d", n.index, v.Light, at, high.Height)
		}
		if v.Mine.Evaluations == 0 {
			t.Errorf("nothing of tab %d is logged", n.index)
		}
	}
	t.Logf("%d of %d tabs are light; %+v", light, tabs, s.Report)
	if !right(light, tabs) {
		t.Errorf("%d of %d tabs are light", light, tabs)
	}
}
