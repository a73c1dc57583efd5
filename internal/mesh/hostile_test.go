//go:build !js

package mesh_test

import (
	"context"
	"encoding/binary"
	"io"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/mesh"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// hostile is a libp2p host that speaks our protocols' names and little else.
func hostile(t *testing.T, n byte, victim *mesh.Mesh) (host.Host, peer.AddrInfo) {
	t.Helper()
	priv, err := crypto.UnmarshalEd25519PrivateKey(key(n))
	if err != nil {
		t.Fatal(err)
	}
	h, err := libp2p.New(libp2p.Identity(priv), libp2p.NoListenAddrs, libp2p.Transport(tcp.NewTCPTransport), libp2p.DisableMetrics())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	info, err := peer.AddrInfoFromString(victim.Addrs()[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Connect(t.Context(), *info); err != nil {
		t.Fatal(err)
	}
	return h, *info
}

// throw writes data on a new stream as long as the victim takes it.
func throw(h host.Host, to peer.ID, proto protocol.ID, data []byte) (sent bool) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	s, err := h.NewStream(network.WithNoDial(ctx, "test"), to, proto)
	if err != nil {
		return false
	}
	defer s.Close()
	_ = s.SetDeadline(time.Now().Add(2 * time.Second))
	_, err = s.Write(data)
	_ = s.CloseWrite()
	_, _ = s.Read(make([]byte, 1)) // until it answers or resets
	return err == nil
}

// cutOff waits until the victim refuses the peer.
func cutOff(t *testing.T, h host.Host, victim peer.AddrInfo) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for time.Now().Before(deadline) {
		if h.Network().Connectedness(victim.ID) != network.Connected {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			err := h.Connect(ctx, victim)
			if err == nil {
				// A refusal may come just after the handshake.
				time.Sleep(100 * time.Millisecond)
			}
			cancel()
			if h.Network().Connectedness(victim.ID) != network.Connected {
				return
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Error("the hostile peer is still connected")
}

func TestHostilePeers(t *testing.T) {
	run := seedlog.LinkOf(genesis).String()
	direct := direct(t)
	for _, c := range []struct {
		name  string
		proto protocol.ID
		data  []byte
	}{
		{"hello garbage", "/evoswarm/hello/2", []byte("not CBOR at all")},
		{"hello oversize", "/evoswarm/hello/2", make([]byte, 1<<20)},
		{"hello empty", "/evoswarm/hello/2", nil},
		{"hello of another genesis", "/evoswarm/hello/2", seedlog.Encode([]any{0, false, "", run, []byte("x"), []string{}, []string{}, false, false})},
		{"direct garbage", direct, frame([]byte("garbage"))},
		{"direct oversize", direct, binary.AppendUvarint(nil, 1<<40)},
		{"direct unknown type", direct, frame([]byte{200, 0x80})},
		{"direct not canonical", direct, frame([]byte{12, 0x98, 0x00})},
	} {
		t.Run(c.name, func(t *testing.T) {
			victim := startHub(t, 1)
			enter(t, victim)
			h, info := hostile(t, 66, victim)
			for tries, sent := 0, 0; tries < 10 && sent < 3; tries++ { // on a busy computer a stream may not open in time
				if throw(h, info.ID, c.proto, c.data) {
					sent++
				}
			}
			cutOff(t, h, info)
			// The node still works with others.
			friend := start(t, mesh.Config{Key: key(2)})
			enter(t, friend)
			dial(t, friend, victim)
			linked(t, victim, friend)
		})
	}
}

// foreignGossip has a host take part in the run's gossip about control as hubs do, with a gossipsub that is not set up
// by us.
func foreignGossip(t *testing.T, ctx context.Context, h host.Host, options ...pubsub.Option) *pubsub.Topic {
	t.Helper()
	proto := protocol.ID("/evoswarm/" + seedlog.LinkOf(genesis).String() + "/gossip/2")
	return stockGossip(t, ctx, h, append(options,
		pubsub.WithGossipSubProtocols([]protocol.ID{proto}, func(f pubsub.GossipSubFeature, p protocol.ID) bool { return f == pubsub.GossipSubFeatureMesh }))...)
}

// stockGossip has a host take part in the run's gossip about control with gossipsub as it comes, but for options.
func stockGossip(t *testing.T, ctx context.Context, h host.Host, options ...pubsub.Option) *pubsub.Topic {
	t.Helper()
	ps, err := pubsub.NewGossipSub(ctx, h, options...)
	if err != nil {
		t.Fatal(err)
	}
	topic, err := ps.Join("/evoswarm/" + seedlog.LinkOf(genesis).String() + "/control/2")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := topic.Subscribe(); err != nil {
		t.Fatal(err)
	}
	return topic
}

// sayHello has a host say that it is in the run.
func sayHello(t *testing.T, h host.Host, to peer.ID) {
	t.Helper()
	s, err := h.NewStream(t.Context(), to, "/evoswarm/hello/2")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	hello := seedlog.Encode([]any{0, false, "", seedlog.LinkOf(genesis).String(), []byte{}, []string{}, []string{}, false, false})
	if _, err := s.Write(hello); err != nil {
		t.Fatal(err)
	}
	_ = s.CloseWrite()
	_ = s.SetReadDeadline(time.Now().Add(patience))
	if answer, err := io.ReadAll(s); err != nil || len(answer) == 0 {
		t.Fatalf("no hello came back: %v", err)
	}
}

func TestHostileGossip(t *testing.T) {
	victim := startHub(t, 1)
	enter(t, victim)
	h, info := hostile(t, 66, victim)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	topic := foreignGossip(t, ctx, h, pubsub.WithFloodPublish(true))
	deadline := time.Now().Add(patience)
	for len(topic.ListPeers()) == 0 && time.Now().Before(deadline) {
		time.Sleep(20 * time.Millisecond)
	}
	for _, data := range [][]byte{[]byte("garbage"), make([]byte, coordinator.MaxGossipBytes+1), {1}, {99, 0x80}} {
		if err := topic.Publish(ctx, data); err != nil {
			t.Fatal(err)
		}
	}
	cutOff(t, h, info)
	select {
	case e := <-victim.Events():
		t.Errorf("got %+v", e)
	default:
	}
}

func TestBanCutsOff(t *testing.T) {
	a, b := startHub(t, 1), startHub(t, 2)
	enter(t, a)
	dial(t, b, a)
	enter(t, b)
	linked(t, a, b)
	a.Ban(b.Self())
	wait(t, a, func(e mesh.Unlinked) bool { return e.Peer == b.Self() })
	time.Sleep(1500 * time.Millisecond) // b dials again, in vain
	if links := a.Links(); len(links) != 0 {
		t.Errorf("got links %v", links)
	}
}
