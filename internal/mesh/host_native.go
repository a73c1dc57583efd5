//go:build !js

package mesh

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	rcmgr "github.com/libp2p/go-libp2p/p2p/host/resource-manager"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
	"github.com/libp2p/go-libp2p/p2p/net/connmgr"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	quic "github.com/libp2p/go-libp2p/p2p/transport/quic"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	"github.com/libp2p/go-libp2p/p2p/transport/websocket"
	"github.com/libp2p/go-libp2p/x/rate"
)

// Limits of a public hub. Below high water connections are only refused, not closed.
const (
	hubConns      = 3000
	hubLow        = 1500
	hubHigh       = 2000
	leafLow       = 96
	leafHigh      = 160
	connsPerIP    = 256 // classrooms, offices and carriers put many behind one address
	newConnsPerIP = 4   // per second
	newConnsBurst = 256
	memoryLimit   = 2 << 30
	streamsOfPeer = 48      // that it opened; it needs some 10
	memoryOfPeer  = 4 << 20 // of what came and was not read yet
	windowBytes   = 1 << 20 // of one stream: what may come before it is read
)

// muxer is yamux with windows that fit memoryOfPeer: what is not read must not take the memory of all.
func muxer() network.Multiplexer {
	config := *yamux.DefaultTransport
	config.MaxStreamWindowSize = windowBytes
	return &config
}

// newHost makes the libp2p host of a computer: TCP, WebSocket and QUIC, Noise, yamux.
func newHost(cfg Config, key crypto.PrivKey, gater *bans, near *neighbors) (host.Host, error) {
	resources, err := newResources()
	if err != nil {
		return nil, fmt.Errorf("resource limits: %w", err)
	}
	low, high := leafLow, leafHigh
	if cfg.Hub {
		low, high = hubLow, hubHigh
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
		libp2p.Transport(websocket.New),
		libp2p.Security(noise.ID, noise.New),
		libp2p.Muxer(yamux.ID, throttled{muxer(), near}),
		libp2p.ConnectionGater(gater),
		libp2p.ResourceManager(resources),
		libp2p.ConnectionManager(conns),
		libp2p.DisableRelay(),
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

// newResources bounds what strangers can make this process hold. Connections from this machine are exempt: behind a
// reverse proxy all come from there.
func newResources() (network.ResourceManager, error) {
	limits := rcmgr.DefaultLimits
	libp2p.SetDefaultServiceLimits(&limits)
	concrete := rcmgr.PartialLimitConfig{
		System: rcmgr.ResourceLimits{Conns: hubConns, ConnsInbound: hubConns - 500, ConnsOutbound: 500,
			Streams: 10 * hubConns, StreamsInbound: 8 * hubConns, Memory: memoryLimit, FD: 8192},
		PeerDefault: rcmgr.ResourceLimits{Streams: 2 * streamsOfPeer, StreamsInbound: streamsOfPeer, StreamsOutbound: streamsOfPeer, Memory: memoryOfPeer},
		Transient:   rcmgr.ResourceLimits{Conns: 512, ConnsInbound: 256, Streams: 1024, StreamsInbound: 512, Memory: memoryLimit / 8},
	}.Build(limits.AutoScale())
	perIP := rate.Limit{RPS: newConnsPerIP, Burst: newConnsBurst}
	return rcmgr.NewResourceManager(rcmgr.NewFixedLimiter(concrete),
		rcmgr.WithLimitPerSubnet(
			[]rcmgr.ConnLimitPerSubnet{{PrefixLength: 32, ConnCount: connsPerIP}},
			[]rcmgr.ConnLimitPerSubnet{{PrefixLength: 56, ConnCount: connsPerIP}, {PrefixLength: 48, ConnCount: 4 * connsPerIP}}),
		rcmgr.WithConnRateLimiters(&rate.Limiter{
			NetworkPrefixLimits: []rate.PrefixLimit{{Prefix: netip.MustParsePrefix("127.0.0.0/8")}, {Prefix: netip.MustParsePrefix("::1/128")}},
			SubnetRateLimiter: rate.SubnetLimiter{
				IPv4SubnetLimits: []rate.SubnetLimit{{PrefixLength: 32, Limit: perIP}},
				IPv6SubnetLimits: []rate.SubnetLimit{{PrefixLength: 56, Limit: perIP}},
				GracePeriod:      time.Minute,
			},
		}))
}
