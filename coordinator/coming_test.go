package coordinator

import (
	"slices"
	"testing"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// late is a hub near the top of the tree to which a new entry has not come yet.
type late struct {
	*field
	t           *testing.T
	leader, hub *member
	whole       *Push // the entry with all its claims
}

// newLate keeps a new entry back from a hub that has others below it.
func newLate(t *testing.T) *late {
	t.Helper()
	f, leader := newLedField(t, 8)
	c := leader.coord
	first := c.tree(c.chain.head.height+1, leader.peer, c.election.mandate.term)[0]
	l := &late{field: f, t: t, leader: leader, hub: f.peers[slices.IndexFunc(f.peers, func(m *member) bool { return m.peer == first })]}
	f.swap = func(from, to *member, m Message) Message {
		p, ok := m.(*Push)
		if !ok || to != l.hub || from != leader || l.whole != nil || len(p.Claims) < 3 {
			return m
		}
		l.whole = p
		return nil
	}
	for range 60 {
		if f.pass(1); l.whole != nil {
			f.swap = nil
			return l
		}
	}
	t.Fatal("the leader gave no entry with three claims: no test")
	return nil
}

// entry is the entry with all its claims, checked.
func (l *late) entry() *generation {
	l.t.Helper()
	checked, err := Check(seedlog.NewChecker(l.rules), l.whole, nil)
	if err != nil {
		l.t.Fatal(err)
	}
	return &checked.generations[0]
}

// give has a peer give the hub some of the claims. It returns what the hub sends and whom it cuts off.
func (l *late) give(from *member, first int, claims [][]byte) (sent []*Push, banned []Peer) {
	l.t.Helper()
	m := &Push{Link: l.whole.Link, First: uint64(first), Entry: []byte{}, Seal: []byte{}, Batches: [][]byte{}, Claims: claims}
	if first == 0 {
		m.Entry, m.Seal, m.Batches = l.whole.Entry, l.whole.Seal, l.whole.Batches
	}
	checked, err := Check(seedlog.NewChecker(l.rules), m, nil)
	if err != nil {
		l.t.Fatal(err)
	}
	c := l.hub.coord
	c.out = Actions{}
	if c.Expects(from.peer, m) {
		c.onPush(from.peer, source{key: from.peer}, m, &checked)
	}
	for _, e := range c.out.Send {
		if p, ok := e.Message.(*Push); ok {
			sent = append(sent, p)
		}
	}
	return sent, c.out.Ban
}

// TestPartsAreGivenOn: a hub gives on the claims of an entry as they come, each once, and takes none that the entry
// does not name; who sends such is cut off, and the entry comes all the same.
func TestPartsAreGivenOn(t *testing.T) {
	l := newLate(t)
	c, claims := l.hub.coord, l.whole.Claims
	others := slices.DeleteFunc(slices.Clone(l.peers), func(m *member) bool { return m == l.hub || m == l.leader })
	below := len(c.below(l.entry().entry.Value()))
	if below == 0 || c.chain.nodes[l.whole.Link] != nil {
		t.Fatal("nobody is below the hub, or the entry is there: no test")
	}
	for _, step := range []struct {
		what   string
		from   *member
		first  int
		claims [][]byte
		gives  int // claims to each of those below
		bans   bool
	}{
		{"what follows the first part", others[0], 1, claims[1:], 0, false},
		{"the first part", l.leader, 0, claims[:1], 1, false},
		{"the first part again", others[0], 0, claims[:1], 0, false},
		{"the first part with another claim", others[1], 0, claims[1:2], 0, false},
		{"other claims than the entry names", others[2], 1, claims[2:3], 0, true},
		{"more claims than it names", others[3], 1, slices.Concat(claims[1:], claims[:1]), 0, true},
		{"what comes after a gap", others[0], 2, claims[2:], 0, false},
		{"the next one", others[0], 1, claims[1:2], 1, false},
		{"the rest", others[4], 2, claims[2:], len(claims) - 2, false},
	} {
		sent, banned := l.give(step.from, step.first, step.claims)
		given := 0
		for _, p := range sent {
			if given += len(p.Claims); (p.First == 0) != (len(p.Entry) > 0) || int(p.First) != step.first {
				t.Errorf("%s: claims from %d on go out as those from %d on", step.what, step.first, p.First)
			}
		}
		if given != below*step.gives || (len(banned) > 0) != step.bans || step.bans && banned[0] != step.from.peer {
			t.Errorf("%s: %d claims go to %d hubs, %d peers are cut off", step.what, given, below, len(banned))
		}
	}
	if n := c.chain.nodes[l.whole.Link]; n == nil {
		t.Error("the entry is not there with all its claims")
	}
}

// TestEntriesWaitForOneThatWasMissed: a hub that missed an entry keeps those that come after it, and has all as soon as
// it has that one.
func TestEntriesWaitForOneThatWasMissed(t *testing.T) {
	l := newLate(t)
	c, led := l.hub.coord, &l.leader.coord.chain
	l.swap = func(_, to *member, m Message) Message {
		if _, ok := m.(*Segment); ok && to == l.hub {
			return nil
		}
		return m
	}
	missed := led.nodes[l.whole.Link].height
	for range 20 {
		if l.pass(1); led.head.height >= missed+2 {
			break
		}
	}
	l.pass(2)
	next := led.canonAt(missed + 1)
	if next == nil || c.chain.nodes[l.whole.Link] != nil || c.chain.nodes[next.link] != nil {
		t.Fatal("nothing waits for the entry that was missed: no test")
	}
	l.give(l.leader, 0, l.whole.Claims)
	if c.chain.nodes[l.whole.Link] == nil || c.chain.nodes[next.link] == nil {
		t.Error("what waited for the entry is not there with it")
	}
}

// TestPartsThatNobodyAwaits: strangers give entries in vain.
func TestPartsThatNobodyAwaits(t *testing.T) {
	l := newLate(t)
	c := l.hub.coord
	c.coming = nil
	other := l.peers[slices.IndexFunc(l.peers, func(m *member) bool { return m != l.hub && m != l.leader })]
	if sent, banned := l.give(other, 0, l.whole.Claims); len(sent) > 0 || len(banned) > 0 || len(c.coming) > 0 || c.chain.nodes[l.whole.Link] != nil {
		t.Errorf("it sends %d parts on, cuts %d off, awaits %d entries", len(sent), len(banned), len(c.coming))
	}
}

// TestLastEntriesComeDown: who follows the next leader still takes the last entries of the one before it, and gives
// them on, for some time.
func TestLastEntriesComeDown(t *testing.T) {
	for _, waits := range []bool{false, true} {
		l := newLate(t)
		c := l.hub.coord
		next := l.peers[slices.IndexFunc(l.peers, func(m *member) bool { return m != l.hub && m != l.leader })]
		c.coming = nil
		c.followLeader(&mandate{c.election.mandate.term + 1, next.peer, c.election.mandate.votes})
		if waits {
			c.now += outgoingPulls * c.cfg.Timing.Pull
		}
		sent, _ := l.give(l.leader, 0, l.whole.Claims)
		if there := c.chain.nodes[l.whole.Link] != nil; there == waits || (len(sent) > 0) == waits {
			t.Errorf("long after: %t; the entry is there: %t, and goes to %d hubs", waits, there, len(sent))
		}
	}
}

// TestWhoIsBehindStaysInTheTree: a hub that lacks some entries awaits the newest ones, and none that it could not keep.
func TestWhoIsBehindStaysInTheTree(t *testing.T) {
	f, leader := newLedField(t, 8)
	c := f.peers[(slices.Index(f.peers, leader)+1)%8].coord
	c.folds.left = lag + 1
	if !c.joining() {
		t.Fatal("it does not lack entries: no test")
	}
	for above, want := range map[uint64]bool{1: true, lag + 2: true, maxComing: true, maxComing + 1: false} {
		e := &seedlog.Entry{Height: c.chain.head.height + above, Term: c.election.mandate.term, Leader: leader.peer}
		if got := c.await(seedlog.LinkOf([]byte{byte(above)}), e); got != want {
			t.Errorf("an entry %d above its head is awaited: %t, want %t", above, got, want)
		}
	}
}

// TestLeaderWaitsForMost: a leader waits while most of those who work say that they lack many of its entries, with each
// entry for some time alone, and for no few who say so.
func TestLeaderWaitsForMost(t *testing.T) {
	for _, test := range []struct {
		peers, behind int // followers that say so
		waits         bool
	}{{8, 0, false}, {8, 2, false}, {8, 7, true}, {2, 1, false}} {
		f, leader := newLedField(t, test.peers)
		said := slices.DeleteFunc(slices.Clone(f.peers), func(m *member) bool { return m == leader })[:test.behind]
		f.swap = func(from, to *member, m Message) Message {
			if s, ok := m.(*Status); ok && to == leader && slices.Contains(said, from) {
				low := *s
				low.Height -= min(low.Height, to.coord.chain.maxStale+2)
				return &low
			}
			return m
		}
		f.pass(20)
		c := leader.coord
		from, ticks := c.chain.head.height, uint64(8*awaitElections*c.cfg.Timing.Election)
		for range ticks {
			if f.pass(1); c.election.role != Leader {
				break
			}
		}
		entries := c.chain.head.height - from
		if waited := entries <= 9; waited != test.waits || entries < 3 {
			t.Errorf("%d of %d say that they are behind: %d entries in %d ticks", test.behind, test.peers, entries, ticks)
		}
	}
}

// TestSuccessorGetsTheNewestEntry: who hands over gives its successor the newest entry itself, wherever that is in the
// tree, and others vote for it though the entry has not come to them.
func TestSuccessorGetsTheNewestEntry(t *testing.T) {
	l := newLate(t)
	c := l.leader.coord
	if c.chain.head.link != l.whole.Link {
		t.Fatal("the leader has another head: no test")
	}
	c.out, c.chain.head.body = Actions{}, l.entry() // as when it has just closed it
	c.handOver()
	heir := c.tenure.heir
	if !slices.ContainsFunc(c.out.Send, func(e Envelope) bool {
		p, ok := e.Message.(*Push)
		return ok && e.To == heir && e.Scope == Direct && p.Link == l.whole.Link
	}) {
		t.Error("the successor is not given the newest entry")
	}
	i := slices.IndexFunc(l.peers, func(m *member) bool { return m.peer != heir && m.coord.chain.nodes[l.whole.Link] == nil })
	if i < 0 {
		t.Fatal("all others have the entry: no test")
	}
	voter := l.peers[i].coord
	voter.await(l.whole.Link, l.entry().entry.Value())
	request := &VoteRequest{Term: c.tenure.offer.Term, Head: l.whole.Link, Handover: c.tenure.offer.Signature}
	if !voter.grants(heir, request) {
		t.Error("it gets no vote")
	}
	request.Handover = c.tenure.offer.Signature[1:]
	if voter.grants(heir, request) {
		t.Error("it gets a vote that the leader did not ask for")
	}
}

// TestLeaderWaitsForItsSuccessor: who hands over waits longer once its successor asks for votes, at most for three
// election times, and not for another one.
func TestLeaderWaitsForItsSuccessor(t *testing.T) {
	f, leader := newLedField(t, 8)
	c := leader.coord
	c.handOver()
	begun, heir := c.now, c.tenure.heir
	election := c.cfg.Timing.Election
	other := f.peers[slices.IndexFunc(f.peers, func(m *member) bool { return m.peer != heir && m != leader })].peer
	ask := func(p Peer) Tick {
		c.onVoteRequest(p, &VoteRequest{Term: c.tenure.offer.Term, Head: c.chain.head.link, Handover: c.tenure.offer.Signature})
		return c.tenure.yieldUntil - begun
	}
	first := c.tenure.yieldUntil - begun
	if wrong, right := ask(other), ask(heir); first != election || wrong != election || right != yieldElections*election {
		t.Errorf("it waits %d ticks, %d when another peer asks, %d when its successor does", first, wrong, right)
	}
	c.now = begun + 2*election
	if last := ask(heir); last != yieldElections*election {
		t.Errorf("it waits %d ticks when its successor asks again", last)
	}
}
