//go:build !js

package mesh_test

import (
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/relay"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/mesh"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// eventually waits until something is so.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !so(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not in %v: %s", patience, what)
		}
	}
}

// sheltered starts a native that listens, and believes that nobody can dial it, with a place at a relay. It returns
// its address there.
func sheltered(t *testing.T, n byte, relays ...*mesh.Mesh) (*mesh.Mesh, string) {
	t.Helper()
	cfg := mesh.Config{Key: key(n), Hub: true, Listen: []string{"/ip4/127.0.0.1/tcp/0"}}
	for _, r := range relays {
		cfg.Relays = append(cfg.Relays, r.Addrs()[0])
	}
	m := start(t, cfg)
	m.Shelter()
	return m, circuitOf(t, m, relays[0])
}

// circuitOf waits until a relay leads to a peer.
func circuitOf(t *testing.T, m, relay *mesh.Mesh) (addr string) {
	t.Helper()
	id, err := mesh.IDOf(relay.Self())
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "a relay leads there", func() bool {
		for _, addr = range m.Addrs() {
			if strings.Contains(addr, id.String()+"/p2p-circuit") {
				return true
			}
		}
		return false
	})
	return addr
}

// A native that nobody can dial has a place at a relay that knows nothing of its run. Others reach it there: they are
// linked, hear each other's gossip, and what is for hubs goes to it, though it is called none.
func TestThroughARelay(t *testing.T) {
	relay := startHub(t, 1)
	if err := relay.Enter([]byte("another run")); err != nil {
		t.Fatal(err)
	}
	n, addr := sheltered(t, 2, relay)
	enter(t, n)
	leaf := start(t, mesh.Config{Key: key(3)})
	hello, err := leaf.Dial(t.Context(), addr)
	if err != nil {
		t.Fatal(err)
	}
	if hello.Hub || !hello.Relayed {
		t.Errorf("it says that it is a hub: %t, and behind a relay: %t", hello.Hub, hello.Relayed)
	}
	for _, a := range hello.Hubs {
		if strings.HasSuffix(a, addr[strings.LastIndex(addr, "/"):]) && !strings.Contains(a, "/p2p-circuit/") {
			t.Errorf("it says that it is at %s, where nobody can dial it", a)
		}
	}
	enter(t, leaf)
	linked(t, n, leaf)
	linked(t, leaf, n)
	if got := leaf.Links(); len(got) != 1 || got[0].Hub || !got[0].Relayed || !leaf.HasHub() {
		t.Errorf("the leaf has links %+v", got)
	}
	if err := leaf.SendHubs(coordinator.EncodeMessage(&coordinator.Want{Claims: []seedlog.Link{seedlog.LinkOf(genesis)}})); err != nil {
		t.Error(err)
	}
	wait(t, n, func(e mesh.Received) bool { _, ok := e.Message.(*coordinator.Want); return ok && e.From == leaf.Self() })
	for height := uint64(1); height < 3; height++ {
		from, to := n, leaf
		if height == 2 {
			from, to = leaf, n
		}
		stop := repeat(t, from, height)
		wait(t, to, func(e mesh.Received) bool {
			s, ok := e.Message.(*coordinator.Status)
			return ok && s.Height == height && e.From == from.Self()
		})
		stop()
	}
	if n.Circuits() != 1 || relay.Circuits() != 0 {
		t.Errorf("%d circuits at the node, %d at the relay", n.Circuits(), relay.Circuits())
	}
}

