package seedlog

import (
	"bytes"
	"errors"
	"testing"
)

// TestEnded: the first entry that reaches what the spec says ends the run.
func TestEnded(t *testing.T) {
	all := &Until{Solved: true, Evaluations: 100, Steps: 1000, Entries: 10}
	for _, test := range []struct {
		until *Until
		at    Parent
		want  End
	}{
		{nil, Parent{Height: 1 << 40, Evaluations: 1 << 40, Steps: 1 << 40}, Open},
		{all, Parent{}, Open},
		{all, Parent{Height: 9, Evaluations: 99, Steps: 999}, Open},
		{all, Parent{Height: 9, Evaluations: 99, Steps: 999, Solved: 8}, EndedSolved},
		{all, Parent{Height: 1, Evaluations: 100}, EndedEvaluations},
		{all, Parent{Height: 1, Steps: 1001}, EndedSteps},
		{all, Parent{Height: 10}, EndedEntries},
		{&Until{Entries: 10}, Parent{Height: 9, Evaluations: 1 << 40, Solved: 3}, Open},
	} {
		rules := &Rules{Spec: &Spec{Until: test.until}}
		if got := rules.Ended(test.at); got != test.want {
			t.Errorf("%+v at %+v: got %q, want %q", test.until, test.at, got, test.want)
		}
	}
}

// TestUntilIsRefused: what a spec may not say of its end.
func TestUntilIsRefused(t *testing.T) {
	for name, edit := range map[string]func(*Spec){
		"nothing":            func(s *Spec) { s.Until = &Until{} },
		"format 1":           func(s *Spec) { *s = *newSpec(t, "dises"); s.Until = &Until{Solved: true} },
		"run on one machine": func(s *Spec) { s.Nonce = make([]byte, 16); s.Until = &Until{Solved: true} },
	} {
		spec := *nextSpec(t)
		edit(&spec)
		if _, err := DecodeSpec(Encode(&spec)); !errors.Is(err, ErrSpec) {
			t.Errorf("%s: got %v, want %v", name, err, ErrSpec)
		}
	}
	spec := *nextSpec(t)
	spec.Until = &Until{Solved: true, Steps: 1 << 50}
	if got, err := DecodeSpec(Encode(&spec)); err != nil || *got.Until != *spec.Until {
		t.Errorf("got %+v, %v, want %+v", got, err, spec.Until)
	}
}

// solvedRun trains until a state passes the test, and two generations more.
func solvedRun(t *testing.T) (r *staleRun, solved int) {
	spec := nextSpec(t)
	spec.Env = EnvRef{ID: "CartPole-v1", Revision: 1}
	spec.Generation = Generation{Evaluations: 64, Open: true, Chunk: 32, Quota: 8, MaxStale: 2, WeightSteps: 1 << 20, Duration: 250}
	spec.Seed = 2 // the first state does not pass
	spec.Until = &Until{Solved: true}
	r = newStaleRun(t, spec)
	for height := 0; solved == 0 || height < solved+2; height++ {
		if height == 60 {
			t.Fatal("not solved in 60 generations")
		}
		if height > 0 && solved == 0 && r.rules.Test(r.pool, r.states[height], r.links[height]) == nil {
			solved = height
		}
		r.add(r.claim(r.keys[0], height, 0), r.claim(r.keys[0], height, 1))
	}
	return r, solved
}

// TestSolvedEndsTheRun: an entry may name a state that passed the test, once and where it belongs; nothing follows it,
// and who re-runs the log runs the test, too.
func TestSolvedEndsTheRun(t *testing.T) {
	r, solved := solvedRun(t)
	height := len(r.links) - 1
	claims := []*Claim{r.claim(r.keys[1], height, 0), r.claim(r.keys[1], height, 1)}
	last := func(at uint64) (CheckedEntry, []CheckedClaim) {
		entry, checked, _ := r.entry(claims...)
		e := *entry.Value()
		e.Solved = at
		return r.rules.OwnEntry(&e, r.keys[0], nil), checked
	}
	for at, want := range map[uint64]error{
		0: nil, uint64(solved): nil, uint64(height): nil, uint64(height) + 1: ErrOrder, 1 << 60: ErrOrder,
	} {
		entry, checked := last(at)
		if err := r.rules.CheckPlace(entry, r.parent(), checked); !errors.Is(err, want) {
			t.Errorf("state %d of %d: got %v, want %v", at, height, err, want)
		}
	}
	far := r.parent()
	far.Height = uint64(solved) + MaxSolvedAge + 1
	entry, checked := last(uint64(solved))
	e := *entry.Value()
	e.Height = far.Height + 1
	if err := r.rules.CheckPlace(r.rules.OwnEntry(&e, r.keys[0], nil), far, checked); !errors.Is(err, ErrOrder) {
		t.Errorf("a state %d below the parent: got %v, want %v", MaxSolvedAge+1, err, ErrOrder)
	}

	after := r.parent().Next(entry.Link(), entry.Value())
	e = *entry.Value()
	e.Parent, e.Height, e.Solved = after.Link, after.Height+1, 0
	if err := r.rules.CheckPlace(r.rules.OwnEntry(&e, r.keys[0], nil), after, checked); !errors.Is(err, ErrEnded) {
		t.Errorf("an entry after the last: got %v, want %v", err, ErrEnded)
	}

	whole := append(r.all, made{entry.Value(), entry.Seal().Value(), claims, nil})
	got, err := Replay(bytes.NewReader(file(r.rules, whole...)), ReplayOptions{Check: CheckClaims})
	if err != nil || got.Solved != uint64(solved) || r.rules.Ended(got.Parent) != EndedSolved {
		t.Errorf("got %+v, %v, want a run solved at %d", got, err, solved)
	}
	wrong, _ := last(1) // an untrained policy
	whole[len(whole)-1] = made{wrong.Value(), wrong.Seal().Value(), claims, nil}
	if height-1 > MaxSolvedAge {
		t.Fatalf("height %d is too high for this test", height)
	}
	if _, err := Replay(bytes.NewReader(file(r.rules, whole...)), ReplayOptions{Check: CheckClaims}); !errors.Is(err, ErrNotSolved) {
		t.Errorf("a state that did not pass: got %v, want %v", err, ErrNotSolved)
	}
	if _, err := Replay(bytes.NewReader(file(r.rules, whole...)), ReplayOptions{}); err != nil {
		t.Errorf("the same, digests alone: %v", err)
	}
}
