package mesh

import (
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/transport"
	ma "github.com/multiformats/go-multiaddr"
)

// dialed is what connections of both such transports know of themselves.
type dialed struct {
	dialer *dialer
	of     transport.Transport
	local  ma.Multiaddr
	remote ma.Multiaddr
	peer   peer.ID // and key: since the handshake
	key    crypto.PubKey
}

// LocalPeer is the tab.
func (d *dialed) LocalPeer() peer.ID { return d.dialer.self }

// RemotePeer is the node.
func (d *dialed) RemotePeer() peer.ID { return d.peer }

// RemotePublicKey is the node's.
func (d *dialed) RemotePublicKey() crypto.PubKey { return d.key }

// LocalMultiaddr names no real address: a page does not learn its own.
func (d *dialed) LocalMultiaddr() ma.Multiaddr { return d.local }

// RemoteMultiaddr is the address that was dialed.
func (d *dialed) RemoteMultiaddr() ma.Multiaddr { return d.remote }

// ConnState names the transport.
func (d *dialed) ConnState() network.ConnectionState {
	return network.ConnectionState{Transport: d.dialer.name}
}

// Scope bounds nothing: a tab has only connections that it dialed.
func (d *dialed) Scope() network.ConnScope { return &network.NullScope{} }

// Transport is the one that dialed.
func (d *dialed) Transport() transport.Transport { return d.of }

// As finds nothing.
func (d *dialed) As(any) bool { return false }
