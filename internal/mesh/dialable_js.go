package mesh

import (
	"strings"
	"syscall/js"

	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

func canDial(a ma.Multiaddr) bool { return verdictOn(a) == "" }

// verdictOn says why this tab does not dial an address: forbidden, unsupported or unknown; "" if it does.
func verdictOn(a ma.Multiaddr) verdict {
	switch wayOf(a) {
	case WebSocket, SecureSocket:
		if !maySocket(a, overTLS) {
			return forbidden
		}
	case WebTransport:
		if !hasWebTransport() {
			return unsupported
		}
	case WebRTC:
		if !hasWebRTC() {
			return unsupported
		}
		if _, err := manet.ToIP(a); err != nil {
			return unknown // a browser looks up no names for it
		}
	case Relayed:
		_, hop, _ := relayOf(a)
		return verdictOn(hop)
	default:
		return unknown
	}
	return ""
}

// whyNot says why an address cannot be dialed.
func whyNot(a ma.Multiaddr) string {
	switch verdictOn(a) {
	case forbidden:
		return "this page came over TLS, and browsers let it open no WebSocket without; take the node's address for WebTransport or WebRTC-Direct"
	case unsupported:
		return "this browser has no " + string(firstWay(a)) + " for this page"
	}
	if w := firstWay(a); w == TCP || w == QUIC {
		return "browsers cannot use " + string(w) + "; take the node's address for WebSocket, WebTransport or WebRTC-Direct"
	}
	return "it leads nowhere that a browser can go"
}

// overTLS tells whether the page was loaded over TLS; a worker has the origin of its page.
var overTLS = strings.HasPrefix(js.Global().Get("origin").String(), "https:")

// maySocket reports whether a page may open a WebSocket there: browsers let one that was loaded over TLS open none
// without, except to its own computer.
func maySocket(a ma.Multiaddr, overTLS bool) bool {
	url, err := socketURL(a)
	return err == nil && (!overTLS || strings.HasPrefix(url, "wss:") || manet.IsIPLoopback(a))
}
