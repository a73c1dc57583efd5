package sim

import (
	"testing"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// forger gives one forged claim to every native as soon as there is an entry.
type forger struct{ done bool }

func (f *forger) Act(a *Actor) {
	best := a.Best()
	if f.done || best.Height < 3 {
		return
	}
	f.done = true
	for _, v := range a.Views() {
		data, _ := a.ForgedClaim(best.Head, 0, 0, 500).Encode()
		a.Send(0, v.Index, &coordinator.Claims{Blocks: [][]byte{data}})
	}
}

func (f *forger) Receive(*Actor, Mail) {}

func TestForgedClaim(t *testing.T) {
	s, err := New(Options{Seed: 1, Natives: 4, DelayMin: 1, DelayMax: 1, Attacks: []Attack{{New: func() Adversary { return new(forger) }}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.run(300); err != nil {
		t.Fatal(err)
	}
	for _, n := range s.nodes {
		if !n.banned[s.actors[0].Peer(0)] {
			t.Errorf("node %d did not cut off the author of a false claim", n.index)
		}
	}
	if err := s.check(make([]uint64, 4)); err != nil {
		t.Error(err)
	}
}

// brancher says that it has a branch, and serves it to those who ask.
type brancher struct {
	branch *Branch
	asked  int
}

func (b *brancher) Act(a *Actor) {
	if b.branch == nil {
		b.branch = a.Branch(a.Rules().Run)
		for range 3 {
			claims := append(a.TrueClaims(b.branch.Head(), 0, 2), a.TrueClaims(b.branch.Head(), 1, 2)...)
			b.branch.Grow(1, 0, claims, nil)
		}
	}
	for _, v := range a.Views() {
		a.Send(0, v.Index, &coordinator.Status{Term: 1, Hub: true, Head: b.branch.Head(), Height: b.branch.Height(), Weight: 1 << 40})
	}
}

func (b *brancher) Receive(a *Actor, m Mail) {
	if pull, ok := m.Message.(*coordinator.Pull); ok {
		b.asked++
		for _, v := range a.Views() {
			if v.Peer == m.From {
				a.Send(m.To, v.Index, b.branch.Answer(pull))
			}
		}
	}
}

func TestBranchOfAStranger(t *testing.T) {
	b := new(brancher)
	s, err := New(Options{Seed: 2, Natives: 3, DelayMin: 1, DelayMax: 2, Attacks: []Attack{{New: func() Adversary { return b }, From: 20, Until: 60}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.run(100); err != nil {
		t.Fatal(err)
	}
	if b.asked == 0 || s.actors[0].Evaluations != 3*16 {
		t.Errorf("asked %d times, after %d evaluations", b.asked, s.actors[0].Evaluations)
	}
	for _, n := range s.nodes {
		if n.banned[s.actors[0].Peer(0)] {
			t.Errorf("node %d cut off a stranger that served valid entries", n.index)
		}
	}
}

// hanged owns a native that never evaluates anything, and counts what it would send.
type hanged struct{ sent int }

func (*hanged) Act(*Actor)           {}
func (*hanged) Receive(*Actor, Mail) {}

func (*hanged) Event(_ *Actor, _ int, e coordinator.Event) (coordinator.Event, bool) { return e, true }

func (h *hanged) Send(_ *Actor, _ int, out []coordinator.Envelope) []coordinator.Envelope {
	h.sent += len(out)
	return out
}

func (*hanged) Evaluate(*Actor, int, coordinator.Work, []rollout.CandidateResult) []rollout.CandidateResult {
	return nil
}

func TestOwnedNode(t *testing.T) {
	h := new(hanged)
	s, err := New(Options{Seed: 3, Natives: 4, DelayMin: 1, DelayMax: 2, Attacks: []Attack{{New: func() Adversary { return h }, Owns: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.run(300); err != nil {
		t.Fatal(err)
	}
	owned := s.nodes[3]
	if got := owned.coord.Snapshot(); h.sent == 0 || got.Mine.Evaluations != 0 || s.nodes[0].coord.Snapshot().Height == 0 {
		t.Errorf("the owned node sent %d messages and has %d evaluations; heights %v", h.sent, got.Mine.Evaluations, s.heights())
	}
	if n := len(s.honest()); n != 3 {
		t.Errorf("%d honest nodes", n)
	}
}
