package coordinator

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

const (
	testInterval = 32
	testOld      = 256 // how long the run is
)

// baseStale is max_stale of the runs whose newcomers begin at a base.
var baseStale uint64 = 4

// oldRun is what the disks of natives hold of a run of format 2, and oldFreshRun of one without stale
// claims.
var oldRun, oldFreshRun = sync.OnceValue(func() []*memory { return growOldRun(4) }), sync.OnceValue(func() []*memory { return growOldRun(0) })

func growOldRun(stale uint64) []*memory {
	f := newNextField(new(testing.B), stale, 3, 0)
	f.checker = seedlog.NewChecker(f.rules)
	f.until(testOld)
	var disks []*memory
	for _, m := range f.peers {
		disks = append(disks, m.disk)
	}
	return disks
}

func (m *memory) clone() *memory {
	return &memory{blocks: maps.Clone(m.blocks), state: slices.Clone(m.state), chain: slices.Clone(m.chain), seals: slices.Clone(m.seals), gone: m.gone, summaries: maps.Clone(m.summaries)}
}

// newBaseField is a run that is long already, and a newcomer that never folds what lies below its base, as long as it
// is slow. It is not started yet.
func newBaseField(t testing.TB) (f *field, newcomer *member, pastIsSlow *bool) {
	t.Helper()
	interval, least := markEvery, baseLeast
	t.Cleanup(func() { markEvery, baseLeast = interval, least })
	markEvery, baseLeast = testInterval, 64
	f = newNextField(t, baseStale, 3, 0)
	f.checker = seedlog.NewChecker(f.rules)
	old := oldRun
	if baseStale == 0 {
		old = oldFreshRun
	}
	for i, m := range f.peers {
		f.powerDown(m)
		m.disk = old()[i].clone()
		m.cfg.Archive = m.disk
	}
	f.now = 10000
	for _, m := range f.peers {
		f.start(m)
	}
	f.pass(100)
	newcomer = f.add("newcomer", production())
	pastIsSlow = new(bool)
	*pastIsSlow = true
	f.notes = func(m *member, n Note) {
		if n.Kind != NoteLeader {
			t.Logf("%d %s: %s", f.now, m.name, n.Text)
		}
	}
	f.slow = func(m *member, fold *Fold) bool {
		b := m.coord.based
		return *pastIsSlow && m == newcomer && (b == nil || b.past != nil && b.past.folds.underway != nil && b.past.folds.underway.id == fold.ID)
	}
	return f, newcomer, pastIsSlow
}

// quicken has a peer do its folds from now on.
func (f *field) quicken(m *member, slow *bool) {
	*slow = false
	if fold := m.fold; fold != nil {
		m.fold = nil
		f.fold(m, fold)
	}
}

// await lets time pass until something is so.
func (f *field) await(ticks int, what string, so func() bool) {
	f.t.Helper()
	for ; !so(); ticks-- {
		if f.pass(1); ticks == 0 {
			f.t.Fatalf("not in time: %s", what)
		}
	}
}

// here reports whether a peer begins at a base, and has come to the head.
func (m *member) here() bool {
	s := m.coord.Snapshot()
	return s.Base > 0 && !s.Syncing
}

// whole reports whether a peer has folded the run from the genesis on.
func (m *member) whole() bool { return m.coord.based == nil && !m.coord.Snapshot().Syncing }

// linkAt is the link of a peer's canonical entry of a height.
func (m *member) linkAt(height uint64) seedlog.Link {
	link, _ := m.coord.chain.linkAt(height)
	return link
}

