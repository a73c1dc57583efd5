package coordinator

import (
	"bytes"
	"crypto/ed25519"
	"slices"
	"testing"

	"github.com/evoswarm/evoswarm/internal/seedlog"
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

// TestNothingIsFollowedBeforeItsReruns holds a peer's re-runs of decisive results back: meanwhile its head does not
// move over the entries that wait for them, and afterwards it does.
func TestNothingIsFollowedBeforeItsReruns(t *testing.T) {
	f := newField(t, 3, 0)
	f.pass(100)
	m := f.peers[0]
	if m == f.leader() {
		m = f.peers[1]
	}
	before, held := m.coord.chain.head.height, 0
	f.held = func(o *member, j *job) bool { return o == m && j.kind == jobDecisive }
	for range 40 {
		f.pass(1)
		for _, w := range m.tasks {
			if j := m.coord.work.jobs[w.ID]; j != nil && j.kind == jobDecisive {
				held++
				if m.coord.chain.canonical(j.node) {
					t.Fatalf("height %d is followed before its re-runs are in", j.node.height)
				}
			}
		}
	}
	if held == 0 {
		t.Fatalf("no re-runs at height %d: not what the test needs", before)
	}
	f.held = nil
	f.pass(60)
	if m.coord.chain.head.height <= before || f.low()+5 < f.leader().coord.chain.head.height {
		t.Errorf("height %d after the re-runs, %d before", m.coord.chain.head.height, before)
	}
}

// TestWrongDigestsAreNotFollowed has a leader sign an entry whose claims are true and whose digests are not: nobody
// follows it, nor what is above it, however often it comes.
func TestWrongDigestsAreNotFollowed(t *testing.T) {
	f := newField(t, 3, 0)
	f.pass(112)
	for _, m := range f.peers {
		m.coord.work.paused = true
	}
	f.pass(20)
	leader := f.leader()
	head := leader.coord.chain.head
	f.powerDown(leader)
	keys := []ed25519.PrivateKey{f.peers[0].key, f.peers[1].key}
	b := f.newBranch(leader.key, head.parentInfo(), head.state, head.weight)
	for i := range 3 {
		b.grow(head.term, f.trueClaims(b.tip.Link, b.state, keys), func(e *seedlog.Entry) {
			if i == 0 {
				e.State = bytes.Clone(e.State)
				e.State[0] ^= 1
			}
		})
	}
	f.each = func(int) {
		b.offer()
		if n := b.adopted(); n > 0 {
			t.Fatalf("%d peers follow an entry with a wrong digest", n)
		}
	}
	f.pass(100)
	for _, m := range f.peers {
		if m == leader {
			continue
		}
		sides := &m.coord.chain.sides
		if sides.refused.Len() == 0 {
			t.Errorf("%s never refused the entry", m.name)
		}
		sides.refused = newSides().refused // as after many others
		checked, err := Check(seedlog.NewChecker(f.rules), &Segment{Generations: b.generations[1:2]}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := m.coord.insert(checked.generations[0], source{key: leader.peer}); err == nil && n.usable() {
			t.Errorf("%s takes what is above a refused entry", m.name)
		}
	}
}

// TestUnelectedBranchesAreNotFollowed has a stranger put a few true entries of much work on the head, or next to it,
// without having been elected: nobody follows them.
func TestUnelectedBranchesAreNotFollowed(t *testing.T) {
	for below := range uint64(3) {
		f := newField(t, 3, 40)
		f.pass(112)
		for _, m := range f.peers {
			m.coord.work.paused = true
		}
		f.pass(20)
		c := f.peers[0].coord
		on := c.chain.canonAt(c.chain.head.height - below)
		b := f.newBranch(f.strangers[0], on.parentInfo(), on.state, on.weight)
		for range shallow - 1 {
			b.grow(c.chain.head.term+1, f.trueClaims(b.tip.Link, b.state, f.strangers), nil)
		}
		f.each = func(int) {
			b.offer()
			if n := b.adopted(); n > 0 {
				t.Fatalf("%d peers follow entries %d below the head of a leader that nobody elected", n, below)
			}
		}
		f.pass(60)
		for _, m := range f.peers {
			n := m.coord.chain.nodes[b.tip.Link]
			if n == nil || n.weight <= m.coord.chain.head.weight {
				t.Errorf("%s has no heavier branch: not what the test needs", m.name)
			}
		}
	}
}

// TestFollowedClaimsAreAudited: of peers that follow a lie, one that audits finds it, and tells all.
func TestFollowedClaimsAreAudited(t *testing.T) {
	f := newField(t, 4, 0)
	f.setAll(func(c *Config) { c.Decisive, c.Audit = 0, 0 })
	f.pass(112)
	leader := f.leader()
	lie := f.logLie()
	author := f.claim(lie.String())
	for _, m := range f.peers {
		if m != leader && m.peer != author.Peer {
			m.coord.cfg.Audit = 1024
			break
		}
	}
	told := 0
	f.spy = func(_ *member, e Envelope) {
		if _, ok := e.Message.(*FraudProof); ok && e.Scope == Gossip {
			told++
		}
	}
	f.pass(60)
	for _, m := range f.peers {
		if m.peer != author.Peer && !m.coord.faults.falseClaims[lie] {
			t.Errorf("%s does not know of the lie", m.name)
		}
	}
	if told == 0 {
		t.Error("nobody tells the others")
	}
}

// TestFalseClaimsAreNotLogged has one peer lie about all that it does: no honest leader logs a claim of it, neither
// after the re-run nor while that takes long.
func TestFalseClaimsAreNotLogged(t *testing.T) {
	f := newField(t, 4, 0)
	f.peers[3].faulty = true
	f.held = func(_ *member, j *job) bool { return j.kind == jobClaim && j.peer == f.peers[3].peer }
	f.each = func(int) {
		for _, m := range f.peers {
			for _, n := range m.coord.chain.canon {
				if n.leader != f.peers[3].peer && n.leader != (Peer{}) && slices.ContainsFunc(n.credits, func(c peerCredit) bool { return c.peer == f.peers[3].peer }) {
					t.Fatalf("%s logged a false claim at height %d", f.nameOf(n.leader), n.height)
				}
			}
		}
	}
	f.pass(60)
	f.held = nil
	f.pass(200)
	for _, m := range f.peers[:3] {
		if !m.coord.faults.peers[f.peers[3].peer] {
			t.Errorf("%s does not know the faulty peer: not what the test needs", m.name)
		}
	}
}
