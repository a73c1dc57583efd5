package mesh

import (
	"strings"
	"testing"

	ma "github.com/multiformats/go-multiaddr"
)

func TestMaySocket(t *testing.T) {
	for _, c := range []struct {
		addr        string
		plain, tlsd bool // from a page without and with TLS
	}{
		{"/ip4/203.0.113.7/tcp/4001/ws", true, false},
		{"/ip4/127.0.0.1/tcp/4001/ws", true, true},
		{"/dns/example.com/tcp/443/tls/ws", true, true},
		{"/ip4/203.0.113.7/tcp/4001", false, false},
		{"/dns/wss.example.com/tcp/4001", false, false},
		{"/ip4/203.0.113.7/tcp/4001/ws/p2p-circuit", false, false},
	} {
		a := ma.StringCast(c.addr)
		if got := maySocket(a, false); got != c.plain {
			t.Errorf("%s without TLS: got %v, want %v", c.addr, got, c.plain)
		}
		if got := maySocket(a, true); got != c.tlsd {
			t.Errorf("%s with TLS: got %v, want %v", c.addr, got, c.tlsd)
		}
	}
}

// An address that this tab cannot use is refused in words that say why. This program has no page, so it has neither
// WebTransport nor WebRTC.
func TestCheckAddr(t *testing.T) {
	for addr, want := range map[string]string{
		"/ip4/203.0.113.7/tcp/4001/ws" + owner:                              "",
		"/ip4/203.0.113.7/tcp/4001" + owner:                                 "browsers cannot use TCP",
		"/ip4/203.0.113.7/udp/4001/quic-v1" + owner:                         "browsers cannot use QUIC",
		"/ip4/203.0.113.7/udp/4001/quic-v1/webtransport" + someCert + owner: "no WebTransport",
		"/ip4/203.0.113.7/udp/4001/webrtc-direct" + someCert + owner:        "no WebRTC-Direct",
		"/ip4/203.0.113.7/udp/4001/quic-v1/webtransport" + owner:            "certhash",
		"/ip4/203.0.113.7/tcp/4001/ws" + owner + "/p2p-circuit" + owner:     "",
		"/ip4/203.0.113.7/tcp/4001" + owner + "/p2p-circuit" + owner:        "browsers cannot use TCP",
		"/ip4/203.0.113.7/tcp/4001/ws":                                      "/p2p/",
		"nonsense":                                                          "an address looks like",
	} {
		err := CheckAddr(addr)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", addr, err, want)
		}
	}
}
