package mesh

import (
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/transport"
)

// transports lists the ways out of a tab. WebTransport and WebRTC-Direct, which need the key for their own Noise
// handshake, belong here, too, once they are built: docs/ROADMAP.md.
func transports(_ crypto.PrivKey, up transport.Upgrader) []transport.Transport {
	return []transport.Transport{&socketTransport{up}}
}