// TestNewcomerBeginsAtABase: who joins a long run has its head, its vote and its work within seconds, although it has
// folded next to nothing of what lies below. Once it has, its figures are those of the others, and its archive is
// whole.
func TestNewcomerBeginsAtABase(t *testing.T) {
	f, newcomer, slow := newBaseField(t)
	f.start(newcomer)
	c, others := newcomer.coord, f.peers[0].coord
	f.await(500, "the newcomer is there", newcomer.here)
	s := c.Snapshot()
	if n := c.chain.head.sample.draws; n < auditResults/2 {
		t.Errorf("%d results above the base were re-run", n)
	}
	t.Logf("begins at %d, at %d of %d; %d of the past are folded", s.Base, s.Height, others.chain.head.height, s.Folded)
	f.pass(200)
	s = c.Snapshot()
	if s.Folded > testInterval || s.Height+4 < others.chain.head.height {
		t.Fatalf("at %d of %d, %d folded", s.Height, others.chain.head.height, s.Folded)
	}
	low := min(c.chain.head.height, others.chain.head.height)
	if w, v := recentWeights(others.chain.canonAt(low)), recentWeights(c.chain.canonAt(low)); w[newcomer.peer] == 0 || !maps.Equal(w, v) {
		t.Errorf("votes weigh %v for others, %v for the newcomer", w, v)
	}
	if c.hard.Vouched > 0 {
		t.Error("the newcomer vouches for what it has not folded")
	}
	f.quicken(newcomer, slow)
	f.await(600, "the past is folded", func() bool { return c.based.past == nil })
	f.pass(1)
	f.powerDown(newcomer) // while the archive is being filled
	f.start(newcomer)
	c = newcomer.coord
	f.await(500, "the archive is whole", newcomer.whole)
	f.pass(50)
	if c.based != nil || uint64(len(newcomer.disk.chain)) != c.chain.head.height {
		t.Fatalf("verified %v; the archive has %d of %d entries", c.based == nil, len(newcomer.disk.chain), c.chain.head.height)
	}
	at := min(c.chain.head.height, others.chain.head.height)
	x, y := c.chain.canonAt(at), others.chain.canonAt(at)
	if x.link != y.link || x.weight != y.weight || x.evaluations != y.evaluations || x.steps != y.steps {
		t.Errorf("weight %d, %d evaluations, %d steps; of others %d, %d, %d", x.weight, x.evaluations, x.steps, y.weight, y.evaluations, y.steps)
	}
	if x, y := c.chain.creditsAt(at), others.chain.creditsAt(at); !maps.Equal(x, y) {
		t.Errorf("credits %v, of others %v", x, y)
	}
	f.pass(200)
	if c.hard.Vouched == 0 {
		t.Error("the newcomer does not vouch once it has folded all")
	}
	f.powerDown(newcomer)
	f.start(newcomer)
	f.pass(100)
	if c := newcomer.coord; c.based != nil || c.chain.head.height+4 < others.chain.head.height {
		t.Errorf("after a restart at %d of %d", c.chain.head.height, others.chain.head.height)
	}
}

// TestNothingIsLostWithABase: all who have folded the run leave right after a newcomer began at a base. It leads, goes
// on where they were, survives a restart, brings others in, and meets one of the old members again.
func TestNothingIsLostWithABase(t *testing.T) {
	f, newcomer, slow := newBaseField(t)
	f.start(newcomer)
	f.await(400, "the newcomer is there", newcomer.here)
	f.pass(100)
	old := slices.Clone(f.peers[:3])
	height := old[0].coord.chain.head.height - 4
	for _, m := range old {
		f.powerDown(m)
	}
	link := newcomer.linkAt(height)
	f.pass(400)
	if c := newcomer.coord; c.election.role != Leader || c.chain.head.height < height+20 || newcomer.linkAt(height) != link {
		t.Fatalf("role %v at height %d, the others left at %d", c.election.role, c.chain.head.height, height)
	}
	left := newcomer.coord.chain.head
	f.powerDown(newcomer)
	f.start(newcomer)
	if newcomer.coord.chain.head.link != left.link {
		t.Fatalf("after a restart at %d, was at %d", newcomer.coord.chain.head.height, left.height)
	}
	second := f.add("second", production())
	f.start(second)
	f.await(600, "another newcomer has re-run what it drew", func() bool { return second.coord.chain.head.height >= left.height+4 })
	if second.linkAt(left.height) != left.link {
		t.Fatalf("it is on another branch, base %d", second.coord.Snapshot().Base)
	}
	f.start(old[1])
	f.quicken(newcomer, slow)
	f.await(1200, "all have folded the run", func() bool { return newcomer.whole() && second.whole() })
	for _, m := range []*member{newcomer, second, old[1]} {
		if c := m.coord; m.linkAt(left.height) != left.link || c.based != nil {
			t.Errorf("%s has the entry of height %d: %v; base %d, %d are folded", m.name, left.height, m.linkAt(left.height) == left.link, c.Snapshot().Base, c.Snapshot().Folded)
		}
	}
}

