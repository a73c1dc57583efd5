package coordinator

import (
	"crypto/ed25519"
	"fmt"
	"slices"
	"testing"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// lie is a false claim of one's own making on a node, with a proof by accuser that is right in the harness's world.
func (f *field) lie(m *member, parent *node, author, accuser ed25519.PrivateKey) (claim seedlog.CheckedClaim, proof *FraudProof) {
	f.t.Helper()
	claim = f.junkClaim(author, parent.link, 0)
	state := parent.state
	if state == nil {
		state = m.coord.chain.head.state // nobody gets to compare the numbers of this one
	}
	truth := f.evaluate(f.rules.Range(state, parent.link, claim.Value().Peer, 0, 1), false)
	p := f.rules.OwnProof(claim, 0, []int64{truth[0].Fitness[0]}, truth[0].Steps, accuser)
	return claim, &FraudProof{Claim: claim.Bytes(), Proof: p.Bytes()}
}

// lead has a leader log a false claim of another native: it does not check, for one entry.
func (f *field) logLie() (lie seedlog.Link) {
	f.t.Helper()
	leader := f.leader()
	var liar *member
	for _, m := range f.peers {
		if m != leader {
			liar = m
		}
	}
	c := leader.coord
	head := c.chain.head
	task := f.rules.Task(head.state, head.link, liar.peer, 0)
	claim := f.rules.OwnClaim(f.rules.Claim(head.link, liar.key, 0, f.evaluate(task, true)))
	c.work.pool.drop(liar.peer)
	c.offer(source{key: liar.peer}, claim)
	p := c.work.pool.get(poolKey{liar.peer, c.chain.head.link, 0})
	if p == nil {
		f.t.Fatal("the pool does not take the claim")
	}
	p.good = true
	f.step(leader, Passed{})
	return claim.Link()
}

// TestProofsArePublishedFewTimes: however many natives find one lie at the same time, few publish it, and all know it.
func TestProofsArePublishedFewTimes(t *testing.T) {
	natives, rounds := 40, 4
	if testing.Short() {
		natives, rounds = 20, 2
	}
	published, lies := 0, 0
	for round := range rounds {
		f := newField(t, natives, 0)
		for i, m := range f.peers {
			m.cfg.Seed = uint64(1000*round + i)
			m.cfg.Audit = 0 // all find it, by what decides the entry
			f.powerDown(m)
		}
		for _, m := range f.peers {
			f.start(m)
		}
		f.pass(100)
		f.spy = func(_ *member, e Envelope) {
			if _, ok := e.Message.(*FraudProof); ok && e.Scope == Gossip {
				published++
			}
		}
		lie := f.logLie()
		f.pass(200)
		for _, m := range f.peers {
			if !m.coord.faults.falseClaims[lie] {
				t.Fatalf("%s does not know of the lie", m.name)
			}
		}
		lies++
	}
	t.Logf("%d lies, %d publications by %d natives", lies, published, natives)
	if published > 3*lies || published < lies {
		t.Errorf("%d publications of %d lies, want 1 to 3 of each", published, lies)
	}
}

// TestAccusersNeedARecord: a proof by a key without a record, against a claim that is in no entry, costs nothing.
func TestAccusersNeedARecord(t *testing.T) {
	f := newField(t, 2, 1)
	f.pass(100)
	m := f.peers[0]
	for i := range 50 {
		_, proof := f.lie(m, m.coord.chain.head, junkKeys[i], keyOf(fmt.Sprint("accuser ", i)))
		f.tell(f.strangers[0], m, proof)
	}
	for _, j := range m.coord.work.jobs { //lint:sorted any one is wrong
		if j.kind == jobProof {
			t.Fatal("a stranger's proof is re-run")
		}
	}
	if n := m.coord.faults.pending.Len(); n > 0 {
		t.Fatalf("%d proofs of strangers wait", n)
	}
	claim, proof := f.lie(m, m.coord.chain.head, junkKeys[0], f.peers[1].key)
	f.tell(f.peers[1].key, m, proof)
	f.pass(2)
	if !m.coord.faults.falseClaims[claim.Link()] {
		t.Error("a known peer's proof was not accepted")
	}
}

// TestProofTablesTurnOver: whatever number of proofs and faulty peers there were, the newest is known, also after a
// restart, and joiners get it. The tables stay bounded, and the hard state with them.
func TestProofTablesTurnOver(t *testing.T) {
	f := newField(t, 2, 0)
	f.pass(100)
	m, accuser := f.peers[0], f.peers[1].key
	m.coord.work.paused = true
	var last seedlog.CheckedClaim
	for i := range 1100 {
		claim, proof := f.lie(m, m.coord.chain.head, junkKeys[i], accuser)
		checked, err := Check(seedlog.NewChecker(f.rules), proof, nil)
		if err != nil {
			t.Fatal(err)
		}
		f.step(m, Received{From: f.peers[1].peer, Via: f.peers[1].peer, Message: checked})
		f.work(m, false)
		last = claim
	}
	check := func(when string) {
		t.Helper()
		g := &m.coord.faults
		if !g.falseClaims[last.Link()] || !g.peers[last.Value().Peer] {
			t.Errorf("%s: the last lie is known: %v, its author is: %v", when, g.falseClaims[last.Link()], g.peers[last.Value().Peer])
		}
		if len(g.falseClaims) > maxProofs || len(g.proofs) > maxProofs || len(g.peers) > maxFaulty+maxProofs || len(m.disk.state) > 64<<10 {
			t.Errorf("%s: %d false claims, %d proofs, %d faulty peers, %d bytes of hard state", when, len(g.falseClaims), len(g.proofs), len(g.peers), len(m.disk.state))
		}
	}
	check("before the restart")
	f.powerDown(m)
	f.start(m)
	check("after the restart")
}

// TestJoinersGetProofs: a segment carries the proofs against claims that it holds, however many newer ones there are.
func TestJoinersGetProofs(t *testing.T) {
	f := newField(t, 1, 0)
	f.pass(300)
	m := f.peers[0]
	c := m.coord
	n := c.chain.canonAt(5)
	data := m.disk.blocks[n.claims[0]]
	claim, err := f.rules.KeptClaim(data, n.claims[0])
	if err != nil {
		t.Fatal(err)
	}
	c.faults.keep(FraudProof{Claim: data, Proof: []byte{1}}, [2]seedlog.Link{claim.Link(), claim.Link()}, proofSource{true, n.leader})
	for i := range 2 * newestProofs {
		newer := f.junkClaim(junkKeys[i], c.chain.head.link, 0)
		c.faults.keep(FraudProof{Claim: newer.Bytes(), Proof: []byte{1}}, [2]seedlog.Link{newer.Link(), newer.Link()}, proofSource{})
	}
	var segment *Segment
	f.spy = func(_ *member, e Envelope) {
		if s, ok := e.Message.(*Segment); ok {
			segment = s
		}
	}
	f.tell(keyOf("joiner"), m, &Pull{Locator: []seedlog.Link{f.rules.Run}})
	f.pass(10)
	if segment == nil {
		t.Fatal("no answer")
	}
	found := 0
	for _, p := range segment.Proofs {
		if string(p.Claim) == string(data) {
			found++
		}
	}
	if found != 1 || len(segment.Proofs) != 1+newestProofs {
		t.Errorf("%d proofs, %d of them against the claim in the segment", len(segment.Proofs), found)
	}
}

// TestOldParents: a proof against a claim on an old entry has few entries folded, and strangers together as few as one
// peer.
func TestOldParents(t *testing.T) {
	f := newField(t, 1, 0)
	m := f.peers[0]
	f.pass(3000)
	c := m.coord
	var old []*node
	for _, n := range c.chain.canon {
		if n.state == nil && n.height > 0 {
			old = append(old, n)
		}
	}
	if len(old) < 200 {
		t.Fatalf("%d entries without a state at height %d: not what the test needs", len(old), c.chain.head.height)
	}
	folded := 0
	c.work.paused = true // no entries of its own meanwhile
	for i := range 200 {
		n := old[len(old)-1-i]
		// Claims that entries hold, with proofs by strangers that are wrong.
		data := m.disk.blocks[n.children[0].claims[0]]
		claim, err := f.rules.KeptClaim(data, n.children[0].claims[0])
		if err != nil {
			t.Fatal(err)
		}
		p := f.rules.OwnProof(claim, f.rules.First(claim.Value()), []int64{7}, 9, junkKeys[i])
		checked, err := Check(seedlog.NewChecker(f.rules), &FraudProof{Claim: data, Proof: p.Bytes()}, nil)
		if err != nil {
			t.Fatal(err)
		}
		f.now++
		a := c.Step(f.now, Received{From: Peer{1}, Via: Peer{1}, Message: checked})
		for a.Fold != nil {
			if len(a.Fold.Entries) > pipeline {
				t.Fatalf("%d entries are folded at once", len(a.Fold.Entries))
			}
			folded += len(a.Fold.Entries)
			a = c.Step(f.now, foldNow(f.rules, m.disk, a.Fold))
		}
	}
	if limit := proofFold + 200/proofFoldTicks + pipeline; folded > limit || folded == 0 {
		t.Errorf("%d entries were folded for 200 proofs of strangers in 200 ticks, at most %d are allowed", folded, limit)
	}
}

// TestFalseAccuserStaysBanned: a peer with a record that disproves a true claim is cut off, also after a restart.
func TestFalseAccuserStaysBanned(t *testing.T) {
	f := newField(t, 3, 0)
	f.pass(100)
	m, accuser := f.peers[0], f.peers[1]
	var claim seedlog.CheckedClaim
	for _, n := range m.coord.chain.canon {
		for _, link := range n.claims {
			if c, err := f.rules.KeptClaim(m.disk.blocks[link], link); err != nil {
				t.Fatal(err)
			} else if c.Value().Peer == f.peers[2].peer {
				claim = c
			}
		}
	}
	counter := f.rules.First(claim.Value())
	fitness, steps := f.rules.At(claim.Value(), counter)
	proof := f.rules.OwnProof(claim, counter, fitness, steps+1, accuser.key)
	f.tell(accuser.key, m, &FraudProof{Claim: claim.Bytes(), Proof: proof.Bytes()})
	f.pass(3)
	if !m.coord.faults.peers[accuser.peer] {
		t.Fatal("a peer that disproved a true claim is not cut off")
	}
	if m.coord.faults.peers[claim.Value().Peer] {
		t.Error("the author of a true claim is cut off, too")
	}
	weight := uint64(0)
	for _, n := range m.coord.chain.canon {
		for _, credit := range n.credits {
			if credit.peer != accuser.peer {
				weight += credit.counts
			}
		}
	}
	if got := m.coord.chain.head.weight; got != weight {
		t.Errorf("the chain weighs %d, the work of those who were not cut off %d", got, weight)
	}
	f.powerDown(m)
	f.start(m)
	if !m.coord.faults.peers[accuser.peer] {
		t.Error("a restart forgives a peer that disproved a true claim")
	}
}

// TestVoidBranchIsLeft has peers follow a lie, since none of them checks, until one shows a proof: at once the head is
// an entry where a chain may end, and the lie is never on a chain again. A leader that has to leave its own entries
// signs no others in their place.
func TestVoidBranchIsLeft(t *testing.T) {
	f := newField(t, 3, 0)
	f.setAll(func(c *Config) { c.Decisive, c.Audit = 0, 0 })
	f.pass(112) // past the first hand-over
	parent := f.leader().coord.chain.head
	lie := f.logLie()
	holds := func(m *member) bool {
		return slices.ContainsFunc(m.coord.chain.canon, func(n *node) bool { return slices.Contains(n.claims, lie) })
	}
	f.pass(15)
	for _, m := range f.peers {
		if !holds(m) || !m.coord.chain.head.usable() {
			t.Fatalf("%s does not follow the lie: not what the test needs", m.name)
		}
	}
	claim, err := f.rules.KeptClaim(f.peers[0].disk.blocks[lie], lie)
	if err != nil {
		t.Fatal(err)
	}
	accuser := f.peers[slices.IndexFunc(f.peers, func(m *member) bool { return m != f.leader() && m.peer != claim.Value().Peer })]
	counter := f.rules.First(claim.Value())
	truth := f.evaluate(f.rules.Range(parent.state, parent.link, claim.Value().Peer, counter, 1), false)[0]
	proof := f.rules.OwnProof(claim, counter, truth.Fitness[:1], truth.Steps, accuser.key)
	f.say(accuser.key, &FraudProof{Claim: claim.Bytes(), Proof: proof.Bytes()})
	for _, m := range f.peers {
		f.work(m, false)
		if m != accuser && m.peer != claim.Value().Peer && !m.coord.faults.falseClaims[lie] {
			t.Fatalf("%s does not know of the lie: not what the test needs", m.name)
		}
	}
	type place struct {
		leader       Peer
		term, height uint64
	}
	signed := make(map[place]seedlog.Link)
	for _, m := range f.peers {
		for _, n := range m.coord.chain.nodes { //lint:sorted each one on its own
			signed[place{n.leader, n.term, n.height}] = n.link
		}
	}
	f.spy = func(from *member, e Envelope) {
		if a, ok := e.Message.(*Announce); ok {
			e, err := seedlog.DecodeEntry(a.Entry)
			if err != nil {
				t.Fatal(err)
			}
			at, link := place{e.Leader, e.Term, e.Height}, seedlog.LinkOf(a.Entry)
			if before, ok := signed[at]; ok && before != link {
				t.Fatalf("%s signs two entries for height %d of term %d", from.name, e.Height, e.Term)
			}
			signed[at] = link
		}
	}
	for range 60 {
		for _, m := range f.peers {
			if m.coord.faults.falseClaims[lie] && (holds(m) || !m.coord.chain.head.usable()) {
				t.Fatalf("%s stays on a branch with a claim that it knows to be false", m.name)
			}
		}
		f.pass(1)
	}
}
