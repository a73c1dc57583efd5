package coordinator

import (
	"slices"
	"testing"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// The ledger adds up in every tick, agrees with the chain, and knows late work from replaced work.
func TestLedger(t *testing.T) {
	f := newNextField(t, 4, 4, 0)
	twice := uint64(0) // what both sides of the partition logged counts as replaced
	check := func() {
		t.Helper()
		for _, m := range f.peers {
			l, mine := m.coord.work.ledger.Ledger, m.coord.chain.credits[m.peer].Evaluations
			if l.Logged+l.Late+l.Replaced > l.Computed {
				t.Fatalf("tick %d: %s: %+v", f.now, m.name, l)
			}
			if l.Logged > mine || l.Logged+twice < mine {
				t.Fatalf("tick %d: %s has %d evaluations in its chain, its ledger says %+v", f.now, m.name, mine, l)
			}
		}
	}
	for range 150 {
		f.pass(1)
		check()
	}
	cut := f.peers[0]
	before := cut.coord.work.ledger.Ledger
	f.split, cut.side = true, true
	for range 200 { // alone it logs for itself, and loses that when it meets the others
		f.pass(1)
		check()
	}
	alone := cut.coord.work.ledger.Ledger
	if alone.Logged <= before.Logged {
		t.Fatalf("alone the peer logged nothing: %+v, %+v before", alone, before)
	}
	f.split, twice = false, 32
	for range 250 {
		f.pass(1)
		check()
	}
	after, reorg := cut.coord.work.ledger.Ledger, cut.coord.Roster(8).Reorg
	if after.Replaced == 0 || reorg.Gone == 0 || reorg.Come <= reorg.Gone/2 {
		t.Errorf("%+v when it met the swarm, %+v before; %+v", after, alone, reorg)
	}
	if n := len(cut.coord.work.ledger.order); n != len(cut.coord.work.ledger.open) || n > 64*64 {
		t.Errorf("%d claims are not settled, %d of them known", n, len(cut.coord.work.ledger.open))
	}
}

// The ledger keeps no more than it may, however long its peer works without an entry or with one after the other.
func TestLedgerIsBounded(t *testing.T) {
	f := newNextField(t, 4, 1, 0)
	key, parent := keyOf("busy"), f.rules.Run
	var l ledger
	size := int(f.rules.Spec.Generation.Chunk)
	for i := range uint64(3 * maxHeld) {
		claim := f.rules.OwnClaim(seedlog.NewClaim(f.rules.Run, parent, key, i%f.rules.Spec.Generation.Quota, make([]int64, size), append(make([]uint64, size-1), i+1)))
		l.claimed(claim, i)
		if i%2 == 0 {
			l.came(i, []seedlog.Link{claim.Link()})
		}
		if len(l.open) != len(l.order) || len(l.open) > maxOpenClaims || len(l.held) > maxHeld {
			t.Fatalf("%d claims, %d in order, %d entries", len(l.open), len(l.order), len(l.held))
		}
	}
	if n := uint64(3 * maxHeld * size); l.Computed != n || l.Logged != n/2 || l.Late+l.Waiting() != n/2 || l.Late < n/3 {
		t.Errorf("%+v of %d", l.Ledger, n)
	}
}

// The roster shows who has work in the newest entries, who leads and who is here, the busiest first, and never leaves
// out this peer or the leader.
func TestRoster(t *testing.T) {
	f := newNextField(t, 4, 5, 0)
	f.pass(200)
	quiet := f.peers[4]
	if quiet == f.leader() {
		quiet = f.peers[3]
	}
	f.step(quiet, SetPaused{Paused: true})
	for f.pass(300); f.leader() == nil; f.pass(1) {
	}
	gone := f.peers[0]
	if gone == f.leader() {
		gone = f.peers[1]
	}
	f.powerDown(gone)
	f.pass(45)
	r := quiet.coord.Roster(64)
	if r.Entries != votingEntries || r.Others != 0 || len(r.Members) != 5 {
		t.Fatalf("%d members and %d others over %d entries", len(r.Members), r.Others, r.Entries)
	}
	var sum uint64
	for i, m := range r.Members {
		sum += m.Lately.Evaluations
		if i > 0 && m.Lately.Evaluations > r.Members[i-1].Lately.Evaluations {
			t.Errorf("member %d has more work than the one before", i)
		}
		if m.Here != (m.Peer != gone.peer) || m.Leads != (m.Peer == quiet.coord.election.leader) || m.Credit != quiet.coord.chain.credits[m.Peer] {
			t.Errorf("%s: %+v", f.nameOf(m.Peer), m)
		}
	}
	c := &quiet.coord.chain
	if want := c.head.evaluations - c.canonAt(c.head.height-votingEntries).evaluations; sum != want {
		t.Errorf("the members have %d evaluations in the newest entries, these hold %d", sum, want)
	}
	short := quiet.coord.Roster(2)
	if len(short.Members) != 2 || short.Others != 3 ||
		!slices.ContainsFunc(short.Members, func(m Member) bool { return m.Leads }) || !slices.ContainsFunc(short.Members, func(m Member) bool { return m.Peer == quiet.peer }) {
		t.Errorf("of two: %+v", short)
	}
}
