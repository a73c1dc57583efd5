package coordinator

import (
	"slices"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/internal/rollout"
)

// restarted is a swarm of two whose second peer has a log on disk and was started again: its first fold is under way.
func restarted(t *testing.T) (*swarm, *member, *Fold) {
	t.Helper()
	s := &swarm{rules: newRules(t, true), now: 1, quiet: true}
	for _, name := range []string{"n1", "n2"} {
		s.add(name, Config{Hub: true, Timing: LAN(), Slots: 2, Decisive: 2, Audit: 1024})
	}
	for _, m := range s.peers {
		if err := s.powerUp(m); err != nil {
			t.Fatal(err)
		}
	}
	s.run(400, func() bool { return s.peers[1].coord.chain.head.height >= 12 })
	m := s.peers[1]
	c, err := restored(m, m.disk)
	if err != nil {
		t.Fatal(err)
	}
	m.coord = c
	a := c.Step(s.now, Passed{})
	if a.Fold == nil {
		t.Fatal("nothing to fold after a restart")
	}
	return s, m, a.Fold
}

// TestHeartbeatsLeaveDuringAFold has a fold take a minute: meanwhile the peer says at every heartbeat that it
// is there, trains nothing and campaigns for nothing, although it hears nobody.
func TestHeartbeatsLeaveDuringAFold(t *testing.T) {
	s, m, f := restarted(t)
	const minute = 1200
	statuses := 0
	for range Tick(minute) {
		s.now++
		a := m.coord.Step(s.now, Passed{})
		for _, e := range a.Send {
			switch e.Message.(type) {
			case *Status:
				statuses++
			case *VoteRequest:
				t.Fatalf("campaigns %d ticks into the fold", s.now)
			}
		}
		if a.Fold != nil || len(a.Work) > 0 {
			t.Fatalf("asks for %d evaluations and fold %v while one is under way", len(a.Work), a.Fold)
		}
	}
	if want := minute / int(LAN().Heartbeat); statuses < want-1 {
		t.Errorf("%d statuses in a minute, want %d", statuses, want)
	}
	before := m.coord.Snapshot()
	a := m.coord.Step(s.now, foldNow(s.rules, m.disk, f))
	if m.coord.Snapshot().Behind >= before.Behind {
		t.Errorf("behind by %d after the answer, %d before", m.coord.Snapshot().Behind, before.Behind)
	}
	foldAll(m, m.coord, a)
	for range LAN().Election - 1 {
		s.now++
		for _, e := range m.coord.Step(s.now, Passed{}).Send {
			if _, ok := e.Message.(*VoteRequest); ok {
				t.Fatal("campaigns before it listened for one election time")
			}
		}
	}
}

// TestBadFoldBackend has the driver answer with failures and nonsense: each is noted and asked again, nothing
// is lost, and no leader is blamed.
func TestBadFoldBackend(t *testing.T) {
	for name, spoil := range map[string]func(*Folded){
		"failed":            func(e *Folded) { *e = Folded{ID: e.ID, Failed: true} },
		"no steps":          func(e *Folded) { e.Steps = nil },
		"too many steps":    func(e *Folded) { e.Steps = append(e.Steps, rollout.Folded{}) },
		"no last state":     func(e *Folded) { e.Steps[len(e.Steps)-1].State = nil },
		"no decisive":       func(e *Folded) { e.Decisive = nil },
		"wrong digest":      func(e *Folded) { e.Steps[0].Digest[0]++ },
		"wrong parameters":  func(e *Folded) { e.Steps[0].Theta[0]++ },
		"answer to another": func(e *Folded) { e.ID++ },
	} {
		t.Run(name, func(t *testing.T) {
			s, m, f := restarted(t)
			head := m.coord.Snapshot().Head
			for range 3 {
				e := foldNow(s.rules, m.disk, f)
				spoil(&e)
				a := m.coord.Step(s.now, e)
				if name == "answer to another" {
					if len(a.Notes) > 0 || a.Fold != nil {
						t.Fatalf("notes %v of an answer that was not asked for", a.Notes)
					}
					return
				}
				noted := slices.ContainsFunc(a.Notes, func(n Note) bool { return n.Kind == NoteFold && strings.Contains(n.Text, "trying again") })
				if !noted || len(a.Ban) > 0 || a.Head != nil || a.Fold != nil {
					t.Fatalf("notes %v, bans %v, head %v, fold %v", a.Notes, a.Ban, a.Head, a.Fold)
				}
				for f = nil; f == nil; {
					s.now++
					f = m.coord.Step(s.now, Passed{}).Fold
				}
			}
			a := m.coord.Step(s.now, foldNow(s.rules, m.disk, f))
			if len(a.Notes) > 0 {
				t.Errorf("notes %v of a good answer", a.Notes)
			}
			foldAll(m, m.coord, a)
			if got := m.coord.Snapshot(); got.Head != head || got.StateHeight != got.Height || len(m.coord.faults.disqualified) > 0 {
				t.Errorf("in the end %+v", got)
			}
		})
	}
}

// TestEntryIsFoldedTwiceBeforeItIsRefused: a new entry whose digest comes out wrong once is followed, if it
// comes out right then.
func TestEntryIsFoldedTwiceBeforeItIsRefused(t *testing.T) {
	for _, wrong := range []int{1, 2} {
		c := &Coordinator{rules: newRules(t, true), cfg: Config{Timing: LAN()},
			faults: faults{peers: make(map[Peer]bool), disqualified: make(map[Peer]uint64)}}
		c.chain = newChain(c.rules, nil, c.faults.peers)
		c.folds = folds{goal: c.chain.root, size: 1}
		n := &node{parent: c.chain.root, height: 1, leader: Peer{1}, digest: [32]byte{1}, body: &generation{}}
		for range wrong {
			if c.take(n, &rollout.Folded{State: c.chain.root.state}, nil, true) {
				t.Fatal("took a wrong digest")
			}
		}
		if wrong == 2 {
			if n.stage != refused || c.faults.mayLead(n.leader, 1) {
				t.Errorf("after two wrong digests: stage %d", n.stage)
			}
			continue
		}
		if !c.take(n, &rollout.Folded{State: c.chain.root.state, Digest: n.digest}, nil, true) || n.stage != folded || !c.faults.mayLead(n.leader, 1) {
			t.Errorf("after one wrong digest and a right one: stage %d", n.stage)
		}
	}
}
