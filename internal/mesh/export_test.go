package mesh

import (
	"context"
	"net/netip"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/client"
)

// PartBytes is how many bytes of messages have come in part.
func (m *Mesh) PartBytes() uint64 {
	m.parts.mu.Lock()
	defer m.parts.mu.Unlock()
	return m.parts.bytes.Used()
}

// MaxPartsOf is how many of them one block of addresses may have.
const MaxPartsOf = maxPartsOf

// Proven lists the hubs that this peer dialed.
func (m *Mesh) Proven() int { return len(m.linkedHubs()) }

// Learn has the book know of a hub, as another peer would tell of it.
func (m *Mesh) Learn(addr string) error {
	info, err := parseAddr(addr)
	if err == nil {
		m.book.add(*info, block{}, false)
	}
	return err
}

// Shelter has this peer believe that nobody can dial it.
func (m *Mesh) Shelter() {
	for i := range byte(8) {
		at := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, 0, i}), 32)
		m.standing.heard(at, private, false, time.Now())
	}
}

// Circuits are the connections of this peer that a relay carries.
func (m *Mesh) Circuits() (n int) {
	for _, c := range m.host.Network().Conns() {
		if isCircuit(c.RemoteMultiaddr()) {
			n++
		}
	}
	return n
}

// Boast has this peer call itself a hub again, whatever others said.
func (m *Mesh) Boast() {
	m.standing.mu.Lock()
	defer m.standing.mu.Unlock()
	m.standing.judges.Drop(private)
	m.standing.judges.Drop(public)
}

// Reserve gets a place at a relay of any kind.
func (m *Mesh) Reserve(ctx context.Context, relay peer.AddrInfo) error {
	if err := m.host.Connect(ctx, relay); err != nil {
		return err
	}
	_, err := client.Reserve(ctx, m.host, relay)
	return err
}
