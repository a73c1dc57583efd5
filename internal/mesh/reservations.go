package mesh

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/client"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/proto"
	ma "github.com/multiformats/go-multiaddr"
)

// A native that listens, but that nobody can dial, has a place at two relays (a reservation, as libp2p says): hubs
// that it dialed, or those that its user named.

const (
	maxReservations = 2
	reserveBackoff  = time.Minute // after which a relay that refused is asked again
	reserveRetry    = 10 * time.Second
	reserveNoted    = 64 // relays that are remembered for that
	maxRelayAddrs   = 8  // of a relay
	reserveTimeout  = 20 * time.Second
)

// errLimited is returned for a relay that carries too little.
var errLimited = errors.New("it limits the time or the bytes of what it relays; a relay has to be an evonode")

// reservations are the places of this peer at relays.
type reservations struct {
	mu     sync.Mutex
	held   map[peer.ID]*reservation
	asking map[peer.ID]bool
	next   map[peer.ID]time.Time // when a relay may be asked again
}

type reservation struct {
	addrs []ma.Multiaddr // of the relay
	renew time.Time
}

func newReservations() *reservations {
	return &reservations{held: make(map[peer.ID]*reservation), asking: make(map[peer.ID]bool), next: make(map[peer.ID]time.Time)}
}

// circuits lists the addresses of this peer through its relays.
func (m *Mesh) circuits() []ma.Multiaddr {
	m.reserved.mu.Lock()
	defer m.reserved.mu.Unlock()
	var list []ma.Multiaddr
	for id, p := range m.reserved.held {
		list = append(list, through(id, p.addrs)...)
	}
	slices.SortFunc(list, ma.Multiaddr.Compare)
	return list
}

// add lists the relays at which this peer has a place, or asks for one.
func (r *reservations) add(list map[peer.ID]bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range r.held {
		list[id] = true
	}
	for id := range r.asking {
		list[id] = true
	}
}

// keepReservations renews places, and looks for relays if this peer needs some.
func (m *Mesh) keepReservations() {
	behind := m.behindNAT()
	if !behind && (len(m.cfg.Relays) == 0 || m.standing.known()) {
		m.reserved.leave()
		return
	}
	now := time.Now()
	gone := m.reserved.lost(func(id peer.ID) bool { return m.host.Network().Connectedness(id) == network.Connected })
	for _, id := range gone {
		m.log.Warn("the relay is gone that led to this node; another one is looked for", "relay", id)
		m.reserved.postpone(id, now.Add(reserveRetry))
	}
	if len(gone) > 0 {
		m.greetAgain()
	}
	candidates := m.pinnedRelays()
	if behind {
		for _, id := range m.linkedHubs() { // in no order
			if has, err := m.host.Peerstore().SupportsProtocols(id, proto.ProtoIDv2Hop); err == nil && len(has) > 0 {
				candidates = append(candidates, peer.AddrInfo{ID: id})
			}
		}
	}
	for _, info := range m.reserved.take(now, candidates) {
		m.spawn(func() { m.askRelay(info) })
	}
}

// pinnedRelays are those that the user named.
func (m *Mesh) pinnedRelays() []peer.AddrInfo {
	var list []peer.AddrInfo
	for _, text := range m.cfg.Relays {
		if info, err := parseAddr(text); err == nil { // New has checked them
			list = append(list, *info)
		}
	}
	return list
}

// leave forgets all places: this peer needs none.
func (r *reservations) leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.held)
}

// lost removes and lists the relays that are not connected any more.
func (r *reservations) lost(connected func(peer.ID) bool) (list []peer.ID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range r.held {
		if !connected(id) {
			delete(r.held, id)
			list = append(list, id)
		}
	}
	return list
}

// postpone sets when a relay may be asked again.
func (r *reservations) postpone(id peer.ID, until time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.next) >= reserveNoted {
		clear(r.next)
	}
	r.next[id] = until
}

