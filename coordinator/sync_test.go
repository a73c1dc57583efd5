package coordinator

import (
	"crypto/ed25519"
	"slices"
	"testing"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// TestForgedWeightJoiner: a joiner reaches the others' chain, however many strangers say that they have heavier ones,
// also where they are its neighbors as the others are.
func TestForgedWeightJoiner(t *testing.T) {
	for _, c := range []struct {
		keys   int
		linked bool
		ticks  int
	}{{6, false, 200}, {6, true, 300}, {1000, false, 300}} {
		f := newField(t, 4, c.keys)
		f.pass(200)
		f.each = forgeWeight(f)
		joiner := f.add("joiner", production())
		f.start(joiner)
		for _, key := range f.strangers {
			if c.linked {
				f.step(joiner, Linked{Peer: seedlog.PeerOf(key)})
			}
		}
		f.pass(c.ticks)
		if at, low := joiner.coord.chain.head.height, f.peers[0].coord.chain.head.height; at+5 < low {
			t.Errorf("%d keys, linked %v: after %d ticks the joiner is at height %d of %d", c.keys, c.linked, c.ticks, at, low)
		}
	}
}

// TestSilentPeerIsAskedLessAndLess: what asking a peer that never answers costs falls with the time.
func TestSilentPeerIsAskedLessAndLess(t *testing.T) {
	f := newField(t, 1, 1)
	f.pass(60)
	peer := seedlog.PeerOf(f.strangers[0])
	f.each = func(int) {
		f.say(f.strangers[0], &Status{Hub: true, Term: 1, Head: seedlog.LinkOf([]byte{1}), Height: 1 << 40, Weight: 1 << 60})
	}
	asked := 0
	f.spy = func(_ *member, e Envelope) {
		if _, ok := e.Message.(*Pull); ok && e.To == peer {
			asked++
		}
	}
	f.pass(2000)
	if asked < 3 || asked > 2*maxFailures {
		t.Errorf("asked %d times in 2000 ticks", asked)
	}
}

// TestOneQuestionForOneSegment: of many peers that have more, a joiner asks one, and has the rest from it.
func TestOneQuestionForOneSegment(t *testing.T) {
	f := newField(t, 6, 0)
	f.pass(200)
	joiner := f.add("joiner", production())
	got, entries := 0, make(map[seedlog.Link]int)
	f.spy = func(_ *member, e Envelope) {
		if m, ok := e.Message.(*Segment); ok && e.To == joiner.peer {
			for _, g := range m.Generations {
				entries[seedlog.LinkOf(g.Entry)]++
				got++
			}
		}
	}
	f.start(joiner)
	f.pass(100)
	if at, low := joiner.coord.chain.head.height, f.low(); at+5 < low || low < 30 {
		t.Fatalf("the joiner is at height %d of %d", at, low)
	}
	if got > len(entries)*11/10 {
		t.Errorf("%d entries were sent for %d", got, len(entries))
	}
}

// questions has strangers ask for everything, in every tick and many times.
func questions(f *field) func(int) {
	return func(tick int) {
		pull := &Pull{Locator: []seedlog.Link{f.rules.Run}}
		f.turn(tick, 4, func(_ int, key ed25519.PrivateKey) {
			for range 4 {
				f.say(key, pull)
			}
		})
	}
}

// TestQuestionsAreAnsweredInTurn: next to peers that ask all the time for all there is, one that asks modestly has its
// answer soon, no Step reads more from the archive than its bound, and no tick more than the budget.
func TestQuestionsAreAnsweredInTurn(t *testing.T) {
	f := newField(t, 1, 30)
	f.pass(600)
	m := f.peers[0]
	counted := &metered{memory: m.disk}
	m.coord.cfg.Archive, m.coord.chain.archive = counted, counted
	modest := f.strangers[0]
	f.strangers = f.strangers[1:]
	peer := seedlog.PeerOf(modest)
	answered, sent := 0, make(map[Peer]int)
	f.spy = func(_ *member, e Envelope) {
		if s, ok := e.Message.(*Segment); ok {
			sent[e.To] += len(s.Generations)
			if e.To == peer {
				answered++
			}
		}
	}
	ask := questions(f)
	asked, most := 0, 0
	before := 0
	f.each = func(tick int) {
		if tick%50 == 0 {
			f.tell(modest, m, &Pull{Locator: []seedlog.Link{f.rules.Run}})
			asked++
		}
		ask(tick)
		most = max(most, counted.blocks-before)
		before = counted.blocks
	}
	f.pass(400)
	if answered < asked-1 {
		t.Errorf("%d of %d questions were answered", answered, asked)
	}
	if limit := readsBurst + 2*readsPerTick; most > limit {
		t.Errorf("%d blocks were read in a tick, at most %d are allowed", most, limit)
	}
	if limit := readsBurst + 400*readsPerTick + readsBurst; counted.blocks > limit {
		t.Errorf("%d blocks were read in 400 ticks, at most %d are allowed", counted.blocks, limit)
	}
	for range 50 {
		f.now++
		before := counted.blocks
		m.coord.Step(f.now, Passed{})
		if n := counted.blocks - before; n > stepReads+8 || n == 0 {
			t.Errorf("%d blocks were read in one Step, at most %d are allowed, and questions wait", n, stepReads)
		}
		for _, key := range f.strangers {
			m.coord.onQuestion(question{from: seedlog.PeerOf(key), at: source{key: seedlog.PeerOf(key)}, message: &Pull{Locator: []seedlog.Link{f.rules.Run}}})
		}
	}
	for _, key := range f.strangers {
		if n := sent[seedlog.PeerOf(key)]; 4*n < sent[seedlog.PeerOf(f.strangers[0])] {
			t.Errorf("one asker was sent %d generations, another %d", n, sent[seedlog.PeerOf(f.strangers[0])])
		}
	}
}

// metered counts the look-ups of blocks.
type metered struct {
	*memory
	blocks int
	fails  bool
}

func (c *metered) Block(link seedlog.Link) ([]byte, bool) {
	c.blocks++
	if c.fails {
		return nil, false
	}
	return c.memory.Block(link)
}

// TestReadErrorsPass: while the archive cannot read, a peer refuses nobody's branch and answers nothing false; then it
// continues.
func TestReadErrorsPass(t *testing.T) {
	f := newField(t, 3, 0)
	f.pass(300)
	m := f.peers[1]
	broken := &metered{memory: m.disk, fails: true}
	m.coord.cfg.Archive, m.coord.chain.archive = broken, broken
	joiner := f.add("joiner", production())
	f.start(joiner)
	f.each = func(int) {
		f.tell(joiner.key, m, &Pull{Locator: []seedlog.Link{f.rules.Run}})
		m.coord.Snapshot()
	}
	f.pass(200)
	broken.fails = false
	f.each = nil
	f.pass(100)
	f.friendly()
	for _, p := range f.peers {
		if p.coord.chain.head.height+3 < f.peers[0].coord.chain.head.height {
			t.Errorf("%s is at height %d of %d", p.name, p.coord.chain.head.height, f.peers[0].coord.chain.head.height)
		}
		for _, n := range p.coord.chain.nodes { //lint:sorted each one on its own
			if n.stage == refused {
				t.Errorf("%s refused height %d", p.name, n.height)
			}
		}
	}
}

// holdSegments keeps the answers to a peer's questions back, until give is called with how many of them are to come.
func (f *field) holdSegments(to *member) (held *[]parcel, give func(n int)) {
	held = new([]parcel)
	f.swap = func(from, at *member, m Message) Message {
		if _, ok := m.(*Segment); !ok || at != to {
			return m
		}
		*held = append(*held, parcel{from: from, via: from, to: at, message: m})
		return nil
	}
	return held, func(n int) {
		f.t.Helper()
		swap, later := f.swap, f.queue
		f.swap, f.queue, *held = nil, slices.Clone((*held)[:n]), (*held)[n:]
		f.deliver(func(parcel) bool { return true })
		f.swap, f.queue = swap, append(later, f.queue...)
	}
}

// pulls counts a peer's questions.
func (f *field) pulls(of *member) *int {
	n := new(int)
	f.spy = func(from *member, e Envelope) {
		if _, ok := e.Message.(*Pull); ok && from == of {
			*n++
		}
	}
	return n
}

// TestAnswerThatIsChecked: as long as an answer is checked nobody else is asked for the same, however long that takes;
// once it was dropped unchecked somebody is.
func TestAnswerThatIsChecked(t *testing.T) {
	f := newField(t, 6, 0)
	f.pass(200)
	joiner := f.add("joiner", production())
	held, _ := f.holdSegments(joiner)
	asked := f.pulls(joiner)
	f.start(joiner)
	for len(*held) == 0 {
		f.pass(1)
	}
	joiner.coord.Arrived((*held)[0].from.peer, (*held)[0].message)
	before := *asked
	if f.pass(5 * int(LAN().Pull)); *asked > before {
		t.Errorf("%d more peers are asked while the answer of the first is checked", *asked-before)
	}
	joiner.coord.Done((*held)[0].from.peer, (*held)[0].message)
	if f.pass(3); *asked == before {
		t.Error("nobody else is asked after the answer was dropped")
	}
}

// TestSlowAnswers: where answers with many entries take longer than the time after which others are asked, a joiner
// learns that, and does not have the same entries sent by all.
func TestSlowAnswers(t *testing.T) {
	f := newField(t, 10, 0)
	f.pass(300)
	joiner := f.add("joiner", production())
	held, give := f.holdSegments(joiner)
	hold := f.swap
	f.swap = func(from, to *member, m Message) Message {
		if segment, ok := m.(*Segment); ok && to == joiner && len(segment.Generations) > 8 {
			few := *segment
			few.Generations = few.Generations[:8]
			m = &few
		}
		return hold(from, to, m)
	}
	var came []Tick
	got, entries := 0, make(map[seedlog.Link]int)
	f.each = func(int) {
		for len(came) < len(*held) {
			for _, g := range (*held)[len(came)].message.(*Segment).Generations {
				entries[seedlog.LinkOf(g.Entry)]++
				got++
			}
			came = append(came, f.now)
		}
		n := 0
		for n < len(came) && f.now >= came[n]+30 {
			n++
		}
		came = came[n:]
		give(n)
	}
	f.start(joiner)
	f.pass(500)
	t.Logf("%d entries were sent for %d", got, len(entries))
	if got > 5*len(entries) || joiner.coord.chain.head.height < 100 {
		t.Errorf("%d entries were sent for %d, the joiner is at height %d", got, len(entries), joiner.coord.chain.head.height)
	}
}
