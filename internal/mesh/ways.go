package mesh

import (
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	ma "github.com/multiformats/go-multiaddr"
)

// Way is a transport, by the name that people read.
type Way string

// The ways to a node.
const (
	TCP          Way = "TCP"
	QUIC         Way = "QUIC"
	WebSocket    Way = "WebSocket"
	SecureSocket Way = "WebSocket over TLS"
	WebTransport Way = "WebTransport"
	WebRTC       Way = "WebRTC-Direct"
	Relayed      Way = "a relay"
)

// WayOf tells over what a full address leads to a peer; "" for what nobody here speaks.
func WayOf(addr string) Way {
	info, err := parseAddr(addr)
	if err != nil {
		return ""
	}
	return wayOf(info.Addrs[0])
}

// wayOf tells over what an address leads. An address that lacks the hash of the certificate with which WebTransport
// and WebRTC know the node leads nowhere, nor does one through such a relay, or through two.
func wayOf(a ma.Multiaddr) Way {
	if _, hop, ok := relayOf(a); ok && wayOf(hop) != "" {
		return Relayed
	}
	var way Way
	tls, named := false, false
	for _, c := range a {
		switch c.Protocol().Code {
		case ma.P_TCP:
			way = TCP
		case ma.P_TLS:
			tls = true
		case ma.P_WS:
			way = WebSocket
		case ma.P_WSS:
			way, tls = WebSocket, true
		case ma.P_QUIC_V1:
			way = QUIC
		case ma.P_WEBTRANSPORT:
			way = WebTransport
		case ma.P_WEBRTC_DIRECT:
			way = WebRTC
		case ma.P_CERTHASH:
			named = true
		case ma.P_CIRCUIT:
			return ""
		}
	}
	switch {
	case (way == WebTransport || way == WebRTC) && !named:
		return ""
	case way == WebSocket && tls:
		return SecureSocket
	}
	return way
}

// firstWay tells over what this peer would send first: to a relay, if the address leads through one.
func firstWay(a ma.Multiaddr) Way {
	if _, hop, ok := relayOf(a); ok {
		return wayOf(hop)
	}
	return wayOf(a)
}

// byWay is the order in which addresses of a hub are told and tried.
var byWay = []Way{TCP, QUIC, SecureSocket, WebSocket, WebTransport, WebRTC}

// ofTabs are the ways that a tab may go.
var ofTabs = []Way{SecureSocket, WebSocket, WebTransport, WebRTC}

// choose returns at most n addresses, of each of the ways about as many, the first ones of each first.
func choose(addrs []ma.Multiaddr, ways []Way, n int) []ma.Multiaddr {
	of := make(map[Way][]ma.Multiaddr, len(ways))
	for _, a := range addrs {
		of[firstWay(a)] = append(of[firstWay(a)], a)
	}
	var list []ma.Multiaddr
	for turn := 0; ; turn++ {
		before := len(list)
		for _, w := range ways {
			if turn < len(of[w]) && len(list) < n {
				list = append(list, of[w][turn])
			}
		}
		if len(list) == before {
			return list
		}
	}
}

// headStart is how long a tab tries one way before it tries the next as well.
const headStart = 700 * time.Millisecond

// Preference is the order in which a tab tries the ways: by how soon they answer and what they cost, among those that
// its page may use; relays last, since they cost others. Over TLS a page may open only sockets with TLS, but to its
// own computer any.
func Preference(overTLS bool) []Way {
	if overTLS {
		return []Way{SecureSocket, WebTransport, WebRTC, WebSocket, Relayed}
	}
	return []Way{WebSocket, SecureSocket, WebTransport, WebRTC, Relayed}
}

// rankWays ranks addresses for a tab's dial: those of a way at once, each way some time after the one before. libp2p
// does not wait for it once all that were begun have failed.
func rankWays(overTLS bool) network.DialRanker {
	order := Preference(overTLS)
	return func(addrs []ma.Multiaddr) []network.AddrDelay {
		var ranked []network.AddrDelay
		delay := time.Duration(0)
		for _, w := range order {
			found := false
			for _, a := range addrs {
				if wayOf(a) == w {
					ranked = append(ranked, network.AddrDelay{Addr: a, Delay: delay})
					found = true
				}
			}
			if found {
				delay += headStart
			}
		}
		for _, a := range addrs {
			if isTab(a) { // it has no other
				ranked = append(ranked, network.AddrDelay{Addr: a})
			}
		}
		return ranked
	}
}
