package mesh

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/evoswarm/evoswarm/coordinator"
)

// Connections that are kept with hubs.
const (
	nativeHubs = 32
	tabHubs    = 3
)

const (
	keepEvery    = 500 * time.Millisecond
	refreshFirst = time.Second      // after entering a run: until its first hello to a hub, which may know new ones
	refreshEvery = 30 * time.Second // between two of those, after some time with hubs
	strangerFor  = time.Minute      // how long a peer may stay connected without a hello of this run
)

// Hubs lists full addresses of the hubs that answered recently: worth saving for the next start.
func (m *Mesh) Hubs() []string {
	var list []string
	for _, info := range m.book.good() {
		list = append(list, full(info.ID, info.Addrs, nil, byWay)...)
	}
	slices.Sort(list)
	return list
}

// keep holds the connections to hubs until Close.
func (m *Mesh) keep() {
	tick := time.NewTicker(keepEvery)
	defer tick.Stop()
	var refreshAt time.Time
	refreshIn, had := refreshFirst, 0
	strangers := make(map[peer.ID]time.Time)
	for {
		select {
		case <-m.ctx.Done():
			return
		case <-tick.C:
		}
		m.keepReservations()
		m.mu.Lock()
		entered := m.pubsub != nil
		m.mu.Unlock()
		if !entered {
			continue
		}
		m.endVisits(m.dialHubs())
		m.prove()
		m.dialRelayed()
		m.keepTabs()
		hubs := len(m.linkedHubs())
		if had > 0 && hubs == 0 {
			refreshAt, refreshIn = time.Now().Add(refreshFirst), refreshFirst
		}
		had = hubs
		if now := time.Now(); now.After(refreshAt) {
			if !refreshAt.IsZero() {
				m.refresh()
				m.explore()
			}
			refreshAt = now.Add(refreshIn)
			refreshIn = min(2*refreshIn, refreshEvery)
		}
		m.dropStrangers(strangers)
	}
}

// dialHubs dials hubs that are due, if this peer is linked to fewer than it wants; true: to more. Only hubs that it
// dialed count: those that dialed it chose it, and a stranger could take all places.
func (m *Mesh) dialHubs() (enough bool) {
	want := m.cfg.Hubs
	linked := make(map[block]int)
	for _, id := range m.linkedHubs() {
		linked[m.neighbors.block(id)]++
		want--
	}
	for _, info := range m.book.due(max(want, 0), linked, func(id peer.ID) bool { return m.isLinked(id) || id == m.host.ID() }) {
		m.spawn(func() {
			ctx, cancel := context.WithTimeout(m.ctx, dialTimeout)
			defer cancel()
			hello, err := m.meet(ctx, info)
			if err == nil && m.isLinked(info.ID) {
				m.book.succeeded(info.ID)
				return
			}
			m.log.Debug("hub not reached", "peer", info.ID, "run", hello.Run, "err", err)
			m.book.failed(info.ID)
		})
	}
	return want < 0
}

func (m *Mesh) isLinked(id peer.ID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.links[id]
	return ok
}

// linkedHubs lists the proven hubs that this peer is linked to, in no order.
func (m *Mesh) linkedHubs() []peer.ID {
	m.mu.Lock()
	defer m.mu.Unlock()
	var hubs []peer.ID
	for id, l := range m.links {
		if l.Hub && m.neighbors.proven(id) {
			hubs = append(hubs, id)
		}
	}
	return hubs
}

// HasHub reports whether a hub is connected, or a native behind a relay that does what hubs do.
func (m *Mesh) HasHub() bool { return len(m.servers()) > 0 }

// refresh exchanges hello again with a linked hub and a linked leaf, which may know new hubs: a leaf may be all that
// joins two hubs.
func (m *Mesh) refresh() {
	var hub, leaf peer.ID
	m.mu.Lock()
	for id, l := range m.links { // any of them: they come in no order
		switch {
		case !l.Hub:
			leaf = id
		case m.neighbors.proven(id):
			hub = id
		}
	}
	m.mu.Unlock()
	for _, id := range []peer.ID{hub, leaf} {
		if id == "" {
			continue
		}
		m.spawn(func() { m.helloAgain(id) })
	}
}

