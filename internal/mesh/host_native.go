//go:build !js

package mesh

import (
	"cmp"
	"fmt"
	"net/netip"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	rcmgr "github.com/libp2p/go-libp2p/p2p/host/resource-manager"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
	"github.com/libp2p/go-libp2p/p2p/net/connmgr"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	quic "github.com/libp2p/go-libp2p/p2p/transport/quic"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	"github.com/libp2p/go-libp2p/p2p/transport/websocket"
	libp2pwebtransport "github.com/libp2p/go-libp2p/p2p/transport/webtransport"
	"github.com/libp2p/go-libp2p/x/rate"
	ma "github.com/multiformats/go-multiaddr"
)

// Limits of a public hub. Below high water connections are only refused, not closed.
const (
	hubConns      = 3000
	hubLow        = 1500
	hubHigh       = 2000
	leafLow       = 96
	leafHigh      = 160
	newConnsPerIP = 4 // per second, after as many at once as it may have
	memoryLimit   = 2 << 30
	streamsOfPeer = 48      // that it opened; it needs some 10
	memoryOfPeer  = 6 << 20 // of what came and was not read yet; two connections over WebRTC, which reserve it, while one replaces the other
	windowBytes   = 1 << 20 // of one stream: what may come before it is read
)

// muxer is yamux with windows that fit memoryOfPeer: what is not read must not take the memory of all.
func muxer() network.Multiplexer {
	config := *yamux.DefaultTransport
	config.MaxStreamWindowSize = windowBytes
	return &config
}

// newHost makes the libp2p host of a computer: TCP, WebSocket and QUIC, Noise, yamux; and for tabs WebTransport and
// WebRTC-Direct, which secure and multiplex by themselves and share QUIC's port.
func newHost(cfg Config, key crypto.PrivKey, gater *bans, near *neighbors) (host.Host, error) {
	return newHostAt(cfg, key, gater, near, clock.New())
}

// newHostAt is newHost with the clock by which certificates of WebTransport are renewed.
func newHostAt(cfg Config, key crypto.PrivKey, gater *bans, near *neighbors, at clock.Clock) (host.Host, error) {
	id, err := peer.IDFromPrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("identity key: %w", err)
	}
	announced, err := ParseAnnounced(cfg.Announce, id)
	if err == nil {
		err = announced.check(cfg.Listen)
	}
	if err != nil {
		return nil, err
	}
	resources, err := newResources(max(cfg.Hosts, 1), cmp.Or(cfg.PerAddress, ConnsPerAddress))
	if err != nil {
		return nil, fmt.Errorf("resource limits: %w", err)
	}
	low, high := leafLow, leafHigh
	if cfg.Hub {
		low, high = hubLow/max(cfg.Hosts, 1), hubHigh/max(cfg.Hosts, 1)
	}
	conns, err := connmgr.NewConnManager(low, high, connmgr.WithGracePeriod(time.Minute))
	if err != nil {
		return nil, fmt.Errorf("resource limits: %w", err)
	}
	options := []libp2p.Option{
		libp2p.Identity(key),
		libp2p.UserAgent(cfg.Agent),
		libp2p.ShareTCPListener(),
		libp2p.Transport(tcp.NewTCPTransport),
		libp2p.Transport(quic.NewTransport),
		libp2p.Transport(websocket.New, websocket.WithTLSConfig(cfg.Secure.TLS)),
		libp2p.AddrsFactory(func(addrs []ma.Multiaddr) []ma.Multiaddr {
			return announced.add(addrs, portsOf(cfg.Listen), cfg.Secure)
		}),
		libp2p.Transport(libp2pwebtransport.New, libp2pwebtransport.WithClock(at)),
		libp2p.Transport(newWebRTC),
		libp2p.Security(noise.ID, noise.New),
		libp2p.Muxer(yamux.ID, throttled{muxer(), near}),
		libp2p.ConnectionGater(gater),
		libp2p.ResourceManager(resources),
		libp2p.ConnectionManager(conns),
		libp2p.EnableRelay(),
		libp2p.DisableMetrics(),
	}
	if len(cfg.Listen) == 0 {
		options = append(options, libp2p.NoListenAddrs)
	} else {
		options = append(options, libp2p.ListenAddrStrings(cfg.Listen...))
	}
	if cfg.PortMap {
		options = append(options, libp2p.NATPortMap())
	}
	h, err := libp2p.New(options...)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %v: %w; does another program use the port?", cfg.Listen, err)
	}
	return h, nil
}

// newResources bounds what strangers can make one of the hosts of this process hold. Connections from this machine are
// exempt from the rate of new ones: behind a reverse proxy all come from there. perIP is how many an address may have.
func newResources(hosts, perIP int) (network.ResourceManager, error) {
	conns, memory := hubConns/hosts, int64(memoryLimit/hosts)
	limits := rcmgr.DefaultLimits
	libp2p.SetDefaultServiceLimits(&limits)
	concrete := rcmgr.PartialLimitConfig{
		System: rcmgr.ResourceLimits{Conns: rcmgr.LimitVal(conns), ConnsInbound: rcmgr.LimitVal(conns * 5 / 6), ConnsOutbound: rcmgr.LimitVal(conns / 6),
			Streams: rcmgr.LimitVal(10 * conns), StreamsInbound: rcmgr.LimitVal(8 * conns), Memory: rcmgr.LimitVal64(memory), FD: rcmgr.LimitVal(8192 / hosts)},
		PeerDefault: rcmgr.ResourceLimits{Streams: 2 * streamsOfPeer, StreamsInbound: streamsOfPeer, StreamsOutbound: streamsOfPeer, Memory: memoryOfPeer},
		Transient:   rcmgr.ResourceLimits{Conns: 512, ConnsInbound: 256, Streams: 1024, StreamsInbound: 512, Memory: rcmgr.LimitVal64(memory / 8)},
	}.Build(limits.AutoScale())
	fresh := rate.Limit{RPS: newConnsPerIP, Burst: perIP}
	return rcmgr.NewResourceManager(rcmgr.NewFixedLimiter(concrete),
		rcmgr.WithLimitPerSubnet(
			[]rcmgr.ConnLimitPerSubnet{{PrefixLength: 32, ConnCount: perIP}},
			[]rcmgr.ConnLimitPerSubnet{{PrefixLength: 56, ConnCount: perIP}, {PrefixLength: 48, ConnCount: 4 * perIP}}),
		rcmgr.WithConnRateLimiters(&rate.Limiter{
			NetworkPrefixLimits: []rate.PrefixLimit{{Prefix: netip.MustParsePrefix("127.0.0.0/8")}, {Prefix: netip.MustParsePrefix("::1/128")}},
			SubnetRateLimiter: rate.SubnetLimiter{
				IPv4SubnetLimits: []rate.SubnetLimit{{PrefixLength: 32, Limit: fresh}},
				IPv6SubnetLimits: []rate.SubnetLimit{{PrefixLength: 56, Limit: fresh}},
				GracePeriod:      time.Minute,
			},
		}))
}

// openToTabs does nothing: only browsers connect tabs to each other.
func (m *Mesh) openToTabs(crypto.PrivKey) error { return nil }
