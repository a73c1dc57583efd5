package coordinator

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// newLightField is a run of format 2 with so many natives and tabs, of which each tab is linked to all
// natives, and for which the claims of that run are too many. It could end by a count of evaluations.
func newLightField(t testing.TB, natives, tabs int) (f *field, leaves []*member) {
	t.Helper()
	return newLightFieldUntil(t, natives, tabs, 1<<40)
}

func newLightFieldUntil(t testing.TB, natives, tabs int, evaluations uint64) (f *field, leaves []*member) {
	t.Helper()
	spec := *newNextField(t, 4, 1, 0).rules.Spec
	spec.Until, spec.Nonce = &seedlog.Until{Evaluations: evaluations}, bytes.Repeat([]byte{1}, 16)
	spec.Generation.Batch = 64 // one for an entry of so few peers
	rules, err := seedlog.NewRules(&spec)
	if err != nil {
		t.Fatal(err)
	}
	f = newFieldOf(t, rules, natives, 8)
	f.capacity = 2
	for i := range tabs {
		m := f.add(fmt.Sprint("tab", i+1), Config{Kind: Tab, Timing: LAN(), Slots: 2, Download: 8000})
		leaves = append(leaves, m)
	}
	f.reach = func(a, b *member) bool { return a.cfg.Hub || b.cfg.Hub } // nobody dials a tab
	f.pass(100)
	for _, m := range leaves {
		f.start(m)
	}
	return f, leaves
}

// allLight has time pass until the tabs are light and work.
func (f *field) allLight(leaves ...*member) {
	f.t.Helper()
	f.await(800, "the tabs are light", func() bool {
		return !slices.ContainsFunc(leaves, func(m *member) bool { return !m.coord.Light() || m.coord.ahead.on == nil })
	})
	f.pass(20) // they work on what hubs gave, no longer on what the leader sent
}

// received counts what arrives at a peer, in bytes.
func (f *field) received(m *member) *int {
	sum, swap := 0, f.swap
	f.swap = func(from, to *member, message Message) Message {
		if swap != nil {
			message = swap(from, to, message)
		}
		if message != nil && to == m {
			sum += len(EncodeMessage(message))
		}
		return message
	}
	return &sum
}

// TestTabsBecomeLight: tabs of a swarm whose claims are too many for them follow it without those. What they compute is
// logged as before, and known to them; they check what they work on and what others claim, as much as they owe, and
// neither vote nor lead.
func TestTabsBecomeLight(t *testing.T) {
	f, leaves := newLightField(t, 5, 2)
	f.allLight(leaves...)
	tab := leaves[0]
	c, others := tab.coord, f.peers[0].coord
	f.pass(100)
	bytes, folds, reruns, voted := f.received(tab), 0, 0, false
	f.spoil = func(m *member, _ *Fold, _ *Folded) {
		if m == tab {
			folds++
		}
	}
	f.corrupt = func(m *member, j *job, _ []int64) {
		if m == tab && j.kind == jobAhead {
			reruns++
		}
	}
	f.spy = func(m *member, e Envelope) {
		switch x := e.Message.(type) {
		case *VoteReply:
			voted = voted || m == tab && x.Granted
		case *VoteRequest, *Announce, *Inventory:
			voted = voted || m == tab
		}
	}
	low, before, mine, own := c.chain.head.height, others.chain.credits[tab.peer].Evaluations, c.Snapshot().Mine.Evaluations, c.work.ledger.Ledger
	from := others.chain.head.height
	const ticks = 600
	f.pass(ticks)
	s, entries := c.Snapshot(), others.chain.head.height-from
	logged, computed := others.chain.credits[tab.peer].Evaluations-before, s.Own.Computed-own.Computed
	t.Logf("%d bytes in %d ticks with %d entries; of %d evaluations %d are logged; %d folds, %d results re-run", *bytes, ticks, entries, computed, logged, folds, reruns)
	if c.chain.head.height != low || !s.Light || s.Syncing || s.Ahead+8 < others.chain.head.height {
		t.Errorf("its chain moved from %d to %d; light %v, syncing %v, works on %d of %d", low, c.chain.head.height, s.Light, s.Syncing, s.Ahead, others.chain.head.height)
	}
	if logged*100 < 90*computed {
		t.Errorf("%d of %d evaluations are logged", logged, computed)
	}
	if seen := s.Mine.Evaluations - mine; seen*100 < 95*logged || seen > logged+64 || s.Own.Logged-own.Logged != seen {
		t.Errorf("it knows of %d logged evaluations, its ledger of %d; %d are", seen, s.Own.Logged-own.Logged, logged)
	}
	if s.Evaluations+600 < others.chain.head.evaluations || s.Evaluations > others.chain.head.evaluations {
		t.Errorf("it says that the run has %d evaluations of %d", s.Evaluations, others.chain.head.evaluations)
	}
	if share := computed / f.rules.Spec.SpotChecks.Share; uint64(reruns)*2 < share || uint64(reruns) > 2*share {
		t.Errorf("%d results were re-run, its share is %d", reruns, share)
	}
	if folds == 0 || len(c.faults.peers) > 0 {
		t.Errorf("it folded %d entries, and blames %d peers", folds, len(c.faults.peers))
	}
	if voted || c.election.role != Follower {
		t.Errorf("it votes, leads or serves entries")
	}
	if rate := *bytes * 1000 / tickMS / ticks; rate > 2*8000 { // statuses are most of it here
		t.Errorf("it gets %d bytes a second", rate)
	}
	if n := len(c.ahead.claims); n > 16 || len(c.ahead.recent) > int(f.rules.Spec.Generation.MaxStale)+1 {
		t.Errorf("it keeps %d claims and %d states", n, len(c.ahead.recent))
	}
}

