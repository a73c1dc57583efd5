//go:build !js

package mesh

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/proto"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/relay"
	ma "github.com/multiformats/go-multiaddr"
	"golang.org/x/time/rate"

	"github.com/evoswarm/evoswarm/internal/fair"
)

// Limits of what a hub relays. No circuit ends by time or bytes, since gossip goes over none that does; what each may
// carry in a second is a quota, as for everything else that neighbors spend.
const (
	maxHeldPlaces     = 128 // peers that this one leads to
	maxPlacesOfBlock  = 32
	maxCircuits       = 256 // streams that ask for a circuit or are one; beyond, the block that has most loses its oldest
	maxCircuitsOfPeer = 24  // that a peer begins, or that lead to it: half of the streams that it may have
	circuitBuffer     = 4 << 10
	placeTime         = time.Hour
)

// carriedRate bounds what all circuits together carry, in bytes.
var carriedRate = limit{2 << 20, 16 << 20}

// hops are what this peer relays.
type hops struct {
	m        *Mesh
	mu       sync.Mutex
	places   *fair.Table[peer.ID, block, time.Time] // until when
	circuits *fair.Table[network.Stream, block, struct{}]
	carried  *rate.Limiter
	service  *relay.Relay
}

// offerRelay has this peer relay for others, if it is a hub.
func (m *Mesh) offerRelay() error {
	if !m.cfg.Hub {
		return nil
	}
	h := &hops{m: m, carried: carriedRate.limiter(), places: fair.NewTable[peer.ID, block, time.Time](maxHeldPlaces),
		circuits: fair.NewTable[network.Stream, block, struct{}](maxCircuits)}
	resources := relay.DefaultResources()
	resources.Limit, resources.ReservationTTL, resources.BufferSize = nil, placeTime, circuitBuffer
	resources.MaxReservations, resources.MaxReservationsPerIP = 2*maxHeldPlaces, 2*maxHeldPlaces // h counts them, by blocks
	resources.MaxCircuits = maxCircuitsOfPeer
	var err error
	h.service, err = relay.New(&hopHost{m.host, h}, relay.WithResources(resources), relay.WithACL(h),
		relay.WithReservationAddressFilter(func(ma.Multiaddr) bool { return false })) // peers know them from identify
	if err != nil {
		return fmt.Errorf("offering to relay: %w", err)
	}
	m.hops = h
	m.host.Network().Notify(&network.NotifyBundle{DisconnectedF: func(n network.Network, c network.Conn) {
		if n.Connectedness(c.RemotePeer()) == network.NotConnected {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.places.Delete(c.RemotePeer())
		}
	}})
	return nil
}

// close ends all circuits.
func (h *hops) close() error {
	if h == nil {
		return nil
	}
	return h.service.Close()
}

// add lists the peers that have a place here, or a circuit.
func (h *hops) add(list map[peer.ID]bool) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	for id, until := range h.places.All() {
		if now.Before(until) {
			list[id] = true
		}
	}
	for s := range h.circuits.All() {
		list[s.Conn().RemotePeer()] = true
	}
}

// AllowReserve gives an evoswarm peer a place, for which the block that has most may lose its oldest: that peer is
// disconnected, and looks for another relay.
func (h *hops) AllowReserve(id peer.ID, at ma.Multiaddr) bool {
	if h.m.bans.banned(id) || !h.m.neighbors.greeted(id) || h.m.isBehind(scopeOf(at)) {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	for other, until := range h.places.All() {
		if now.After(until) {
			h.places.Delete(other)
		}
	}
	b := blockOf(at)
	if !h.places.Has(id) && h.places.UsedBy(b) >= maxPlacesOfBlock {
		return false
	}
	for _, lost := range h.places.Put(id, b, 1, now.Add(placeTime)) {
		if lost.Key == id {
			return false
		}
		h.m.log.Debug("a place at this relay is given to another block of addresses", "peer", lost.Key)
		h.m.spawn(func() { _ = h.m.host.Network().ClosePeer(lost.Key) })
	}
	return true
}

// AllowConnect lets anybody ask for a circuit to a peer that has a place: circuits are bounded.
func (h *hops) AllowConnect(id peer.ID, _ ma.Multiaddr, to peer.ID) bool {
	return !h.m.bans.banned(id) && !h.m.bans.banned(to)
}

// begin counts a stream that asks for something.
func (h *hops) begin(s *hopStream) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	fits := true
	for _, lost := range h.circuits.Put(s, blockOf(s.Conn().RemoteMultiaddr()), 1, struct{}{}) {
		if lost.Key == s {
			fits = false
			continue
		}
		go func() { _ = lost.Key.Reset() }() // not within this lock
	}
	return fits
}

func (h *hops) end(s *hopStream) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.circuits.Delete(s)
}

// hopHost is the host as the relay service sees it: its streams are counted and read by quota.
type hopHost struct {
	host.Host
	hops *hops
}

// SetStreamHandler has each stream that asks for something counted.
func (h *hopHost) SetStreamHandler(id protocol.ID, handle network.StreamHandler) {
	h.Host.SetStreamHandler(id, func(s network.Stream) {
		counted := &hopStream{Stream: s, hops: h.hops, counted: true}
		if !h.hops.begin(counted) {
			_ = s.Reset()
			return
		}
		handle(counted)
	})
}

// NewStream opens the second half of a circuit.
func (h *hopHost) NewStream(ctx context.Context, p peer.ID, protocols ...protocol.ID) (network.Stream, error) {
	s, err := h.Host.NewStream(ctx, p, protocols...)
	if err != nil || len(protocols) != 1 || protocols[0] != proto.ProtoIDv2Stop {
		return s, err
	}
	return &hopStream{Stream: s, hops: h.hops}, nil
}

// hopStream is one half of a circuit.
type hopStream struct {
	network.Stream
	hops    *hops
	counted bool
}

// Read charges what it read to who sent it, and returns when that is paid: what is too much waits at the sender.
func (s *hopStream) Read(b []byte) (int, error) {
	n, err := s.Stream.Read(b)
	if n == 0 {
		return n, err
	}
	m := s.hops.m
	if !m.neighbors.pay(m.ctx, s.Conn().RemotePeer(), circuitBytes, n) || s.hops.carried.WaitN(m.ctx, n) != nil {
		return 0, errSpent
	}
	return n, err
}

// Close ends the stream.
func (s *hopStream) Close() error {
	s.ended()
	return s.Stream.Close()
}

// Reset ends the stream at once.
func (s *hopStream) Reset() error {
	s.ended()
	return s.Stream.Reset()
}

func (s *hopStream) ended() {
	if s.counted {
		s.hops.end(s)
	}
}
