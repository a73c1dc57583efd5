package coordinator

import (
	"fmt"
	"testing"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// crowd has hubs say that they have so many leaves; what the function says is left out, or changed.
func (f *field) crowd(leaves uint64, change func(from, to *member, m Message) Message) {
	f.swap = func(from, to *member, m Message) Message {
		if s, ok := m.(*Status); ok && s.Hub {
			copied := *s
			copied.Leaves, m = leaves, &copied
		}
		if change != nil {
			m = change(from, to, m)
		}
		return m
	}
}

// newCrowdField is a run of format 2 with so many natives, which has run for a while, and a tab that has no power yet.
func newCrowdField(t testing.TB, natives int) (f *field, tab *member) {
	t.Helper()
	f, _ = newLightField(t, natives, 0)
	f.pass(200)
	return f, f.addTab(false)
}

// addTab adds a tab that is drawn to have the run where a hub has manyLeaves, or one that is not where it has half as
// many.
func (f *field) addTab(drawn bool) *member {
	for i := len(f.peers); ; i++ {
		name := fmt.Sprint("tab ", i)
		if lot := uint64(wholeLot(f.rules.Run, seedlog.PeerOf(keyOf(name)))); drawn == (lot*manyLeaves < wholeTabs<<32) && drawn == (lot*manyLeaves/2 < wholeTabs<<32) {
			return f.add(name, Config{Kind: Tab, Timing: LAN(), Slots: 2, Download: 800})
		}
	}
}

// TestTabsOfCrowdsLookFirst: a tab of hubs with many leaves fetches no claims and hears of no entries until it has seen
// what one costs, and none after that if it is too much. Where its hubs do not answer, or have few leaves, or one
// of them says that it has few, it fetches the run as ever.
func TestTabsOfCrowdsLookFirst(t *testing.T) {
	for _, tt := range []struct {
		name     string
		hubs     int
		leaves   uint64
		download uint64
		change   func(f *field, from *member, m Message) Message
		light    bool
		asks     int  // at least; 0: none at all
		fetches  bool // it fetches entries with their claims first
	}{
		{"many leaves", lightHubs, manyLeaves, 800, nil, true, 1, false},
		{"many leaves of two hubs", 2, 1 << 40, 800, nil, true, 1, false},
		{"many leaves of one hub", 1, 1 << 40, 800, nil, true, 1, false},
		{"more than its hubs should give", lightHubs, 1 << 40, 1 << 30, nil, true, 1, false},
		{"few leaves", lightHubs - 1, manyLeaves - 1, 1 << 30, nil, false, 0, true},
		{"one hub says few", lightHubs, manyLeaves, 1 << 30, func(f *field, from *member, m Message) Message {
			if s, ok := m.(*Status); ok && from == f.peers[0] {
				s.Leaves = 1
			}
			return m
		}, false, 0, true},
		{"no answers", lightHubs, manyLeaves, 1 << 30, func(_ *field, _ *member, m Message) Message {
			if _, ok := m.(*Part); ok {
				return nil
			}
			return m
		}, true, 1, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, tab := newCrowdField(t, tt.hubs)
			tab.cfg.Download = tt.download
			asks, entries, claims, lightAt := 0, 0, 0, Tick(0)
			f.crowd(tt.leaves, func(from, to *member, m Message) Message {
				if tt.change != nil {
					m = tt.change(f, from, m)
				}
				if to != tab {
					return m
				}
				switch x := m.(type) {
				case *Announce:
					entries++
				case *Segment:
					if !tab.coord.awaitsCheck(from.peer) {
						claims += len(x.Generations)
					}
				}
				return m
			})
			f.spy = func(m *member, e Envelope) {
				if _, ok := e.Message.(*Ask); ok && m == tab {
					asks++
				}
			}
			begun := f.now
			f.start(tab)
			for range 100 {
				if f.pass(1); lightAt == 0 && tab.coord.Light() {
					lightAt = f.now
				}
			}
			c := tab.coord
			t.Logf("light after %d ticks; %d questions, %d entries announced, %d fetched", lightAt-min(begun, lightAt), asks, entries, claims)
			if c.Light() != tt.light || asks < tt.asks || tt.asks == 0 && !tt.light && asks > 0 {
				t.Errorf("light %v after %d questions", c.Light(), asks)
			}
			if tt.fetches != (claims > 0) {
				t.Errorf("%d entries were fetched", claims)
			}
			if tt.light && !tt.fetches && (entries > 1 || claims > 0 || lightAt-begun > 12) { // one may come before the hub's status
				t.Errorf("light after %d ticks; %d entries were announced to it, %d fetched", lightAt-begun, entries, claims)
			}
			if high := f.peers[0].coord.chain.head.height; !tt.light && c.chain.head.height+4 < high {
				t.Errorf("at height %d of %d", c.chain.head.height, high)
			}
			f.pass(100)
			if n := f.peers[0].coord.chain.credits[tab.peer].Evaluations; n == 0 {
				t.Error("nothing of it is logged")
			}
		})
	}
}

