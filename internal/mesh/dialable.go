package mesh

import (
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

// Dialable reports whether this program can dial a full address, as [Mesh.Addrs] and [Mesh.Hubs] list them:
// natively over TCP, WebSocket or QUIC, in a tab over the WebSockets that its page may open. Whether a peer
// answers there is another question.
func Dialable(addr string) bool {
	info, err := parseAddr(addr)
	return err == nil && dialable(info.Addrs[0])
}

func dialable(a ma.Multiaddr) bool { return !manet.IsIPUnspecified(a) && canDial(a) }
