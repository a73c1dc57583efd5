package mesh

import (
	"context"
	"errors"

	"github.com/libp2p/go-libp2p/core/connmgr"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/transport"
	ma "github.com/multiformats/go-multiaddr"
)

// tabTransport is a way out of a tab. It keeps names, since a tab cannot ask the DNS.
type tabTransport interface {
	transport.Transport
	transport.SkipResolver
}

// transports lists the ways out of a tab. WebTransport and WebRTC-Direct make their own Noise handshake, so they need
// the key.
func transports(key crypto.PrivKey, up transport.Upgrader, gater connmgr.ConnectionGater) ([]transport.Transport, error) {
	web, err := newWebTransport(key, gater)
	if err != nil {
		return nil, err
	}
	rtc, err := newWebRTC(key, gater)
	if err != nil {
		return nil, err
	}
	return []transport.Transport{noted{&socketTransport{up}}, noted{web}, noted{rtc}}, nil
}

// noted remembers how the last dial of each way ended, to tell it to the volunteer.
type noted struct{ tabTransport }

// Dial notes why a dial failed, if nobody called it off.
func (t noted) Dial(ctx context.Context, addr ma.Multiaddr, id peer.ID) (transport.CapableConn, error) {
	c, err := t.tabTransport.Dial(ctx, addr, id)
	if !errors.Is(err, context.Canceled) {
		tried.note(wayOf(addr), err)
	}
	return c, err
}
