package coordinator

import (
	"slices"
	"testing"
)

// setAll restarts all natives with a configuration that edit changes.
func (f *field) setAll(edit func(*Config)) {
	f.t.Helper()
	for _, m := range f.peers {
		edit(&m.cfg)
		f.powerDown(m)
	}
	for _, m := range f.peers {
		f.start(m)
	}
}

// TestLiesAreNotFollowed has a leader log a false claim that decides its entry: no other peer ever follows it.
func TestLiesAreNotFollowed(t *testing.T) {
	f := newField(t, 4, 0)
	f.setAll(func(c *Config) { c.Audit = 0 })
	f.pass(112) // past the first hand-over
	leader := f.leader()
	lie := f.logLie()
	author := f.claim(lie.String())
	others := slices.DeleteFunc(slices.Clone(f.peers), func(m *member) bool { return m == leader || m.peer == author.Peer })
	f.each = func(int) {
		for _, m := range others {
			if slices.ContainsFunc(m.coord.chain.canon, func(n *node) bool { return slices.Contains(n.claims, lie) }) {
				t.Fatalf("%s follows an entry that a lie decides", m.name)
			}
		}
	}
	before := others[0].coord.chain.head.height
	f.pass(200)
	for _, m := range others {
		if m.coord.chain.head.height < before+10 {
			t.Errorf("%s has height %d, %d before the lie", m.name, m.coord.chain.head.height, before)
		}
	}
}

// TestNothingIsFollowedBeforeItsReruns holds a peer's re-runs of decisive results back: meanwhile its head does not move
// over the entries that wait for them, and afterwards it does.
func TestNothingIsFollowedBeforeItsReruns(t *testing.T) {
	f := newField(t, 3, 0)
	f.pass(100)
	m := f.peers[0]
	if m == f.leader() {
		m = f.peers[1]
	}
	decisive := func(w Work) *job {
		if j := m.coord.work.jobs[w.ID]; j != nil && j.kind == jobDecisive {
			return j
		}
		return nil
	}
	before, held := m.coord.chain.head.height, 0
	for range 40 {
		f.now++
		for _, o := range f.peers {
			f.step(o, Passed{})
		}
		f.deliver(func(parcel) bool { return true })
		var waiting []Work
		m.tasks = slices.DeleteFunc(m.tasks, func(w Work) bool {
			if decisive(w) == nil {
				return false
			}
			waiting = append(waiting, w)
			return true
		})
		for _, o := range f.peers {
			f.work(o, false)
		}
		for _, w := range waiting {
			if j := decisive(w); j != nil && m.coord.chain.canonical(j.node) {
				t.Fatalf("height %d is followed before its re-runs are in", j.node.height)
			}
		}
		held += len(waiting)
		m.tasks = append(m.tasks, waiting...)
	}
	if held == 0 {
		t.Fatalf("no re-runs at height %d: not what the test needs", before)
	}
	f.pass(60)
	if m.coord.chain.head.height <= before || f.low()+5 < f.leader().coord.chain.head.height {
		t.Errorf("height %d after the re-runs, %d before", m.coord.chain.head.height, before)
	}
}
