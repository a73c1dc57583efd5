package mesh

import (
	"context"
	"errors"
	"fmt"

	"github.com/libp2p/go-libp2p/core/connmgr"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/transport"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	ma "github.com/multiformats/go-multiaddr"
)

// dialer is what WebTransport and WebRTC-Direct share: connections of the browser, which it encrypts, and on which a
// Noise handshake shows who is there.
type dialer struct {
	way   Way
	code  int    // of the protocol that ends its addresses
	name  string // of the transport, as libp2p says it
	self  peer.ID
	noise *noise.Transport
	gater connmgr.ConnectionGater
}

func newDialer(way Way, code int, name string, key crypto.PrivKey, gater connmgr.ConnectionGater) (dialer, error) {
	n, err := noise.New(noise.ID, key, nil)
	if err != nil {
		return dialer{}, err
	}
	self, err := peer.IDFromPrivateKey(key)
	return dialer{way, code, name, self, n, gater}, err
}

// CanDial accepts what this tab may dial.
func (d *dialer) CanDial(a ma.Multiaddr) bool { return wayOf(a) == d.way && dialable(a) }

// Protocols are those that end an address of this transport.
func (d *dialer) Protocols() []int { return []int{d.code} }

// Proxy is false: the connection leads to the peer itself.
func (d *dialer) Proxy() bool { return false }

// SkipResolve is true: a tab cannot ask the DNS, so names stay for the browser.
func (d *dialer) SkipResolve(context.Context, ma.Multiaddr) bool { return true }

// Listen fails: a tab cannot listen.
func (d *dialer) Listen(ma.Multiaddr) (transport.Listener, error) {
	return nil, errors.New("a tab cannot listen")
}

// admit returns a connection whose handshake ended with err, or closes it and says why it is refused.
func (d *dialer) admit(c transport.CapableConn, id peer.ID, err error) (transport.CapableConn, error) {
	if err == nil && !d.gater.InterceptSecured(network.DirOutbound, id, c) {
		err = fmt.Errorf("%s is banned", id)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}
