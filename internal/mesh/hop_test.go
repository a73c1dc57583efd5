//go:build !js

package mesh

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/client"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/evoswarm/evoswarm/internal/fair"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// someone returns a peer that there is none of.
func someone(t *testing.T) peer.ID {
	t.Helper()
	key, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	id, err := IDOf(seedlog.Peer(key))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// guest returns a neighbor in the n-th block that there is none of and that said hello.
func guest(t *testing.T, m *Mesh, n int) peer.ID {
	t.Helper()
	id := someone(t)
	m.neighbors.connected(id, in(n), false)
	m.neighbors.greet(id)
	return id
}

// in is an address of the n-th block.
func in(n int) ma.Multiaddr {
	return ma.StringCast(fmt.Sprintf("/ip4/198.%d.%d.7/tcp/1", 64+n/256, n%256))
}

// openHub starts a hub on this computer.
func openHub(t *testing.T, listen ...string) *Mesh {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(t.Context(), Config{Key: key, Hub: true, Listen: append(listen, "/ip4/127.0.0.1/tcp/0")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// However many keys ask for places at a relay, one block of addresses gets no more than its part, all together no
// more than there are, and who asks from another block than the crowd's still gets one.
func TestPlacesAreBounded(t *testing.T) {
	h := openHub(t).hops
	given := 0
	for range 100 {
		if h.AllowReserve(guest(t, h.m, 0), in(0)) {
			given++
		}
	}
	if given != maxPlacesOfBlock {
		t.Errorf("one block got %d places, want %d", given, maxPlacesOfBlock)
	}
	for b := range 10 {
		for range 100 {
			h.AllowReserve(guest(t, h.m, b), in(b))
		}
	}
	if n := h.places.Len(); n != maxHeldPlaces {
		t.Errorf("%d places are held, want %d", n, maxHeldPlaces)
	}
	honest := guest(t, h.m, 99)
	if !h.AllowReserve(honest, in(99)) || !h.m.carriers()[honest] {
		t.Error("a block that had none gets no place at a full relay")
	}
	for range 100 {
		h.AllowReserve(guest(t, h.m, 5), in(5))
	}
	if !h.AllowReserve(honest, in(99)) {
		t.Error("its place is not renewed")
	}
	if n := h.places.UsedBy(blockOf(in(99))); n != 1 || h.places.Len() != maxHeldPlaces {
		t.Errorf("its block has %d places of %d", n, h.places.Len())
	}
}

// A hub that nobody can dial gives no places, and neither does any to a peer that is banned.
func TestPlacesAreForOthers(t *testing.T) {
	m := openHub(t)
	if m.hops.AllowReserve(someone(t), in(0)) {
		t.Error("a peer that is none of evoswarm gets a place")
	}
	id := guest(t, m, 0)
	m.bans.ban(id)
	if m.hops.AllowReserve(id, in(0)) {
		t.Error("a banned peer gets a place")
	}
	if m.hops.AllowConnect(id, in(0), someone(t)) || m.hops.AllowConnect(someone(t), in(0), id) {
		t.Error("a banned peer gets a circuit")
	}
	if !m.hops.AllowReserve(guest(t, m, 0), in(0)) {
		t.Error("no place")
	}
	m.standing.heard(blockOf(in(1)), public, false, time.Now())
	if m.hops.AllowReserve(guest(t, m, 0), in(0)) {
		t.Error("a peer that nobody can dial gives places")
	}
}

// standIn is a stream of a neighbor.
type standIn struct {
	network.Stream
	pipe  net.Conn
	from  ma.Multiaddr
	id    peer.ID
	reset chan struct{}
}

type standInConn struct {
	network.Conn
	s *standIn
}

func (c standInConn) RemoteMultiaddr() ma.Multiaddr { return c.s.from }
func (c standInConn) RemotePeer() peer.ID           { return c.s.id }

func (s *standIn) Conn() network.Conn         { return standInConn{s: s} }
func (s *standIn) Read(b []byte) (int, error) { return s.pipe.Read(b) }

func (s *standIn) Reset() error {
	close(s.reset)
	return nil
}

// However many streams ask a relay for circuits, there is a bound, and the block that has most loses its oldest.
func TestCircuitsAreBounded(t *testing.T) {
	h := openHub(t).hops
	var open []*hopStream
	begin := func(b int) *hopStream {
		s := &hopStream{Stream: &standIn{from: in(b), id: "a", reset: make(chan struct{})}, hops: h, counted: true}
		if h.begin(s) {
			open = append(open, s)
		}
		return s
	}
	honest := begin(99)
	for i := range 3 * maxCircuits {
		begin(i % 3)
	}
	if n := h.circuits.Len(); n != maxCircuits {
		t.Errorf("%d circuits, want %d", n, maxCircuits)
	}
	if !h.circuits.Has(honest) {
		t.Error("the crowd ended the circuit of another block")
	}
	select {
	case <-open[1].Stream.(*standIn).reset:
	case <-time.After(10 * time.Second):
		t.Error("a circuit that lost its place continues")
	}
	for _, s := range open {
		s.ended()
		s.ended()
	}
	if n := h.circuits.Len(); n != 0 {
		t.Errorf("%d circuits are counted that have ended", n)
	}
}

// What a block sends over circuits is read by its quota, whatever their number; another one's is not touched, but all
// together have a bound.
func TestCircuitsAreReadByQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const circuits, seconds = 8, 10
		m := &Mesh{ctx: t.Context(), neighbors: newNeighbors()}
		h := &hops{m: m, carried: carriedRate.limiter(), circuits: fair.NewTable[network.Stream, block, struct{}](maxCircuits)}
		carry := func(id peer.ID, block int) (read *int, end func()) {
			m.neighbors.connected(id, in(block), false)
			theirs, ours := net.Pipe()
			go func() { _, _ = io.Copy(theirs, endless{}) }()
			read = new(int)
			go func() {
				s, b := &hopStream{Stream: &standIn{pipe: ours, from: in(block), id: id}, hops: h}, make([]byte, circuitBuffer)
				for {
					n, err := s.Read(b)
					if err != nil {
						return
					}
					*read += n
				}
			}()
			return read, func() { theirs.Close() }
		}
		measure := func(circuits int, block func(i int) int) float64 {
			var reads []*int
			var ends []func()
			for i := range circuits {
				read, end := carry(peer.ID(fmt.Sprint(block(i), "/", i)), block(i))
				reads, ends = append(reads, read), append(ends, end)
			}
			time.Sleep(seconds * time.Second)
			synctest.Wait()
			total := 0
			for i, read := range reads {
				total += *read
				ends[i]()
			}
			return float64(total)
		}
		q := quotas[circuitBytes]
		most := 2*(q.own.burst+seconds*q.own.rate) + q.block.burst + seconds*q.block.rate
		if all := carriedRate.burst + seconds*carriedRate.rate; most > 0.7*all {
			t.Fatalf("two circuits of a block may carry %.3g bytes of %.3g for all", most, all)
		}
		if got := measure(2, func(int) int { return 1 }); got > 1.01*most || got < 0.9*most {
			t.Errorf("%.3g bytes of one block were carried, want %.3g", got, most)
		}
		most = carriedRate.burst + 2*seconds*carriedRate.rate - most // what is left
		if got := measure(circuits, func(i int) int { return 2 + i }); got > 1.01*most+circuits*circuitBuffer || got < 0.9*most {
			t.Errorf("%.3g bytes of many blocks were carried, want %.3g", got, most)
		}
	})
}

// Most hubs decide whether this peer can be dialed, each block of addresses with one voice; what is in its own
// network does not decide for others.
func TestStanding(t *testing.T) {
	s, now := newStanding(), time.Now()
	if s.behind(public, now) || s.known() {
		t.Error("behind a NAT before anybody was asked")
	}
	for i, c := range []struct {
		block   int
		reached bool
		behind  bool
	}{
		{1, false, true}, {2, true, false}, {3, false, true}, {3, false, true}, {2, true, true}, {4, true, false}, {4, false, true},
	} {
		before := s.behind(public, now)
		changed := s.heard(blockOf(in(c.block)), public, c.reached, now)
		if got := s.behind(public, now); got != c.behind || changed != (got != before) {
			t.Errorf("answer %d: behind a NAT: %t, changed: %t", i, got, changed)
		}
	}
	if s.behind(private, now) {
		t.Error("what hubs of the internet say decides for the local network")
	}
	if b := blockOf(in(7)); !s.ask("a", b, now) || s.ask("b", b, now) || !s.dialsBack("a") {
		t.Error("a hub is asked twice at the same time")
	}
	if s.ask("a", blockOf(in(1)), now.Add(judgeAgain-time.Second)) {
		t.Error("a hub is asked again at once")
	}
	if s.behind(public, now.Add(judgedFor+time.Minute)) {
		t.Error("old answers decide")
	}
}

// A relay keeps peers of other runs connected while it leads to them, and they keep it; others it does not.
func TestRelaysKeepStrangers(t *testing.T) {
	relay, node, other := openHub(t), openHub(t), openHub(t)
	for i, m := range []*Mesh{relay, node, other} {
		if err := m.Enter([]byte{byte(i)}); err != nil {
			t.Fatal(err)
		}
	}
	info := peer.AddrInfo{ID: relay.host.ID(), Addrs: relay.host.Addrs()}
	for _, m := range []*Mesh{node, other} {
		if err := m.host.Connect(t.Context(), info); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := node.sayHello(t.Context(), info.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Reserve(t.Context(), node.host, info); err != nil {
		t.Fatal(err)
	}
	node.reserved.settled(relay.host.ID(), &reservation{})
	long := time.Now().Add(-2 * strangerFor)
	since := map[peer.ID]time.Time{node.host.ID(): long, other.host.ID(): long}
	relay.dropStrangers(since)
	node.dropStrangers(map[peer.ID]time.Time{relay.host.ID(): long})
	for deadline := time.Now().Add(10 * time.Second); relay.host.Network().Connectedness(other.host.ID()) == network.Connected; {
		if time.Now().After(deadline) {
			t.Fatal("a stranger stays connected")
		}
		time.Sleep(10 * time.Millisecond)
	}
	if relay.host.Network().Connectedness(node.host.ID()) != network.Connected {
		t.Error("a peer that has a place is not kept, or does not keep its relay")
	}
}

// However many peers of one block ask to be dialed back, others get their turn, and all of them together a bound.
func TestDialsBackAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProbes()
		ctx, cancel := context.WithTimeout(t.Context(), probeTimeout)
		defer cancel()
		var ends []func()
		for i := range 100 {
			if end, ok := p.begin(ctx, blockOf(in(i%4))); ok {
				ends = append(ends, end)
			}
		}
		if len(ends) != 4*maxProbesOfBlock || len(ends) > maxProbes {
			t.Errorf("%d are dialed back for 4 blocks", len(ends))
		}
		go func() {
			time.Sleep(time.Second)
			ends[0]()
		}()
		if _, ok := p.begin(ctx, blockOf(in(9))); !ok {
			t.Error("another block does not get its turn")
		}
		if _, ok := p.begin(ctx, blockOf(in(8))); ok {
			t.Error("more are dialed back than there are turns")
		}
		if len(p.of) != 5 {
			t.Errorf("%d blocks are counted", len(p.of))
		}
	})
}

