package coordinator

import (
	"fmt"
	"testing"
)

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
			c.members.hear(Peer{byte(i + 1)}).Status = s
		}
		if got := c.countPeers(); got != test.want {
			t.Errorf("%s: got %d others, want %d", test.name, got, test.want)
		}
	}
}

// TestManyHubsSaySeldomThatTheyAreHere: each status goes to all hubs, so a hub reads no more of them in a swarm of
// many, and nobody is taken for gone. Keys without a record make nobody slower.
func TestManyHubsSaySeldomThatTheyAreHere(t *testing.T) {
	for _, tt := range []struct{ hubs, strangers int }{{4, 0}, {24, 0}, {4, 100}} {
		t.Run(fmt.Sprintf("%d hubs, %d strangers", tt.hubs, tt.strangers), func(t *testing.T) {
			f := newField(t, tt.hubs, tt.strangers)
			f.pass(160) // until all have logged
			statuses := 0
			f.spy = func(_ *member, e Envelope) {
				if _, ok := e.Message.(*Status); ok && e.Scope == Gossip {
					statuses++
				}
			}
			const ticks = 160
			f.each = func(int) {
				for i, key := range f.strangers {
					if int(f.now)%16 == i%16 {
						f.tell(key, f.peers[0], &Status{Hub: true, Head: f.rules.Run})
					}
				}
				for _, m := range f.peers {
					if n := len(m.coord.present()); n < tt.hubs {
						t.Fatalf("%s hears %d of %d hubs", m.name, n, tt.hubs)
					}
				}
			}
			f.pass(ticks)
			heartbeat := int(LAN().Heartbeat)
			most := max(tt.hubs*ticks/heartbeat, (statusesAtOnce+1)*ticks)
			if tt.hubs > statusesAtOnce*heartbeat {
				most = (statusesAtOnce + 1) * ticks // the leader's, and some at once where one begins to lead
			}
			least := min(tt.hubs*ticks/heartbeat, statusesAtOnce*ticks) * 3 / 4
			t.Logf("%d statuses in %d ticks, height %d", statuses, ticks, f.low())
			if statuses > most || statuses < least {
				t.Errorf("%d statuses in %d ticks, want %d to %d", statuses, ticks, least, most)
			}
			f.each = nil
			dead := f.leader()
			f.powerDown(dead)
			f.pass(int(LAN().Unheard) + 2)
			for _, m := range f.peers {
				if m != dead && m.coord.electorate().weightOf(dead.peer) > 0 {
					t.Errorf("%s counts the dead leader among the electors", m.name)
				}
			}
		})
	}
}

// TestManyLeavesSaySeldomThatTheyAreHere: a hub reads no more statuses where it has many leaves, and takes none for
// gone. A hub that boasts of leaves has the others miss none.
func TestManyLeavesSaySeldomThatTheyAreHere(t *testing.T) {
	timing := LAN()
	hub := func(leaves int) *Coordinator {
		c := &Coordinator{cfg: Config{Hub: true, Timing: timing}, now: 1000}
		for i := range leaves {
			p := Peer{byte(i), byte(i >> 8), 1}
			h := c.members.hear(p)
			h.via, h.last = p, c.now
		}
		c.members.leafEvery = c.leafStatusEvery()
		return c
	}
	leaf := func(hubs ...uint64) *Coordinator {
		c := &Coordinator{cfg: Config{Kind: Tab, Timing: timing}, now: 1000, members: members{links: make(map[Peer]bool)}}
		for i, leaves := range hubs {
			h := c.members.hear(Peer{byte(i + 1)})
			h.Status, h.last = Status{Hub: true, Leaves: leaves}, c.now
			c.members.link(h.peer, false)
		}
		return c
	}
	for _, leaves := range []int{0, 3, 500, 2000, maxHeard} {
		c := hub(leaves)
		every := leaf(uint64(leaves), uint64(leaves)).leafStatusEvery()
		if every != c.members.leafEvery {
			t.Errorf("%d leaves: each says every %d ticks that it is here, its hub expects it every %d", leaves, every, c.members.leafEvery)
		}
		if most := leafStatusesAtOnce + leaves/int(statusRarely*timing.Heartbeat); leaves/int(every) > most {
			t.Errorf("%d leaves, each every %d ticks: more than %d a tick", leaves, every, most)
		}
		if leaves > 0 {
			h := c.members.heard[0]
			if c.now = h.last + 3*every; !c.lately(h) {
				t.Errorf("%d leaves: one is taken for gone that said nothing for three times as long as it waits", leaves)
			}
		}
	}
	if every := leaf(4, 1<<60).leafStatusEvery(); every != timing.Heartbeat {
		t.Errorf("a leaf of an honest hub and one that boasts says every %d ticks that it is here, want %d", every, timing.Heartbeat)
	}
	if every := leaf().leafStatusEvery(); every != timing.Heartbeat {
		t.Errorf("a leaf without hubs says every %d ticks that it is here, want %d", every, timing.Heartbeat)
	}
}