// lies has some hubs send something else than a base to the newcomer, and the first that it asks for a part of its
// state something else than that.
func (f *field) lies(newcomer *member, hubs int, base func(*Base) Message, part func(*Part) Message) {
	var first *member
	f.swap = func(from, to *member, m Message) Message {
		if to != newcomer {
			return m
		}
		switch m := m.(type) {
		case *Base:
			if !slices.Contains(f.peers[:hubs], from) {
				return m
			}
			copied := *m
			copied.Parts = slices.Clone(m.Parts)
			return base(&copied)
		case *Part:
			if to.coord.seeking.with == nil || m.Height != to.coord.seeking.height {
				return m
			}
			if first == nil {
				first = from
			}
			if from != first {
				return m
			}
			copied := *m
			copied.Data = slices.Clone(m.Data)
			return part(&copied)
		}
		return m
	}
}

// TestBadBases: what one hub says that is not so, or withholds, keeps nobody from beginning at the base of the others,
// and from none of what it says anything follows.
func TestBadBases(t *testing.T) {
	base, part := func(m *Base) Message { return m }, func(m *Part) Message { return m }
	for _, tt := range []struct {
		name string
		base func(*Base) Message
		part func(*Part) Message
		with bool // whether the hub is one of those that gave the base
	}{
		{"other digests", func(m *Base) Message { m.Parts[0] ^= 1; return m }, part, false},
		{"other counts", func(m *Base) Message { m.Evaluations++; return m }, part, false},
		{"other steps", func(m *Base) Message { m.Steps -= 10; return m }, part, false},
		{"a large state", func(m *Base) Message { m.Size, m.Parts = 1<<30, make([]byte, 32<<12); return m }, part, false},
		{"more digests than parts", func(m *Base) Message { m.Parts = append(m.Parts, m.Parts...); return m }, part, false},
		{"an invented weight", func(m *Base) Message { m.Weight = 1 << 60; return m }, part, true},
		{"nothing", func(*Base) Message { return nil }, part, false},
		{"another state", base, func(m *Part) Message { m.Data[len(m.Data)-1] ^= 1; return m }, true},
		{"half a part", base, func(m *Part) Message { m.Data = m.Data[:len(m.Data)/2]; return m }, true},
		{"no part", base, func(*Part) Message { return nil }, true},
		{"a part that nobody asked for", base, func(m *Part) Message { m.Offset, m.Entry, m.Seal = aheadPart, []byte{}, []byte{}; return m }, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, newcomer, _ := newBaseField(t)
			f.lies(newcomer, 1, tt.base, tt.part)
			f.start(newcomer)
			f.await(100, "it begins at a base", func() bool { return newcomer.coord.based != nil })
			b, root := newcomer.coord.based, newcomer.coord.chain.root
			if got := slices.Contains(b.From, f.peers[0].peer); got != tt.with {
				t.Errorf("whether the hub counts as one of those that gave it: %v", got)
			}
			if want := f.peers[1].coord.chain.canonAt(b.height); root.link != want.link || root.weight != want.weight || root.evaluations != want.evaluations || root.steps != want.steps || root.state.Digest() != want.state.Digest() {
				t.Errorf("begins at height %d with weight %d, %d evaluations, %d steps", b.height, root.weight, root.evaluations, root.steps)
			}
		})
	}
}

