//go:build !js

package mesh_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/mesh"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// received waits for a status of a height and returns how it came.
func received(t *testing.T, m *mesh.Mesh, height uint64) mesh.Received {
	t.Helper()
	return wait(t, m, func(e mesh.Received) bool {
		s, ok := e.Message.(*coordinator.Status)
		return ok && s.Height == height
	})
}

// Three hubs in a chain, each of which keeps one connection: what the first addresses to the last arrives by way of the
// one between, with its author, and the next message goes directly.
func TestAddressedMessagesFindHubsThatAreNotLinked(t *testing.T) {
	limited := func(n byte, peers ...string) *mesh.Mesh {
		m := start(t, mesh.Config{Key: key(n), Hub: true, Hubs: 1, Listen: []string{"/ip4/127.0.0.1/tcp/0"}, Peers: peers})
		enter(t, m)
		return m
	}
	b := limited(2)
	a, c := limited(1, b.Addrs()[0]), limited(3, b.Addrs()[0])
	linked(t, a, b)
	linked(t, c, b)
	gossiped(t, c, a) // heard over b: that is the way back
	if got := a.Links(); len(got) != 1 {
		t.Fatalf("the chain is none: a has links %v", got)
	}
	if err := a.Send(c.Self(), status(1)); err != nil {
		t.Fatal(err)
	}
	if e := received(t, c, 1); e.From != a.Self() || e.Via != b.Self() {
		t.Errorf("got a message of %s via %s, want one of a via b", e.From.Short(), e.Via.Short())
	}
	// The message made a dial c, if b had told it where c is; it has when it has dialed c itself.
	for begun := time.Now(); len(a.Links()) < 2; time.Sleep(50 * time.Millisecond) {
		if time.Since(begun) > patience {
			t.Fatal("a does not dial c")
		}
		if err := a.Send(c.Self(), status(2)); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Send(c.Self(), status(3)); err != nil {
		t.Fatal(err)
	}
	if e := received(t, c, 3); e.From != a.Self() || e.Via != a.Self() {
		t.Errorf("got a message of %s via %s, want one of a directly", e.From.Short(), e.Via.Short())
	}
}

// Two leaves of two hubs cannot dial each other: what they address to each other passes both hubs, also when it is as
// large as a segment, and once only.
func TestParcelsPassHubs(t *testing.T) {
	hubs := []*mesh.Mesh{startHub(t, 1), startHub(t, 2)}
	enter(t, hubs[0])
	enter(t, hubs[1])
	dial(t, hubs[1], hubs[0])
	linked(t, hubs[0], hubs[1])
	leaves := make([]*mesh.Mesh, 2)
	for i := range leaves {
		leaves[i] = start(t, mesh.Config{Key: key(byte(3 + i)), Hubs: 1, Peers: []string{hubs[i].Addrs()[0]}})
		enter(t, leaves[i])
		linked(t, leaves[i], hubs[i])
	}
	gossiped(t, leaves[1], leaves[0])
	segment := coordinator.EncodeMessage(&coordinator.Segment{Generations: []coordinator.Generation{{Entry: make([]byte, 500<<10), Claims: [][]byte{}}}})
	if err := leaves[0].Send(leaves[1].Self(), segment); err != nil {
		t.Fatal(err)
	}
	e := wait(t, leaves[1], func(e mesh.Received) bool { _, ok := e.Message.(*coordinator.Segment); return ok })
	if e.From != leaves[0].Self() || e.Via != hubs[1].Self() {
		t.Errorf("got a message of %s via %s", e.From.Short(), e.Via.Short())
	}
	// The way back is known from the parcel.
	for h := range uint64(5) {
		if err := leaves[1].Send(leaves[0].Self(), status(100+h)); err != nil {
			t.Fatal(err)
		}
	}
	seen := make(map[uint64]int)
	for timeout := time.After(3 * time.Second); ; {
		select {
		case e := <-leaves[0].Events():
			if r, ok := e.(mesh.Received); ok && r.From == leaves[1].Self() && r.Message.(*coordinator.Status).Height >= 100 {
				seen[r.Message.(*coordinator.Status).Height]++
			}
			continue
		case <-timeout:
		}
		break
	}
	for h := range uint64(5) {
		if seen[100+h] != 1 {
			t.Errorf("message %d came %d times", h, seen[100+h])
		}
	}
}

// TestHubCarriesToItsLeaf: a leaf that says nothing is reached over a hub that is known to have it.
func TestHubCarriesToItsLeaf(t *testing.T) {
	hubs := []*mesh.Mesh{startHub(t, 1), startHub(t, 2)}
	enter(t, hubs[0])
	enter(t, hubs[1])
	dial(t, hubs[1], hubs[0])
	linked(t, hubs[0], hubs[1])
	leaf := start(t, mesh.Config{Key: key(3), Hubs: 1, Peers: []string{hubs[1].Addrs()[0]}})
	enter(t, leaf)
	linked(t, leaf, hubs[1])
	segment := coordinator.EncodeMessage(&coordinator.Segment{Generations: []coordinator.Generation{{Entry: make([]byte, 500<<10), Claims: [][]byte{}}}})
	if err := hubs[0].Send(leaf.Self(), segment); !errors.Is(err, mesh.ErrUnreachable) {
		t.Fatalf("a way to it is known without: %v", err)
	}
	if err := hubs[0].SendOver(hubs[1].Self(), leaf.Self(), segment); err != nil {
		t.Fatal(err)
	}
	e := wait(t, leaf, func(e mesh.Received) bool { _, ok := e.Message.(*coordinator.Segment); return ok })
	if e.From != hubs[0].Self() || e.Via != hubs[1].Self() {
		t.Errorf("got a message of %s via %s", e.From.Short(), e.Via.Short())
	}
	if err := hubs[0].SendOver(leaf.Self(), hubs[1].Self(), status(7)); err != nil { // it is linked, and that is no hub
		t.Fatal(err)
	}
	wait(t, hubs[1], func(e mesh.Received) bool { return e.From == hubs[0].Self() })
}

// parcelOf makes a parcel as its author would.
func parcelOf(author, signer ed25519.PrivateKey, to seedlog.Peer, number uint64, data []byte) []byte {
	signed := append([]byte("evoswarm/parcel/2\x00"+seedlog.LinkOf(genesis).String()+"\x00"), to[:]...)
	signed = append(binary.BigEndian.AppendUint64(signed, number), data...)
	b := append([]byte{0, 4}, to[:]...)
	from := seedlog.PeerOf(author)
	b = append(b, from[:]...)
	b = binary.BigEndian.AppendUint64(b, number)
	b = append(b, ed25519.Sign(signer, signed)...)
	return append(b, data...)
}

func frame(data []byte) []byte {
	return append(binary.AppendUvarint(nil, uint64(len(data))), data...)
}

func direct(t *testing.T) protocol.ID {
	t.Helper()
	return protocol.ID("/evoswarm/" + seedlog.LinkOf(genesis).String() + "/direct/2")
}

// countClaims counts messages of claims that come in some time.
func countClaims(m *mesh.Mesh, in time.Duration) (n int) {
	for end := time.After(in); ; {
		select {
		case e := <-m.Events():
			if r, ok := e.(mesh.Received); ok {
				if _, claims := r.Message.(*coordinator.Claims); claims {
					n++
				}
			}
		case <-end:
			return n
		}
	}
}

// A stranger that has a hub carry junk gets a share, however many authors it makes up; what it forges is its end.
func TestJunkParcelsAreBounded(t *testing.T) {
	hub := startHub(t, 1)
	enter(t, hub)
	leaf := start(t, mesh.Config{Key: key(2), Peers: []string{hub.Addrs()[0]}})
	enter(t, leaf)
	linked(t, leaf, hub)
	linked(t, hub, leaf)
	for n, c := range []struct {
		bytes, sent int
		most        func(seconds float64) float64
	}{
		{8 << 10, 400, func(s float64) float64 { return (1.25*(1<<20) + 68<<10*s) / (8 << 10) }},
		{100, 2000, func(s float64) float64 { return 320 + 21*s }},
	} {
		h, info := hostile(t, byte(66+n), hub)
		s, err := h.NewStream(t.Context(), info.ID, direct(t))
		if err != nil {
			t.Fatal(err)
		}
		junk := coordinator.EncodeMessage(&coordinator.Claims{Blocks: [][]byte{make([]byte, c.bytes)}})
		begun := time.Now()
		go func() {
			for i := range c.sent {
				author := ed25519.NewKeyFromSeed(binary.BigEndian.AppendUint64(make([]byte, 24), uint64(10000*n+i)))
				if _, err := s.Write(frame(parcelOf(author, author, leaf.Self(), 1, junk))); err != nil {
					return
				}
			}
		}()
		got := countClaims(leaf, 5*time.Second)
		if most := int(c.most(time.Since(begun).Seconds())); got == 0 || got > most {
			t.Errorf("the hub carried %d of %d pieces of junk of %d bytes, want at most %d, and some", got, c.sent, c.bytes, most)
		}
		_ = s.Reset()
	}
	// The hub still carries what others send.
	friend := start(t, mesh.Config{Key: key(3), Peers: []string{hub.Addrs()[0]}})
	enter(t, friend)
	linked(t, friend, hub)
	gossiped(t, leaf, friend)
	if err := friend.Send(leaf.Self(), status(5)); err != nil {
		t.Fatal(err)
	}
	received(t, leaf, 5)

	// What was sent once is not carried again.
	again, info := hostile(t, 68, hub)
	once := frame(parcelOf(key(68), key(68), leaf.Self(), 7, coordinator.EncodeMessage(&coordinator.Claims{Blocks: [][]byte{{1}}})))
	for range 3 {
		throw(again, info.ID, direct(t), once)
	}
	if got := countClaims(leaf, time.Second); got > 1 {
		t.Errorf("a parcel arrived %d times", got)
	}

	forger, info := hostile(t, 69, hub)
	for n := range uint64(3) {
		throw(forger, info.ID, direct(t), frame(parcelOf(key(3), key(69), leaf.Self(), 1<<62+n, status(n))))
	}
	cutOff(t, forger, info)
}

// A hub is what this peer has dialed, not what calls itself one.
func TestACallerIsNoHubUntilItIsDialed(t *testing.T) {
	hub := startHub(t, 1)
	enter(t, hub)
	run := seedlog.LinkOf(genesis).String()
	for i := range 4 {
		h, info := hostile(t, byte(66+i), hub)
		claimed := fmt.Sprintf("/ip4/127.0.0.1/tcp/%d/p2p/%s", 1+i, h.ID())
		throw(h, info.ID, "/evoswarm/hello/2", seedlog.Encode([]any{0, true, "", run, []byte{}, []string{claimed}, []string{claimed}, false, false}))
	}
	friend := startHub(t, 2)
	enter(t, friend)
	dial(t, friend, hub)
	for begun := time.Now(); hub.Proven() == 0; time.Sleep(20 * time.Millisecond) {
		if time.Since(begun) > patience {
			t.Fatal("a hub that answers is not proven")
		}
	}
	time.Sleep(time.Second) // the others had time, too
	if got := hub.Proven(); got != 1 {
		t.Errorf("got %d hubs, one was dialed", got)
	}
	if got := len(hub.Links()); got != 5 {
		t.Errorf("got %d links, want 5: who is no hub may still be a peer", got)
	}
	newcomer := start(t, mesh.Config{Key: key(3)})
	hello := dial(t, newcomer, hub)
	for _, addr := range hello.Hubs {
		if !slices.Contains(hub.Addrs(), addr) && !slices.Contains(friend.Addrs(), addr) {
			t.Errorf("a newcomer is told of %s, which nobody has dialed", addr)
		}
	}
}

// Messages that never end, from many keys at one address, hold a bounded memory, and nobody else up.
func TestHalfSentMessagesAreBounded(t *testing.T) {
	hub := startHub(t, 1)
	enter(t, hub)
	const strangers = 16
	half := append(binary.AppendUvarint(nil, coordinator.MaxDirectBytes), make([]byte, coordinator.MaxDirectBytes-64<<10)...)
	var wg sync.WaitGroup
	for i := range strangers {
		h, info := hostile(t, byte(100+i), hub)
		for range 2 {
			wg.Go(func() {
				s, err := h.NewStream(t.Context(), info.ID, direct(t))
				if err != nil {
					return
				}
				_ = s.SetWriteDeadline(time.Now().Add(5 * time.Second))
				_, _ = s.Write(half)
			})
		}
	}
	most := uint64(0)
	done := make(chan struct{})
	go func() {
		wg.Wait()
		close(done)
	}()
	for open := true; open; {
		select {
		case <-done:
			open = false
		case <-time.After(5 * time.Millisecond):
		}
		most = max(most, hub.PartBytes())
	}
	if most > mesh.MaxPartsOf || most < mesh.MaxPartsOf/2 {
		t.Errorf("messages that came in part held %d bytes, at most %d were to be, and nearly that many were sent", most, uint64(mesh.MaxPartsOf))
	}
	friend := start(t, mesh.Config{Key: key(2), Peers: []string{hub.Addrs()[0]}})
	enter(t, friend)
	linked(t, friend, hub)
	segment := coordinator.EncodeMessage(&coordinator.Segment{Generations: []coordinator.Generation{{Entry: make([]byte, 500<<10), Claims: [][]byte{}}}})
	if err := friend.Send(hub.Self(), segment); err != nil {
		t.Fatal(err)
	}
	wait(t, hub, func(e mesh.Received) bool { return e.From == friend.Self() })
}

// lockedBuffer is a log that goroutines write.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// Programs of version 1 are refused in words, from either side.
func TestEarlierVersionsAreRefusedInWords(t *testing.T) {
	var log lockedBuffer
	m := start(t, mesh.Config{Key: key(1), Hub: true, Listen: []string{"/ip4/127.0.0.1/tcp/0"}, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	enter(t, m)
	priv, err := crypto.UnmarshalEd25519PrivateKey(key(66))
	if err != nil {
		t.Fatal(err)
	}
	old, err := libp2p.New(libp2p.Identity(priv), libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"), libp2p.Transport(tcp.NewTCPTransport), libp2p.DisableMetrics())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { old.Close() })
	old.SetStreamHandler("/evoswarm/hello/1", func(s network.Stream) { s.Close() })
	_, err = m.Dial(t.Context(), fmt.Sprintf("%s/p2p/%s", old.Addrs()[0], old.ID()))
	if !errors.Is(err, mesh.ErrForeign) || !strings.Contains(err.Error(), "earlier version") || !strings.Contains(err.Error(), "update") {
		t.Errorf("dialing a node of version 1: got %v", err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}

	n := start(t, mesh.Config{Key: key(2), Hub: true, Listen: []string{"/ip4/127.0.0.1/tcp/0"}, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	enter(t, n)
	info, err := peer.AddrInfoFromString(n.Addrs()[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := old.Connect(t.Context(), *info); err != nil {
		t.Fatal(err)
	}
	// What a program of version 1 asks first fails such that it tells its user to update the older of the two.
	if s, err := old.NewStream(t.Context(), info.ID, "/evoswarm/hello/1"); err == nil {
		_ = s.Reset()
		t.Error("a question of version 1 is taken")
	}
	for begun := time.Now(); !strings.Contains(log.String(), "earlier version") || old.Network().Connectedness(info.ID) == network.Connected; time.Sleep(50 * time.Millisecond) {
		if time.Since(begun) > patience {
			t.Fatalf("a node of version 1 is not turned away, or nothing is said: %q", log.String())
		}
	}
}

// Two hubs that have only a leaf in common hear each other through it. What they address to each other must not be
// given to the leaf, which carries no parcels: votes would be lost for as long as the leaf is here. It tells each where
// the other is.
func TestHubsThatShareALeafMeet(t *testing.T) {
	hubs := []*mesh.Mesh{startHub(t, 1), startHub(t, 2)}
	leaf := start(t, mesh.Config{Key: key(3), Peers: []string{hubs[0].Addrs()[0], hubs[1].Addrs()[0]}})
	for _, m := range append(hubs, leaf) {
		enter(t, m)
	}
	linked(t, hubs[0], leaf)
	linked(t, hubs[1], leaf)
	gossiped(t, hubs[1], hubs[0])
	for h := range uint64(5) {
		if err := hubs[0].Send(hubs[1].Self(), status(100+h)); err != nil {
			t.Fatal(err)
		}
		received(t, hubs[1], 100+h)
	}
	linked(t, hubs[0], hubs[1])
}
