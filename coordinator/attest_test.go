package coordinator

import (
	"fmt"
	"slices"
	"testing"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// attestedOn lists the attestations on the chain of a peer, by the entry that holds them.
func attestedOn(m *member) map[*node][]seedlog.Attestation {
	list := make(map[*node][]seedlog.Attestation)
	for _, n := range m.coord.chain.canon {
		if len(n.attested) > 0 {
			list[n] = n.attested
		}
	}
	return list
}

// TestOthersAttestNewcomers: in a swarm whose peers all begin at once the leader has others re-run newcomers' claims.
// Each attestation is of a key that has work in the log for one that has none, and nobody attests itself.
func TestOthersAttestNewcomers(t *testing.T) {
	f := newNextField(t, 4, 8, 0)
	f.pass(150)
	attested, atStart, attesters := 0, 0, make(map[Peer]bool)
	for n, list := range attestedOn(f.peers[0]) {
		accounts := recounted(n.parent)
		for _, a := range list {
			claim, err := seedlog.DecodeClaim(f.peers[0].disk.blocks[n.claims[a.Claim]])
			if err != nil {
				t.Fatal(err)
			}
			attested++
			if accounts.of[a.Peer].entries == 0 {
				atStart++
			}
			attesters[a.Peer] = true
			early := n.height <= f.rules.Spec.Generation.MaxStale // any native may attest one
			if accounts.of[a.Peer].entries == 0 && !early || accounts.of[claim.Peer].entries > 0 || a.Peer == claim.Peer || a.Peer == n.leader {
				t.Errorf("height %d: %s, with work in %d of the entries below, attests a claim of %s, with work in %d", n.height,
					f.nameOf(a.Peer), accounts.of[a.Peer].entries, f.nameOf(claim.Peer), accounts.of[claim.Peer].entries)
			}
		}
	}
	if attested < 3 || len(attesters) < 2 || atStart == 0 {
		t.Errorf("%d claims attested by %d peers, %d by some without a record; want 3 by 2 at least, and 1", attested, len(attesters), atStart)
	}
	for _, m := range f.peers {
		if f.onRecord(m) == 0 || len(m.coord.faults.peers)+len(m.coord.faults.disqualified) > 0 {
			t.Errorf("%s has %d chunks in the log, it banned %d and disqualified %d", m.name, f.onRecord(m), len(m.coord.faults.peers), len(m.coord.faults.disqualified))
		}
	}
}

func recounted(n *node) (a accounts) {
	a.recount(n)
	return a
}

// TestAttesterAnswers: natives attest what they did not re-run, and a newcomer's claims are false. Once somebody finds
// that, the newcomer and who attested its claims are banned; the leader that believed the attestation may still lead,
// and no entry is undone. Each of the newcomer's claims is re-run by lot, so an attester may get away.
func TestAttesterAnswers(t *testing.T) {
	runs, caught := 0, 0
	for nonce := byte(1); runs < 4 && nonce < 21; nonce++ {
		logged, banned := attesterCaught(t, newSeededField(t, 4, 6, nonce))
		if logged {
			runs++
		}
		if banned {
			caught++
		}
	}
	if runs < 4 || caught < 2 {
		t.Errorf("who attested the lie was banned in %d runs of %d", caught, runs)
	}
}

// attesterCaught runs one swarm whose natives attest what they did not re-run. It reports whether the lie was logged,
// not found by the leader itself, and whether all others banned the first of them.
func attesterCaught(t *testing.T, f *field) (logged, banned bool) {
	faulty := f.peers[5]
	f.powerDown(faulty)
	f.pass(200)
	f.corrupt = func(m *member, j *job, results []int64) {
		switch {
		case m == faulty && j.kind == jobOwn:
			for i := range results {
				results[i]++
			}
		case j.kind == jobRequested:
			stated, _ := f.rules.At(j.claim.Value(), j.counter)
			results[0] = stated[0]
		}
	}
	if err := f.powerUp(faulty); err != nil {
		t.Fatal(err)
	}
	var lie *node
	for i := 0; lie == nil; i++ {
		if f.pass(1); i == 400 {
			t.Fatal("the newcomer was neither logged nor found out")
		}
		if slices.ContainsFunc(f.peers[:5], func(m *member) bool { return m.coord.faults.peers[faulty.peer] }) {
			return false, false // a leader tells nobody what it found false before it is logged
		}
		for n := range attestedOn(f.peers[0]) {
			if f.logs(n, faulty) {
				lie = n
			}
		}
	}
	first := lie.attested[0].Peer
	f.pass(150)
	blind := make(map[Peer]bool)
	for n := range attestedOn(f.peers[0]) {
		for _, a := range n.attested {
			blind[a.Peer] = blind[a.Peer] || f.logs(n, faulty)
		}
	}
	banned = true
	for _, m := range f.peers[:5] {
		bans := m.coord.faults.peers
		if blind[m.peer] {
			continue // it bans nobody for its own mistake, and nobody talks to it
		}
		banned = banned && bans[first]
		if !bans[faulty.peer] {
			t.Errorf("%s banned %d peers, not %s", m.name, len(bans), faulty.name)
		}
		for p := range bans {
			if p != faulty.peer && !blind[p] {
				t.Errorf("%s banned %s, which attested nothing false", m.name, f.nameOf(p))
			}
		}
		if n := m.coord.chain.canonAt(lie.height); len(m.coord.faults.disqualified) > 0 || n == nil || n.link != lie.link {
			t.Errorf("%s disqualified %d; its entry at height %d is another: %t", m.name, len(m.coord.faults.disqualified), lie.height, n == nil || n.link != lie.link)
		}
	}
	return true, banned
}

// logs reports whether an entry holds a claim of a peer.
func (f *field) logs(n *node, m *member) bool {
	return slices.ContainsFunc(n.credits, func(credit peerCredit) bool { return credit.peer == m.peer })
}

// TestFavorsAreBounded: a leader may ask a native to re-run claims without end. The native spends no more on them than
// on its own work: here it does none, and stops once it has spent what it saved up.
func TestFavorsAreBounded(t *testing.T) {
	f := newNextField(t, 4, 4, 0)
	f.pass(100)
	leader := f.leader()
	native := f.peers[slices.IndexFunc(f.peers, func(m *member) bool { return m != leader })]
	rerun := 0
	f.held = func(m *member, j *job) bool { return m == native && j.kind == jobOwn }
	f.corrupt = func(m *member, j *job, results []int64) {
		if m == native && j.kind == jobRequested {
			rerun++
		}
	}
	size := f.rules.Spec.Generation.Chunk
	for i := range 100 {
		head := native.coord.chain.head
		key := keyOf(fmt.Sprint("newcomer ", i))
		claim := f.rules.Claim(head.link, key, 0, f.evaluate(f.rules.Task(head.state, head.link, seedlog.PeerOf(key), 0), false))
		data, _ := claim.Encode()
		f.tell(leader.key, native, &Recheck{Results: size, Claim: data})
		f.work(native, false)
	}
	if most := creditClaims * int(population(f.rules)*size); rerun == 0 || rerun > most {
		t.Errorf("%d results re-run for the leader, at most %d", rerun, most)
	}
}

// TestJunkIsNotDelegated floods a swarm with false claims of new keys: natives re-run few of them for the leader.
func TestJunkIsNotDelegated(t *testing.T) {
	f := newNextField(t, 4, 6, 1000)
	f.pass(150)
	own, rerun := 0, 0
	f.corrupt = func(m *member, j *job, results []int64) {
		switch j.kind {
		case jobOwn:
			own += len(results)
		case jobRequested:
			rerun += len(results)
		}
	}
	height := f.low()
	for tick := range 200 {
		leader := f.leader()
		if leader != nil {
			head := leader.coord.chain.head
			for i := range 5 {
				key := f.strangers[(5*tick+i)%len(f.strangers)]
				claim := f.junkClaim(key, head.link, 0)
				f.give(key, leader, claim)
			}
		}
		f.pass(1)
	}
	t.Logf("%d results re-run for leaders, %d own, height %d to %d", rerun, own, height, f.low())
	if rerun == 0 || rerun > own/40 {
		t.Errorf("%d results re-run for leaders next to %d own, want few", rerun, own)
	}
}

// TestFaultyAttesterIsForgotten: of a peer that is found faulty nothing counts that it attested and that is not logged.
func TestFaultyAttesterIsForgotten(t *testing.T) {
	f := newNextField(t, 4, 4, 1)
	f.pass(150)
	leader := f.leader()
	attester := f.peers[slices.IndexFunc(f.peers, func(m *member) bool { return m != leader })].peer
	c := leader.coord
	claim := f.junkClaim(f.strangers[0], c.chain.head.link, 0)
	f.give(f.strangers[0], leader, claim)
	p := c.work.pool.links[claim.Link()]
	if p == nil || p.ready() {
		t.Fatalf("the claim of a newcomer: %+v, want it in the pool and not ready", p)
	}
	p.attested = &seedlog.Attestation{Peer: attester, Signature: []byte{}}
	if !p.ready() {
		t.Fatal("a claim that was attested is not ready")
	}
	c.markFaulty(attester, "lied")
	if p.ready() {
		t.Error("what a faulty peer attested is ready still")
	}
}

// TestSilentNatives: a native that answers no question for re-runs is asked three times in a term, and one that answers
// now and then as often as all.
func TestSilentNatives(t *testing.T) {
	f := newNextField(t, 4, 6, 0)
	f.pass(200)
	silent := f.peers[slices.IndexFunc(f.peers, func(m *member) bool { return m != f.leader() })]
	asked := make(map[uint64]int) // by term
	f.spy = func(from *member, e Envelope) {
		if _, ok := e.Message.(*Recheck); ok && e.To == silent.peer {
			asked[from.coord.election.mandate.term]++
		}
	}
	f.swap = func(from, _ *member, m Message) Message {
		if _, ok := m.(*Rechecked); ok && from == silent {
			return nil
		}
		return m
	}
	i := 0
	next := f.eachHead(func(m *member, head seedlog.Link) { // newcomers without end
		on := m.coord.chain.head
		for range 3 {
			key := keyOf(fmt.Sprint("newcomer ", i))
			i++
			claim := f.rules.OwnClaim(f.rules.Claim(head, key, 0, f.evaluate(f.rules.Task(on.state, head, seedlog.PeerOf(key), 0), false)))
			f.give(key, m, claim)
		}
	})
	f.each = func(tick int) {
		if m := f.leader(); m != nil && m.coord.chain.head.state != nil {
			next(tick)
		}
	}
	f.pass(200)
	most := 0
	for _, n := range asked {
		most = max(most, n)
	}
	if len(asked) == 0 || most > maxStrikes {
		t.Errorf("a silent native is asked %d times in a term, in %d terms", most, len(asked))
	}
}

// TestAttestationsFitAnEntry: a leader of very many newcomers asks for no more attestations than a few entries hold,
// also on the genesis, where all keys count as known.
func TestAttestationsFitAnEntry(t *testing.T) {
	f := newNextField(t, 4, 12, 0)
	asked := 0
	f.each = func(int) {
		c := f.peers[0].coord
		under := 0
		for p := range c.work.pool.all {
			if p.newcomers(c.chain.head) && (p.attested != nil || p.asked.all) {
				under++
			}
		}
		left := c.attesters().newcomers
		if asked = max(asked, under); left != attestedEntries*int(mostAttested(f.rules))-under {
			t.Fatalf("%d may be asked for, %d are", left, under)
		}
	}
	f.pass(30)
	if asked == 0 {
		t.Error("none was asked for")
	}
}

// TestWhoDidNotLook: where a peer says that it did not look at a newcomer's claim another is asked, and no fewer
// newcomers are re-run for it; who says so again and again is asked no more, and the leader looks itself.
func TestWhoDidNotLook(t *testing.T) {
	f := newNextField(t, 4, 12, 0)
	var p *pooled
	c := f.peers[0].coord
	f.each = func(int) {
		for q := range c.work.pool.all {
			if q.newcomers(c.chain.head) && q.asked.all && p == nil {
				p = q
			}
		}
	}
	for range 60 {
		if f.pass(1); p != nil {
			break
		}
	}
	if p == nil || c.election.role != Leader {
		t.Fatal("nobody is asked")
	}
	from, no := p.asked.peer, &Rechecked{Claim: p.claim.Link(), Unable: true, Peer: p.asked.peer, Signature: []byte{}}
	p.fresh, c.tenure.window, c.tenure.again = true, 64, nil
	for i := range maxStrikes {
		last := i == maxStrikes-1
		p.asked = asked{from, true}
		c.onRechecked(from, no)
		if last != (len(c.tenure.again) > 0) || last != (p.refused == from) || c.tenure.window != 64>>(i/(maxStrikes-1)) || !p.waits() {
			t.Errorf("time %d: the leader looks itself at %d claims, its window is %d", i, len(c.tenure.again), c.tenure.window)
		}
	}
}
