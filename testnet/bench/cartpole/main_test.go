package main

import "testing"

// The numbers are those that ../cartpole.c prints for one window, compiled with -ffp-contract=off.
func TestPlay(t *testing.T) {
	g := newGame()
	g.play(100_000)
	if g.steps != 100012 || g.episodes != 4543 || g.sum != 0x14a050472c07e323 {
		t.Errorf("got %d steps, %d episodes, sum %016x", g.steps, g.episodes, g.sum)
	}
}
