//go:build !js

package mesh

import ma "github.com/multiformats/go-multiaddr"

// canDial accepts the transports of newHost, but no relays.
func canDial(a ma.Multiaddr) bool {
	ours := false
	for _, c := range a {
		switch c.Protocol().Code {
		case ma.P_TCP, ma.P_QUIC_V1:
			ours = true
		case ma.P_CIRCUIT, ma.P_WEBTRANSPORT, ma.P_WEBRTC_DIRECT:
			return false
		}
	}
	return ours
}