// TestFewHubsHaveNoLightTabs: where few hubs have the run tabs have it, too; strangers that say they are hubs count for
// nothing. A tab becomes whole again when its hubs become few, and has all that they had.
func TestFewHubsHaveNoLightTabs(t *testing.T) {
	f, leaves := newLightField(t, 3, 1)
	f.each = func(int) {
		head := f.peers[0].coord.chain.head
		for _, key := range f.strangers {
			f.tell(key, leaves[0], &Status{Hub: true, Head: head.link, Height: head.height, Weight: head.weight})
		}
	}
	f.pass(20)
	f.await(400, "the tab has the run", func() bool { return !leaves[0].coord.joining() })
	for range 300 {
		if f.pass(1); leaves[0].coord.Light() {
			t.Fatal("a tab of three hubs is light")
		}
	}

	f, leaves = newLightField(t, 5, 1)
	tab := leaves[0]
	f.allLight(tab)
	f.pass(600)
	if left := f.peers[0].coord.chain.head.height - tab.coord.chain.head.height; left < aheadLeast {
		t.Fatalf("the tab lacks %d entries: no test", left)
	}
	few := false
	f.notes = func(m *member, n Note) { few = few || m == tab && strings.Contains(n.Text, "few hubs have the run") }
	for _, m := range f.peers[2:5] {
		f.powerDown(m)
	}
	f.await(200, "the tab is whole", func() bool { return !tab.coord.Light() })
	if !few {
		t.Error("the tab is whole for another reason than few hubs")
	}
	f.await(400, "the tab has the run", func() bool {
		return !tab.coord.joining() && tab.coord.chain.head.height+2 >= f.peers[0].coord.chain.head.height
	})
	if n := f.peers[0].coord.chain.credits[tab.peer].Evaluations; n == 0 || tab.coord.faults.peers[f.peers[0].peer] {
		t.Errorf("%d evaluations of the tab are logged", n)
	}
	high := tab.coord.chain.head.height
	for _, m := range f.peers[:2] {
		f.powerDown(m)
	}
	f.pass(1200)
	if now := tab.coord.chain.head.height; now < high+10 {
		t.Errorf("the tab is alone, at %d after %d", now, high)
	}
}

// TestCheapRunsHaveNoLightTabs: a tab is whole where the claims of a run are few, or become few.
func TestCheapRunsHaveNoLightTabs(t *testing.T) {
	f, leaves := newLightField(t, 5, 1)
	tab := leaves[0]
	f.allLight(tab)
	tab.coord.cfg.Download = 1 << 20
	f.await(2*lightWindow, "the tab is whole", func() bool { return !tab.coord.Light() })
	f.pass(2 * lightWindow)
	if c := tab.coord; c.Light() || c.joining() || c.chain.head.height+4 < f.peers[0].coord.chain.head.height {
		t.Errorf("light %v, at %d of %d", c.Light(), c.chain.head.height, f.peers[0].coord.chain.head.height)
	}
}

