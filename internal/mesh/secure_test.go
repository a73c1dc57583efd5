//go:build !js

package mesh

import (
	"fmt"
	"net/netip"
	"testing"

	ma "github.com/multiformats/go-multiaddr"
)

// Listeners with TLS are announced where their certificate is valid, and there only; the others as they are.
func TestNamed(t *testing.T) {
	var addrs []ma.Multiaddr
	for _, a := range []string{"/ip4/10.0.0.1/tcp/1", "/ip4/10.0.0.1/tcp/1/tls/ws", "/ip4/203.0.113.7/tcp/1/tls/ws", "/ip4/10.0.0.1/tcp/1/ws"} {
		addrs = append(addrs, ma.StringCast(a))
	}
	got := fmt.Sprint(Secure{Names: []string{"example.com", "203.0.113.7", "not a name/"}}.named(addrs))
	if want := "[/ip4/10.0.0.1/tcp/1 /dns/example.com/tcp/1/tls/ws /ip4/203.0.113.7/tcp/1/tls/ws /ip4/10.0.0.1/tcp/1/ws]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := (Secure{}).named(addrs); len(got) != 2 {
		t.Errorf("got %v, want the two without TLS", got)
	}
	name := ""
	secure := Secure{Name: func(ip netip.Addr) string {
		if ip.IsPrivate() {
			return ""
		}
		return name
	}}
	if got := secure.named(addrs); len(got) != 2 {
		t.Errorf("got %v before there is a certificate", got)
	}
	name = "203-0-113-7.example.org"
	if got, want := fmt.Sprint(secure.named(addrs)), "[/ip4/10.0.0.1/tcp/1 /dns/203-0-113-7.example.org/tcp/1/tls/ws /ip4/10.0.0.1/tcp/1/ws]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
