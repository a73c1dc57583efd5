package coordinator

import (
	"errors"
	"testing"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// twin signs another entry for the place of a peer's head, with one claim less.
func (s *swarm) twin(t *testing.T, by *member) Generation {
	t.Helper()
	head := by.coord.chain.head
	checked, err := s.rules.KeptClaims(head.claims, by.disk.Block)
	if err != nil {
		t.Fatal(err)
	}
	claims := values(checked[:len(checked)-1])
	e, _ := s.rules.NewEntry(head.parent.state, head.parent.parentInfo(), head.term, by.peer, claims)
	entry, _ := e.Encode()
	seal, _ := seedlog.NewSeal(e, by.key, nil).Encode()
	return Generation{Entry: entry, Seal: seal, Claims: blocksOf(e, claims)}
}

func (f *field) bars(p Peer) (peers int) {
	for _, m := range f.peers {
		if m.peer != p && m.coord != nil && !m.coord.mayLead(p) {
			peers++
		}
	}
	return peers
}

// TestEquivocationIsTold has one peer alone see a second entry for a place: all bar the leader, up to one height, few
// publish, and those who join or restart later know it, too.
func TestEquivocationIsTold(t *testing.T) {
	f := newField(t, 12, 0)
	f.pass(100)
	by := f.leader()
	height := by.coord.chain.head.height
	second := f.twin(t, by)
	witness := f.peers[0]
	if witness == by {
		witness = f.peers[1]
	}
	told := 0
	f.spy = func(_ *member, e Envelope) {
		if _, ok := e.Message.(*Equivocation); ok && e.Scope == Gossip {
			told++
		}
	}
	f.tell(by.key, witness, &Announce{Entry: second.Entry, Seal: second.Seal})
	f.pass(2 * doubleLot)
	if n := f.bars(by.peer); n != 11 {
		t.Errorf("%d of 11 peers bar the leader", n)
	}
	if told != 1 {
		t.Errorf("one peer found it, %d messages are gossiped", told)
	}
	for _, m := range f.peers {
		if at := m.coord.doubleOf(&double{peer: by.peer}); m != by && (at == nil || at.place != height) {
			t.Errorf("%s has the evidence %+v, it is of height %d", m.name, at, height)
		}
	}
	late := f.add("late", production())
	f.start(late)
	f.powerDown(witness)
	f.start(witness)
	f.pass(60)
	if n := f.bars(by.peer); n != 12 {
		t.Errorf("after a restart and a join %d of 12 peers bar the leader", n)
	}
}

// TestEquivocationSeenByAll has every peer see the second entry: few tell the others.
func TestEquivocationSeenByAll(t *testing.T) {
	f := newField(t, 20, 0)
	f.pass(100)
	by := f.leader()
	second := f.twin(t, by)
	told := 0
	f.spy = func(_ *member, e Envelope) {
		if _, ok := e.Message.(*Equivocation); ok && e.Scope == Gossip {
			told++
		}
	}
	f.say(by.key, &Announce{Entry: second.Entry, Seal: second.Seal})
	f.pass(2 * doubleLot)
	if told == 0 || told > 5 {
		t.Errorf("%d messages for 19 peers that found it, want 1 to 5", told)
	}
}

// TestEquivocationInASegmentIsSeen has a second entry come with what is missing of a branch, not announced.
func TestEquivocationInASegmentIsSeen(t *testing.T) {
	f := newField(t, 4, 0)
	f.pass(112) // past the first hand-over
	by := f.leader()
	checked, err := Check(seedlog.NewChecker(f.rules), &Segment{Generations: []Generation{f.twin(t, by)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range f.peers {
		if m != by {
			if _, err := m.coord.insert(checked.generations[0], source{key: by.peer}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := f.bars(by.peer); n != 3 {
		t.Errorf("%d of 3 peers bar the leader", n)
	}
}

// TestEquivocationIsChecked refuses what shows nothing, and ignores keys that lead nobody.
func TestEquivocationIsChecked(t *testing.T) {
	f := newField(t, 3, 0)
	f.pass(100)
	by := f.leader()
	head := by.coord.chain.head
	first, seal := by.disk.blocks[head.link], by.disk.blocks[head.sealLink]
	signed, err := seedlog.DecodeSeal(seal)
	if err != nil {
		t.Fatal(err)
	}
	second := f.twin(t, by)
	twin, err := seedlog.DecodeSeal(second.Seal)
	if err != nil {
		t.Fatal(err)
	}
	older := by.disk.blocks[head.parent.link]
	olderSeal, err := seedlog.DecodeSeal(by.disk.blocks[head.parent.sealLink])
	if err != nil {
		t.Fatal(err)
	}
	check := func(m *Equivocation) error {
		_, err := Check(seedlog.NewChecker(f.rules), m, nil)
		return err
	}
	if err := check(&Equivocation{First: first, FirstSignature: signed.Signature, Second: second.Entry, SecondSignature: twin.Signature}); err != nil {
		t.Errorf("true evidence: %v", err)
	}
	for name, m := range map[string]*Equivocation{
		"the same entry twice":  {First: first, FirstSignature: signed.Signature, Second: first, SecondSignature: signed.Signature},
		"two places":            {First: first, FirstSignature: signed.Signature, Second: older, SecondSignature: olderSeal.Signature},
		"a signature of others": {First: first, FirstSignature: signed.Signature, Second: second.Entry, SecondSignature: signed.Signature},
	} {
		if err := check(m); !errors.Is(err, ErrMessage) && !errors.Is(err, seedlog.ErrSignature) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
