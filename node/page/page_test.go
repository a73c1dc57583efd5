package page

import (
	"strings"
	"testing"
)

// TestAddressesText: who writes a page hears whether a tab on it can reach anybody.
func TestAddressesText(t *testing.T) {
	const id = "/p2p/12D3KooWRFnz4vWCfS9NX3uR9fW4FpPokfds7w4h2KXL7vdypgqM"
	const hash = "/certhash/uEiAkH5a4DPGKUuOBjYw0CgwjvcJCJMD2K_1aluKR_tpevQ"
	for _, test := range []struct {
		addresses []string
		want      string
	}{
		{nil, "none: give people a link"},
		{[]string{"/ip4/1.2.3.4/tcp/1" + id}, "1, in addresses.json; no tab reaches any of them"},
		{[]string{"/ip4/1.2.3.4/tcp/1" + id, "/ip4/1.2.3.4/tcp/2/ws" + id}, "2, in addresses.json; over http alone"},
		{[]string{"/ip4/1.2.3.4/udp/1/webrtc-direct" + hash + id, "/ip4/1.2.3.4/udp/1/quic-v1/webtransport" + hash + id}, "2, in addresses.json; over https by WebTransport, WebRTC-Direct"},
		{[]string{"/ip4/1.2.3.4/udp/1/webrtc-direct" + id}, "no tab reaches any of them"},
		{[]string{"/dns/example.org/tcp/1/tls/ws" + id}, "over https by WebSocket over TLS"},
	} {
		if got := addressesText(test.addresses); !strings.Contains(got, test.want) {
			t.Errorf("%v: %q, want %q", test.addresses, got, test.want)
		}
	}
}