// take chooses which relays are asked now, and marks them: those whose place is to be renewed, and others while there
// are too few.
func (r *reservations) take(now time.Time, candidates []peer.AddrInfo) (list []peer.AddrInfo) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, h := range r.held {
		if now.After(h.renew) && !r.asking[id] {
			r.asking[id] = true
			list = append(list, peer.AddrInfo{ID: id})
		}
	}
	for _, info := range candidates {
		if len(r.held)+len(r.asking) >= maxReservations {
			break
		}
		if r.held[info.ID] == nil && !r.asking[info.ID] && now.After(r.next[info.ID]) {
			r.asking[info.ID] = true
			list = append(list, info)
		}
	}
	return list
}

// settled notes how the question for a place ended, and reports whether addresses of this peer changed.
func (r *reservations) settled(id peer.ID, h *reservation) (changed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.asking, id)
	before := r.held[id]
	delete(r.held, id)
	if h != nil {
		r.held[id] = h
	}
	return (h == nil) != (before == nil) || h != nil && !slices.EqualFunc(before.addrs, h.addrs, ma.Multiaddr.Equal)
}

// askRelay asks a relay for a place, or has one renewed.
func (m *Mesh) askRelay(relay peer.AddrInfo) {
	ctx, cancel := context.WithTimeout(m.ctx, reserveTimeout)
	defer cancel()
	h, err := m.reserve(ctx, relay)
	if err != nil && m.ctx.Err() == nil {
		m.log.Warn("no place at a relay", "relay", relay.ID, "err", err)
		m.reserved.postpone(relay.ID, time.Now().Add(reserveBackoff))
	}
	if h == nil && err == nil {
		m.reserved.postpone(relay.ID, time.Now().Add(reserveRetry))
	}
	if m.reserved.settled(relay.ID, h) {
		if h != nil {
			m.log.Info("a relay leads to this node", "relay", relay.ID)
			if m.cfg.Reached != nil {
				m.cfg.Reached(full(m.host.ID(), m.circuits(), nil, byWay))
			}
		}
		m.greetAgain()
	}
}

// reserve gets a place; nil without an error: this peer needs none.
func (m *Mesh) reserve(ctx context.Context, relay peer.AddrInfo) (*reservation, error) {
	if len(relay.Addrs) > 0 { // named by the user; of a run that may be another one, so nobody said hello yet
		if err := m.host.Connect(ctx, relay); err != nil {
			return nil, explain(err, relay)
		}
		if _, err := m.sayHello(ctx, relay.ID); err != nil {
			return nil, explain(m.older(relay.ID, err), relay)
		}
		if !m.behindNAT() {
			return nil, nil
		}
	}
	given, err := client.Reserve(network.WithNoDial(ctx, "reserve"), m.host, peer.AddrInfo{ID: relay.ID})
	switch {
	case err != nil:
		return nil, fmt.Errorf("the relay refuses, or is full: %w", err)
	case given.LimitDuration > 0 || given.LimitData > 0:
		return nil, errLimited
	}
	addrs := m.relayAddrs(relay.ID)
	if len(addrs) == 0 {
		return nil, errors.New("it has no address that others could dial")
	}
	return &reservation{addrs: addrs, renew: time.Now().Add(time.Until(given.Expiration) / 2)}, nil
}

// relayAddrs lists addresses of a relay for others: the one at which it answered, and those that it says it has.
func (m *Mesh) relayAddrs(id peer.ID) []ma.Multiaddr {
	var list []ma.Multiaddr
	for _, c := range m.host.Network().ConnsToPeer(id) {
		from := c.RemoteMultiaddr()
		if c.Stat().Direction != network.DirOutbound || isCircuit(from) {
			continue
		}
		list = append(list, from)
		for _, a := range m.host.Peerstore().Addrs(id) {
			if !isCircuit(a) && useful(a, from) && !slices.ContainsFunc(list, a.Equal) {
				list = append(list, a)
			}
		}
		break
	}
	return choose(list, byWay, maxRelayAddrs)
}
