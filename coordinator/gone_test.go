package coordinator

import (
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// cut drops what lies below the state of a height, as the store does: the entries of the window below it stay.
func (m *memory) cut(t testing.TB, need []seedlog.Link, height uint64) {
	t.Helper()
	if m.summaries[height] == nil {
		t.Fatalf("there is no state of height %d", height)
	}
	m.gone = height - windowDepth - 1
	for h := range m.summaries { //lint:sorted each on its own
		if h < height {
			delete(m.summaries, h)
		}
	}
	kept := map[seedlog.Link][]byte{}
	for _, l := range need {
		if data, ok := m.blocks[l]; ok {
			kept[l] = data
		}
	}
	for i := m.gone; i < uint64(len(m.chain)); i++ {
		kept[m.chain[i]], kept[m.seals[i]] = m.blocks[m.chain[i]], m.blocks[m.seals[i]]
		e, err := seedlog.ReadEntry(m.blocks[m.chain[i]], m.Block)
		if err != nil {
			t.Fatal(err)
		}
		for _, named := range e.Named() {
			kept[named] = m.blocks[named]
		}
	}
	m.blocks = kept
}

// drop has peers drop the older part of their chains, and start again.
func (f *field) drop(all ...*member) {
	f.t.Helper()
	for _, m := range all {
		height := uint64(0)
		for h := range m.disk.summaries { //lint:sorted the greatest
			height = max(height, h)
		}
		need := m.coord.Needs()
		f.powerDown(m)
		m.disk.cut(f.t, need, height)
		f.start(m)
	}
}

// vouched reports whether a peer has signed a checkpoint.
func (m *member) vouched() bool { return m.coord.hard.Vouched > 0 }

// TestDroppedPast: peers that dropped the past restart from what is left, lead, log and vote as before, and a newcomer
// begins at a base and folds the past from the one that has it, asking nobody else.
func TestDroppedPast(t *testing.T) {
	f, newcomer, slow := newBaseField(t)
	f.drop(f.peers[:2]...)
	for _, m := range f.peers[:2] {
		if s := m.coord.Snapshot(); s.First != m.disk.gone+1 || s.First < 2 || s.Base != 0 || m.coord.status().Gone != m.disk.gone {
			t.Errorf("%s has the chain from %d on, %d are gone, base %d", m.name, s.First, m.disk.gone, s.Base)
		}
	}
	height := f.peers[0].coord.chain.head.height
	f.pass(200)
	if f.peers[0].coord.chain.head.height < height+20 || f.peers[0].linkAt(height+10) != f.peers[2].linkAt(height+10) {
		t.Fatalf("at %d, before %d", f.peers[0].coord.chain.head.height, height)
	}
	f.start(newcomer)
	f.await(500, "the newcomer is there", newcomer.here)
	f.quicken(newcomer, slow)
	asked := 0
	f.swap = func(from, to *member, m Message) Message {
		if pull, ok := m.(*Pull); ok && from == newcomer && newcomer.coord.based != nil && newcomer.coord.based.past != nil && pull.Locator[0] == newcomer.coord.based.past.chain.head.link &&
			newcomer.coord.based.past.chain.head.height < to.disk.gone {
			asked++
		}
		return m
	}
	f.await(900, "the newcomer has folded the run", newcomer.whole)
	if asked > 0 || newcomer.disk.gone > 0 {
		t.Errorf("%d questions went to those who have nothing of it", asked)
	}
	for _, m := range f.peers {
		f.await(900, m.name+" signs checkpoints", m.vouched)
	}
}

// TestPastIsGone: all have dropped the past. A newcomer comes to the head, votes and works, says that nobody has
// the past, signs checkpoints from then on, survives a restart, and brings another one in when all the others have
// left.
func TestPastIsGone(t *testing.T) {
	f, newcomer, slow := newBaseField(t)
	f.drop(f.peers[:3]...)
	*slow = false
	said := 0
	f.notes = func(m *member, n Note) {
		if m == newcomer && strings.HasPrefix(n.Text, "nobody here has the older entries") {
			said++
		}
	}
	f.pass(100)
	f.swap = func(from, _ *member, m Message) Message {
		b := newcomer.coord.based
		if pull, ok := m.(*Pull); ok && from == newcomer && b != nil && f.now > b.since+2 && pull.Locator[0] == f.rules.Run { // before it began it did
			t.Errorf("%d: asks for the past, which nobody has", f.now)
		}
		return m
	}
	f.start(newcomer)
	f.await(100, "the newcomer begins", func() bool { return newcomer.coord.based != nil })
	f.pass(1)
	c := newcomer.coord
	if s := c.Snapshot(); s.Lost || newcomer.vouched() || c.status().Gone != s.Base || s.First != s.Base+1 {
		t.Errorf("at once: lost %v, first %d, base %d", s.Lost, s.First, s.Base)
	}
	f.await(500, "the newcomer is there", newcomer.here)
	f.await(1000, "it says that nobody has the past", func() bool { return c.Snapshot().Lost })
	f.await(600, "it signs checkpoints", newcomer.vouched)
	f.pass(600)
	if s := c.Snapshot(); s.Folded != 0 || said != 1 || s.Height+4 < f.peers[0].coord.chain.head.height || c.chain.weights()[newcomer.peer] == 0 {
		t.Errorf("%d folded, said it %d times, at %d of %d", s.Folded, said, s.Height, f.peers[0].coord.chain.head.height)
	}
	f.swap = nil
	f.powerDown(newcomer)
	f.start(newcomer)
	f.pass(50)
	for _, m := range f.peers[:3] {
		f.powerDown(m)
	}
	height := newcomer.coord.chain.head.height
	link := newcomer.linkAt(height - 4)
	second := f.add("second", production())
	f.start(second)
	f.await(1500, "another newcomer comes in", func() bool { return second.here() && second.coord.chain.head.height > height+20 })
	if second.linkAt(height-4) != link {
		t.Error("the second newcomer has another chain")
	}
}

// TestLaggardOfDroppedPast: who was away while the others dropped what it lacks begins at a base, and is back.
func TestLaggardOfDroppedPast(t *testing.T) {
	f, laggard, slow := newBaseField(t)
	*slow = false
	const had = 100
	laggard.disk = f.peers[0].disk.clone()
	laggard.disk.chain, laggard.disk.seals, laggard.disk.state, laggard.disk.summaries = laggard.disk.chain[:had:had], laggard.disk.seals[:had:had], nil, nil
	laggard.cfg.Archive = laggard.disk
	f.drop(f.peers[:3]...)
	f.pass(100)
	heard := f.now + 200 // when it has long folded what it has
	f.swap = func(from, _ *member, m Message) Message {
		if _, ok := m.(*Seek); ok && f.now < heard {
			return nil
		}
		return m
	}
	f.start(laggard)
	f.await(900, "it is back", func() bool {
		return laggard.coord.chain.head.height+4 > f.peers[0].coord.chain.head.height && !laggard.coord.Snapshot().Syncing
	})
	if s := laggard.coord.Snapshot(); s.Base == 0 || s.Folded != had {
		t.Errorf("begins at %d, %d are folded", s.Base, s.Folded)
	}
	f.pass(300)
	if laggard.coord.chain.weights()[laggard.peer] == 0 {
		t.Error("none of its work is logged")
	}
}

// TestStrangersTakeNobodyAway: hubs of strangers say that they have a long chain from some height on. A peer of
// the swarm asks them for no base, whether its chain grows or another one shares it.
func TestStrangersTakeNobodyAway(t *testing.T) {
	f, _, _ := newBaseField(t)
	victim := f.peers[1]
	f.swap = func(from, to *member, m Message) Message {
		if _, ok := m.(*Seek); ok {
			t.Errorf("%s asks %s for a base", from.name, to.name)
		}
		if s, ok := m.(*Status); ok && from == f.peers[2] {
			lie := *s
			lie.Head, lie.Height, lie.Weight, lie.Gone = seedlog.LinkOf([]byte("other")), s.Height+1<<20, s.Weight+1<<40, s.Height+1<<19
			return &lie
		}
		return m
	}
	f.pass(600)
	if s := victim.coord.Snapshot(); s.Base > 0 || victim.coord.stranded() {
		t.Errorf("begins at %d", s.Base)
	}
	c, came := victim.coord, victim.coord.lastEntry
	c.lastEntry = 0
	if c.stranded() {
		t.Error("stranded, although others share its chain")
	}
	for _, h := range c.members.heard {
		h.Head = seedlog.LinkOf([]byte("other")) // as if all followed the strangers
		if h.peer != f.peers[2].peer {
			h.Height = 1
		}
	}
	if !c.stranded() {
		t.Error("not stranded, although nothing moves, and nobody shares its chain")
	}
	if c.lastEntry = came; c.stranded() {
		t.Error("stranded, although its chain grows")
	}
	if !c.Elsewhere() {
		t.Error("does not know that another hub has the whole run")
	}
}

// TestCuttable: a chain may be cut below what is final, or some way below the head where nothing becomes final, never
// while entries below come back, and not in a run where nobody begins at a base.
func TestCuttable(t *testing.T) {
	l := newLone(t)
	l.grow(4 * keepDepth)
	c := l.coord
	if got := c.Cuttable(); got != 0 {
		t.Errorf("in a run without bases: %d", got)
	}
	spec := *c.rules.Spec
	spec.SpotChecks = &seedlog.SpotChecks{First: 1, Share: 32}
	c.rules = &seedlog.Rules{Spec: &spec}
	head, root := c.chain.head.height, c.chain.root.height
	if got := c.Cuttable(); got == 0 || got > root || got+cutDepth > head {
		t.Errorf("to %d; the head is at %d, the root at %d", got, head, root)
	}
	c.checkpoints.final = &finality{Height: 600}
	if got := c.Cuttable(); got != 600 {
		t.Errorf("to %d, 600 is final", got)
	}
	c.recall.asked = true
	if got := c.Cuttable(); got != 0 {
		t.Errorf("to %d while entries come back", got)
	}
	c.recall.asked = false
	c.chain.head.height = 600 + staleFinal + 1 // as if nothing had become final for long
	if got := c.Cuttable(); got != root {
		t.Errorf("to %d long after the last final entry, the root is at %d", got, root)
	}
}

// TestBranchBelowWhatIsKept: a branch that leaves the chain below what a peer keeps is not followed; it says what
// to do.
func TestBranchBelowWhatIsKept(t *testing.T) {
	f, _, _ := newBaseField(t)
	f.drop(f.peers[0])
	said := ""
	f.notes = func(_ *member, n Note) { said = n.Text }
	c := f.peers[0].coord
	c.out = Actions{}
	c.bringBack(c.cfg.Archive.First() - 2)
	if len(c.out.Notes) != 1 || !strings.Contains(c.out.Notes[0].Text, "join afresh") || c.out.Recall != nil {
		t.Errorf("notes %v, said %q, recall %v", c.out.Notes, said, c.out.Recall)
	}
}
