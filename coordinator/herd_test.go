package coordinator

import (
	"slices"
	"testing"

	"github.com/evoswarm/evoswarm/internal/fair"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// Where one hub missed an entry, all below it in the tree would miss the next ones, and ask one hub for them at once.

// TestHubsPassOnWhatTheyCannotPlace: a hub that missed an entry gives the next one to those below it at once, and has
// both as soon as it has the one that it missed.
func TestHubsPassOnWhatTheyCannotPlace(t *testing.T) {
	f, leader := newLedField(t, 8)
	c := leader.coord
	first := c.tree(c.chain.head.height+1, leader.peer, c.election.mandate.term)[0]
	hub := f.peers[slices.IndexFunc(f.peers, func(m *member) bool { return m.peer == first })]
	missed := c.chain.head.height + 1
	f.swap = func(_, to *member, m Message) Message {
		if p, ok := m.(*Push); ok && to == hub {
			if e, err := seedlog.DecodeEntry(p.Entry); err == nil && e.Height == missed {
				return nil
			}
		}
		return m
	}
	early := 0
	f.spy = func(m *member, e Envelope) {
		if p, ok := e.Message.(*Push); ok && m == hub {
			if e, err := seedlog.DecodeEntry(p.Entry); err == nil && hub.coord.chain.nodes[e.Parent] == nil {
				early++
			}
		}
	}
	for range 60 {
		if f.pass(1); early > 0 && hub.coord.chain.head.height > missed {
			break
		}
	}
	if early == 0 || hub.coord.chain.head.height <= missed {
		t.Errorf("%d entries were passed on before their parent was there; at height %d, missed %d", early, hub.coord.chain.head.height, missed)
	}
}

// TestPushesAreNoAnswers: an entry that comes unasked ends no exchange with the hub that gives it, whose answer is
// still on its way.
func TestPushesAreNoAnswers(t *testing.T) {
	f, leader := newLedField(t, 8)
	asked := 0
	f.each = func(int) {
		for _, m := range f.peers {
			if m != leader {
				c := m.coord
				q := &pull{asked: true, since: c.now, begun: c.now, again: c.now + 1000}
				c.members.pulls[leader.peer] = q
			}
		}
	}
	f.swap = func(from, to *member, m Message) Message {
		if _, ok := m.(*Push); ok && from == leader && to.coord.members.pulls[leader.peer].asked {
			asked++
		}
		return m
	}
	for range 20 {
		f.pass(1)
		for _, m := range f.peers {
			if q := m.coord.members.pulls[leader.peer]; m != leader && q != nil && q.tip.Defined() {
				t.Fatal("an entry that nobody asked for was taken for an answer")
			}
		}
	}
	if asked == 0 {
		t.Error("the leader gave no entry: no test")
	}
}

// TestAskersSpread: where many hubs lack the same, they ask different ones for it, and the leader last.
func TestAskersSpread(t *testing.T) {
	f, leader := newLedField(t, 16)
	head := seedlog.LinkOf([]byte("what all lack"))
	first := make(map[Peer]int)
	for _, m := range f.peers {
		c := m.coord
		clear(c.members.pulls)
		for _, h := range c.members.heard {
			said := h.Status
			said.Head, said.Height, said.Weight = head, c.chain.head.height+4, c.chain.head.weight*2
			c.onStatus(h.peer, h.via, &said)
		}
		list := c.richer()
		if m == leader || len(list) < 10 {
			continue
		}
		first[list[0].peer]++
		if last := list[len(list)-1].peer; last != leader.peer {
			t.Errorf("%s asks the leader before another", m.name)
		}
	}
	if len(first) < 5 {
		t.Errorf("15 hubs ask %d first", len(first))
	}
}

// TestNewestEntriesGoOutAtARate: who is asked by many for the newest entries answers as many as go through a home's
// uplink, and drops the questions that waited for long: their askers asked others meanwhile.
func TestNewestEntriesGoOutAtARate(t *testing.T) {
	f, leader := newLedField(t, 8)
	asker := f.peers[(slices.Index(f.peers, leader)+1)%8]
	c := leader.coord
	c.serving.newest = fair.NewBudget[struct{}](1<<10, 4<<10, 1)
	ask := &Pull{Locator: []seedlog.Link{c.chain.head.parent.parent.link, c.rules.Run}}
	sent, bytes := 0, 0
	f.spy = func(m *member, e Envelope) {
		if s, ok := e.Message.(*Segment); ok && m == leader {
			sent++
			for i := range s.Generations {
				bytes += sizeOf(&s.Generations[i])
			}
		}
	}
	const questions = 60
	for i := range questions {
		from := f.peers[i%8]
		if from == leader {
			from = asker
		}
		c.onQuestion(question{from: from.peer, at: source{key: keyPeer(i)}, message: ask})
	}
	f.pass(2 * newestWait)
	if most := 4<<10 + 2*newestWait<<10 + 8<<10; sent == 0 || bytes > most {
		t.Errorf("%d answers of %d bytes, at most %d", sent, bytes, most)
	}
	if sent > questions/2 || c.serving.waiting() > 0 {
		t.Errorf("%d of %d questions are answered, %d wait", sent, questions, c.serving.waiting())
	}
}

// TestSpentBudgetIsNotScanned: a busy hub has a thousand questions for the newest entries, which share a budget. Once
// that budget is spent, handling a message does not scan them, and other questions are still answered.
func TestSpentBudgetIsNotScanned(t *testing.T) {
	f, leader := newLedField(t, 8)
	c := leader.coord
	c.serve() // once a tick it drops those that waited for long
	c.serving.newest.Charge(uint64(c.now), struct{}{}, newestBytesBurst)
	ask := &Pull{Locator: []seedlog.Link{c.chain.head.parent.link, c.rules.Run}}
	for i := range 200 {
		c.onQuestion(question{from: keyPeer(i), at: source{key: keyPeer(i)}, message: ask})
	}
	waiting, turns := c.serving.waiting(), c.serving.latest.turns
	if waiting == 0 || !c.spreads() {
		t.Fatalf("%d questions wait for the newest entries", waiting)
	}
	c.onQuestion(question{from: f.peers[0].peer, at: source{key: keyPeer(300)}, message: new(Ask)})
	for range 10 {
		c.serve()
	}
	if now := c.serving.latest.turns; now != turns || c.serving.waiting() != waiting {
		t.Errorf("scanned the questions of a spent budget %d times; %d of %d wait", now-turns, c.serving.waiting(), waiting)
	}
}

// keyPeer is one of many peers.
func keyPeer(i int) Peer { return Peer{1, byte(i)} }

// TestLittleWorkIsNoPlace: who did next to nothing comes behind those who work, however many of its kind there are.
func TestLittleWorkIsNoPlace(t *testing.T) {
	f := newNextField(t, 4, 8, 0)
	f.pass(200)
	c := f.peers[0].coord
	head := c.chain.head
	idle := f.peers[5:]
	for n := head; n != nil; n = n.parent {
		n.credits = slices.DeleteFunc(n.credits, func(x peerCredit) bool {
			return slices.ContainsFunc(idle, func(m *member) bool { return m.peer == x.peer })
		})
	}
	for _, m := range idle {
		head.credits = append(head.credits, peerCredit{peer: m.peer, Credit: Credit{Steps: 1}})
	}
	for i := range 100 {
		head.credits = append(head.credits, peerCredit{peer: keyPeer(i), Credit: Credit{Steps: 1}})
	}
	height := head.height + 2*placesEvery // whose places are those of the head
	c.places = places{}
	for term := range uint64(20) {
		tree := c.tree(height, f.peers[0].peer, term)
		for _, m := range idle {
			if i := slices.Index(tree, m.peer); i < 4 {
				t.Errorf("term %d: %s is number %d", term, m.name, i)
			}
		}
	}
}

// TestLackedEntriesOfAYoungRun: who lacks a few entries of a young run re-runs as many results of them as of an old
// one, and not as if they were all of it; who never had a head of it re-runs some more.
func TestLackedEntriesOfAYoungRun(t *testing.T) {
	f := newNextField(t, 4, 4, 0)
	f.pass(120)
	c := f.peers[0].coord
	head := c.chain.head
	if head.height < 16 || head.height > 100 {
		t.Fatalf("height %d: no test", head.height)
	}
	c.folds.goal = head
	results := func() uint64 { return auditResults * head.steps / c.lackOver(head) }
	c.settled = head.parent.parent
	if got, want := results(), auditResults*head.height/lackSpan; got+1 < want || got > want+1 {
		t.Errorf("%d results of all %d entries, want %d", got, head.height, want)
	}
	c.settled = c.chain.root
	if got := results(); got+1 < lackLeast || got > max(lackLeast, auditResults*head.height/lackSpan)+1 {
		t.Errorf("a newcomer re-runs %d results of all, want %d", got, lackLeast)
	}
}

// TestLaggardsKnowTheTree: a peer that is some entries behind in a young run draws the same tree as others, so that
// those below it get what it passes on.
func TestLaggardsKnowTheTree(t *testing.T) {
	f := newNextField(t, 4, 8, 0)
	f.pass(120)
	c := f.peers[0].coord
	head := c.chain.head
	if head.height < 2*placesEvery+2 {
		t.Fatalf("height %d: no test", head.height)
	}
	next := head.height + 1
	head.credits = append(head.credits, peerCredit{peer: f.peers[1].peer, Credit: Credit{Steps: 1 << 40}})
	want := c.tree(next, f.peers[0].peer, 1)
	for lag := range uint64(placesEvery) {
		c.places = places{}
		c.chain.head = head.below(int(lag))
		if !slices.Equal(c.tree(next, f.peers[0].peer, 1), want) {
			t.Errorf("%d entries behind it draws another tree", lag)
		}
	}
	c.chain.head = head
}

// TestYoungRunTakesAll: of peers that begin a run together all have their first claims re-run by others at the same
// time; later newcomers come a few more each time, since junk of free keys costs nothing.
func TestYoungRunTakesAll(t *testing.T) {
	f := newNextField(t, 4, 12, 0)
	f.pass(4)
	c := f.peers[0].coord
	for height := uint64(0); height <= firstEntries; height = c.chain.head.height {
		c.tenure.window = 2
		under := 0
		for _, p := range c.work.pool.fresh.All() {
			if p.asked.peer != (Peer{}) {
				under++
			}
		}
		if most := c.newcomersMore() + under; height < firstEntries && most != len(c.members.heard) || height >= firstEntries && most > max(2, under) {
			t.Errorf("height %d: %d newcomers at once, %d natives were heard", height, most, len(c.members.heard))
		}
		f.pass(1)
	}
}
