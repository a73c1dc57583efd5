//go:build !js

package dht

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	rcmgr "github.com/libp2p/go-libp2p/p2p/host/resource-manager"
	"github.com/libp2p/go-libp2p/p2p/net/connmgr"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	quic "github.com/libp2p/go-libp2p/p2p/transport/quic"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
)

// Limits of the client's host. A lookup has connections to some dozens of servers.
const (
	lowConns    = 32
	highConns   = 96
	maxConns    = 256
	memoryLimit = 128 << 20
)

// newHost makes a host that dials only, under the node's key.
func newHost(cfg Config) (host.Host, error) {
	if len(cfg.Key) != ed25519.PrivateKeySize {
		return nil, errors.New("dht: the client needs a key")
	}
	key, err := crypto.UnmarshalEd25519PrivateKey(cfg.Key)
	if err != nil {
		return nil, fmt.Errorf("identity key: %w", err)
	}
	limits := rcmgr.DefaultLimits
	libp2p.SetDefaultServiceLimits(&limits)
	concrete := rcmgr.PartialLimitConfig{
		System: rcmgr.ResourceLimits{Conns: maxConns, ConnsOutbound: maxConns, ConnsInbound: rcmgr.BlockAllLimit, Streams: 8 * maxConns, Memory: memoryLimit, FD: maxConns},
	}.Build(limits.AutoScale())
	resources, err := rcmgr.NewResourceManager(rcmgr.NewFixedLimiter(concrete))
	if err != nil {
		return nil, fmt.Errorf("resource limits: %w", err)
	}
	conns, err := connmgr.NewConnManager(lowConns, highConns, connmgr.WithGracePeriod(30*time.Second))
	if err != nil {
		return nil, fmt.Errorf("resource limits: %w", err)
	}
	return libp2p.New(
		libp2p.Identity(key),
		libp2p.UserAgent(cfg.Agent),
		libp2p.NoListenAddrs,
		libp2p.DisableRelay(),
		libp2p.DisableMetrics(),
		libp2p.Transport(tcp.NewTCPTransport),
		libp2p.Transport(quic.NewTransport),
		libp2p.Security(noise.ID, noise.New),
		libp2p.ResourceManager(resources),
		libp2p.ConnectionManager(conns),
	)
}
