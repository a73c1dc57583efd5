//go:build !js

package mesh

import (
	"context"
	"net"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/sec"
)

// Limits of what is read from a connection, before anybody knows what it is: the bytes of a stream that was reset are
// still sent, decrypted and thrown away.
const (
	paidAtOnce = 4 << 10 // bytes that are charged together
	readTakes  = 32      // bytes that a read counts as beyond its own: a frame without content takes time, too
)

// throttled is a multiplexer that reads a connection as fast as its neighbor's quota of wireBytes allows. What is not
// read waits at the sender.
type throttled struct {
	network.Multiplexer
	neighbors *neighbors
}

// NewConn multiplexes a connection that is already encrypted.
func (t throttled) NewConn(c net.Conn, isServer bool, scope network.PeerScope) (network.MuxedConn, error) {
	if secure, ok := c.(sec.SecureConn); ok {
		ctx, cancel := context.WithCancel(context.Background())
		c = &meteredConn{SecureConn: secure, neighbors: t.neighbors, ctx: ctx, cancel: cancel}
	}
	return t.Multiplexer.NewConn(c, isServer, scope)
}

// meteredConn has its reads charged. One goroutine reads it.
type meteredConn struct {
	sec.SecureConn
	neighbors *neighbors
	unpaid    int
	ctx       context.Context
	cancel    context.CancelFunc
}

func (c *meteredConn) Read(b []byte) (int, error) {
	n, err := c.SecureConn.Read(b)
	if c.unpaid += n + readTakes; c.unpaid >= paidAtOnce && err == nil {
		c.neighbors.pace(c.ctx, c.RemotePeer(), wireBytes, c.unpaid)
		c.unpaid = 0
	}
	return n, err
}

func (c *meteredConn) Close() error {
	c.cancel()
	return c.SecureConn.Close()
}

// pace charges a neighbor for what it has used already and waits until that is paid, however long. Who is no neighbor
// yet, or no longer, pays nothing.
func (n *neighbors) pace(ctx context.Context, id peer.ID, r resource, cost int) {
	for n.has(id) && !n.pay(ctx, id, r, cost) && sleep(ctx, maxOwed) {
	}
}
