//go:build !js

package mesh

import (
	"context"
	"net"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

const (
	maxProbes    = 8
	probeTimeout = 3 * time.Second
)

// probe reports whether a TCP connection to one of addrs comes about. Only addresses with the IP that the asker itself
// has are tried, so that it cannot be aimed at others. Which peer answers there is not checked.
func (m *Mesh) probe(c network.Conn, addrs []string) bool {
	asker, err := manet.ToIP(c.RemoteMultiaddr())
	if err != nil {
		return false
	}
	select {
	case m.probes <- struct{}{}:
		defer func() { <-m.probes }()
	default:
		return false
	}
	ctx, cancel := context.WithTimeout(m.ctx, probeTimeout)
	defer cancel()
	for _, addr := range addrs {
		info, err := parseAddr(addr)
		if err != nil || info.ID != c.RemotePeer() {
			continue
		}
		ip, err := manet.ToIP(info.Addrs[0])
		if err != nil || !ip.Equal(asker) {
			continue
		}
		port, err := info.Addrs[0].ValueForProtocol(multiaddr.P_TCP)
		if err != nil {
			continue
		}
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort(ip.String(), port))
		if err == nil {
			_ = conn.Close()
			return true
		}
	}
	return false
}