// TestBadHubsOfLightTabs: whatever a hub gives in place of what it has, a light tab works with another one soon, and
// blames nobody who did nothing wrong.
func TestBadHubsOfLightTabs(t *testing.T) {
	var old *Part
	var said *Status
	for _, tt := range []struct {
		name  string
		bad   func(f *field, from *member, m Message) Message // what the tab's hub sends
		stays bool                                            // whether the tab stays with it
	}{
		{"another state", func(_ *field, _ *member, m Message) Message {
			if p, ok := m.(*Part); ok {
				p.Data[len(p.Data)-1] ^= 1
			}
			return m
		}, false},
		{"no states", func(_ *field, _ *member, m Message) Message {
			if _, ok := m.(*Part); ok {
				return nil
			}
			return m
		}, false},
		{"an old state", func(_ *field, _ *member, m Message) Message {
			if p, ok := m.(*Part); ok {
				if old == nil {
					old = p
				}
				return old
			}
			return m
		}, false},
		{"that it stays where it is", func(_ *field, _ *member, m Message) Message {
			switch x := m.(type) {
			case *Part:
				if old == nil {
					old = x
				}
				return old
			case *Status:
				if said == nil {
					said = x
				}
				return said
			}
			return m
		}, false},
		{"a branch of its own", func(f *field, from *member, m Message) Message {
			if p, ok := m.(*Part); ok {
				return f.ownBranch(from, p, 0)
			}
			return m
		}, false},
		{"a branch of its own, higher than others come", func(f *field, from *member, m Message) Message {
			switch x := m.(type) {
			case *Part:
				return f.ownBranch(from, x, 1<<20)
			case *Status:
				x.Height += 1 << 20
			}
			return m
		}, false},
		{"that the run has ended", func(_ *field, _ *member, m Message) Message {
			if p, ok := m.(*Part); ok {
				p.Evaluations, p.Steps = 1<<62, 1<<62
			}
			return m
		}, false},
		{"other claims as logged", func(_ *field, _ *member, m Message) Message {
			if p, ok := m.(*Part); ok {
				p.Own = slices.Repeat([]seedlog.Link{seedlog.LinkOf([]byte("none"))}, maxWant)
			}
			return m
		}, true},
		{"a state of which it says it is far above", func(_ *field, _ *member, m Message) Message {
			if s, ok := m.(*Status); ok {
				s.Height, s.Weight = s.Height+1<<40, s.Weight+1<<40
			}
			return m
		}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			old, said = nil, nil
			f, leaves := newLightField(t, lightHubs, 1)
			tab := leaves[0]
			f.allLight(tab)
			bad := f.member(tab.coord.ahead.from)
			f.swap = func(from, to *member, m Message) Message {
				if from == bad && to == tab {
					copied, err := DecodeMessage(EncodeMessage(m))
					if err != nil {
						t.Fatal(err)
					}
					return tt.bad(f, from, copied)
				}
				return m
			}
			f.pass(150)
			before, with := f.peers[0].coord.chain.credits[tab.peer].Evaluations, 0
			const ticks = 200
			for range ticks {
				if f.pass(1); tab.coord.ahead.on != nil && tab.coord.ahead.from == bad.peer {
					with++
				}
			}
			c := tab.coord
			logged := f.peers[0].coord.chain.credits[tab.peer].Evaluations - before
			t.Logf("%d of %d ticks with that hub; %d evaluations logged", with, ticks, logged)
			if stays := with > ticks/3; stays != tt.stays {
				t.Errorf("%d of %d ticks with that hub", with, ticks)
			}
			if logged < 200 {
				t.Errorf("%d evaluations are logged", logged)
			}
			for _, m := range f.peers[:lightHubs] {
				if c.faults.peers[m.peer] && m != bad {
					t.Errorf("it blames %s", m.name)
				}
			}
		})
	}
}