// repeat gossips a status until it is stopped: gossip before the other side has subscribed is lost.
func repeat(t *testing.T, m *mesh.Mesh, height uint64) (stop func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		for {
			_ = m.Gossip(status(height))
			select {
			case <-done:
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	return func() { close(done) }
}

// A peer that loses a relay says which, and gets a place at another one.
func TestRelayIsReplaced(t *testing.T) {
	var log strings.Builder
	var mu sync.Mutex
	relays := []*mesh.Mesh{startHub(t, 1), startHub(t, 2), startHub(t, 3)}
	told := make(chan []string, 16)
	cfg := mesh.Config{Key: key(4), Hub: true, Listen: []string{"/ip4/127.0.0.1/tcp/0"}, Reached: func(addrs []string) { told <- addrs },
		Logger: slog.New(slog.NewTextHandler(locked{&log, &mu}, nil))}
	for _, r := range relays {
		cfg.Relays = append(cfg.Relays, r.Addrs()[0])
	}
	n := start(t, cfg)
	n.Shelter()
	circuitOf(t, n, relays[0])
	circuitOf(t, n, relays[1])
	if err := relays[0].Close(); err != nil {
		t.Fatal(err)
	}
	addr := circuitOf(t, n, relays[2])
	eventually(t, "it says where it is", func() bool { return slices.Contains(<-told, addr) })
	enter(t, n)
	leaf := start(t, mesh.Config{Key: key(5)})
	enter(t, leaf)
	if _, err := leaf.Dial(t.Context(), addr); err != nil {
		t.Error(err)
	}
	id, err := mesh.IDOf(relays[0].Self())
	if err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if said := log.String(); !strings.Contains(said, "the relay is gone") || !strings.Contains(said, id.String()) {
		t.Errorf("it does not say which relay is gone: %s", said)
	}
}

type locked struct {
	io.Writer
	mu *sync.Mutex
}

func (l locked) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Writer.Write(b)
}

// Two natives that nobody can dial find each other over a hub of their run, and stay together when it goes.
func TestShelteredFindEachOther(t *testing.T) {
	hub, relay := startHub(t, 1), startHub(t, 4)
	enter(t, hub)
	var both []*mesh.Mesh
	for n := range byte(2) {
		m, _ := sheltered(t, 2+n, relay)
		dial(t, m, hub)
		enter(t, m)
		both = append(both, m)
	}
	linked(t, both[0], both[1])
	linked(t, both[1], both[0])
	for _, l := range hub.Links() {
		if l.Hub || !l.Relayed {
			t.Errorf("the hub knows one as %+v", l)
		}
	}
	if err := hub.Close(); err != nil {
		t.Fatal(err)
	}
	stop := repeat(t, both[0], 7)
	defer stop()
	wait(t, both[1], func(e mesh.Received) bool { s, ok := e.Message.(*coordinator.Status); return ok && s.Height == 7 })
}

// Whatever a peer says of itself over a relay, it is no hub, and neither does one become a relay's hub by it.
func TestNobodyIsAHubOverARelay(t *testing.T) {
	relay := startHub(t, 1)
	boaster := start(t, mesh.Config{Key: key(2), Hub: true, Listen: []string{"/ip4/127.0.0.1/tcp/0"}, Relays: []string{relay.Addrs()[0]}})
	boaster.Shelter()
	addr := circuitOf(t, boaster, relay)
	boaster.Boast()
	enter(t, boaster)
	leaf := start(t, mesh.Config{Key: key(3)})
	enter(t, leaf)
	hello, err := leaf.Dial(t.Context(), addr)
	if err != nil {
		t.Fatal(err)
	}
	linked(t, leaf, boaster)
	if hello.Hub || leaf.Links()[0].Hub || leaf.Proven() != 0 {
		t.Errorf("it is a hub: %+v", leaf.Links())
	}
}

// altering is a host that changes a byte of what it relays, some bytes after a circuit was begun.
type altering struct {
	host.Host
	after *atomic.Int64
}

func (h altering) SetStreamHandler(id protocol.ID, handle network.StreamHandler) {
	h.Host.SetStreamHandler(id, func(s network.Stream) { handle(&altered{s, h.after.Load()}) })
}

type altered struct {
	network.Stream
	left int64
}

func (s *altered) Read(b []byte) (int, error) {
	n, err := s.Stream.Read(b)
	if s.left -= int64(n); s.left < 0 && n > 0 {
		b[n-1] ^= 1
	}
	return n, err
}

// A relay that changes what it carries ends the connection, in the handshake or later: nothing that it changed is
// taken in.
func TestRelayCannotAlter(t *testing.T) {
	priv, err := crypto.UnmarshalEd25519PrivateKey(key(66))
	if err != nil {
		t.Fatal(err)
	}
	h, err := libp2p.New(libp2p.Identity(priv), libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"), libp2p.Transport(tcp.NewTCPTransport), libp2p.DisableMetrics())
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	after := new(atomic.Int64)
	after.Store(1 << 40)
	service, err := relay.New(altering{h, after}, relay.WithInfiniteLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer service.Close()
	n := start(t, mesh.Config{Key: key(2), Hub: true, Listen: []string{"/ip4/127.0.0.1/tcp/0"}})
	enter(t, n)
	info := peer.AddrInfo{ID: h.ID(), Addrs: h.Addrs()}
	if err := n.Reserve(t.Context(), info); err != nil {
		t.Fatal(err)
	}
	id, err := mesh.IDOf(n.Self())
	if err != nil {
		t.Fatal(err)
	}
	addr := h.Addrs()[0].String() + "/p2p/" + h.ID().String() + "/p2p-circuit/p2p/" + id.String()
	leaf := start(t, mesh.Config{Key: key(3)})
	enter(t, leaf)
	after.Store(100) // in the handshake, after what is for the relay
	if _, err := leaf.Dial(t.Context(), addr); err == nil {
		t.Error("a handshake that was changed succeeds")
	}
	after.Store(20 << 10)
	if _, err := leaf.Dial(t.Context(), addr); err != nil {
		t.Fatal(err)
	}
	linked(t, n, leaf)
	for range 100 {
		_ = leaf.Send(n.Self(), status(5))
	}
	for {
		select {
		case e := <-n.Events():
			if got, ok := e.(mesh.Received); ok && got.Message.(*coordinator.Status).Height != 5 {
				t.Fatalf("got %+v", got.Message)
			}
			if _, gone := e.(mesh.Unlinked); gone {
				return
			}
		case <-time.After(patience):
			t.Fatal("a changed connection continues")
		}
		_ = leaf.Send(n.Self(), status(5))
	}
}

// While strangers at many addresses begin circuits without end, one between others continues, and new ones are made.
func TestFloodOfCircuits(t *testing.T) {
	relay := startHub(t, 1)
	n, addr := sheltered(t, 2, relay)
	enter(t, n)
	leaf := start(t, mesh.Config{Key: key(3)})
	enter(t, leaf)
	if _, err := leaf.Dial(t.Context(), addr); err != nil {
		t.Fatal(err)
	}
	linked(t, n, leaf)
	info, err := peer.AddrInfoFromString(relay.Addrs()[0])
	if err != nil {
		t.Fatal(err)
	}
	begun := 0
	for i := range byte(10) {
		priv, err := crypto.UnmarshalEd25519PrivateKey(key(100 + i))
		if err != nil {
			t.Fatal(err)
		}
		h, err := libp2p.New(libp2p.Identity(priv), libp2p.ListenAddrStrings(fmt.Sprintf("/ip4/127.0.1.%d/tcp/0", i+1)),
			libp2p.Transport(tcp.NewTCPTransport), libp2p.DisableMetrics())
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		if err := h.Connect(t.Context(), *info); err != nil {
			t.Fatal(err)
		}
		for range 100 {
			s, err := h.NewStream(t.Context(), info.ID, "/libp2p/circuit/relay/0.2.0/hop")
			if err != nil {
				break
			}
			if _, err := s.Write([]byte{200}); err != nil { // the length of what never comes
				break
			}
			begun++
		}
	}
	t.Logf("%d streams were begun", begun)
	if begun < 256 {
		t.Errorf("%d streams are no flood", begun)
	}
	if n.Circuits() != 1 {
		t.Error("the circuit of others has ended")
	}
	another := start(t, mesh.Config{Key: key(4)})
	enter(t, another)
	if _, err := another.Dial(t.Context(), addr); err != nil {
		t.Error(err)
	}
}
