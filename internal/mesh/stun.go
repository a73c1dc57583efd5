package mesh

import (
	"slices"

	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

// maxStunServers is how many nodes a tab asks where it is: one may lie or be gone.
const maxStunServers = 2

// stunAt returns where the peer at an address, or the relay that leads to it, answers STUN: on the port of
// WebRTC-Direct.
func stunAt(a ma.Multiaddr) (hostport string, ok bool) {
	if firstWay(a) != WebRTC {
		return "", false
	}
	if _, hop, ok := relayOf(a); ok {
		a = hop
	}
	_, at, err := manet.DialArgs(a)
	return at, err == nil
}

// stunServers lists the nodes that a tab asks where it is, each in another block of addresses: those that it dialed,
// the newest first.
func (b *book) stunServers() []string {
	var list []string
	in := make(map[block]bool)
	for _, info := range b.answered() {
		for _, a := range info.Addrs {
			if at, ok := stunAt(a); ok && !in[blockOf(a)] && len(list) < maxStunServers {
				in[blockOf(a)] = true
				list = append(list, "stun:"+at)
			}
		}
	}
	return list
}

// answered lists the peers that answered when this one dialed them, the newest first.
func (b *book) answered() []peer.AddrInfo {
	b.mu.Lock()
	defer b.mu.Unlock()
	type entry struct {
		peer.AddrInfo
		hub *hub
	}
	var found []entry
	for id, h := range b.hubs.All() {
		if !h.answered.IsZero() {
			found = append(found, entry{peer.AddrInfo{ID: id, Addrs: slices.Clone(h.addrs)}, h})
		}
	}
	slices.SortStableFunc(found, func(a, b entry) int { return b.hub.answered.Compare(a.hub.answered) })
	list := make([]peer.AddrInfo, len(found))
	for i, e := range found {
		list[i] = e.AddrInfo
	}
	return list
}