// member is the peer of a key.
func (f *field) member(p Peer) *member {
	i := slices.IndexFunc(f.peers, func(m *member) bool { return m.peer == p })
	if i < 0 {
		f.t.Fatal("nobody has that key")
	}
	return f.peers[i]
}

// ownBranch is a state that nobody came to by folding, with an entry of a hub's own that names it.
func (f *field) ownBranch(hub *member, m *Part, above uint64) *Part {
	n := hub.coord.chain.canonAt(m.Height)
	if n == nil || n.parent == nil {
		return m
	}
	state := n.state.Clone()
	state.Theta[0]++
	data, err := state.MarshalBinary()
	if err != nil {
		f.t.Fatal(err)
	}
	checked, err := f.rules.KeptClaims(n.claims, hub.disk.Block)
	if err != nil {
		return m
	}
	e, _ := f.rules.NewEntry(n.parent.state, n.parent.parentInfo(), n.term, hub.peer, values(checked))
	theta, digest := state.ThetaDigest(), state.Digest()
	e.Theta, e.State, e.Height = theta[:], digest[:], e.Height+above
	g := f.generation(e, hub.key, nil)
	return &Part{Height: e.Height, Size: m.Size, Entry: g.Entry, Seal: g.Seal, Data: data, Evaluations: m.Evaluations, Steps: m.Steps, Own: m.Own}
}

// TestBadWitnesses: what one hub answers to a check turns a light tab against no other.
func TestBadWitnesses(t *testing.T) {
	for _, tt := range []struct {
		name string
		bad  func(m *Segment) Message
		note bool // that an entry does not follow
	}{
		{"it does not have the entry", func(m *Segment) Message {
			return &Segment{Generations: []Generation{}, Proofs: []FraudProof{}, Height: m.Height + 1}
		}, false},
		{"nothing", func(*Segment) Message { return nil }, false},
		{"claims left out", func(m *Segment) Message {
			for i := range m.Generations {
				m.Generations[i].Claims = m.Generations[i].Claims[1:]
			}
			return m
		}, false},
		{"claims twice", func(m *Segment) Message {
			for i := range m.Generations {
				m.Generations[i].Claims = append(m.Generations[i].Claims, m.Generations[i].Claims...)
			}
			return m
		}, false},
		{"an entry that does not follow", nil, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, leaves := newLightField(t, lightHubs, 1)
			tab := leaves[0]
			f.allLight(tab)
			bad := f.member(tab.coord.ahead.from)
			bad = f.peers[(slices.Index(f.peers, bad)+1)%lightHubs]
			asked, noted := 0, false
			f.swap = func(from, to *member, m Message) Message {
				s, ok := m.(*Segment)
				if !ok || from != bad || to != tab || !tab.coord.awaitsCheck(bad.peer) {
					return m
				}
				asked++
				if tt.bad == nil {
					return f.doesNotFollow(bad, s)
				}
				copied := *s
				copied.Generations = slices.Clone(s.Generations)
				return tt.bad(&copied)
			}
			f.notes = func(m *member, n Note) { noted = noted || m == tab && n.Kind == NoteBad }
			left := 0
			first := tab.coord.ahead.from
			for range 400 {
				if f.pass(1); tab.coord.ahead.from != first {
					left++
				}
			}
			t.Logf("the bad witness was asked %d times", asked)
			if asked == 0 || left > 0 {
				t.Errorf("the bad witness was asked %d times; for %d ticks the tab had left its hub", asked, left)
			}
			if noted != tt.note {
				t.Errorf("says that an entry is false: %v", noted)
			}
			for _, m := range f.peers[:lightHubs] {
				if tab.coord.faults.peers[m.peer] {
					t.Errorf("the tab blames %s", m.name)
				}
			}
		})
	}
}

// doesNotFollow changes the entry in a segment so that its state is not what its claims give, signed by a hub.
func (f *field) doesNotFollow(hub *member, m *Segment) Message {
	if len(m.Generations) == 0 {
		return m
	}
	e, err := seedlog.DecodeEntry(m.Generations[0].Entry)
	if err != nil {
		f.t.Fatal(err)
	}
	e.Leader, e.State = hub.peer, slices.Repeat([]byte{1}, 32)
	g := f.generation(e, hub.key, nil)
	g.Claims = m.Generations[0].Claims
	return &Segment{Generations: []Generation{g}, Proofs: []FraudProof{}, Height: m.Height}
}

