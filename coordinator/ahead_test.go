package coordinator

import (
	"fmt"
	"slices"
	"testing"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// newAheadField is a run of format 2 that is long already, and a newcomer that does one fold in so many
// ticks: it takes minutes to catch up.
func newAheadField(t testing.TB, natives int, every Tick) (f *field, newcomer *member) {
	t.Helper()
	f = newNextField(t, 4, natives, 2)
	f.pass(800)
	if height := f.peers[0].coord.chain.head.height; height < 2*aheadLeast {
		t.Fatalf("height %d", height)
	}
	newcomer = f.add("newcomer", production())
	f.folds = func(m *member) bool { return m != newcomer || every == 0 }
	f.each = func(int) {
		if fold := newcomer.fold; fold != nil && f.now%every == 0 {
			newcomer.fold = nil
			if len(fold.Entries) > 1 { // a slow one folds few at a time
				f.step(newcomer, Folded{ID: fold.ID, Failed: true})
				return
			}
			f.step(newcomer, foldNow(f.rules, newcomer.disk, fold))
		}
	}
	return f, newcomer
}

// TestNewcomerWorksAhead: who joins a long run works within two seconds, on what the others work on, and what it did is
// logged and counted. It neither leads nor votes before it has folded the run, and nobody waits for its vote.
func TestNewcomerWorksAhead(t *testing.T) {
	f, newcomer := newAheadField(t, 3, 20)
	f.start(newcomer)
	voted := false
	f.spy = func(m *member, e Envelope) {
		if r, ok := e.Message.(*VoteReply); ok && m == newcomer && r.Granted {
			voted = true
		}
	}
	f.pass(40)
	if newcomer.coord.work.own == 0 || newcomer.coord.ahead.on == nil {
		t.Fatalf("after two seconds the newcomer computes nothing")
	}
	reruns := aheadChecks - newcomer.coord.ahead.checks.left
	f.pass(360)
	c, others := newcomer.coord, f.peers[0].coord
	low, high, s := c.chain.head.height, others.chain.head.height, c.Snapshot()
	if low+2*aheadLeast > high {
		t.Fatalf("the newcomer has %d of %d entries: no test", low, high)
	}
	logged := others.chain.credits[newcomer.peer].Evaluations
	t.Logf("height %d of %d: %d evaluations are logged, of each of the others %d; %d results were re-run in two seconds, %d are left",
		low, high, logged, others.chain.credits[f.peers[1].peer].Evaluations/(1200/400), reruns, c.ahead.checks.left)
	if !s.Syncing || s.Ahead+4 < high || s.Mine.Evaluations+64 < logged || s.Mine.Evaluations > logged+64 {
		t.Errorf("syncing %v, works on %d of %d, counts %d evaluations of %d", s.Syncing, s.Ahead, high, s.Mine.Evaluations, logged)
	}
	if c.ahead.checks.left > aheadChecks/8 || c.ahead.checks.wrong > 0 {
		t.Errorf("of the results on the others' state %d were not drawn, %d wrong", c.ahead.checks.left, c.ahead.checks.wrong)
	}
	if logged*3 < others.chain.credits[f.peers[1].peer].Evaluations/4 {
		t.Errorf("%d evaluations of the newcomer are logged", logged)
	}
	if voted || c.election.role != Follower || others.electorate().weightOf(newcomer.peer) > 0 {
		t.Errorf("voted %v, role %v, weight %d", voted, c.election.role, others.electorate().weightOf(newcomer.peer))
	}

	f.folds = nil // it becomes quick
	if fold := newcomer.fold; fold != nil {
		f.step(newcomer, foldNow(f.rules, newcomer.disk, fold))
	}
	f.pass(250)
	s = c.Snapshot()
	if s.Syncing || c.ahead.on != nil && !c.ahead.led || s.Height+4 < others.chain.head.height {
		t.Fatalf("syncing %v at %d of %d", s.Syncing, s.Height, others.chain.head.height)
	}
	if now := others.chain.credits[newcomer.peer].Evaluations; now <= logged || s.Mine.Evaluations+32 < now || s.Mine.Evaluations > now+64 {
		t.Errorf("once it caught up it counts %d evaluations of %d; %d were logged before", s.Mine.Evaluations, now, logged)
	}
	f.pass(200)
	if others.electorate().weightOf(newcomer.peer) == 0 {
		t.Errorf("the newcomer has no vote")
	}
}

// TestBadGuides: a state that is not that of its entry, has another size or never arrives, and one on which claims are
// false, ends nothing: another hub is asked.
func TestBadGuides(t *testing.T) {
	var again Part
	for _, tt := range []struct {
		name string
		bad  func(f *field, m *Part, asked int) Message // what the first hub sends in place of a part
	}{
		{"another state", func(_ *field, m *Part, _ int) Message { m.Data[len(m.Data)-1] ^= 1; return m }},
		{"no state", func(_ *field, m *Part, _ int) Message { clear(m.Data); return m }},
		{"a large state", func(_ *field, m *Part, _ int) Message { m.Size = 1 << 40; return m }},
		{"a small state", func(_ *field, m *Part, _ int) Message { m.Size, m.Data = 1, m.Data[:1]; return m }},
		{"more than there is", func(_ *field, m *Part, _ int) Message { m.Data = append(m.Data, 1); return m }},
		{"a state without end", func(_ *field, m *Part, asked int) Message {
			m.Size, m.Data = 1<<40, make([]byte, aheadPart)
			if asked > 1 {
				m.Offset, m.Entry, m.Seal = uint64(asked-1)*aheadPart, []byte{}, []byte{}
			}
			return m
		}},
		{"nothing", func(*field, *Part, int) Message { return nil }},
		{"empty parts", func(_ *field, m *Part, _ int) Message { m.Data = []byte{}; return m }},
		{"half of it", func(_ *field, m *Part, _ int) Message { m.Data = m.Data[:len(m.Data)/2]; return m }},
		{"the first half again and again", func(f *field, m *Part, _ int) Message {
			if m.Offset == 0 {
				again = *m
				again.Data = m.Data[:len(m.Data)/2]
			}
			return &again
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, newcomer := newAheadField(t, 3, 20)
			var first Peer
			asked := 0
			f.swap = func(from, to *member, m Message) Message {
				p, ok := m.(*Part)
				if !ok || to != newcomer {
					return m
				}
				if first == (Peer{}) {
					first = from.peer
				}
				if from.peer != first {
					return m
				}
				asked++
				copied := *p
				copied.Data = slices.Clone(p.Data)
				return tt.bad(f, &copied, asked)
			}
			f.start(newcomer)
			f.pass(100)
			if a := newcomer.coord.ahead; a.on == nil || a.from == first {
				t.Fatalf("the newcomer works on nothing, or on what the first hub gave; asked it %d times", asked)
			}
			if f.peers[0].coord.chain.credits[newcomer.peer].Evaluations == 0 {
				t.Error("nothing of the newcomer is logged")
			}
			f.pass(400)
			if asked > 16 {
				t.Errorf("asked the first hub %d times", asked)
			}
		})
	}
}

// TestFalseClaimsOnTheState: a newcomer whose guide shows it a branch of invented results leaves it.
func TestFalseClaimsOnTheState(t *testing.T) {
	f, newcomer := newAheadField(t, 3, 20)
	var first Peer
	f.corrupt = func(m *member, j *job, fitness []int64) {
		if m == newcomer && j.kind == jobAhead && (first == (Peer{}) || first == m.coord.ahead.from) {
			first = m.coord.ahead.from
			fitness[0]++ // as if the claims were false
		}
	}
	f.start(newcomer)
	f.pass(200)
	if a := newcomer.coord.ahead; first == (Peer{}) || a.on == nil || a.from == first {
		t.Errorf("the newcomer is still with its first guide")
	}
	for _, m := range f.peers[:3] {
		if newcomer.coord.faults.peers[m.peer] {
			t.Errorf("the newcomer blames %s", m.name)
		}
	}
}

// TestStatesAreServedWithinBounds: who asks for states again and again costs no more memory, and not more bytes than
// others may ask for.
func TestStatesAreServedWithinBounds(t *testing.T) {
	f := newNextField(t, 4, 2, 2)
	f.pass(400)
	sent := 0
	f.spy = func(_ *member, e Envelope) {
		if p, ok := e.Message.(*Part); ok {
			sent += len(p.Data)
			if len(p.Data) > aheadPart || p.Offset+uint64(len(p.Data)) > p.Size {
				t.Fatalf("%d bytes from %d of %d", len(p.Data), p.Offset, p.Size)
			}
		}
	}
	n := uint64(0)
	f.each = func(int) {
		for range 20 {
			n++
			f.say(f.strangers[0], &Ask{Height: n % 300, Offset: n * 1000003 % 70000})
			f.say(f.strangers[0], &Ask{Height: 1 << 63, Offset: 1 << 63})
		}
	}
	f.pass(200)
	for _, m := range f.peers {
		if k := len(m.coord.serving.states.list); k > maxServed {
			t.Errorf("%s keeps %d states", m.name, k)
		}
	}
	if most := 2 * (askerBytesBurst + 200*askerBytes + aheadPart); sent == 0 || sent > most {
		t.Errorf("a stranger was sent %d bytes of states, at most %d", sent, most)
	}
}

// TestRestartedPeerWorksAhead: a peer that was away for long is one that joins: what it claims then is new, although it
// has made claims before.
func TestRestartedPeerWorksAhead(t *testing.T) {
	f, _ := newAheadField(t, 3, 20)
	back := f.peers[2]
	f.powerDown(back)
	f.pass(600)
	before := f.peers[0].coord.chain.credits[back.peer].Evaluations
	f.folds = func(m *member) bool { return m != back }
	f.each = nil
	f.start(back)
	f.pass(100)
	if a := back.coord.ahead; a.on == nil {
		t.Fatalf("it works on nothing at height %d of %d", back.coord.chain.head.height, f.peers[0].coord.chain.head.height)
	}
	if now := f.peers[0].coord.chain.credits[back.peer].Evaluations; now <= before {
		t.Errorf("nothing of it was logged")
	}
}

// TestCatchingUpIsOneThing: who fetches a long log in many parts is catching up until it has all of it, also while no
// part is on its way: it does not work on an old entry in between.
func TestCatchingUpIsOneThing(t *testing.T) {
	t.Run("format 1", func(t *testing.T) { catchesUpInOne(t, newField(t, 2, 0)) }) // folds as fast as it fetches
	t.Run("format 2", func(t *testing.T) { catchesUpInOne(t, newNextField(t, 4, 2, 0)) })
}

func catchesUpInOne(t *testing.T, f *field) {
	f.pass(1500)
	quick := production()
	quick.Decisive, quick.Audit = 0, 0 // without re-runs it waits for answers alone
	joiner := f.add("joiner", quick)
	answers := 0
	f.swap = func(from, to *member, m Message) Message { // small parts, as from a hub with much to do; every third is lost
		if s, ok := m.(*Segment); ok && to == joiner && len(s.Generations) > 16 {
			if answers++; answers%3 == 0 {
				return nil
			}
			short := *s
			short.Generations = s.Generations[:16]
			return &short
		}
		return m
	}
	f.start(joiner)
	began := false
	for range 500 {
		f.pass(1)
		s, high := joiner.coord.Snapshot(), f.peers[0].coord.chain.head.height
		began = began || s.Height > 16
		if began && s.Height+8 < high && !s.Syncing {
			t.Fatalf("at height %d of %d the joiner takes itself for up to date", s.Height, high)
		}
		for id, j := range joiner.coord.work.jobs {
			if began && j.kind == jobOwn && j.parent.height+8 < high {
				t.Fatalf("job %d is on height %d of %d", id, j.parent.height, high)
			}
		}
	}
	if s := joiner.coord.Snapshot(); s.Syncing || s.Height+4 < f.peers[0].coord.chain.head.height {
		t.Errorf("after 500 ticks it is at %d of %d", s.Height, f.peers[0].coord.chain.head.height)
	}
}

// TestLongLogIsFetchedFasterThanFolded: a joiner drops what lies far below its head while it still folds what it
// fetched long before.
func TestLongLogIsFetchedFasterThanFolded(t *testing.T) {
	if testing.Short() {
		t.Skip("makes a log of a thousand entries")
	}
	least := baseLeast
	t.Cleanup(func() { baseLeast = least })
	baseLeast = 1 << 20 // it folds the run from the genesis on
	f := newNextField(t, 4, 2, 0)
	f.pass(5000)
	quick := production()
	quick.Decisive, quick.Audit = 0, 0
	joiner := f.add("joiner", quick)
	f.folds = func(m *member) bool { return m != joiner }
	f.each = func(int) {
		if fold := joiner.fold; fold != nil && f.now%3 == 0 {
			joiner.fold = nil
			f.step(joiner, foldNow(f.rules, joiner.disk, fold))
		}
	}
	f.start(joiner)
	ahead := uint64(0)
	for range 500 {
		f.pass(1)
		for _, n := range joiner.coord.chain.tips {
			ahead = max(ahead, n.height-joiner.coord.chain.head.height)
		}
	}
	c := joiner.coord
	if c.chain.root.height == 0 || ahead < keepDepth+windowDepth || c.joining() || c.chain.head.height+4 < f.peers[0].coord.chain.head.height {
		t.Errorf("at %d of %d, the root at %d; it had %d entries to fold", c.chain.head.height, f.peers[0].coord.chain.head.height, c.chain.root.height, ahead)
	}
}

// TestPromisesAreNotBelieved: a hub that gave many entries, and then says that it has thousands more, keeps nobody from
// voting and working for longer than it takes to ask it.
func TestPromisesAreNotBelieved(t *testing.T) {
	for _, silent := range []bool{false, true} { // from when it has given all that it has
		f := newNextField(t, 4, 3, 0)
		f.pass(200)
		victim, liar := f.peers[1], f.peers[2]
		f.powerDown(victim)
		f.pass(200)
		behind := true
		f.swap = func(from, to *member, m Message) Message {
			switch x := m.(type) {
			case *Status:
				if from == liar {
					more := *x
					more.Head, more.Height, more.Weight = seedlog.LinkOf([]byte("more")), x.Height+1<<20, x.Weight+1<<50
					return &more
				}
			case *Segment:
				if to == victim && from != liar && behind || from == liar && !behind && silent {
					return nil
				}
			}
			return m
		}
		f.start(victim)
		for range 200 {
			if f.pass(1); victim.coord.chain.head.height+2 >= f.peers[0].coord.chain.head.height {
				break
			}
		}
		if behind = false; victim.coord.chain.head.height+2 < f.peers[0].coord.chain.head.height {
			t.Fatalf("at %d of %d", victim.coord.chain.head.height, f.peers[0].coord.chain.head.height)
		}
		kept := 0
		for range 400 {
			if f.pass(1); victim.coord.catchingUp() {
				kept++
			}
		}
		if kept > 100 {
			t.Errorf("silent %v: for %d of 400 ticks the victim took itself for one that catches up", silent, kept)
		}
	}
}

// TestNothingIsComputedAheadOfTheEnd: who works ahead stops once the run has ended up there, and who joins afterwards
// does not begin. Both fold what is left.
func TestNothingIsComputedAheadOfTheEnd(t *testing.T) {
	for from := uint64(150); from < 154; from++ { // a state in eight entries is asked for: the last one, or another
		t.Run(fmt.Sprint("from ", from), func(t *testing.T) { computesNothingAheadOfTheEnd(t, from) })
	}
}

func computesNothingAheadOfTheEnd(t *testing.T, from uint64) {
	f := newStaleEndingField(t, 16, seedlog.Until{Solved: true}, 3, from)
	each, slow := f.each, []*member{}
	f.folds = func(m *member) bool { return !slices.Contains(slow, m) }
	f.each = func(tick int) {
		for _, m := range slow {
			if fold := m.fold; fold != nil && f.now%10 == 0 {
				m.fold = nil
				if len(fold.Entries) > 1 { // it folds few at a time
					f.step(m, Folded{ID: fold.ID, Failed: true})
					continue
				}
				f.step(m, foldNow(f.rules, m.disk, fold))
			}
		}
		each(tick)
	}
	f.pass(600)
	if height := f.peers[0].coord.chain.head.height; height < 2*aheadLeast-16 || height >= from {
		t.Fatalf("height %d", height)
	}
	join := func(name string) *member {
		m := f.add(name, production())
		slow = append(slow, m)
		f.start(m)
		return m
	}
	early := join("early")
	f.pass(40)
	if early.coord.ahead.on == nil || early.coord.work.own == 0 {
		t.Fatal("it does not work ahead")
	}
	for i := 0; f.peers[0].coord.ended() == seedlog.Open; i++ {
		if f.pass(1); i == 600 {
			t.Fatalf("not solved at height %d", f.peers[0].coord.chain.head.height)
		}
	}
	late := join("late")
	f.pass(10)
	alone := late.coord.work.ledger.Computed // before it heard of the others
	f.pass(50)
	for _, m := range slow {
		c := m.coord
		if left := f.peers[0].coord.chain.head.height - c.chain.head.height; left < aheadLeast {
			t.Fatalf("%s lacks %d entries: no test", m.name, left)
		}
		if c.ahead.on != nil || c.work.own > 0 || c.Snapshot().Ahead > 0 {
			t.Errorf("%s computes for a run that has ended", m.name)
		}
	}
	if n := late.coord.work.ledger.Computed; n > alone {
		t.Errorf("who joined after the end has computed %d results, %d before it heard of the others", n, alone)
	}
	slow = nil
	for _, m := range []*member{early, late} {
		if fold := m.fold; fold != nil {
			m.fold = nil
			f.step(m, foldNow(f.rules, m.disk, fold))
		}
	}
	f.pass(400)
	f.checkEnded(seedlog.EndedSolved)
}
