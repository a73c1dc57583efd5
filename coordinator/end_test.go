package coordinator

import (
	"bytes"
	"testing"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// newEndingField is a field whose run ends as until says. States pass the test from a height on; who evaluates them on
// held-out episodes finds so at every fifth height.
func newEndingField(t *testing.T, until seedlog.Until, natives int, from uint64) *field {
	return newStaleEndingField(t, 4, until, natives, from)
}

func newStaleEndingField(t *testing.T, stale uint64, until seedlog.Until, natives int, from uint64) *field {
	spec := *newNextField(t, stale, 1, 0).rules.Spec
	spec.Until = &until
	return endingField(t, spec, natives, from)
}

// newBestEndingField is one that ends once solved, and marks its best state.
func newBestEndingField(t *testing.T, best *seedlog.BestState, natives int, from uint64) *field {
	spec := *newNextField(t, 4, 1, 0).rules.Spec
	spec.Until, spec.Best = &seedlog.Until{Solved: true}, best
	return endingField(t, spec, natives, from)
}

func endingField(t *testing.T, spec seedlog.Spec, natives int, from uint64) *field {
	spec.Nonce = bytes.Repeat([]byte{1}, 16)
	rules, err := seedlog.NewRules(&spec)
	if err != nil {
		t.Fatal(err)
	}
	f := newFieldOf(t, rules, natives, 0)
	f.capacity = 2
	f.returns = func(_ *member, on *node) []float64 {
		if on.height >= from {
			return []float64{rules.Env.SolvedReturn}
		}
		return []float64{rules.Env.SolvedReturn - 1e-9}
	}
	f.each = func(int) {
		for _, m := range f.peers {
			if m.coord == nil {
				continue
			}
			if head := m.coord.chain.head; head.height%5 == 0 && head.height > 0 {
				f.step(m, Promising{head.link})
			}
		}
	}
	return f
}

// checkEnded fails unless all have the same last entry, and work no more.
func (f *field) checkEnded(want seedlog.End) *node {
	f.t.Helper()
	head := f.peers[0].coord.chain.head
	for _, m := range f.peers {
		s := m.coord.Snapshot()
		if s.End != want || s.Head != head.link || s.Testing {
			f.t.Fatalf("%s: ended by %q at height %d (testing: %t), want %q at %d", m.name, s.End, s.Height, s.Testing, want, head.height)
		}
		for _, j := range m.coord.work.jobs {
			if j.kind == jobOwn && j.parent == m.coord.chain.head {
				f.t.Errorf("%s computes for a run that has ended", m.name)
			}
		}
		if len(m.coord.faults.peers) > 0 {
			f.t.Errorf("%s holds %d peers for faulty", m.name, len(m.coord.faults.peers))
		}
	}
	return head
}

// The run ends with an entry that names a state that passed the test, and stays so when its leader dies. Who joins or
// restarts later finds that out.
func TestRunEndsSolved(t *testing.T) {
	f := newEndingField(t, seedlog.Until{Solved: true}, 4, 12)
	f.pass(400)
	head := f.checkEnded(seedlog.EndedSolved)
	if head.solved < 12 || head.height-1-head.solved > seedlog.MaxSolvedAge {
		t.Errorf("the entry of height %d names height %d, want one from 12 on", head.height, head.solved)
	}
	if s := f.peers[1].coord.Snapshot(); s.StateHeight != head.solved || s.Solved != head.solved {
		t.Errorf("the state of height %d is shown, that of %d passed", s.StateHeight, head.solved)
	}
	for _, m := range f.peers {
		if m.coord.election.role == Leader {
			f.powerDown(m)
			f.pass(200)
			f.start(m)
			break
		}
	}
	term := f.peers[1].coord.Snapshot().Term
	f.start(f.add("n5", production()))
	f.pass(600) // it re-runs 400 results first
	if now := f.peers[1].coord.Snapshot().Term; now != term {
		t.Errorf("term %d, then %d: leaders are chosen for a run that has ended", term, now)
	}
	if again := f.checkEnded(seedlog.EndedSolved); again != f.peers[0].coord.chain.head || again.link != head.link {
		t.Errorf("the run ended at height %d, later at %d", head.height, again.height)
	}
}

// Held-out episodes may take more entries than an entry names states of: the newest state is tested then. Those that
// the log holds need nobody's own.
func TestEndIsFoundInTime(t *testing.T) {
	for name, test := range map[string]struct {
		best *seedlog.BestState
		each func(f *field, m *member)
	}{
		"late": {nil, func(f *field, m *member) {
			if n := m.coord.chain.canonAt(m.coord.chain.head.height - min(m.coord.chain.head.height, 3*seedlog.MaxSolvedAge)); n != nil {
				f.step(m, Promising{n.link})
			}
		}},
		"forgotten": {nil, func(f *field, m *member) { f.step(m, Promising{seedlog.LinkOf([]byte("long ago"))}) }},
		"logged":    {&seedlog.BestState{Every: 8, Results: 32}, func(*field, *member) {}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newBestEndingField(t, test.best, 4, 60)
			f.each = func(int) {
				for _, m := range f.peers {
					test.each(f, m)
				}
			}
			f.pass(600)
			if head := f.checkEnded(seedlog.EndedSolved); head.solved < 60 {
				t.Errorf("the state of height %d is called solved", head.solved)
			}
		})
	}
}

