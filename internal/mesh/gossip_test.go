//go:build !js

package mesh_test

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/mesh"
)

// copies counts the copies of an author's messages that a foreign node of gossipsub gets.
type copies struct {
	author string
	n      atomic.Int64
}

// RecvRPC implements pubsub.RawTracer.
func (c *copies) RecvRPC(rpc *pubsub.RPC) {
	for _, m := range rpc.GetPublish() {
		if string(m.GetFrom()) == c.author {
			c.n.Add(1)
		}
	}
}

func (*copies) OnNewOutboundStream(peer.ID, protocol.ID) {}
func (*copies) OnClosedOutboundStream(peer.ID)           {}
func (*copies) Join(string)                              {}
func (*copies) Leave(string)                             {}
func (*copies) Graft(peer.ID, string)                    {}
func (*copies) Prune(peer.ID, string)                    {}
func (*copies) ValidateMessage(*pubsub.Message)          {}
func (*copies) DeliverMessage(*pubsub.Message)           {}
func (*copies) RejectMessage(*pubsub.Message, string)    {}
func (*copies) DuplicateMessage(*pubsub.Message)         {}
func (*copies) ThrottlePeer(peer.ID)                     {}
func (*copies) SendRPC(*pubsub.RPC, peer.ID)             {}
func (*copies) DropRPC(*pubsub.RPC, peer.ID)             {}
func (*copies) UndeliverableMessage(*pubsub.Message)     {}

// TestHubsHandGossipToFew: where all hubs are neighbors, each gets a message from its author, and from few others. All
// get all of them, those included that are no neighbors of the author, and so do leaves.
func TestHubsHandGossipToFew(t *testing.T) {
	const n, messages = 16, 20
	hubs := make([]*mesh.Mesh, n)
	for i := range hubs {
		hubs[i] = startHub(t, byte(1+i))
		enter(t, hubs[i])
		for _, other := range hubs[:i] {
			dial(t, hubs[i], other)
		}
	}
	leaf := start(t, mesh.Config{Key: key(100), Peers: []string{hubs[n-1].Addrs()[0]}})
	enter(t, leaf)
	linked(t, leaf, hubs[n-1])

	h, at := hostile(t, 66, hubs[1])
	sayHello(t, h, at.ID)
	author, err := mesh.IDOf(hubs[0].Self())
	if err != nil {
		t.Fatal(err)
	}
	heard := &copies{author: string(author)}
	params := pubsub.DefaultGossipSubParams()
	params.D, params.Dlo, params.Dhi, params.Dout, params.Dscore = 3, 1, 2*n, 0, 1 // it takes what neighbors hand on, and asks few to do so
	topic := foreignGossip(t, t.Context(), h, pubsub.WithGossipSubParams(params), pubsub.WithRawTracer(heard))
	for _, hub := range hubs[2:] {
		info, err := peer.AddrInfoFromString(hub.Addrs()[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Connect(t.Context(), *info); err != nil {
			t.Fatal(err)
		}
		sayHello(t, h, info.ID)
	}
	deadline := time.Now().Add(patience)
	for len(topic.ListPeers()) < n-1 && time.Now().Before(deadline) {
		time.Sleep(20 * time.Millisecond)
	}
	time.Sleep(2 * time.Second) // a few beats of gossip: meshes have settled

	for i := range messages {
		if err := hubs[0].Gossip(status(uint64(1000 + i))); err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range append(slices.Clone(hubs[1:]), leaf) {
		got := make(map[uint64]bool)
		wait(t, m, func(e mesh.Received) bool {
			if s, ok := e.Message.(*coordinator.Status); ok && s.Height >= 1000 {
				got[s.Height] = true
			}
			return len(got) == messages
		})
	}
	time.Sleep(time.Second) // what comes twice comes soon
	each := float64(heard.n.Load()) / messages
	t.Logf("%.1f copies of each message", each)
	if each < 1 || each > n*2/3 {
		t.Errorf("a neighbor of %d hubs gets %.1f copies of each message", n-1, each)
	}
}
