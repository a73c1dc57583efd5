package mesh

import (
	"testing"

	ma "github.com/multiformats/go-multiaddr"
)

func TestSocketURL(t *testing.T) {
	for _, c := range []struct{ addr, want string }{
		{"/ip4/127.0.0.1/tcp/4001/ws", "ws://127.0.0.1:4001"},
		{"/ip6/::1/tcp/4001/ws", "ws://[::1]:4001"},
		{"/dns4/example.com/tcp/443/wss", "wss://example.com:443"},
		{"/dns/example.com/tcp/443/tls/ws", "wss://example.com:443"},
		{"/ip4/127.0.0.1/tcp/4001", ""},
		{"/ip4/127.0.0.1/udp/4001/quic-v1", ""},
		{"/ip4/127.0.0.1/tcp/4001/ws/p2p-circuit", ""},
	} {
		got, err := socketURL(ma.StringCast(c.addr))
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: got %q, %v, want %q", c.addr, got, err, c.want)
		}
	}
}
