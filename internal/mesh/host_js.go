package mesh

import (
	"errors"
	"fmt"
	"io"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/sec"
	"github.com/libp2p/go-libp2p/p2p/host/eventbus"
	"github.com/libp2p/go-libp2p/p2p/host/peerstore/pstoremem"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	"github.com/libp2p/go-libp2p/p2p/net/upgrader"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/client"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	ma "github.com/multiformats/go-multiaddr"
)

// newHost puts a host together for a tab, whose neighbors are hubs that it dialed. libp2p's own constructor does not
// compile for GOOS=js.
func newHost(cfg Config, key crypto.PrivKey, gater *bans, _ *neighbors) (host.Host, error) {
	if len(cfg.Listen) > 0 || cfg.Hub {
		return nil, errors.New("a tab cannot listen")
	}
	id, err := peer.IDFromPrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("identity key: %w", err)
	}
	store, err := pstoremem.NewPeerstore()
	if err != nil {
		return nil, err
	}
	if err := errors.Join(store.AddPrivKey(id, key), store.AddPubKey(id, key.GetPublic())); err != nil {
		return nil, fmt.Errorf("identity key: %w", err)
	}
	bus := eventbus.NewBus()
	net, err := swarm.NewSwarm(id, store, bus, swarm.WithConnectionGater(gater), swarm.WithDialRanker(rankWays(overTLS)))
	if err != nil {
		return nil, err
	}
	muxers := []upgrader.StreamMuxer{{ID: yamux.ID, Muxer: yamux.DefaultTransport}}
	secure, err := noise.New(noise.ID, key, muxers)
	if err != nil {
		return nil, err
	}
	up, err := upgrader.New([]sec.SecureTransport{secure}, muxers, nil, nil, gater)
	if err != nil {
		return nil, err
	}
	ways, err := transports(key, up, gater)
	if err != nil {
		return nil, err
	}
	for _, t := range ways {
		if err := net.AddTransport(t); err != nil {
			return nil, err
		}
	}
	h, err := newTabHost(net, bus, cfg.Agent)
	if err != nil {
		return nil, err
	}
	circuits, err := client.New(h, up)
	if err != nil {
		return nil, err
	}
	if err := net.AddTransport(noted{circuits}); err != nil {
		return nil, err
	}
	h.start()
	return h, nil
}

// hops are what a node relays.
type hops struct{}

func (*hops) close() error { return nil }

// puncher is what natives have.
type puncher struct{}

func (*puncher) close() error { return nil }

func (m *Mesh) openPuncher() error { return nil }

func (m *Mesh) offerRelay() error { return nil }

func (*hops) add(map[peer.ID]bool) {}

// announcer is what natives have: a tab is nowhere that others could dial.
type announcer struct{}

func (m *Mesh) announce() error { return nil }

func (*announcer) couldTest(peer.ID, scope) bool { return true }

func (*announcer) first(ma.Multiaddr, scope) bool { return false }

// probes is what natives have: a tab cannot be asked to dial back.
type probes struct{}

func newProbes() *probes { return nil }

func (m *Mesh) probe(network.Conn, []string) bool { return false }

func startMDNS(*Mesh, string) (io.Closer, error) {
	return nil, errors.New("a tab cannot search the local network")
}