// What a peer tells of its relays has each of them, and ways that the reader may go.
func TestEachRelayIsTold(t *testing.T) {
	self := someone(t)
	var list []ma.Multiaddr
	for range maxReservations {
		var at []ma.Multiaddr
		for _, way := range []string{"tcp/1", "tcp/1/ws", "udp/1/quic-v1", "udp/1/quic-v1/webtransport" + certhash, "udp/1/webrtc-direct" + certhash} {
			at = append(at, ma.StringCast("/ip4/198.51.100.7/"+way))
		}
		list = append(list, through(someone(t), at)...)
	}
	for _, ways := range [][]Way{byWay, ofTabs} {
		relays, told := make(map[peer.ID]bool), full(self, list, nil, ways)
		for _, text := range told {
			info, err := parseAddr(text)
			if err != nil {
				t.Fatal(err)
			}
			relay, hop, _ := relayOf(info.Addrs[0])
			relays[relay] = true
			if !slices.Contains(ways, wayOf(hop)) {
				t.Errorf("%s is told to who cannot go there", text)
			}
		}
		if len(relays) != maxReservations || len(told) != maxCircuitsTold {
			t.Errorf("told are %v", told)
		}
	}
}

// The connection by which a hub finds that it can dial a peer is none that the peer uses: a stream that began there
// would be lost.
func TestDialBackIsNoConnection(t *testing.T) {
	hub, node := openHub(t), openHub(t)
	var inbound atomic.Int32
	node.host.Network().Notify(&network.NotifyBundle{ConnectedF: func(_ network.Network, c network.Conn) {
		if c.Stat().Direction == network.DirInbound {
			inbound.Add(1)
		}
	}})
	if err := node.host.Connect(t.Context(), peer.AddrInfo{ID: hub.host.ID(), Addrs: hub.host.Addrs()}); err != nil {
		t.Fatal(err)
	}
	hello, err := node.sayHello(t.Context(), hub.host.ID())
	if err != nil || !hello.Reached {
		t.Fatalf("the hub could dial it: %t, %v", hello.Reached, err)
	}
	time.Sleep(200 * time.Millisecond) // it may come late
	if n := inbound.Load(); n != 0 {
		t.Errorf("%d connections came", n)
	}
	if err := hub.host.Network().ClosePeer(node.host.ID()); err != nil {
		t.Fatal(err)
	}
	time.Sleep(lateBack)
	if err := hub.host.Connect(t.Context(), peer.AddrInfo{ID: node.host.ID(), Addrs: node.host.Addrs()}); err != nil {
		t.Errorf("later it cannot connect: %v", err)
	}
}
