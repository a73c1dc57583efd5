//go:build !js

package mesh

import (
	"io"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/discovery/mdns"
)

// mdnsService names a run of evoswarm in the local network: a node that works on several has an address for each, all
// under one key. The name of a service has 15 characters at most, and the end of a run's id is what differs.
func mdnsService(run string) string { return "_evo-" + run[len(run)-10:] + "._udp" }

// finder takes in what multicast DNS finds.
type finder struct{ m *Mesh }

// HandlePeerFound notes a node of the local network as a hub to dial; hello shows whether it really is in the run.
func (f finder) HandlePeerFound(info peer.AddrInfo) {
	if _, err := PeerOf(info.ID); err == nil && info.ID != f.m.host.ID() && len(info.Addrs) > 0 {
		f.m.book.add(info, block{}, false)
	}
}

func startMDNS(m *Mesh, run string) (io.Closer, error) {
	service := mdns.NewMdnsService(m.host, mdnsService(run), finder{m})
	return service, service.Start()
}