// TestHubsDisagree: where hubs contradict each other and no side is the larger, a newcomer folds the run from the
// genesis on, as ever.
func TestHubsDisagree(t *testing.T) {
	f, newcomer, slow := newBaseField(t)
	f.powerDown(f.peers[2])
	f.lies(newcomer, 1, func(m *Base) Message { m.Parts[0] ^= 1; return m }, func(m *Part) Message { return m })
	f.start(newcomer)
	f.pass(60)
	if c := newcomer.coord; c.based != nil {
		t.Fatalf("begins at %d", c.based.height)
	}
	f.quicken(newcomer, slow)
	f.await(600, "the run is folded", newcomer.whole)
}

// TestFiguresOfABase: all hubs invent what the run has weighed so far. The newcomer works with that, and once it has
// folded the past it has the true figures.
func TestFiguresOfABase(t *testing.T) {
	f, newcomer, slow := newBaseField(t)
	f.lies(newcomer, 3, func(m *Base) Message { m.Evaluations, m.Steps, m.Weight = 1, 2, 3; return m }, func(m *Part) Message { return m })
	f.start(newcomer)
	f.pass(60)
	if c := newcomer.coord; c.based == nil || c.chain.root.weight >= 3 {
		t.Fatal("no base, or it weighs more than it has steps")
	}
	f.quicken(newcomer, slow)
	f.await(800, "the run is folded", newcomer.whole)
	c, others := newcomer.coord, f.peers[0].coord
	at := min(c.chain.head.height, others.chain.head.height)
	x, y := c.chain.canonAt(at), others.chain.canonAt(at)
	if c.based != nil || x.weight != y.weight || x.evaluations != y.evaluations || x.steps != y.steps {
		t.Errorf("weight %d, %d evaluations, %d steps; of others %d, %d, %d", x.weight, x.evaluations, x.steps, y.weight, y.evaluations, y.steps)
	}
}

// TestBaseOnAFalseEntry: an entry below the base is false. The newcomer sees that when it folds it, follows the chain
// up from there to the base, and gives that up, and says who described it.
func TestBaseOnAFalseEntry(t *testing.T) {
	f, newcomer, slow := newBaseField(t)
	const at = 40
	f.spoil = func(m *member, fold *Fold, e *Folded) {
		if i := at - 1 - int(fold.State.Gen); m == newcomer && i >= 0 && i < len(e.Steps) {
			e.Steps[i].Digest[0] ^= 1
		}
	}
	said := ""
	f.notes = func(m *member, n Note) {
		if m == newcomer && n.Kind == NoteSync {
			said = n.Text
		}
	}
	f.start(newcomer)
	f.await(400, "the newcomer is there", newcomer.here)
	f.quicken(newcomer, slow)
	f.await(400, "it gives up the base", func() bool { return newcomer.coord.based == nil })
	c := newcomer.coord
	if c.based != nil || c.chain.head.height >= at || newcomer.linkAt(c.chain.head.height) != f.peers[0].linkAt(c.chain.head.height) {
		t.Errorf("at height %d, base %d", c.chain.head.height, c.Snapshot().Base)
	}
	if !strings.Contains(said, f.peers[0].peer.Short()) {
		t.Errorf("says %q", said)
	}
	f.powerDown(newcomer)
	f.start(newcomer)
	if c := newcomer.coord; c.based != nil || c.chain.head.height >= at {
		t.Errorf("after a restart at height %d, base %d", c.chain.head.height, c.Snapshot().Base)
	}
}

