package peer

import (
	"testing"
	"time"
)

func TestPaceIsThatOfLate(t *testing.T) {
	var p pace
	if got := p.left(10); got != 0 {
		t.Errorf("got %v s before the first fold, want 0", got)
	}
	p.measure(4, 8*time.Second)
	if got := p.left(10); got != 20 {
		t.Errorf("got %v s for 10 entries of 2 s, want 20", got)
	}
	for range 20 {
		p.measure(1, time.Second)
	}
	if got := p.left(10); got < 9.9 || got > 10.1 {
		t.Errorf("got %v s for 10 entries of 1 s, want 10", got)
	}
}
