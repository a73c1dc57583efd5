package coordinator

import (
	"encoding/binary"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestRollAgainstMap: a roll holds what a map would hold, in the order of keys.
func TestRollAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r roll
		want := make(map[Peer]bool)
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			p := drawPeer(t, 12)
			if rapid.Bool().Draw(t, "add") {
				if h := r.add(p); h.peer != p || r.of(p) != h || r.add(p) != h {
					t.Fatal("what was added is not there, or twice")
				}
				want[p] = true
			} else {
				r.remove(p)
				delete(want, p)
			}
			if !slices.IsSortedFunc(r, func(a, b *presence) int { return a.peer.Compare(b.peer) }) {
				t.Fatal("not in the order of keys")
			}
			if len(r) != len(want) || (r.of(p) != nil) != want[p] {
				t.Fatalf("got %d peers, want %d", len(r), len(want))
			}
		}
	})
}

// TestRollIsBounded: of too many peers the one that was silent for longest gives way.
func TestRollIsBounded(t *testing.T) {
	var r roll
	peer := func(i int) (p Peer) {
		binary.LittleEndian.PutUint32(p[:], uint32(i))
		return p
	}
	for i := range maxHeard {
		r.add(peer(i)).last = Tick(1000 + i)
	}
	r.of(peer(77)).last = 1
	r.add(peer(maxHeard)).last = 5000
	if got := len(r); got != maxHeard {
		t.Errorf("got %d peers, want %d", got, maxHeard)
	}
	if r.of(peer(77)) != nil || r.of(peer(76)) == nil || r.of(peer(maxHeard)) == nil {
		t.Error("another peer than the one silent for longest gave way")
	}
}
