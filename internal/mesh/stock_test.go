//go:build !js

package mesh_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"google.golang.org/protobuf/proto"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/mesh"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// hears counts the statuses of a height or more that come to a topic of gossip.
func hears(t *testing.T, topic *pubsub.Topic, from uint64) *atomic.Int64 {
	t.Helper()
	sub, err := topic.Subscribe(pubsub.WithBufferSize(1024))
	if err != nil {
		t.Fatal(err)
	}
	heard := new(atomic.Int64)
	go func() {
		for {
			msg, err := sub.Next(t.Context())
			if err != nil {
				return
			}
			decoded, err := coordinator.DecodeMessage(msg.Data)
			if s, ok := decoded.(*coordinator.Status); err == nil && ok && s.Height >= from {
				heard.Add(1)
			}
		}
	}()
	return heard
}

// Any libp2p's own gossipsub hears all that is said in a run, also over hubs that are no authors, and is heard itself.
// It says no hello.
func TestStockGossip(t *testing.T) {
	author, hub := startHub(t, 1), startHub(t, 2)
	enter(t, author)
	enter(t, hub)
	dial(t, hub, author)
	linked(t, author, hub)
	h, _ := hostile(t, 66, hub)
	topic := stockGossip(t, t.Context(), h)
	heard := hears(t, topic, 1000)
	eventually(t, "the hub is in the topic", func() bool { return len(topic.ListPeers()) > 0 })
	time.Sleep(2 * time.Second) // a few beats of gossip: the hubs' mesh has settled

	const messages = 20
	for i := range messages {
		if err := author.Gossip(status(uint64(1000 + i))); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "all messages are heard", func() bool { return heard.Load() >= messages })
	if err := topic.Publish(t.Context(), status(7)); err != nil {
		t.Fatal(err)
	}
	wait(t, author, func(e mesh.Received) bool {
		s, ok := e.Message.(*coordinator.Status)
		return ok && s.Height == 7
	})
}

// Gossip of other runs and of other programs, which comes under the same names of gossipsub, is not heard and is no
// offense, and who takes part in it hears nothing of this run.
func TestOtherTopicsAreApart(t *testing.T) {
	victim, other := startHub(t, 1), startHub(t, 2)
	enter(t, victim)
	if err := other.Enter([]byte("the spec of another run")); err != nil {
		t.Fatal(err)
	}
	dial(t, other, victim)
	h, at := hostile(t, 66, victim)
	self, err := mesh.IDOf(victim.Self())
	if err != nil {
		t.Fatal(err)
	}
	heard := &copies{author: string(self)}
	ps, err := pubsub.NewGossipSub(t.Context(), h, pubsub.WithFloodPublish(true), pubsub.WithRawTracer(heard))
	if err != nil {
		t.Fatal(err)
	}
	name := "/evoswarm/" + seedlog.LinkOf([]byte("the spec of another run")).String() + "/control/2"
	topic, err := ps.Join(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := topic.Subscribe(); err != nil {
		t.Fatal(err)
	}
	rpc, err := proto.Marshal(&pb.RPC{Publish: []*pb.Message{{Topic: &name, From: []byte(h.ID()), Seqno: make([]byte, 8), Data: []byte("garbage")}}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint64(20) {
		if err := errors.Join(victim.Gossip(status(i)), other.Gossip(status(i))); err != nil {
			t.Fatal(err)
		}
		if !throw(h, at.ID, "/meshsub/1.1.0", frame(rpc)) {
			t.Fatal("the victim takes no gossip")
		}
		time.Sleep(50 * time.Millisecond)
	}
	if n := heard.n.Load(); n > 0 {
		t.Errorf("it hears %d messages of a run whose topics it is not subscribed to", n)
	}
	for _, m := range []*mesh.Mesh{victim, other} {
		select {
		case e := <-m.Events():
			t.Errorf("got %+v of another run", e)
		default:
		}
	}
	if h.Network().Connectedness(at.ID) != network.Connected {
		t.Error("the other program is disconnected")
	}
}

// places counts how often a neighbor of a foreign node of gossipsub takes its place in the mesh away.
type places struct {
	copies
	lost atomic.Int64
}

// Prune implements pubsub.RawTracer.
func (p *places) Prune(peer.ID, string) { p.lost.Add(1) }

// However many strangers ask for places in a hub's mesh, which has 8 at most, the hubs there keep theirs: those get no
// place that speak any libp2p's own gossipsub, nor those that said no hello.
func TestStrangersGetNoPlaces(t *testing.T) {
	for _, c := range []struct {
		name string
		join func(t *testing.T, h host.Host) *pubsub.Topic
	}{
		{"gossipsub as it comes", func(t *testing.T, h host.Host) *pubsub.Topic { return stockGossip(t, t.Context(), h) }},
		{"gossipsub as it comes, with a hello", func(t *testing.T, h host.Host) *pubsub.Topic {
			sayHello(t, h, h.Network().Peers()[0])
			return stockGossip(t, t.Context(), h)
		}},
		{"as hubs do, without a hello", func(t *testing.T, h host.Host) *pubsub.Topic { return foreignGossip(t, t.Context(), h) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			victim := startHub(t, 1)
			enter(t, victim)
			told := &places{}
			for i := range byte(3) { // hubs
				h, at := hostile(t, 50+i, victim)
				sayHello(t, h, at.ID)
				topic := foreignGossip(t, t.Context(), h, pubsub.WithRawTracer(told))
				eventually(t, fmt.Sprintf("hub %d has the victim in the topic", i), func() bool { return len(topic.ListPeers()) > 0 })
			}
			time.Sleep(2 * time.Second) // a few beats of gossip: they have their places
			for i := range byte(16) {
				h, _ := hostile(t, 100+i, victim)
				topic := c.join(t, h)
				eventually(t, fmt.Sprintf("stranger %d has the victim in the topic", i), func() bool { return len(topic.ListPeers()) > 0 })
			}
			time.Sleep(2 * time.Second) // they have asked
			if n := told.lost.Load(); n > 0 {
				t.Errorf("%d hubs lost their places", n)
			}
		})
	}
}
