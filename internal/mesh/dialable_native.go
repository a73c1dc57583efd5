//go:build !js

package mesh

import ma "github.com/multiformats/go-multiaddr"

// canDial accepts the transports of newHost, and relays that they lead to.
func canDial(a ma.Multiaddr) bool { return wayOf(a) != "" }

// whyNot says why an address cannot be dialed.
func whyNot(a ma.Multiaddr) string {
	return "it names no transport that this program has, or no certain place"
}
