package sim

import (
	"testing"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/runspec"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// TestTabsCheckTabs has many tabs join few natives, which could not re-run what so many newcomers claim first. Tabs
// with work in the log do it, so each new one is logged soon, and what all compute is, too.
func TestTabsCheckTabs(t *testing.T) {
	const natives, tabs = 4, 80
	s, err := New(Options{
		Seed: 0x7ab5, Natives: natives, Tabs: tabs, DelayMin: 1, DelayMax: 1, TabsFrom: 100, TabsWithin: 200,
		Learning: &Learning{StepNS: 1_000_000, Invented: true, Run: runspec.Options{Env: "LunarLanderContinuous-v3", Seed: 0x7ab5, Format: seedlog.Format2}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.run(900); err != nil {
		t.Fatal(err)
	}
	f, err := s.Measure(200, nil)
	if err != nil {
		t.Fatal(err)
	}
	byTabs, all := s.attested()
	t.Logf("%d of %d attestations are of tabs; %+v", byTabs, all, f)
	if 3*byTabs < all {
		t.Errorf("%d of %d attestations are of tabs, though they are many more than natives", byTabs, all)
	}
	if f.Logged < 0.8 {
		t.Errorf("%.2f of what the swarm computes is logged", f.Logged)
	}
	for _, n := range s.nodes[natives:] {
		if n.coord.Snapshot().Mine.Evaluations == 0 {
			t.Errorf("nothing of tab %d is logged", n.index)
		}
	}
}

// attested counts the attestations of tabs, and all, in the log of the first node.
func (s *Swarm) attested() (byTabs, all int) {
	d := s.nodes[0].disk
	for _, link := range d.chain {
		data, _ := d.Block(link)
		e, err := seedlog.ReadEntry(data, d.Block)
		if err != nil {
			continue
		}
		for _, a := range e.Attestations {
			if all++; s.byPeer[a.Peer].kind == coordinator.Tab {
				byTabs++
			}
		}
	}
	return byTabs, all
}