// Tests that are not passed take a part of a leader's time, whatever held-out episodes say, and of nobody else's.
func TestTestsTakeAPart(t *testing.T) {
	const long = 15 // ticks
	f := newBestEndingField(t, &seedlog.BestState{Every: 8, Results: 32}, 4, 1<<40)
	tests, ticks, begun := 0, 0, make(map[*job]Tick)
	f.held = func(m *member, j *job) bool {
		if j.kind != jobTest {
			return false
		}
		if begun[j] == 0 {
			if tests++; m.coord.election.role != Leader {
				t.Errorf("%s tests a state that it cannot name", m.name)
			}
			begun[j] = f.now
		}
		return f.now < begun[j]+long
	}
	f.each = func(int) {
		for _, m := range f.peers {
			f.step(m, Promising{m.coord.chain.head.link})
			if m.coord.underTest() != nil {
				ticks++
			}
		}
	}
	const passed = 1200
	f.pass(passed)
	if tests < 8 || ticks > passed/3 {
		t.Errorf("%d tests in %d of %d ticks", tests, ticks, passed)
	}
}

// Until a peer has run the test itself, it does not say that the run has ended, and it does not compute either.
func TestEndIsNotSaidBeforeItIsChecked(t *testing.T) {
	f := newEndingField(t, seedlog.Until{Solved: true}, 3, 12)
	slow := f.peers[2] // it has tested nothing by itself
	each := f.each
	f.each = func(i int) {
		for _, m := range f.peers[:2] {
			if head := m.coord.chain.head; head.height%5 == 0 && head.height > 0 {
				f.step(m, Promising{head.link})
			}
		}
	}
	f.held = func(m *member, j *job) bool { return m == slow && j.kind == jobTest }
	f.pass(300)
	if s := slow.coord.Snapshot(); !s.Testing || s.End != seedlog.EndedSolved {
		t.Fatalf("before the test: %+v", s)
	}
	f.held, f.each = nil, each
	f.pass(20)
	f.checkEnded(seedlog.EndedSolved)
}

// Counts end the run with the first entry that reaches them.
func TestRunEndsByCount(t *testing.T) {
	for name, test := range map[string]struct {
		until   seedlog.Until
		want    seedlog.End
		reached func(n *node) bool
	}{
		"entries":     {seedlog.Until{Entries: 9}, seedlog.EndedEntries, func(n *node) bool { return n.height >= 9 }},
		"evaluations": {seedlog.Until{Evaluations: 300}, seedlog.EndedEvaluations, func(n *node) bool { return n.evaluations >= 300 }},
		"env-steps":   {seedlog.Until{Solved: true, Steps: 50_000}, seedlog.EndedSteps, func(n *node) bool { return n.steps >= 50_000 }},
	} {
		t.Run(name, func(t *testing.T) {
			f := newEndingField(t, test.until, 3, 1<<40)
			f.pass(400)
			head := f.checkEnded(test.want)
			if !test.reached(head) || test.reached(head.parent) {
				t.Errorf("ended at height %d with %d evaluations and %d steps", head.height, head.evaluations, head.steps)
			}
		})
	}
}

