//go:build !js

package mesh_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/mesh"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// Started by an init function of a library, for the whole process.
		goleak.IgnoreTopFunction("github.com/libp2p/go-libp2p/p2p/transport/quicreuse.init.0.func1"),
		// pion waits for the deadline of a read whose connection is gone, seconds to minutes.
		goleak.IgnoreTopFunction("github.com/pion/sctp.(*Stream).SetReadDeadline.func1"),
	)
}

var genesis = []byte("any bytes: the mesh does not read the spec")

const patience = 20 * time.Second

func key(n byte) ed25519.PrivateKey {
	seed := make([]byte, ed25519.SeedSize)
	seed[0] = n
	return ed25519.NewKeyFromSeed(seed)
}

func start(t *testing.T, cfg mesh.Config) *mesh.Mesh {
	t.Helper()
	if os.Getenv("MESH_LOG") != "" {
		cfg.Logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug})).With("self", cfg.Key[32:36])
	}
	m, err := mesh.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func startHub(t *testing.T, n byte) *mesh.Mesh {
	t.Helper()
	return start(t, mesh.Config{Key: key(n), Hub: true, Agent: "test/1", Listen: []string{"/ip4/127.0.0.1/tcp/0"}})
}

func enter(t *testing.T, m *mesh.Mesh) {
	t.Helper()
	if err := m.Enter(genesis); err != nil {
		t.Fatal(err)
	}
}

func dial(t *testing.T, m, to *mesh.Mesh) mesh.Hello {
	t.Helper()
	hello, err := m.Dial(t.Context(), to.Addrs()[0])
	if err != nil {
		t.Fatal(err)
	}
	return hello
}

// wait reads events until one satisfies want.
func wait[E mesh.Event](t *testing.T, m *mesh.Mesh, want func(E) bool) E {
	t.Helper()
	timeout := time.After(patience)
	for {
		select {
		case e, ok := <-m.Events():
			if !ok {
				t.Fatal("closed while waiting for an event")
			}
			if e, ok := e.(E); ok && want(e) {
				return e
			}
		case <-timeout:
			t.Fatalf("no %T in %v", *new(E), patience)
		}
	}
}

func linked(t *testing.T, m, to *mesh.Mesh) {
	t.Helper()
	wait(t, m, func(e mesh.Linked) bool { return e.Peer == to.Self() })
}

func status(height uint64) []byte {
	return coordinator.EncodeMessage(&coordinator.Status{Head: seedlog.LinkOf(genesis), Height: height})
}

func TestHelloTeachesTheRun(t *testing.T) {
	a, b := startHub(t, 1), startHub(t, 2)
	enter(t, a)
	hello := dial(t, b, a)
	if hello.Peer != a.Self() || !hello.Hub || hello.Agent != "test/1" || hello.Kind != coordinator.Native {
		t.Errorf("got hello %+v", hello)
	}
	if got, want := hello.Run, seedlog.LinkOf(genesis).String(); got != want {
		t.Errorf("got run %q, want %q", got, want)
	}
	if string(hello.Genesis) != string(genesis) {
		t.Errorf("got genesis %q", hello.Genesis)
	}
	if !slices.Contains(hello.Hubs, a.Addrs()[0]) {
		t.Errorf("got hubs %q without %q", hello.Hubs, a.Addrs()[0])
	}
	if !hello.Reached {
		t.Error("the listening joiner was not reached")
	}
	enter(t, b)
	linked(t, a, b)
	linked(t, b, a)
	if err := b.Enter(genesis); !errors.Is(err, mesh.ErrEntered) {
		t.Errorf("entering twice: got %v", err)
	}
	if links := a.Links(); len(links) != 1 || links[0].Peer != b.Self() {
		t.Errorf("got links %v", links)
	}
}

