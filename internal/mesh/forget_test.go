package mesh

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// Gossip reads what a peer that dialed again is subscribed to only once it has forgotten the peer's old connection.
func TestSubscriptionsOutliveOldConnections(t *testing.T) {
	for _, seen := range []struct {
		name string
		end  time.Duration // when gossip sees the old connection end
		want time.Duration
	}{
		{"soon", time.Second, time.Second},
		{"never", time.Hour, forgetful},
	} {
		t.Run(seen.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const id, other = peer.ID("again"), peer.ID("first time")
				m := &Mesh{ctx: context.Background(), forgetting: map[peer.ID]chan struct{}{id: make(chan struct{})}}
				time.AfterFunc(seen.end, func() { m.forgotten(id) })
				begun := time.Now()
				m.awaitForgotten(other)
				if d := time.Since(begun); d != 0 {
					t.Errorf("a peer that did not dial again waited for %v", d)
				}
				m.awaitForgotten(id)
				if d := time.Since(begun); d != seen.want {
					t.Errorf("read after %v, want %v", d, seen.want)
				}
				m.awaitForgotten(id) // its next stream
				if d := time.Since(begun); d != seen.want || len(m.forgetting) != 0 {
					t.Errorf("the next stream was read after %v; %d peers are left", d, len(m.forgetting))
				}
			})
		})
	}
}