// explore visits a hub that this one is not linked to: parts of a swarm that were cut off from each other meet again,
// though each has as many connections as it wants.
func (m *Mesh) explore() {
	if !m.cfg.Hub {
		return
	}
	linked := make(map[block]int)
	for _, id := range m.linkedHubs() {
		linked[m.neighbors.block(id)]++
	}
	for _, info := range m.book.due(1, linked, func(id peer.ID) bool { return m.isLinked(id) || id == m.host.ID() }) {
		m.spawn(func() { m.call(info) })
	}
}

// dropStrangers closes connections to peers that are not in this run, and for which this peer carries nothing, nor
// they for it.
func (m *Mesh) dropStrangers(since map[peer.ID]time.Time) {
	connected, carriers := make(map[peer.ID]bool), m.carriers()
	for _, id := range m.host.Network().Peers() {
		connected[id] = true
		if m.isOlder(id) {
			m.log.Warn("a node of an earlier version of evoswarm was turned away; its owner must update it", "peer", id, "protocol", version)
			m.spawn(func() { _ = m.host.Network().ClosePeer(id) })
			continue
		}
		if m.isLinked(id) || carriers[id] || m.host.Network().Connectedness(id) != network.Connected {
			delete(since, id)
			continue
		}
		if _, ok := since[id]; !ok {
			since[id] = time.Now()
		}
		if time.Since(since[id]) > strangerFor {
			m.spawn(func() { _ = m.host.Network().ClosePeer(id) })
		}
	}
	for id := range since {
		if !connected[id] {
			delete(since, id)
		}
	}
}

// useful reports whether an address that the peer at from gave may lead to a peer from here.
func useful(addr, from ma.Multiaddr) bool {
	return dialable(addr) && (!manet.IsIPLoopback(addr) || manet.IsIPLoopback(from))
}

// forgetBackoff lets a peer be dialed again at once: the book has a backoff of its own.
func forgetBackoff(h host.Host, id peer.ID) {
	if s, ok := h.Network().(*swarm.Swarm); ok {
		s.Backoff().Clear(id)
	}
}

// maxProofs is how many hubs are tried at a time.
const maxProofs = 2

// prove dials hubs that dialed this peer, at the addresses that they gave: until they answer there, their word is all
// that makes them hubs. The connection is closed at once, since there is one.
func (m *Mesh) prove() {
	claimed := make(map[peer.ID]bool)
	m.mu.Lock()
	for id, l := range m.links {
		if l.Hub && m.cfg.Kind != coordinator.Tab && !m.neighbors.proven(id) {
			claimed[id] = true
		}
	}
	m.mu.Unlock()
	inBlock := make(map[block]int)
	for _, id := range m.linkedHubs() {
		inBlock[m.neighbors.block(id)]++
	}
	for _, info := range m.book.due(maxProofs, inBlock, func(id peer.ID) bool { return !claimed[id] }) {
		if at := m.neighbors.block(info.ID); !at.IsSingleIP() && inBlock[at] >= maxPerBlock {
			m.book.failed(info.ID)
			continue
		}
		m.spawn(func() {
			ctx, cancel := context.WithTimeout(m.ctx, dialTimeout)
			defer cancel()
			if err := m.answersAt(ctx, info); err != nil {
				m.log.Debug("a hub does not answer where it says", "peer", info.ID, "err", err)
				m.book.failed(info.ID)
				return
			}
			m.neighbors.prove(info.ID)
			m.book.succeeded(info.ID)
			if m.isLinked(info.ID) {
				m.host.ConnManager().Protect(info.ID, "hub")
			}
		})
	}
}

// answersAt makes a connection of its own to a peer, and closes it.
func (m *Mesh) answersAt(ctx context.Context, info peer.AddrInfo) error {
	network, ok := m.host.Network().(*swarm.Swarm)
	if !ok {
		return errors.ErrUnsupported
	}
	err := fmt.Errorf("%w: no address of %s can be dialed", ErrUnreachable, info.ID)
	for _, a := range info.Addrs {
		transport := network.TransportForDialing(a)
		if transport == nil || isCircuit(a) {
			continue
		}
		conn, dialErr := transport.Dial(ctx, a, info.ID)
		if dialErr == nil {
			return conn.Close()
		}
		err = dialErr
	}
	return err
}