// TestLightTabsFindLies: a light tab that draws a false result proves it, and the swarm goes by that, also where no
// native found it.
func TestLightTabsFindLies(t *testing.T) {
	f, leaves := newLightField(t, 5, 2)
	f.allLight(leaves...)
	faulty := f.peers[1]
	proofs := 0
	f.spy = func(m *member, e Envelope) {
		if _, ok := e.Message.(*FraudProof); ok && slices.Contains(leaves, m) {
			proofs++
		}
	}
	f.corrupt = func(m *member, j *job, results []int64) {
		for i := range results {
			switch {
			case m == faulty && j.kind == jobOwn:
				results[i]++
			case m.cfg.Hub && j.kind != jobOwn && j.kind != jobProof && j.peer == faulty.peer: // it finds what is claimed
				stated, _ := f.rules.At(j.claim.Value(), j.first(f.rules)+uint64(i))
				results[i] = stated[0]
			}
		}
	}
	f.await(1200, "who lies is found", func() bool { return f.peers[0].coord.faults.peers[faulty.peer] })
	if proofs == 0 {
		t.Error("no light tab proved it")
	}
	for _, m := range f.peers {
		for _, o := range f.peers {
			if o != faulty && m.coord.faults.peers[o.peer] {
				t.Errorf("%s blames %s", m.name, o.name)
			}
		}
	}
}

// TestLightTabsGiveSeldomAgain: a light tab that changes its hub sends all hubs its unlogged claims again, each claim
// after twice as long as the time before.
func TestLightTabsGiveSeldomAgain(t *testing.T) {
	f, leaves := newLightField(t, 5, 1)
	f.allLight(leaves...)
	tab := leaves[0]
	at := make(map[seedlog.Link][]Tick)
	f.swap = func(from, to *member, m Message) Message {
		gift, ok := m.(*Claims)
		if !ok || from != tab {
			return m
		}
		for _, block := range gift.Blocks {
			if link := seedlog.LinkOf(block); to == f.peers[0] {
				at[link] = append(at[link], f.now)
			}
		}
		return nil
	}
	f.each = func(int) { // as when the hub that its states come from changes
		for i := range tab.coord.ahead.claims {
			tab.coord.ahead.claims[i].given = false
		}
	}
	f.pass(300)
	again := 0
	for _, ticks := range at {
		for i := 2; i < len(ticks); i++ {
			if again++; ticks[i]-ticks[i-1] < tab.coord.cfg.Timing.Heartbeat<<i {
				t.Fatalf("a claim was given in ticks %d", ticks)
			}
		}
	}
	if again == 0 {
		t.Errorf("none of %d claims was given three times: no test", len(at))
	}
}

// TestTheSameStateFromAnotherHub: when a second hub sends a light tab the state that it already works on, the tab
// continues and computes nothing twice.
func TestTheSameStateFromAnotherHub(t *testing.T) {
	f, leaves := newLightField(t, 5, 1)
	f.allLight(leaves...)
	c := leaves[0].coord
	computed, twice := make(map[poolKey]bool), 0
	f.held = func(m *member, j *job) bool {
		if m == leaves[0] && j.kind == jobOwn {
			key := poolKey{c.self, j.parent.link, j.chunk}
			if computed[key] {
				twice++
			}
			computed[key] = true
		}
		return false
	}
	f.each = func(int) { c.ahead.from = Peer{} }
	f.pass(300)
	if twice > 0 || len(computed) < 50 {
		t.Errorf("%d of %d claims were computed twice", twice, len(computed))
	}
}

// TestAHubThatKeepsClaimsBack: the claims of a light tab go to all its hubs, so one of them cannot keep them from the
// log.
func TestAHubThatKeepsClaimsBack(t *testing.T) {
	f, leaves := newLightField(t, 5, 1)
	tab := leaves[0]
	f.allLight(tab)
	from := tab.coord.ahead.from
	f.swap = func(a, b *member, m Message) Message {
		if _, ok := m.(*Claims); ok && a == tab && b.peer == from {
			return nil
		}
		return m
	}
	f.pass(50)
	before, computed := f.peers[0].coord.chain.credits[tab.peer].Evaluations, tab.coord.work.ledger.Computed
	f.pass(200)
	if n, of := f.peers[0].coord.chain.credits[tab.peer].Evaluations-before, tab.coord.work.ledger.Computed-computed; n*100 < 90*of {
		t.Errorf("%d of %d evaluations are logged", n, of)
	}
}