func TestHubsFindEachOther(t *testing.T) {
	a, b, c := startHub(t, 1), startHub(t, 2), startHub(t, 3)
	enter(t, a)
	dial(t, b, a)
	enter(t, b)
	linked(t, a, b)
	dial(t, c, a)
	enter(t, c)
	linked(t, c, b)
	linked(t, b, c)
	// b may have dialed c: until c has dialed b, too, it has only b's word that b is a hub.
	for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		got := c.Hubs()
		if slices.Contains(got, b.Addrs()[0]) && slices.Contains(got, a.Addrs()[0]) {
			break
		}
		if time.Since(begun) > patience {
			t.Fatalf("got hubs %q", got)
		}
	}
}

// Two parts of a swarm whose hubs have as many connections as they want, as after a long partition, become one.
func TestPartsMeetAgain(t *testing.T) {
	var hubs []*mesh.Mesh
	for n := range byte(4) {
		h := start(t, mesh.Config{Key: key(n + 1), Hub: true, Hubs: 1, Agent: "test/1", Listen: []string{"/ip4/127.0.0.1/tcp/0"}})
		enter(t, h)
		if n%2 == 1 {
			dial(t, h, hubs[n-1])
			linked(t, h, hubs[n-1])
			linked(t, hubs[n-1], h)
		}
		hubs = append(hubs, h)
	}
	for begun := time.Now(); hubs[0].Proven() < 1; time.Sleep(10 * time.Millisecond) { // else it would dial one more anyway
		if time.Since(begun) > patience {
			t.Fatal("the first part does not meet")
		}
	}
	if err := hubs[0].Learn(hubs[2].Addrs()[0]); err != nil {
		t.Fatal(err)
	}
	linked(t, hubs[0], hubs[2])
	for begun := time.Now(); time.Since(begun) < patience; time.Sleep(100 * time.Millisecond) { // until topics are known
		if err := hubs[3].Gossip(status(7)); err != nil {
			t.Fatal(err)
		}
		select {
		case e := <-hubs[1].Events():
			if r, ok := e.(mesh.Received); ok && r.From == hubs[3].Self() {
				return
			}
		default:
		}
	}
	t.Error("one part does not hear the other")
}

func TestOtherRunsAreNotLinked(t *testing.T) {
	a, b := startHub(t, 1), startHub(t, 2)
	enter(t, a)
	if err := b.Enter([]byte("another run")); err != nil {
		t.Fatal(err)
	}
	if hello := dial(t, b, a); hello.Run != seedlog.LinkOf(genesis).String() {
		t.Errorf("got run %q", hello.Run)
	}
	if len(a.Links())+len(b.Links()) != 0 {
		t.Errorf("got links %v and %v", a.Links(), b.Links())
	}
	if err := b.Send(a.Self(), status(1)); !errors.Is(err, mesh.ErrUnreachable) {
		t.Errorf("sending across runs: got %v", err)
	}
}

