package mesh

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/transport"
	ma "github.com/multiformats/go-multiaddr"
)

// socketTransport dials over the browser's WebSocket: /ws, /wss and /tls/ws, by IP or by name. The browser does the
// TLS, so names stay names.
type socketTransport struct{ up transport.Upgrader }

var _ transport.SkipResolver = (*socketTransport)(nil)

// CanDial accepts what this tab may dial.
func (t *socketTransport) CanDial(a ma.Multiaddr) bool {
	w := wayOf(a)
	return (w == WebSocket || w == SecureSocket) && dialable(a)
}

// Protocols are those that end an address of this transport.
func (t *socketTransport) Protocols() []int { return []int{ma.P_WS, ma.P_WSS} }

// Proxy is false: the connection leads to the peer itself.
func (t *socketTransport) Proxy() bool { return false }

// SkipResolve keeps names: the certificate is for the name, and a tab cannot ask the DNS.
func (t *socketTransport) SkipResolve(context.Context, ma.Multiaddr) bool { return true }

// Listen fails: a tab cannot listen.
func (t *socketTransport) Listen(ma.Multiaddr) (transport.Listener, error) {
	return nil, errors.New("a tab cannot listen")
}

// Dial opens a socket and secures it.
func (t *socketTransport) Dial(ctx context.Context, addr ma.Multiaddr, id peer.ID) (transport.CapableConn, error) {
	url, err := socketURL(addr)
	if err != nil {
		return nil, err
	}
	s, err := openSocket(ctx, url)
	if err != nil {
		return nil, err
	}
	return t.up.Upgrade(ctx, t, &socketConn{s, addr}, network.DirOutbound, id, &network.NullScope{})
}

// socketURL turns a multiaddr into the URL of a WebSocket.
func socketURL(a ma.Multiaddr) (string, error) {
	var name, port, scheme string
	tls := false
	for _, c := range a {
		switch c.Protocol().Code {
		case ma.P_IP4, ma.P_IP6, ma.P_DNS, ma.P_DNS4, ma.P_DNS6:
			name = c.Value()
		case ma.P_TCP:
			port = c.Value()
		case ma.P_TLS:
			tls = true
		case ma.P_WS:
			scheme = "ws"
		case ma.P_WSS:
			scheme, tls = "ws", true
		case ma.P_CIRCUIT:
			return "", fmt.Errorf("%s goes through a relay", a)
		}
	}
	if name == "" || port == "" || scheme == "" {
		return "", fmt.Errorf("%s is no WebSocket address", a)
	}
	if tls {
		scheme = "wss"
	}
	return scheme + "://" + net.JoinHostPort(name, port), nil
}

// socketConn gives a socket the addresses that libp2p wants.
type socketConn struct {
	*socket
	remote ma.Multiaddr
}

var socketLocal = ma.StringCast("/ip4/0.0.0.0/tcp/0/ws")

// LocalMultiaddr names no real address: a page does not learn its own.
func (c *socketConn) LocalMultiaddr() ma.Multiaddr { return socketLocal }

// RemoteMultiaddr is the address that was dialed.
func (c *socketConn) RemoteMultiaddr() ma.Multiaddr { return c.remote }
