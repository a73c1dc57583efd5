//go:build !js

package mesh

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/host/eventbus"
	"github.com/libp2p/go-libp2p/p2p/protocol/holepunch"
	"github.com/libp2p/go-libp2p/p2p/protocol/identify"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

// Two natives that a relay connects try to connect directly (libp2p's DCUtR): each sends to where the other one's
// packets seem to come from, so that both their NATs take the other's for an answer.

// maxSeen is how many places are remembered from which others saw this peer's packets come. One who lies about that
// has two peers send some packets to nobody.
const maxSeen = 8

// punchAgain says how long after a circuit began it is tried again to connect directly.
var punchAgain = []time.Duration{3 * time.Second, 30 * time.Second, 5 * time.Minute}

// puncher connects directly to peers that relays lead to.
type puncher struct {
	m       *Mesh
	service *holepunch.Service
	mu      sync.Mutex
	seen    []ma.Multiaddr // the newest last
}

// openPuncher has this peer take part in that, if it listens: packets from elsewhere than where it listens open no
// way to it.
func (m *Mesh) openPuncher() error {
	if len(m.cfg.Listen) == 0 {
		return nil
	}
	host, ok := m.host.(interface{ IDService() identify.IDService })
	if !ok {
		return errors.ErrUnsupported
	}
	sub, err := m.host.EventBus().Subscribe(new(event.EvtPeerIdentificationCompleted), eventbus.Name("mesh"))
	if err != nil {
		return err
	}
	p := &puncher{m: m}
	if p.service, err = holepunch.NewService(m.host, host.IDService(), p.addrs); err != nil {
		return errors.Join(fmt.Errorf("connecting through NATs: %w", err), sub.Close())
	}
	m.puncher = p
	m.host.Network().Notify(&network.NotifyBundle{ConnectedF: func(_ network.Network, c network.Conn) {
		if c.Stat().Direction == network.DirInbound && isCircuit(c.RemoteMultiaddr()) {
			m.spawn(func() { p.insist(c) })
		}
	}})
	m.spawn(func() {
		defer sub.Close()
		for {
			select {
			case e := <-sub.Out():
				if e, ok := e.(event.EvtPeerIdentificationCompleted); ok {
					p.note(e.Conn, e.ObservedAddr)
				}
			case <-m.ctx.Done():
				return
			}
		}
	})
	return nil
}

// close ends it.
func (p *puncher) close() error {
	if p == nil {
		return nil
	}
	return p.service.Close()
}

// note remembers from where a peer that this one dialed saw its packets come, if they came from where this peer
// listens.
func (p *puncher) note(c network.Conn, at ma.Multiaddr) {
	if c == nil || at == nil || c.Stat().Direction != network.DirOutbound || isCircuit(c.RemoteMultiaddr()) || !manet.IsPublicAddr(at) {
		return
	}
	for _, l := range p.m.host.Network().ListenAddresses() {
		if len(l) < 2 || len(at) < 2 || len(c.LocalMultiaddr()) < 2 || !l[1].Equal(&c.LocalMultiaddr()[1]) || l[1].Protocol().Code != at[1].Protocol().Code {
			continue
		}
		if way := wayOf(l); way != TCP && way != QUIC {
			continue // who has the certificates for the others, or a name, is not behind a NAT
		}
		seen := append(slices.Clone(at[:2]), l[2:]...)
		p.mu.Lock()
		p.seen = append(slices.DeleteFunc(p.seen, seen.Equal), seen)
		p.seen = p.seen[max(0, len(p.seen)-maxSeen):]
		p.mu.Unlock()
	}
}

// addrs lists where this peer may be reached at the moment: its own public addresses, and where others saw it.
func (p *puncher) addrs() []ma.Multiaddr {
	p.mu.Lock()
	list := slices.Clone(p.seen)
	p.mu.Unlock()
	for _, a := range p.m.host.Addrs() {
		if manet.IsPublicAddr(a) {
			list = append(list, a)
		}
	}
	return list
}

// insist tries again to connect directly as long as there is nothing but a circuit: what libp2p does when the circuit
// begins comes too early for a peer that has just started.
func (p *puncher) insist(circuit network.Conn) {
	id := circuit.RemotePeer()
	for _, wait := range punchAgain {
		if !sleep(p.m.ctx, wait) || circuit.IsClosed() {
			return
		}
		if !p.ready(id) {
			continue
		}
		done := make(chan error, 1)
		go func() { done <- p.service.DirectConnect(id) }() // it knows no context
		select {
		case err := <-done:
			if err == nil {
				return
			}
			p.m.log.Debug("no direct connection", "peer", id, "err", err)
		case <-p.m.ctx.Done():
			return
		}
	}
}

// ready reports whether both sides know an address of theirs.
func (p *puncher) ready(id peer.ID) bool {
	theirs, err := p.m.host.Peerstore().SupportsProtocols(id, holepunch.Protocol)
	return err == nil && len(theirs) > 0 && slices.Contains(p.m.host.Mux().Protocols(), holepunch.Protocol)
}
