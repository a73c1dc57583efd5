//go:build !js

package mesh

import (
	"io"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/discovery/mdns"
)

// mdnsService names evoswarm in the local network.
const mdnsService = "_evoswarm._udp"

// finder takes in what multicast DNS finds.
type finder struct{ m *Mesh }

// HandlePeerFound notes a node of the local network as a hub to dial; hello shows whether it is in the same run.
func (f finder) HandlePeerFound(info peer.AddrInfo) {
	if _, err := PeerOf(info.ID); err == nil && info.ID != f.m.host.ID() && len(info.Addrs) > 0 {
		f.m.book.add(info, block{}, false)
	}
}

func startMDNS(m *Mesh) (io.Closer, error) {
	service := mdns.NewMdnsService(m.host, mdnsService, finder{m})
	return service, service.Start()
}
