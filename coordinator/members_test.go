package coordinator

import "testing"

func TestCountPeers(t *testing.T) {
	hub := func(leaves uint64) Status { return Status{Hub: true, Leaves: leaves} }
	for _, test := range []struct {
		name  string
		hub   bool // whether the one who counts is one
		heard []Status
		want  int
	}{
		{"a hub alone", true, nil, 0},
		{"a leaf alone", false, nil, 0},
		{"a hub and its leaf, by the hub", true, []Status{{}}, 1},
		{"a hub and its leaf, by the leaf", false, []Status{hub(1)}, 1},
		{"a hub that has not counted the leaf yet", false, []Status{hub(0)}, 1},
		{"three hubs and a leaf of all, by a hub", true, []Status{hub(1), hub(1), {}}, 3},
		{"three hubs and a leaf of all, by the leaf", false, []Status{hub(1), hub(1), hub(1)}, 3},
		{"three hubs and a leaf of one, by that one", true, []Status{hub(0), hub(0), {}}, 3},
		{"three hubs and a leaf of one, by another", true, []Status{hub(1), hub(0)}, 3},
		{"six hubs, ten leaves of three each, by a leaf", false, []Status{hub(5), hub(5), hub(5), hub(5), hub(5), hub(5)}, 15},
		{"six hubs, ten leaves of three each, by a hub", true, []Status{hub(5), hub(5), hub(5), hub(5), hub(5), {}, {}, {}, {}, {}}, 15},
		{"a boast is bounded", true, []Status{hub(1 << 60)}, 1 + maxHeard/2},
	} {
		c := &Coordinator{cfg: Config{Hub: test.hub, Timing: LAN()}}
		for i, s := range test.heard {
			c.members.heard.add(Peer{byte(i + 1)}).Status = s
		}
		if got := c.countPeers(); got != test.want {
			t.Errorf("%s: got %d others, want %d", test.name, got, test.want)
		}
	}
}
