package coordinator

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestMembersAgainstMaps: a roll holds what a map would hold, in the order of keys, and those that are near are those
// heard with a direct connection, whatever comes first.
func TestMembersAgainstMaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := members{links: make(map[Peer]bool), tabs: make(map[Peer]bool)}
		heard, linked := make(map[Peer]bool), make(map[Peer]bool)
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			p := drawPeer(t, 12)
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				if h := m.hear(p); h.peer != p || m.heard.of(p) != h || m.hear(p) != h {
					t.Fatal("who was heard is not there, or twice")
				}
				heard[p] = true
			case 1:
				m.forget(p)
				delete(heard, p)
			case 2:
				m.link(p, false)
				linked[p] = true
			case 3:
				m.unlink(p)
				delete(linked, p)
			}
			near := 0
			for p := range heard {
				if linked[p] {
					near++
				}
			}
			for _, r := range []roll{m.heard, m.near} {
				if !slices.IsSortedFunc(r, func(a, b *presence) int { return a.peer.Compare(b.peer) }) {
					t.Fatal("not in the order of keys")
				}
			}
			if len(m.heard) != len(heard) || (m.heard.of(p) != nil) != heard[p] {
				t.Fatalf("%d peers are heard, want %d", len(m.heard), len(heard))
			}
			if len(m.near) != near || (m.near.of(p) != nil) != (heard[p] && linked[p]) || m.near.of(p) != nil && m.near.of(p) != m.heard.of(p) {
				t.Fatalf("%d peers are near, want %d", len(m.near), near)
			}
		}
	})
}

// TestHeardAreBounded: of too many peers the one that was silent for longest gives way.
func TestHeardAreBounded(t *testing.T) {
	m := members{links: make(map[Peer]bool)}
	peer := func(i int) (p Peer) {
		binary.LittleEndian.PutUint32(p[:], uint32(i))
		return p
	}
	for i := range maxHeard {
		m.hear(peer(i)).last = Tick(1000 + i)
	}
	m.link(peer(77), false)
	m.heard.of(peer(77)).last = 1
	m.hear(peer(maxHeard)).last = 5000
	if got := len(m.heard); got != maxHeard {
		t.Errorf("got %d peers, want %d", got, maxHeard)
	}
	if m.heard.of(peer(77)) != nil || m.heard.of(peer(76)) == nil || m.heard.of(peer(maxHeard)) == nil {
		t.Error("another peer than the one silent for longest gave way")
	}
	if len(m.near) != 0 {
		t.Error("who gave way is near")
	}
}

// checkRolls panics unless those that are near, and those that are asked for what this peer lacks, are those of all who
// are heard.
func (c *Coordinator) checkRolls() {
	m := &c.members
	rich := c.rich()
	for _, h := range m.heard {
		if near := m.near.of(h.peer) != nil; near != m.links[h.peer] {
			panic(fmt.Sprintf("%s is near: %v, linked: %v", h.peer.Short(), near, m.links[h.peer]))
		}
		if c.lacks(h) && rich.of(h.peer) != h {
			panic(fmt.Sprintf("%s has what this peer lacks, and is not asked: height %d of %d, weight %d, %d rich", h.peer.Short(), h.Height, c.chain.head.height, h.Weight, len(rich)))
		}
	}
}