// TestHubsOfManyLeavesSaySeldomThatTheyAreHere: where hubs have many leaves, all of which get what any hub says, a hub
// that does not lead says rarely that it is here, but soon that its head moved, and the leader shows its mandate as
// rarely. Nobody is taken for gone.
func TestHubsOfManyLeavesSaySeldomThatTheyAreHere(t *testing.T) {
	const hubs, every, ticks = 3, 40, 400
	const leaves = every * toLeavesAtOnce
	f := newField(t, hubs, 0)
	statuses, mandates := make(map[*member]int), 0
	heights, since := make(map[*member]uint64), make(map[*member]Tick)
	f.each = func(int) {
		for _, m := range f.peers {
			for i := range leaves {
				p := Peer{byte(i), byte(i >> 8), 1}
				h := m.coord.members.hear(p)
				h.via, h.last = p, f.now
			}
			if height := m.coord.chain.head.height; height != heights[m] {
				heights[m], since[m] = height, f.now
			}
			if n := len(m.coord.present()); n < hubs {
				t.Fatalf("%s hears %d of %d hubs", m.name, n, hubs)
			}
		}
	}
	told := make(map[*member]uint64)
	f.spy = func(m *member, e Envelope) {
		if s, ok := e.Message.(*Status); ok && e.Scope == Gossip {
			statuses[m]++
			told[m] = s.Height
		}
	}
	f.pass(160)
	for range ticks {
		f.pass(1)
		for _, m := range f.peers {
			late := f.now - since[m]
			if told[m] < heights[m] && late > LAN().Heartbeat+1 {
				t.Fatalf("%s has not said for %d ticks that its head moved", m.name, late)
			}
		}
	}
	for _, m := range f.peers {
		f.step(m, SetPaused{Paused: true})
	}
	f.pass(40) // until no entry comes any more
	clear(statuses)
	count := f.spy
	f.spy = func(m *member, e Envelope) {
		if _, ok := e.Message.(*Mandate); ok && e.Scope == Gossip {
			mandates++
		}
		count(m, e)
	}
	leader := f.leader()
	f.pass(ticks)
	if f.leader() != leader || leader == nil {
		t.Fatal("the leader changed")
	}
	for _, m := range f.peers {
		if n := statuses[m]; m != leader && (n > ticks/every+1 || n < ticks/every-1) {
			t.Errorf("%s of %d leaves gave %d statuses in %d ticks, want one every %d", m.name, leaves, n, ticks, every)
		}
	}
	if most := ticks/(every*mandateEvery) + 1; mandates < 1 || mandates > most {
		t.Errorf("%d mandates in %d ticks, want %d at most", mandates, ticks, most)
	}
}

// TestNewcomersSaySeldomThatTheyAreHere: hundreds of hubs that come at once do not fill all uplinks with statuses, and
// keys that did nothing make nobody slower who has worked.
func TestNewcomersSaySeldomThatTheyAreHere(t *testing.T) {
	f := newField(t, 3, 0)
	crowd := func(c *Coordinator) Tick {
		for i := range 512 {
			h := c.members.hear(Peer{byte(i), byte(i >> 8), 1})
			h.Status, h.last = Status{Hub: true}, c.now
		}
		return c.statusEvery()
	}
	c := f.peers[0].coord
	if every, want := crowd(c), statusRarely*c.cfg.Timing.Heartbeat; every != want {
		t.Errorf("a newcomer among 512 hubs says every %d ticks that it is here, want %d", every, want)
	}
	f.pass(100)
	if c.chain.weights()[c.self] == 0 {
		t.Fatal("it has done nothing")
	}
	if every, want := crowd(c), c.cfg.Timing.Heartbeat; every != want {
		t.Errorf("who has worked says every %d ticks that it is here, want %d", every, want)
	}
}
