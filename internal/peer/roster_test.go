//go:build !js

package peer_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/evoswarm/evoswarm/internal/peer"
)

// Anybody may ask who takes part, so one answer serves a second.
func TestRosterIsMadeOnceASecond(t *testing.T) {
	m := join(t, cartPole(t), 1, nil)
	first, err := m.Roster(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(first.Members) != 1 || !first.Members[0].Self || first.Members[0].Key != m.Status().Self {
		t.Errorf("%+v, want this peer alone", first.Members)
	}
	answers := map[*peer.Roster]bool{first: true}
	begun := time.Now()
	for range 1000 {
		r, err := m.Roster(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		answers[r] = true
	}
	if most := 1 + int(time.Since(begun)/time.Second+1); len(answers) > most {
		t.Errorf("1000 questions made %d rosters, want at most %d", len(answers), most)
	}
	if err := m.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Roster(t.Context()); !errors.Is(err, peer.ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
}
