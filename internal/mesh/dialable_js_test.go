package mesh

import (
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