// TestLightTabsSeeTheEnd: a light tab computes nothing for a run that has ended, and says so.
func TestLightTabsSeeTheEnd(t *testing.T) {
	f, leaves := newLightFieldUntil(t, 5, 1, 16000)
	tab := leaves[0]
	f.allLight(tab)
	f.await(800, "the run has ended", func() bool { return f.peers[0].coord.ended() != seedlog.Open })
	f.pass(100)
	computed := tab.coord.work.ledger.Computed
	f.pass(100)
	s := tab.coord.Snapshot()
	if !s.Light || s.End != seedlog.EndedEvaluations || s.Own.Computed > computed {
		t.Errorf("light %v, ended by %v, computes on: %v", s.Light, s.End, s.Own.Computed > computed)
	}
}

// TestWaitingClaimsAreRenewed: where claims take several generations, the one of a light tab that waits behind another
// is on the newest state.
func TestWaitingClaimsAreRenewed(t *testing.T) {
	f, leaves := newLightField(t, lightHubs, 1)
	tab := leaves[0]
	f.allLight(tab)
	c := tab.coord
	c.work.pace.longer, c.work.pace.set = 2, 1<<40
	f.held = func(m *member, j *job) bool { return m == tab && j.kind == jobOwn }
	first, states := c.ahead.on, 0
	for range 60 {
		before := c.ahead.on
		f.pass(1)
		ids := sortedJobs(c.work.jobs)
		own := slices.DeleteFunc(ids, func(id uint64) bool { return c.work.jobs[id].kind != jobOwn })
		if c.ahead.on == before || len(own) < 2 {
			continue
		}
		states++
		if on := c.work.jobs[own[len(own)-1]].parent; on != c.ahead.on {
			t.Fatalf("the claim that waits is on height %d, the newest state is of %d", on.height, c.ahead.on.height)
		}
	}
	if states < 3 || c.ahead.on == first {
		t.Errorf("%d new states: no test", states)
	}
}

// TestOneEntryIsAnswered: a question for what follows one entry gets that alone, and nothing from who lacks it.
func TestOneEntryIsAnswered(t *testing.T) {
	f := newNextField(t, 4, 2, 1)
	f.pass(200)
	var got []*Segment
	f.spy = func(m *member, e Envelope) {
		if s, ok := e.Message.(*Segment); ok && m == f.peers[0] && e.To == seedlog.PeerOf(f.strangers[0]) {
			got = append(got, s)
		}
	}
	c := f.peers[0].coord
	for _, tt := range []struct {
		name    string
		locator []seedlog.Link
		entries int
		above   uint64
	}{
		{"an entry", []seedlog.Link{c.chain.canonAt(5).link}, 1, 6},
		{"no entry of this chain", []seedlog.Link{seedlog.LinkOf([]byte("none"))}, 0, 0},
		{"an entry, with the run", []seedlog.Link{c.chain.canonAt(5).link, f.rules.Run}, 2, 6},
		{"the run", []seedlog.Link{f.rules.Run}, 2, 1},
	} {
		got = nil
		f.tell(f.strangers[0], f.peers[0], &Pull{Locator: tt.locator})
		f.pass(5)
		if len(got) != 1 {
			t.Fatalf("%s: %d answers", tt.name, len(got))
		}
		n := len(got[0].Generations)
		if min(n, 2) != tt.entries || got[0].Height+8 < c.chain.head.height {
			t.Errorf("%s: %d entries, height %d", tt.name, n, got[0].Height)
		}
		if n > 0 {
			if e, err := seedlog.DecodeEntry(got[0].Generations[0].Entry); err != nil || e.Height != tt.above {
				t.Errorf("%s: the first has height %d", tt.name, e.Height)
			}
		}
	}
}
