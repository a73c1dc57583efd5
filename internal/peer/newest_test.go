//go:build !js

package peer_test

import (
	"testing"

	"github.com/evoswarm/evoswarm/internal/peer"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/store"
)

// TestNewest: the state that a peer gives for its head is the one whose digest the head's entry has, at any height.
func TestNewest(t *testing.T) {
	rules := cartPole(t)
	log := store.NewMemory(rules.Spec)
	p := join(t, rules, 1, func(c *peer.Config) { c.Store = log })
	compared := 0
	until(t, "some states were compared", p, func(s peer.Status) bool {
		state, on := p.Newest()
		if state == nil || on == rules.Run {
			return false
		}
		block, ok := log.Block(on)
		if !ok {
			t.Fatalf("the head %s is not in the log", on)
		}
		entry, err := seedlog.DecodeEntry(block)
		if err != nil {
			t.Fatal(err)
		}
		if digest := state.Digest(); [32]byte(entry.State) != digest {
			t.Fatalf("height %d: the state has digest %x, the entry says %x", entry.Height, digest, entry.State)
		}
		compared++
		return compared >= 5
	})
}