func TestMessages(t *testing.T) {
	hub := startHub(t, 1)
	enter(t, hub)
	leaves := make([]*mesh.Mesh, 2)
	for i := range leaves {
		leaves[i] = start(t, mesh.Config{Key: key(byte(2 + i)), Peers: []string{hub.Addrs()[0]}})
		enter(t, leaves[i])
		linked(t, leaves[i], hub)
	}
	if err := leaves[0].SendHubs(status(7)); err != nil {
		t.Fatal(err)
	}
	e := wait(t, hub, func(e mesh.Received) bool { return true })
	if s, ok := e.Message.(*coordinator.Status); !ok || s.Height != 7 || e.From != leaves[0].Self() || e.Via != e.From {
		t.Errorf("got %+v", e)
	}
	segment := &coordinator.Segment{Generations: []coordinator.Generation{{Entry: make([]byte, 400<<10), Claims: [][]byte{make([]byte, 500<<10)}}}}
	if err := hub.Send(leaves[1].Self(), coordinator.EncodeMessage(segment)); err != nil {
		t.Fatal(err)
	}
	e = wait(t, leaves[1], func(e mesh.Received) bool { return true })
	if s, ok := e.Message.(*coordinator.Segment); !ok || len(s.Generations[0].Entry) != 400<<10 {
		t.Errorf("got %T", e.Message)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := hub.Flush(ctx); err != nil {
		t.Errorf("flush: %v", err)
	}
	if err := hub.Send(leaves[0].Self(), make([]byte, coordinator.MaxDirectBytes+1)); err == nil {
		t.Error("an oversize message was taken")
	}
	if err := hub.Gossip(make([]byte, coordinator.MaxGossipBytes+1)); err == nil {
		t.Error("oversize gossip was taken")
	}
	// Gossip from leaf to leaf goes over the hub. Equal messages are all heard: heartbeats often are equal.
	gossiped(t, leaves[0], leaves[1])
	if err := leaves[0].Gossip(status(10)); err != nil {
		t.Fatal(err)
	}
	e = wait(t, leaves[1], func(e mesh.Received) bool { return e.Message.(*coordinator.Status).Height == 10 })
	if e.From != leaves[0].Self() || e.Via != hub.Self() {
		t.Errorf("got gossip from %s via %s", e.From.Short(), e.Via.Short())
	}
}

// gossiped publishes the same message until it is heard; the meshes need a moment to form.
func gossiped(t *testing.T, from, to *mesh.Mesh) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for n := 0; n < 3; {
		if time.Now().After(deadline) {
			t.Fatal("gossip does not arrive")
		}
		if err := from.Gossip(status(9)); err != nil {
			t.Fatal(err)
		}
		select {
		case e := <-to.Events():
			if _, ok := e.(mesh.Received); ok {
				n++
			}
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// TestEntriesAreNotForAll: a leaf that needs no gossip about entries gets none, and hears all else; it may ask for it
// again.
func TestEntriesAreNotForAll(t *testing.T) {
	hub, leaf := startHub(t, 1), mesh.Config{Key: key(2)}
	enter(t, hub)
	leaf.Peers = []string{hub.Addrs()[0]}
	m := start(t, leaf)
	enter(t, m)
	linked(t, m, hub)
	announce := coordinator.EncodeMessage(&coordinator.Announce{Entry: []byte{1}, Seal: []byte{2}})
	heard := func() (entries, statuses int) { // of some that the hub sends
		deadline := time.After(2 * time.Second)
		for range 10 {
			for _, data := range [][]byte{announce, status(9)} {
				if err := hub.Gossip(data); err != nil {
					t.Fatal(err)
				}
			}
			select {
			case <-deadline:
			case <-time.After(50 * time.Millisecond):
			}
		}
		for {
			select {
			case e := <-m.Events():
				r, ok := e.(mesh.Received)
				if !ok {
					continue
				}
				if _, ok := r.Message.(*coordinator.Announce); ok {
					entries++
				} else {
					statuses++
				}
			case <-deadline:
				return entries, statuses
			}
		}
	}
	hear := func(on bool) {
		if err := m.HearEntries(on); err != nil {
			t.Fatal(err)
		}
		time.Sleep(500 * time.Millisecond) // until the hub knows
		heard()
	}
	hear(true)
	if entries, statuses := heard(); entries < 5 || statuses < 5 {
		t.Errorf("at first it hears %d entries and %d statuses", entries, statuses)
	}
	hear(false)
	hear(false)
	if entries, statuses := heard(); entries > 0 || statuses < 5 {
		t.Errorf("without entries it hears %d and %d statuses", entries, statuses)
	}
	hear(true)
	if entries, _ := heard(); entries < 5 {
		t.Errorf("with entries again it hears %d", entries)
	}
}

// With default parameters a hub delivers to 57 % of its leaves.
func TestAHubReachesAllItsLeaves(t *testing.T) {
	hub := startHub(t, 1)
	enter(t, hub)
	const n = 30
	leaves := make([]*mesh.Mesh, n)
	for i := range leaves {
		leaves[i] = start(t, mesh.Config{Key: key(byte(2 + i)), Peers: []string{hub.Addrs()[0]}})
		enter(t, leaves[i])
	}
	for i := range leaves {
		linked(t, leaves[i], hub)
	}
	gossiped(t, leaves[0], leaves[n-1])
	time.Sleep(2 * time.Second) // two beats of gossip: the last leaves are in the mesh
	const last = 1000
	if err := leaves[0].Gossip(status(last)); err != nil {
		t.Fatal(err)
	}
	for _, leaf := range leaves[1:] {
		wait(t, leaf, func(e mesh.Received) bool { return e.Message.(*coordinator.Status).Height == last })
	}
}

func TestConnectionsComeBack(t *testing.T) {
	hub := startHub(t, 1)
	enter(t, hub)
	addr := hub.Addrs()[0]
	leaf := start(t, mesh.Config{Key: key(2), Peers: []string{addr}})
	enter(t, leaf)
	linked(t, leaf, hub)
	if err := hub.Close(); err != nil {
		t.Fatal(err)
	}
	wait(t, leaf, func(e mesh.Unlinked) bool { return e.Peer == hub.Self() })
	listen, _, _ := strings.Cut(addr, "/p2p/")
	again := start(t, mesh.Config{Key: key(1), Hub: true, Listen: []string{listen}})
	enter(t, again)
	linked(t, leaf, again)
	if err := hub.Gossip(status(1)); !errors.Is(err, mesh.ErrClosed) {
		t.Errorf("gossip after Close: got %v", err)
	}
	if _, open := <-hub.Events(); open {
		t.Error("there are events after Close")
	}
}

func TestTransports(t *testing.T) {
	hub := start(t, mesh.Config{Key: key(1), Hub: true, Listen: []string{
		"/ip4/127.0.0.1/tcp/0", "/ip4/127.0.0.1/udp/0/quic-v1", "/ip4/127.0.0.1/tcp/0/ws"}})
	enter(t, hub)
	for i, addr := range hub.Addrs() {
		leaf := start(t, mesh.Config{Key: key(byte(2 + i))})
		if _, err := leaf.Dial(t.Context(), addr); err != nil {
			t.Errorf("%s: %v", addr, err)
		}
	}
	if got := len(hub.Addrs()); got != 3 {
		t.Errorf("got %d addresses, want 3: %q", got, hub.Addrs())
	}
}

func TestDialErrors(t *testing.T) {
	hub := startHub(t, 1)
	m := start(t, mesh.Config{Key: key(2)})
	id3, err := mesh.IDOf(seedlog.PeerOf(key(3)))
	if err != nil {
		t.Fatal(err)
	}
	where, _, _ := strings.Cut(hub.Addrs()[0], "/p2p/")
	for _, c := range []struct {
		name, addr string
		want       error
		hint       string
	}{
		{"nonsense", "hello", mesh.ErrAddress, "looks like"},
		{"no peer", where, mesh.ErrAddress, "/p2p/"},
		{"no place", "/p2p/" + id3.String(), mesh.ErrAddress, "where"},
		{"too long", strings.Repeat("/ip4/1.2.3.4", 100), mesh.ErrAddress, "at most"},
		{"not Ed25519", where + "/p2p/QmcgpsyWgH8Y8ajJz1Cu72KnS5uo2Aa2LpzU7kinSupNKC", mesh.ErrAddress, "peer id"},
		{"itself", "/ip4/127.0.0.1/tcp/1/p2p/" + mustID(t, m.Self()), mesh.ErrAddress, "itself"},
		{"nobody there", "/ip4/127.0.0.1/tcp/1/p2p/" + id3.String(), mesh.ErrUnreachable, "firewall"},
		{"somebody else", where + "/p2p/" + id3.String(), mesh.ErrWrongPeer, mustID(t, hub.Self())},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := m.Dial(t.Context(), c.addr)
			if !errors.Is(err, c.want) || !strings.Contains(fmt.Sprint(err), c.hint) {
				t.Errorf("got %v, want %v with %q", err, c.want, c.hint)
			}
		})
	}
}

func mustID(t *testing.T, p seedlog.Peer) string {
	t.Helper()
	id, err := mesh.IDOf(p)
	if err != nil {
		t.Fatal(err)
	}
	if back, err := mesh.PeerOf(id); err != nil || back != p {
		t.Fatalf("got %v, %v back", back, err)
	}
	return id.String()
}
