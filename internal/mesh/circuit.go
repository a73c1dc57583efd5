package mesh

import (
	"context"
	"slices"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
)

// A circuit is a connection that a hub relays (libp2p's circuit relay, version 2). Its address is the relay's full
// address, then /p2p-circuit. The two ends encrypt it, so a relay can drop bytes and delay them, and no more.

// maxCircuitsTold is how many addresses through relays a peer tells of itself or of another one, among maxAddrsPerHub.
const maxCircuitsTold = 4

var circuitAddr = ma.StringCast("/p2p-circuit")

// isCircuit reports whether an address leads through a relay.
func isCircuit(a ma.Multiaddr) bool {
	return slices.ContainsFunc(a, func(c ma.Component) bool { return c.Protocol().Code == ma.P_CIRCUIT })
}

// relayOf splits an address through one relay into that relay and its address; false for what is none.
func relayOf(a ma.Multiaddr) (relay peer.ID, hop ma.Multiaddr, ok bool) {
	n := len(a)
	if n < 3 || a[n-1].Protocol().Code != ma.P_CIRCUIT || a[n-2].Protocol().Code != ma.P_P2P || isCircuit(a[:n-1]) {
		return "", nil, false
	}
	relay, err := peer.Decode(a[n-2].Value())
	return relay, slices.Clone(a[:n-2]), err == nil
}

// through returns the addresses of a peer that has a place at a relay, by the relay's own.
func through(relay peer.ID, addrs []ma.Multiaddr) []ma.Multiaddr {
	id, err := ma.NewComponent("p2p", relay.String())
	if err != nil {
		return nil
	}
	var list []ma.Multiaddr
	for _, a := range addrs {
		if !isCircuit(a) {
			list = append(list, a.AppendComponent(id).Encapsulate(circuitAddr))
		}
	}
	return list
}

// onlyCircuits reports whether all addresses of a peer lead through relays: it cannot be dialed otherwise.
func onlyCircuits(addrs []ma.Multiaddr) bool {
	return len(addrs) > 0 && !slices.ContainsFunc(addrs, func(a ma.Multiaddr) bool { return !isCircuit(a) })
}

// carriers lists the peers for which this one carries something, and those that do for it.
func (m *Mesh) carriers() map[peer.ID]bool {
	list := make(map[peer.ID]bool)
	for _, c := range m.host.Network().Conns() {
		if relay, _, ok := relayOf(c.RemoteMultiaddr()); ok {
			list[relay] = true
		}
	}
	m.reserved.add(list)
	m.hops.add(list)
	return list
}

// leaveCircuits closes the circuits to a peer that has a direct connection now, and says hello there. Both sides do,
// so both learn again what the other one's gossip is about: see awaitForgotten.
func (m *Mesh) leaveCircuits(direct network.Conn) {
	if isCircuit(direct.RemoteMultiaddr()) {
		return
	}
	id := direct.RemotePeer()
	var circuits []network.Conn
	for _, c := range m.host.Network().ConnsToPeer(id) {
		if isCircuit(c.RemoteMultiaddr()) {
			circuits = append(circuits, c)
		}
	}
	if len(circuits) == 0 {
		return
	}
	m.mu.Lock()
	m.removeLink(id)
	if m.pubsub != nil && m.forgetting[id] == nil {
		m.forgetting[id] = make(chan struct{})
	}
	m.mu.Unlock()
	m.log.Info("connected directly to a peer that a relay led to", "peer", id, "at", direct.RemoteMultiaddr())
	for _, c := range circuits {
		_ = c.Close()
	}
	m.spawn(func() { m.helloAgain(id) })
}

// dialRelayed dials peers that only relays lead to and that do what hubs do, if no hub is connected or nobody can
// dial this peer: then it has others left when its hubs go. Few, since relays carry it until there is a direct
// connection.
func (m *Mesh) dialRelayed() {
	if len(m.linkedHubs()) > 0 && !m.behindNAT() {
		return
	}
	want := maxRelayed - len(m.relayed())
	for _, info := range m.book.throughRelays(want, func(id peer.ID) bool { return m.isLinked(id) || id == m.host.ID() }) {
		m.spawn(func() {
			ctx, cancel := context.WithTimeout(m.ctx, dialTimeout)
			defer cancel()
			if _, err := m.meet(ctx, info); err != nil || !m.isLinked(info.ID) {
				m.log.Debug("not reached through a relay", "peer", info.ID, "err", err)
				m.book.failed(info.ID)
				return
			}
			m.book.succeeded(info.ID)
		})
	}
}

// maxRelayed is how many peers behind a NAT this peer keeps connections to.
const maxRelayed = 4

// relayed lists the linked natives that nobody can dial but over relays, that do what hubs do, and that this peer
// dialed.
func (m *Mesh) relayed() []peer.ID {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []peer.ID
	for id, l := range m.links {
		if l.Relayed && m.neighbors.proven(id) {
			list = append(list, id)
		}
	}
	return list
}

// servers lists the proven hubs that are linked; where there are none, those behind relays.
func (m *Mesh) servers() []peer.ID {
	if hubs := m.linkedHubs(); len(hubs) > 0 {
		return hubs
	}
	return m.relayed()
}

// relayedHere lists the linked peers that only relays lead to, as they say themselves: they are worth telling of.
func (m *Mesh) relayedHere() []peer.AddrInfo {
	return m.book.behindRelays(m.isLinked)
}