// TestSomeTabsOfFewHubsAreWhole: where few hubs have the run and many tabs come, about wholeTabs of each hub's tabs
// have it, too, whatever their number; all do where they are few.
func TestSomeTabsOfFewHubsAreWhole(t *testing.T) {
	f, tab := newCrowdField(t, 2)
	f.crowd(0, nil)
	f.start(tab)
	f.pass(20)
	c := tab.coord
	for _, leaves := range []uint64{1, manyLeaves - 1, manyLeaves, 500, 3000, 1 << 40} {
		for _, h := range c.members.heard {
			h.Leaves = leaves
		}
		whole, keys := 0, 4096
		for i := range keys {
			if c.self = seedlog.PeerOf(keyOf(fmt.Sprint("tab of many ", i))); c.drawnWhole() {
				whole++
			}
		}
		c.self = tab.peer
		if leaves < manyLeaves {
			if whole < keys {
				t.Errorf("%d leaves: %d of %d are whole", leaves, whole, keys)
			}
			continue
		}
		if want := wholeTabs * keys / int(min(leaves, maxHeard)); whole < want/2 || whole > 2*want {
			t.Errorf("%d leaves: %d of %d are whole, want %d", leaves, whole, keys, want)
		}
	}
}

// TestTabsOfFewHubsReturn: a tab that is light among many of few hubs has the run itself again once they are few.
func TestTabsOfFewHubsReturn(t *testing.T) {
	f, tab := newCrowdField(t, 2)
	f.crowd(1<<40, nil)
	f.start(tab)
	f.await(40, "the tab is light", func() bool { return tab.coord.Light() })
	f.pass(100)
	f.crowd(manyLeaves/2, nil)
	f.pass(100)
	if !tab.coord.Light() {
		t.Error("it is whole although many tabs are left")
	}
	f.crowd(manyLeaves/2-1, nil)
	f.await(100, "the tab is whole", func() bool { return !tab.coord.Light() })
	f.await(400, "the tab has the run", func() bool {
		return !tab.coord.joining() && tab.coord.chain.head.height+4 >= f.peers[0].coord.chain.head.height
	})
}

// TestWholeTabsOfACrowd: a tab of few hubs that is drawn to have the run has it, though entries cost more than it
// should download.
func TestWholeTabsOfACrowd(t *testing.T) {
	f, other := newCrowdField(t, 2)
	f.crowd(manyLeaves, nil)
	tab := f.addTab(true)
	f.start(tab)
	f.start(other)
	f.pass(200)
	if c := tab.coord; c.Light() || c.chain.head.height+4 < f.peers[0].coord.chain.head.height {
		t.Errorf("light %v, at height %d of %d", c.Light(), c.chain.head.height, f.peers[0].coord.chain.head.height)
	}
	if !other.coord.Light() {
		t.Error("the other one has it, too")
	}
}

// TestChecksInACrowd: where hubs have many leaves a light tab rarely asks for entries with their claims, and leaves a
// hub that shows it a chain of its own as soon as its other hubs do not name what that gives.
func TestChecksInACrowd(t *testing.T) {
	f, leaves := newLightField(t, lightHubs, 1)
	tab := leaves[0]
	f.crowd(1<<40, nil)
	f.allLight(tab)
	pulls := 0
	f.spy = func(m *member, e Envelope) {
		if _, ok := e.Message.(*Pull); ok && m == tab {
			pulls++
		}
	}
	const ticks = 400
	f.pass(ticks)
	if pulls > 2 {
		t.Errorf("%d questions for entries in %d ticks", pulls, ticks)
	}
	bad := f.member(tab.coord.ahead.from)
	f.crowd(1<<40, func(from, to *member, m Message) Message {
		if p, ok := m.(*Part); ok && from == bad && to == tab {
			return f.ownBranch(from, p, 0)
		}
		return m
	})
	from := f.now
	f.await(int(2*apartFor*LAN().Pull), "the tab leaves the hub", func() bool { return tab.coord.ahead.from != bad.peer })
	t.Logf("%d questions in %d ticks; left after %d ticks", pulls, ticks, f.now-from)
	for _, m := range f.peers[:lightHubs] {
		if tab.coord.faults.peers[m.peer] {
			t.Errorf("the tab blames %s", m.name)
		}
	}
}

// TestNewcomersOfACrowdMakeShortClaims: as long as nothing of a tab is logged in a crowd its claims are as short as the
// first one has to be, and then as long as suits it.
func TestNewcomersOfACrowdMakeShortClaims(t *testing.T) {
	f, tab := newCrowdField(t, lightHubs)
	f.crowd(manyLeaves, nil)
	f.start(tab)
	f.pass(20)
	c := tab.coord
	c.work.pace.chunks = 4
	if c.work.ledger = (ledger{}); c.claimChunks() != c.rules.Spec.SpotChecks.First {
		t.Errorf("claims of %d chunks before the first is logged", c.claimChunks())
	}
	if c.work.ledger.Logged = 1; c.claimChunks() != 4 {
		t.Errorf("claims of %d chunks after that", c.claimChunks())
	}
}