// A leader that ends the run with a state that did not pass loses its entry and its place, and training continues.
func TestFalseEndIsVoid(t *testing.T) {
	f := newEndingField(t, seedlog.Until{Solved: true}, 4, 1<<40)
	f.pass(100)
	faulty := f.peers[2] // which does not lead yet
	honest := f.returns
	f.returns = func(m *member, on *node) []float64 {
		if m == faulty {
			return []float64{1e9}
		}
		return honest(m, on)
	}
	f.each = func(int) { // the others have no reason to test anything
		if head := faulty.coord.chain.head; head.height > 0 {
			f.step(faulty, Promising{head.link})
		}
	}
	for i := 0; f.leader() != faulty; i++ {
		if i == 4000 {
			t.Fatal("it never led")
		}
		f.pass(1)
	}
	before := f.low()
	f.pass(500)
	for _, m := range f.peers {
		if m == faulty {
			continue
		}
		if s := m.coord.Snapshot(); s.End != seedlog.Open || s.Height < before+20 || !m.coord.faults.peers[faulty.peer] {
			t.Errorf("%s: ended by %q at height %d, %d before; faulty: %t", m.name, s.End, s.Height, before, m.coord.faults.peers[faulty.peer])
		}
	}
}

// A peer that cannot run the test believes others, and calls no state solved itself.
func TestWhoCannotTestBelieves(t *testing.T) {
	f := newEndingField(t, seedlog.Until{Solved: true}, 3, 12)
	able := f.returns
	f.returns = func(m *member, on *node) []float64 {
		if m == f.peers[0] { // the first leader
			return nil
		}
		return able(m, on)
	}
	f.pass(600)
	if head := f.checkEnded(seedlog.EndedSolved); head.leader == f.peers[0].peer {
		t.Error("a peer that cannot run the test ended the run")
	}
}

// Runs end even if a test takes longer than the entries that may name its state: the leader slows down for it, and
// nobody gives the leader up.
func TestSlowTestsEndRuns(t *testing.T) {
	const long = 200 // ticks: 40 entries
	f := newEndingField(t, seedlog.Until{Solved: true}, 4, 12)
	begun := make(map[*job]Tick)
	f.held = func(_ *member, j *job) bool {
		if j.kind != jobTest {
			return false
		}
		if begun[j] == 0 {
			begun[j] = f.now
		}
		return f.now < begun[j]+long
	}
	for range 2000 {
		f.pass(1)
		for _, m := range f.peers {
			if len(m.coord.election.liveness.rejected) > 0 {
				t.Fatalf("tick %d: %s gave a leader up", f.now, m.name)
			}
		}
	}
	if head := f.checkEnded(seedlog.EndedSolved); head.height > 60 {
		t.Errorf("the run ended at height %d", head.height)
	}
}

// A leader finishes its test before it hands over.
func TestTestOutlivesMandate(t *testing.T) {
	const long = 30 // ticks: six entries
	f := newEndingField(t, seedlog.Until{Solved: true}, 4, 12)
	var begun Tick
	f.held = func(_ *member, j *job) bool { return j.kind == jobTest && f.now < begun+long }
	f.each = func(int) {
		m := f.leader()
		if m == nil || begun > 0 {
			return
		}
		if head := m.coord.chain.head; head.height > 30 && head.height == m.coord.tenure.mandateFrom+m.coord.cfg.Mandate-3 {
			begun = f.now
			f.step(m, Promising{head.link})
		}
	}
	f.pass(600)
	f.checkEnded(seedlog.EndedSolved)
}