// TestForgedRun: a newcomer that hears forgers alone begins at a base of theirs. It leaves that once it meets the
// swarm, whose chain it folds from the genesis on.
func TestForgedRun(t *testing.T) {
	f, newcomer, slow := newBaseField(t)
	forged := newNextField(t, 4, 0, 0)
	forged.capacity, forged.checker = 1, f.checker
	for _, name := range []string{"n1", "f2"} { // the origin's key begins another run
		forged.add(name, production())
	}
	for _, m := range forged.peers {
		forged.start(m)
	}
	forged.until(testOld / 2)
	f.split, newcomer.side = true, true
	for _, m := range forged.peers {
		x := f.add("forger "+m.name, production())
		x.disk, x.side = m.disk, true
		x.cfg.Archive = x.disk
		f.start(x)
	}
	f.pass(40)
	f.start(newcomer)
	f.await(600, "it begins at the forgers' base", newcomer.here)
	newcomer.side = false
	f.quicken(newcomer, slow)
	c, others := newcomer.coord, f.peers[0].coord
	f.await(1200, "it has the swarm's chain", func() bool { return c.based == nil && c.chain.head.height+4 >= others.chain.head.height })
	if at := c.chain.head.height - 4; newcomer.linkAt(at) != f.peers[0].linkAt(at) {
		t.Error("it has another chain")
	}
}

// TestBasesWithoutStaleClaims: the same holds in runs whose claims lie on the head alone.
func TestBasesWithoutStaleClaims(t *testing.T) {
	baseStale = 0
	defer func() { baseStale = 4 }()
	t.Run("newcomer", TestNewcomerBeginsAtABase)
	t.Run("nothing is lost", TestNothingIsLostWithABase)
	t.Run("bad bases", TestBadBases)
	t.Run("false entry", TestBaseOnAFalseEntry)
	t.Run("dropped past", TestDroppedPast)
	t.Run("past is gone", TestPastIsGone)
	t.Run("laggard", TestLaggardOfDroppedPast)
}

// TestAnswersOfOnePeer: a peer that is asked for the past and for what lies above it may answer both at a time, and no
// more than that.
func TestAnswersOfOnePeer(t *testing.T) {
	f, newcomer, _ := newBaseField(t)
	f.start(newcomer)
	f.await(500, "the newcomer has a base", func() bool { b := newcomer.coord.based; return b != nil && b.past != nil })
	f.holdSegments(newcomer)
	c := newcomer.coord
	var asked Peer
	f.await(500, "a peer is asked for both", func() bool {
		return slices.ContainsFunc(f.peers, func(m *member) bool {
			q := c.members.pulls[m.peer]
			asked = m.peer
			return q != nil && q.asked && c.based.expects(m.peer)
		})
	})
	if got := c.Answers(asked); got != 2 {
		t.Errorf("%d answers of that peer are worth checking, want 2", got)
	}
	if stranger := (Peer{1}); c.Answers(stranger) != 0 || c.Expects(stranger, &Segment{}) {
		t.Error("answers of a peer that was asked for nothing are checked")
	}
}

// TestAnswerForThePastIsVerified: who asks for what lies below the base waits for answers that are verified, too.
func TestAnswerForThePastIsVerified(t *testing.T) {
	f, newcomer, _ := newBaseField(t)
	held, give := f.holdSegments(newcomer)
	hold := f.swap
	f.swap = func(from, to *member, m Message) Message {
		if b := newcomer.coord.based; b != nil && b.past != nil && b.past.members.pulls[from.peer] != nil {
			return hold(from, to, m)
		}
		return m
	}
	f.start(newcomer)
	f.await(500, "the past has an answer", func() bool { return len(*held) > 0 })
	c, from := newcomer.coord, (*held)[0].from.peer
	if c.Arrived(from, (*held)[0].message); c.based.past.members.pulls[from].came == 0 {
		t.Error("the past does not know that its answer is verified")
	}
	if give(1); c.based.past.members.pulls[from].came > 0 {
		t.Error("the past does not know that its answer was verified")
	}
}
