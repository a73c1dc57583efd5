package coordinator

import (
	"testing"

	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// lone is a peer that trains alone, as fast as it can.
type lone struct {
	cfg   Config
	disk  *memory
	coord *Coordinator
	now   Tick
}

// newLone begins the run of newRules as its origin.
func newLone(t testing.TB) *lone {
	t.Helper()
	l := &lone{disk: &memory{blocks: make(map[seedlog.Link][]byte)}}
	l.cfg = Config{Rules: newRules(t, true), Key: keyOf("n1"), Hub: true, Timing: LAN(), Slots: 2, Archive: l.disk, Mandate: 1 << 40}
	l.start(t)
	return l
}

// start makes the coordinator out of what the disk holds.
func (l *lone) start(t testing.TB) {
	t.Helper()
	cfg := l.cfg
	cfg.State, cfg.Height = l.disk.state, uint64(len(l.disk.chain))
	cfg.Summary, _ = Summaries{cfg.Rules, l.disk}.Newest(cfg.Height)
	var err error
	if l.coord, err = New(cfg); err != nil {
		t.Fatal(err)
	}
}

// step does one event and all that follows from it.
func (l *lone) step(e Event) (sent []Envelope) {
	for events := []Event{e}; len(events) > 0; events = events[1:] {
		a := l.coord.Step(l.now, events[0])
		l.disk.save(a)
		sent = append(sent, a.Send...)
		for _, w := range a.Work {
			results := make([]rollout.CandidateResult, len(w.Task.Seeds))
			for i, seed := range w.Task.Seeds {
				results[i] = rollout.CandidateResult{Fitness: [2]int64{truth(seed)}, Steps: 10 + seed%400}
			}
			events = append(events, Evaluated{ID: w.ID, Results: results})
		}
		if a.Fold != nil {
			events = append(events, foldNow(l.cfg.Rules, l.disk, a.Fold))
		}
	}
	return sent
}

// grow lets the peer train up to a height.
func (l *lone) grow(height uint64) {
	for l.coord.chain.head.height < height {
		l.now += l.cfg.Timing.Generation
		l.step(Passed{})
	}
}

// TestDeepEntriesLeaveMemory: a peer that trains on and on holds no more entries than a window; deeper ones are
// answered from the archive.
func TestDeepEntriesLeaveMemory(t *testing.T) {
	l := newLone(t)
	most := 0
	for height := uint64(1); height <= 3*keepDepth; height++ {
		l.grow(height)
		most = max(most, len(l.coord.chain.nodes), len(l.coord.chain.canon))
	}
	if limit := keepDepth + firstInterval + 2; most > limit {
		t.Errorf("%d entries were in memory at once, want at most %d", most, limit)
	}
	c := &l.coord.chain
	if c.root.height == 0 || c.canonAt(c.root.height) != c.root || c.root.state == nil || c.canonAt(c.root.height-1) != nil {
		t.Fatalf("the root is at height %d", c.root.height)
	}
	window := 0
	for n := c.root.parent; n != nil; n = n.parent {
		window++
	}
	if window != windowDepth {
		t.Errorf("%d entries are linked below the root, want %d", window, windowDepth)
	}
	for height := range c.head.height {
		height++
		g, ok := c.generation(height)
		if link := l.disk.chain[height-1]; !ok || seedlog.LinkOf(g.Entry) != link || seedlog.LinkOf(g.Seal) != l.disk.seals[height-1] || c.after([]seedlog.Link{link}) != height {
			t.Fatalf("height %d is not found", height)
		}
	}
	locator := c.locator(seedlog.Link{})
	if last := locator[len(locator)-1]; last != l.cfg.Rules.Run {
		t.Errorf("the locator ends with %s", last)
	}
	for i, link := range locator[1:] {
		if height, before := c.after([]seedlog.Link{link}), c.after(locator[i:]); height >= before {
			t.Errorf("link %d of the locator is of height %d, that before it of %d", i+1, height, before)
		}
	}
}

// TestPullFromDeepBelow: a joiner that has nothing gets the beginning of a long chain, and all that follows.
func TestPullFromDeepBelow(t *testing.T) {
	l := newLone(t)
	l.grow(keepDepth + 2*firstInterval)
	from, height := Peer{9}, uint64(0)
	locator := []seedlog.Link{l.cfg.Rules.Run}
	for height < l.coord.chain.head.height {
		l.now++
		sent := l.step(Received{From: from, Via: from, Message: Checked{message: &Pull{Locator: locator}}})
		segment := answerTo(sent, from)
		for range 20 { // an answer is read over several Steps
			if segment == nil {
				segment = answerTo(l.step(Passed{}), from)
			}
		}
		if segment == nil || len(segment.Generations) == 0 {
			t.Fatalf("no answer above height %d", height)
		}
		for _, g := range segment.Generations {
			height++
			if link := seedlog.LinkOf(g.Entry); link != l.disk.chain[height-1] {
				t.Fatalf("another entry in place of height %d", height)
			}
			locator[0] = seedlog.LinkOf(g.Entry)
		}
	}
}

func answerTo(sent []Envelope, to Peer) *Segment {
	for _, e := range sent {
		if s, ok := e.Message.(*Segment); ok && e.To == to {
			return s
		}
	}
	return nil
}

// TestForgetKeepsWhatIsAbove: branches that leave the chain above the root stay, those below it go, and nothing that
// waits for a state of theirs holds up the rest.
func TestForgetKeepsWhatIsAbove(t *testing.T) {
	l := newLone(t)
	l.grow(keepDepth + 3*firstInterval - 1)
	c := l.coord
	root := c.chain.root
	low, high := sideEntry(t, l, root.height+1), sideEntry(t, l, c.chain.head.height-1)
	claim, err := l.cfg.Rules.KeptClaim(l.disk.blocks[low.parent.claims[0]], low.parent.claims[0])
	if err != nil {
		t.Fatal(err)
	}
	c.work.audits = append(c.work.audits, audit{parent: low.parent.parent, claim: claim})
	c.issue(&job{kind: jobProof, parent: low.parent.parent, claim: claim, peer: c.self}, false)
	l.grow(c.chain.head.height + firstInterval)
	if c.chain.root == root {
		t.Fatal("the root stayed")
	}
	if c.chain.nodes[low.link] != nil || c.chain.nodes[high.link] != high {
		t.Errorf("the low branch is in memory: %t; the high one: %t", c.chain.nodes[low.link] != nil, c.chain.nodes[high.link] == high)
	}
	for _, tip := range c.chain.tips {
		if !tip.descends(c.chain.root) {
			t.Errorf("a tip at height %d is not above the root", tip.height)
		}
	}
	for _, n := range append(c.chain.states.recent, c.chain.states.marks...) {
		if n.forgotten {
			t.Errorf("the state of a forgotten entry at height %d is kept", n.height)
		}
	}
	if len(c.work.waiting) > 0 || len(c.work.audits) > 0 {
		t.Errorf("%d jobs and %d audits of forgotten entries wait", len(c.work.waiting), len(c.work.audits))
	}
}

// sideEntry adds a second entry of another leader to a height of a lone peer's chain.
func sideEntry(t testing.TB, l *lone, height uint64) *node {
	t.Helper()
	key := keyOf("another leader")
	at := l.coord.chain.canonAt(height)
	claims, err := l.cfg.Rules.KeptClaims(at.claims, l.disk.Block)
	if err != nil {
		t.Fatal(err)
	}
	e := l.cfg.Rules.EntryOf(at.parent.parentInfo(), at.term, seedlog.PeerOf(key), claims, at.theta, at.digest)
	n, err := l.coord.insert(generation{l.cfg.Rules.OwnEntry(e, key, nil), claims}, source{})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestCreditsAreBounded: keys cost little, so the table of credits has a limit, and a peer's own credit is not subject
// to it.
func TestCreditsAreBounded(t *testing.T) {
	self := Peer{0xff, 0xff}
	c := &chain{credits: make(map[Peer]Credit), self: self}
	one := Credit{Evaluations: 1, Steps: 2}
	var all []*node
	for i := range maxCredited + 10 {
		n := &node{credits: []peerCredit{{peer: Peer{byte(i), byte(i >> 8)}, Credit: one}}}
		c.credit(n, true)
		all = append(all, n)
	}
	c.credit(&node{credits: []peerCredit{{peer: self, Credit: one}}}, true)
	if len(c.credits) != maxCredited+1 || c.credits[self] != one {
		t.Errorf("%d credits, own %+v", len(c.credits), c.credits[self])
	}
	for _, n := range all {
		c.credit(n, false)
	}
	if len(c.credits) != 1 || c.credits[self] != one {
		t.Errorf("%d credits are left, own %+v", len(c.credits), c.credits[self])
	}
}
